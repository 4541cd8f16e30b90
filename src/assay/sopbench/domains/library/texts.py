"""What a model is told about the library: whom it serves, and each condition of a rule in a clause."""

from assay.sopbench.clauses import ACCOUNT
from assay.sopbench.domain import Texts

TEXTS = Texts(
    role="You serve the users of a library: books, loans, memberships and rooms.",
    conditions=ACCOUNT
    | {
        "internal_check_book_exist": (
            "the library has the book {book_title}",
            "the library does not have the book {book_title}",
        ),
        "internal_check_book_available": (
            "a copy of the book {book_title} is there",
            "no copy of the book {book_title} is there",
        ),
        "internal_is_restricted": ("the book {book_title} is restricted", "the book {book_title} is not restricted"),
        "internal_is_admin": ("{username} is an administrator", "{username} is not an administrator"),
        "internal_check_room_exist": ("the room {room_id} exists", "the room {room_id} does not exist"),
        "internal_check_date_available_for_the_room": (
            "the room {room_id} has free times on {resv_date}",
            "the room {room_id} has no free times on {resv_date}",
        ),
        "internal_all_slots_available_for_the_room_on_the_date": (
            "the room {room_id} is free at all of {slots} on {resv_date}",
            ("the room {room_id} is not free at all of {slots} on {resv_date}"),
        ),
        "user_book_borrowed": "{username} has the book {book_title}",
        "user_book_not_borrowed": "{username} does not have the book {book_title}",
        "database_book_not_borrowed": "nobody has the book {book_title}",
        "sufficient_account_balance_for_late_fee": "the balance of {username} is at least the fee for late books",
        "sufficient_account_balance_for_membership": (
            "the balance of {username} is at least the monthly fee of a membership"
        ),
        "amount_positive_restr": "{amount} is more than zero",
        "valid_membership": "{username} has a membership that has not ended",
        "within_borrow_limit": "{username} has fewer than {limits[borrow_limit]} books",
        "within_max_reservation_slots": (
            "{username} has reserved, with {slots}, at most {limits[max_reservation_slots]} times"
        ),
    },
)
