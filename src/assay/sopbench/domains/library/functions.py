"""The library: books and loans, memberships, rooms."""

import string
from datetime import timedelta
from random import Random
from typing import Any

from assay.sopbench.dates import day, from_human, to_human
from assay.sopbench.system import System

Pair = tuple[bool, Any]


class Library(System):
    """State and functions of the library."""

    def __init__(self, state: dict[str, Any]) -> None:
        super().__init__(state)
        self._accounts: dict[str, Any] = state["accounts"]
        self._books: dict[str, Any] = state["books"]
        self._ids: dict[str, str] = state["book_title_to_id"]

    def _id(self, book_title: str) -> Any:
        # An unknown title gives None, and what follows fails at the first use of it (as published).
        return self._ids.get(book_title)

    def _exists(self, book_title: str) -> bool:
        return book_title in self._ids and self._ids[book_title] in self._books

    def _date_listed(self, room_id: str, resv_date: str) -> bool:
        return room_id in self.state["rooms"] and resv_date in self.state["rooms"][room_id]

    def login_user(self, username: str, password: str) -> bool:
        if username not in self._accounts:
            return False
        return bool(self._accounts[username]["password"] == password)

    def logout_user(self, username: str) -> bool:
        return True

    def show_available_book(self, username: str) -> Pair:
        return True, [
            title for title, book in self._ids.items() if book in self._books and self._books[book]["count"] > 0
        ]

    def borrow_book(self, username: str, book_title: str) -> bool:
        book = self._id(book_title)
        due = from_human(self.state["interaction_date"]) + timedelta(days=self.state["loan_period"])
        self._accounts[username]["borrowed"][book] = to_human(due)
        self._books[book]["count"] -= 1
        return True

    def return_book(self, username: str, book_title: str) -> bool:
        book = self._id(book_title)
        due = self._accounts[username]["borrowed"].pop(book)
        self._books[book]["count"] += 1
        if from_human(self.state["interaction_date"]) > from_human(due):
            self._accounts[username]["late_book_count"] += 1
        return True

    def check_return_date(self, username: str, book_title: str) -> Pair:
        return True, self._accounts[username]["borrowed"][self._id(book_title)]

    def get_account_balance(self, username: str) -> Pair:
        return True, self._accounts[username]["balance"]

    def credit_balance(self, username: str, amount: float) -> bool:
        if not amount > 0:
            return False
        self._accounts[username]["balance"] += amount
        return True

    def pay_late_fee(self, username: str) -> bool:
        # The number of late books is not reset (as published).
        account = self._accounts[username]
        account["balance"] -= account["late_book_count"] * self.state["late_fee_per_book"]
        return True

    def update_membership(self, username: str) -> Pair:
        account = self._accounts[username]
        start = from_human(account["membership"] or self.state["interaction_date"])
        account["membership"] = to_human(start + timedelta(days=30))
        account["balance"] -= self.state["membership_monthly_fee"]
        return True, account["membership"]

    def add_book(self, username: str, book_title: str, count: int, restricted: bool) -> bool:
        if not count > 0:
            return False
        if book_title not in self._ids:
            # Python's generator seeded with the title, which is the same on every machine; None would be the clock's.
            draw = Random("" if book_title is None else book_title)
            while True:
                book = "".join(draw.choices(string.ascii_uppercase + string.digits, k=7))
                if book not in self._books:
                    break
            self._ids[book_title] = book
        self._books[self._ids[book_title]] = {"count": count, "restricted": restricted}
        return True

    def remove_book(self, username: str, book_title: str) -> bool:
        if not self._exists(book_title):
            return False
        del self._books[self._ids[book_title]]
        del self._ids[book_title]
        return True

    def show_available_rooms(self, username: str) -> Pair:
        return True, self.state["rooms"]

    def reserve_room(self, username: str, room_id: str, resv_date: str, slots: list[str]) -> bool:
        if room_id not in self.state["rooms"]:
            return False
        reserved = self._accounts[username]["room_reservation"]
        if room_id not in reserved:
            reserved[room_id] = {resv_date: slots}
        elif resv_date in reserved[room_id]:
            reserved[room_id][resv_date] += slots
        # Otherwise the room is reserved on another date only, and nothing is recorded (as published).
        free = self.state["rooms"][room_id][resv_date]
        for slot in slots:
            if slot in free:
                free.remove(slot)
        if not free:
            del self.state["rooms"][room_id][resv_date]
        return True

    def internal_get_database(self) -> Pair:
        return True, self.state

    def internal_check_username_exist(self, username: str) -> Pair:
        return True, username in self._accounts

    def internal_convert_book_title_to_id(self, book_title: str) -> Pair:
        return True, self._id(book_title)

    def internal_check_book_exist(self, book_title: str) -> Pair:
        return True, self._exists(book_title)

    def internal_check_book_available(self, book_title: str) -> bool | Pair:
        if not self._exists(book_title):
            return False
        return True, self._books[self._ids[book_title]]["count"] > 0

    def internal_get_user_borrowed(self, username: str) -> bool | Pair:
        if username not in self._accounts:
            return False
        return True, list(self._accounts[username]["borrowed"])

    def internal_get_user_num_borrowed(self, username: str) -> bool | Pair:
        if username not in self._accounts:
            return False
        return True, len(self._accounts[username]["borrowed"])

    def internal_calculate_late_fee(self, username: str) -> bool | Pair:
        if username not in self._accounts:
            return False
        return True, self._accounts[username]["late_book_count"] * self.state["late_fee_per_book"]

    def internal_get_membership_fee(self) -> Pair:
        return True, self.state["membership_monthly_fee"]

    def internal_is_restricted(self, book_title: str) -> bool | Pair:
        if not self._exists(book_title):
            return False
        return True, self._books[self._ids[book_title]]["restricted"]

    def internal_get_membership_status(self, username: str) -> bool | Pair:
        if username not in self._accounts:
            return False
        return True, self._accounts[username]["membership"]

    def internal_is_admin(self, username: str) -> bool | Pair:
        if username not in self._accounts:
            return False
        return True, self._accounts[username]["admin"]

    def internal_get_num_reserved_slots(self, username: str) -> bool | Pair:
        if username not in self._accounts:
            return False
        reserved = self._accounts[username]["room_reservation"]
        return True, sum(len(slots) for dates in reserved.values() for slots in dates.values())

    def internal_check_room_exist(self, room_id: str) -> Pair:
        return True, room_id in self.state["rooms"]

    def internal_check_date_available_for_the_room(self, room_id: str, resv_date: str) -> bool | Pair:
        if room_id not in self.state["rooms"]:
            return False
        return True, self._date_listed(room_id, resv_date)

    def internal_all_slots_available_for_the_room_on_the_date(
        self, room_id: str, resv_date: str, slots: list[str]
    ) -> bool | Pair:
        if not self._date_listed(room_id, resv_date):
            return False
        free = self.state["rooms"][room_id][resv_date]
        return True, all(slot in free for slot in slots)

    def internal_get_interaction_date(self) -> Pair:
        return True, self.state["interaction_date"]

    def internal_convert_human_date_to_iso(self, date_string: str) -> Pair:
        return True, from_human(date_string).strftime("%Y-%m-%d")

    def internal_convert_iso_to_human_date(self, iso_date: str) -> Pair:
        return True, to_human(day(iso_date))
