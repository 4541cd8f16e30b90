"""Rule tables of the library: who may do what, what must hold first, and which calls verify it."""

from assay.sopbench.rules import Rules

RULES = Rules.of(
    innate={
        "login_user": "internal_check_username_exist(username)",
        "credit_balance": "amount_positive_restr(amount)",
        "add_book": "amount_positive_restr(amount=count)",
        "remove_book": "internal_check_book_exist(book_title)",
        "reserve_room": "internal_check_room_exist(room_id)",
        "internal_check_book_available": "internal_check_book_exist(book_title)",
        "internal_get_user_borrowed": "internal_check_username_exist(username)",
        "internal_get_user_num_borrowed": "internal_check_username_exist(username)",
        "internal_calculate_late_fee": "internal_check_username_exist(username)",
        "internal_is_restricted": "internal_check_book_exist(book_title)",
        "internal_get_membership_status": "internal_check_username_exist(username)",
        "internal_is_admin": "internal_check_username_exist(username)",
        "internal_get_num_reserved_slots": "internal_check_username_exist(username)",
        "internal_check_date_available_for_the_room": "internal_check_room_exist(room_id)",
        "internal_all_slots_available_for_the_room_on_the_date": (
            "internal_check_date_available_for_the_room(room_id, resv_date)"
        ),
    },
    required={
        "logout_user": "logged_in_user(username)",
        "borrow_book": "and[logged_in_user(username), internal_check_book_available(book_title)]",
        "return_book": "and[logged_in_user(username), user_book_borrowed(username, book_title)]",
        "check_return_date": "and[logged_in_user(username), user_book_borrowed(username, book_title)]",
        "get_account_balance": "logged_in_user(username)",
        "credit_balance": "logged_in_user(username)",
        "pay_late_fee": "logged_in_user(username)",
        "update_membership": "logged_in_user(username)",
        "add_book": "and[logged_in_user(username), internal_is_admin(username)]",
        "remove_book": "and[logged_in_user(username), internal_is_admin(username)]",
        "reserve_room": "logged_in_user(username)",
    },
    customizable={
        "logout_user": "internal_check_username_exist(username)",
        "show_available_book": "logged_in_user(username)",
        "borrow_book": (
            "and[user_book_not_borrowed(username, book_title), or[not internal_is_restricted(book_title), "
            "valid_membership(username)], within_borrow_limit(username)]"
        ),
        "pay_late_fee": "sufficient_account_balance_for_late_fee(username)",
        "update_membership": "sufficient_account_balance_for_membership(username)",
        "remove_book": "database_book_not_borrowed(book_title)",
        "show_available_rooms": "logged_in_user(username)",
        "reserve_room": (
            "and[internal_all_slots_available_for_the_room_on_the_date(room_id, resv_date, slots), "
            "or[valid_membership(username), within_max_reservation_slots(username, slots)]]"
        ),
    },
    links={
        "logged_in_user": "login_user(username)",
    },
    dependencies={
        "user_book_borrowed": "and[internal_check_username_exist(username), internal_check_book_exist(book_title)]",
        "user_book_not_borrowed": "and[internal_check_username_exist(username), internal_check_book_exist(book_title)]",
        "database_book_not_borrowed": "internal_check_book_exist(book_title)",
        "sufficient_account_balance_for_late_fee": "internal_check_username_exist(username)",
        "sufficient_account_balance_for_membership": "internal_check_username_exist(username)",
        "valid_membership": "internal_check_username_exist(username)",
        "within_borrow_limit": "internal_check_username_exist(username)",
        "within_max_reservation_slots": "internal_check_username_exist(username)",
    },
    processes={
        "user_book_borrowed": (
            "or[and[internal_check_book_exist(book_title), internal_get_user_borrowed(username)], "
            "internal_get_database()]"
        ),
        "user_book_not_borrowed": (
            "or[and[internal_check_book_exist(book_title), internal_get_user_borrowed(username)], "
            "internal_get_database()]"
        ),
        "database_book_not_borrowed": (
            "or[and[internal_check_book_exist(book_title), internal_get_user_borrowed(username)], "
            "internal_get_database()]"
        ),
        "sufficient_account_balance_for_late_fee": (
            "or[and[get_account_balance(username), internal_calculate_late_fee(username)], internal_get_database()]"
        ),
        "sufficient_account_balance_for_membership": (
            "or[and[get_account_balance(username), internal_get_membership_fee()], internal_get_database()]"
        ),
        "valid_membership": (
            "or[and[internal_get_membership_status(username), internal_get_interaction_date()], "
            "internal_get_database()]"
        ),
        "within_borrow_limit": "or[internal_get_user_num_borrowed(username), internal_get_database()]",
        "within_max_reservation_slots": "or[internal_get_num_reserved_slots(username), internal_get_database()]",
        "internal_check_username_exist": "or[internal_check_username_exist(username), internal_get_database()]",
        "internal_check_book_exist": "or[internal_check_book_exist(book_title), internal_get_database()]",
        "internal_check_book_available": "or[internal_check_book_available(book_title), internal_get_database()]",
        "internal_is_restricted": "or[internal_is_restricted(book_title), internal_get_database()]",
        "internal_is_admin": "or[internal_is_admin(username), internal_get_database()]",
        "internal_check_room_exist": "or[internal_check_room_exist(room_id), internal_get_database()]",
        "internal_check_date_available_for_the_room": (
            "or[internal_check_date_available_for_the_room(room_id, resv_date), internal_get_database()]"
        ),
        "internal_all_slots_available_for_the_room_on_the_date": (
            "or[internal_all_slots_available_for_the_room_on_the_date(room_id, resv_date, slots), "
            "internal_get_database()]"
        ),
    },
    limits={
        "borrow_limit": 2,
        "max_reservation_slots": 3,
    },
)
