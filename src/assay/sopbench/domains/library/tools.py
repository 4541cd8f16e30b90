"""Tools of the library, as a model sees them."""

from assay.sopbench.domain import Toolbox
from assay.sopbench.tools import array, boolean, number, string, tool

USERNAME = string("Name of the account.")
PASSWORD = string("The password of the account.")
BOOK_TITLE = string("Title of the book.")
AMOUNT = number("Dollars to pay in.")
COUNT = number("Number of copies.")
RESTRICTED = boolean("Whether only members may borrow it.")
ROOM_ID = string("Number of the room.")
RESV_DATE = string("Day, as in October 10th, 2024.")
SLOTS = array(string("One time, as in 9:00."), "The times to reserve.")
DATE_STRING = string("A day, as in October 10th, 2024.")
ISO_DATE = string("A day, as in 2024-10-10.")

TOOLBOX = Toolbox(
    tools=(
        tool("login_user", "Log a user in with the account's password.", username=USERNAME, password=PASSWORD),
        tool("logout_user", "Log a user out.", username=USERNAME),
        tool("show_available_book", "List the books of which a copy is there.", username=USERNAME),
        tool("borrow_book", "Lend a book to a user.", username=USERNAME, book_title=BOOK_TITLE),
        tool("return_book", "Take a lent book back.", username=USERNAME, book_title=BOOK_TITLE),
        tool("check_return_date", "Tell when a user must bring a book back.", username=USERNAME, book_title=BOOK_TITLE),
        tool("get_account_balance", "Tell the balance of an account.", username=USERNAME),
        tool("credit_balance", "Pay money into an account.", username=USERNAME, amount=AMOUNT),
        tool("pay_late_fee", "Pay the fee for books that came back late, from the balance.", username=USERNAME),
        tool("update_membership", "Extend a membership by a month, paid from the balance.", username=USERNAME),
        tool(
            "add_book",
            "Add copies of a book to the library.",
            username=USERNAME,
            book_title=BOOK_TITLE,
            count=COUNT,
            restricted=RESTRICTED,
        ),
        tool("remove_book", "Remove a book from the library.", username=USERNAME, book_title=BOOK_TITLE),
        tool("show_available_rooms", "List the rooms with their free times.", username=USERNAME),
        tool(
            "reserve_room",
            "Reserve a room at some times of a day.",
            username=USERNAME,
            room_id=ROOM_ID,
            resv_date=RESV_DATE,
            slots=SLOTS,
        ),
        tool("internal_get_database", "Show the whole database."),
        tool("internal_check_username_exist", "Check whether an account of this name exists.", username=USERNAME),
        tool("internal_convert_book_title_to_id", "Tell the identifier of a book.", book_title=BOOK_TITLE),
        tool("internal_check_book_exist", "Check whether the library has a book.", book_title=BOOK_TITLE),
        tool("internal_check_book_available", "Check whether a copy of a book is there.", book_title=BOOK_TITLE),
        tool("internal_get_user_borrowed", "List the identifiers of the books that a user has.", username=USERNAME),
        tool("internal_get_user_num_borrowed", "Tell how many books a user has.", username=USERNAME),
        tool("internal_calculate_late_fee", "Tell the fee that a user owes for late books.", username=USERNAME),
        tool("internal_get_membership_fee", "Tell what a month of membership costs."),
        tool("internal_is_restricted", "Check whether only members may borrow a book.", book_title=BOOK_TITLE),
        tool(
            "internal_get_membership_status", "Tell when a user's membership ends, if there is one.", username=USERNAME
        ),
        tool("internal_is_admin", "Check whether a user is an administrator.", username=USERNAME),
        tool("internal_get_num_reserved_slots", "Tell how many times a user has reserved.", username=USERNAME),
        tool("internal_check_room_exist", "Check whether a room exists.", room_id=ROOM_ID),
        tool(
            "internal_check_date_available_for_the_room",
            "Check whether a room is free on a day at all.",
            room_id=ROOM_ID,
            resv_date=RESV_DATE,
        ),
        tool(
            "internal_all_slots_available_for_the_room_on_the_date",
            "Check whether a room is free at all of these times of a day.",
            room_id=ROOM_ID,
            resv_date=RESV_DATE,
            slots=SLOTS,
        ),
        tool("internal_get_interaction_date", "Tell today's date."),
        tool(
            "internal_convert_human_date_to_iso",
            "Write a day such as October 10th, 2024 as 2024-10-10.",
            date_string=DATE_STRING,
        ),
        tool(
            "internal_convert_iso_to_human_date",
            "Write a day such as 2024-10-10 as October 10th, 2024.",
            iso_date=ISO_DATE,
        ),
    ),
    hidden=("internal_get_database",),
    unpublished=("internal_get_interaction_date",),
)
