"""Tools of the library, as a model sees them."""

from assay.sopbench.tools import array, boolean, number, string, toolbox

PARAMETERS = {
    "username": string("Name of the account."),
    "password": string("The password of the account."),
    "book_title": string("Title of the book."),
    "amount": number("Dollars to pay in."),
    "count": number("Number of copies."),
    "restricted": boolean("Whether only members may borrow it."),
    "room_id": string("Number of the room."),
    "resv_date": string("Day, as in October 10th, 2024."),
    "slots": array(string("One time, as in 9:00."), "The times to reserve."),
    "date_string": string("A day, as in October 10th, 2024."),
    "iso_date": string("A day, as in 2024-10-10."),
}

TOOLBOX = toolbox(
    PARAMETERS,
    {
        "login_user(username, password)": "Log a user in with the account's password.",
        "logout_user(username)": "Log a user out.",
        "show_available_book(username)": "List the books of which a copy is there.",
        "borrow_book(username, book_title)": "Lend a book to a user.",
        "return_book(username, book_title)": "Take a lent book back.",
        "check_return_date(username, book_title)": "Tell when a user must bring a book back.",
        "get_account_balance(username)": "Tell the balance of an account.",
        "credit_balance(username, amount)": "Pay money into an account.",
        "pay_late_fee(username)": "Pay the fee for books that came back late, from the balance.",
        "update_membership(username)": "Extend a membership by a month, paid from the balance.",
        "add_book(username, book_title, count, restricted)": "Add copies of a book to the library.",
        "remove_book(username, book_title)": "Remove a book from the library.",
        "show_available_rooms(username)": "List the rooms with their free times.",
        "reserve_room(username, room_id, resv_date, slots)": "Reserve a room at some times of a day.",
        "internal_get_database()": "Show the whole database.",
        "internal_check_username_exist(username)": "Check whether an account of this name exists.",
        "internal_convert_book_title_to_id(book_title)": "Tell the identifier of a book.",
        "internal_check_book_exist(book_title)": "Check whether the library has a book.",
        "internal_check_book_available(book_title)": "Check whether a copy of a book is there.",
        "internal_get_user_borrowed(username)": "List the identifiers of the books that a user has.",
        "internal_get_user_num_borrowed(username)": "Tell how many books a user has.",
        "internal_calculate_late_fee(username)": "Tell the fee that a user owes for late books.",
        "internal_get_membership_fee()": "Tell what a month of membership costs.",
        "internal_is_restricted(book_title)": "Check whether only members may borrow a book.",
        "internal_get_membership_status(username)": "Tell when a user's membership ends, if there is one.",
        "internal_is_admin(username)": "Check whether a user is an administrator.",
        "internal_get_num_reserved_slots(username)": "Tell how many times a user has reserved.",
        "internal_check_room_exist(room_id)": "Check whether a room exists.",
        "internal_check_date_available_for_the_room(room_id, resv_date)": (
            "Check whether a room is free on a day at all."
        ),
        "internal_all_slots_available_for_the_room_on_the_date(room_id, resv_date, slots)": (
            "Check whether a room is free at all of these times of a day."
        ),
        "internal_get_interaction_date()": "Tell today's date.",
        "internal_convert_human_date_to_iso(date_string)": "Write a day such as October 10th, 2024 as 2024-10-10.",
        "internal_convert_iso_to_human_date(iso_date)": "Write a day such as 2024-10-10 as October 10th, 2024.",
    },
    hidden=("internal_get_database",),
    unpublished=("internal_get_interaction_date",),
)
