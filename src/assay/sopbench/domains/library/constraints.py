"""Truth values of the library's constraints, and its session: one user."""

from collections.abc import Mapping
from typing import Any, ClassVar

from assay.sopbench.dates import from_human
from assay.sopbench.sessions import OneUserSession
from assay.sopbench.system import System


class LibrarySession(OneUserSession):
    """Who is logged in, and what the rules test."""

    login_defaults: ClassVar[dict[str, Any]] = {"password": None}

    def __init__(self, system: System, limits: Mapping[str, Any], *, careful: bool = False) -> None:
        super().__init__(system, limits, careful=careful)
        self._accounts: dict[str, Any] = self.state["accounts"]

    def _id(self, book_title: str) -> Any:
        return self.state["book_title_to_id"].get(book_title)

    def user_book_borrowed(self, username: str, book_title: str) -> bool:
        return self._id(book_title) in self._accounts[username]["borrowed"]

    def user_book_not_borrowed(self, username: str, book_title: str) -> bool:
        return self._id(book_title) not in self._accounts[username]["borrowed"]

    def database_book_not_borrowed(self, book_title: str) -> bool:
        book = self._id(book_title)
        return all(book not in account["borrowed"] for account in self._accounts.values())

    def sufficient_account_balance_for_late_fee(self, username: str) -> bool:
        account = self._accounts[username]
        return bool(account["balance"] >= account["late_book_count"] * self.state["late_fee_per_book"])

    def sufficient_account_balance_for_membership(self, username: str) -> bool:
        return bool(self._accounts[username]["balance"] >= self.state["membership_monthly_fee"])

    def amount_positive_restr(self, amount: float) -> bool:
        return amount > 0

    def valid_membership(self, username: str) -> bool:
        membership = self._accounts[username]["membership"]
        return bool(membership) and from_human(membership) >= from_human(self.state["interaction_date"])

    def within_borrow_limit(self, username: str) -> bool:
        return bool(len(self._accounts[username]["borrowed"]) < self.limits["borrow_limit"])

    def within_max_reservation_slots(self, username: str, slots: list[str]) -> bool:
        reserved = self._accounts[username]["room_reservation"]
        taken = sum(len(listed) for dates in reserved.values() for listed in dates.values())
        return bool(taken + len(slots) <= self.limits["max_reservation_slots"])
