"""Truth values of the bank's constraints, and its session: one user and one admin flag."""

from collections.abc import Mapping
from typing import Any, ClassVar

from assay.sopbench.domains.bank.functions import find_card
from assay.sopbench.sessions import OneUserSession
from assay.sopbench.system import System


class BankSession(OneUserSession):
    """Who is logged in, whether an admin password was given, and what the rules test."""

    login_defaults: ClassVar[dict[str, Any]] = {"identification": None}

    def __init__(self, system: System, limits: Mapping[str, Any], *, careful: bool = False) -> None:
        super().__init__(system, limits, careful=careful)
        self._as_list = getattr(system, "cards", "list") == "list"
        self._accounts: dict[str, Any] = self.state["accounts"]
        self._admin: str | None = None

    def on_login_user(self, username: str, **credential: Any) -> None:
        if self.careful and username != self._user:
            self._admin = None  # it ends with the login that it was given in
        super().on_login_user(username, **credential)

    def on_logout_user(self, username: str) -> None:
        super().on_logout_user(username)
        self._admin = None

    def on_authenticate_admin_password(self, username: str, admin_password: str) -> None:
        self._admin = username

    def authenticated_admin_password(self, username: str) -> bool:
        # As published, the password of any account opens all of them.
        return self._admin == username if self.careful else self._admin is not None

    def sufficient_account_balance(self, username: str, amount: float) -> bool:
        return bool(self._accounts[username]["balance"] >= amount)

    def get_loan_owed_balance_restr(self, username: str) -> bool:
        return bool(self._accounts[username]["owed_balance"] < self.limits["maximum_owed_balance"])

    def pay_loan_account_balance_restr(self, username: str) -> bool:
        account = self._accounts[username]
        return bool(account["balance"] >= account["owed_balance"])

    def pay_loan_amount_restr(self, username: str, pay_owed_amount_request: float) -> bool:
        return bool(self._accounts[username]["balance"] >= pay_owed_amount_request)

    def amount_positive_restr(self, amount: float) -> bool:
        return amount > 0

    def minimal_elgibile_credit_score(self, username: str) -> bool:
        return bool(self._accounts[username]["credit_score"] > self.limits["minimum_credit_score"])

    def no_owed_balance(self, username: str) -> bool:
        return bool(self._accounts[username]["owed_balance"] == 0)

    def no_credit_card_balance(self, username: str) -> bool:
        cards = self._accounts[username]["credit_cards"]
        if self._as_list:
            return all(card["credit_balance"] == 0 for card in cards)
        return all(cards[number]["credit_balance"] == 0 for number in cards)

    def no_credit_card_balance_on_card(self, username: str, card_number: str) -> bool:
        return bool(self._card(username, card_number)["credit_balance"] == 0)

    def safety_box_eligible(self, username: str) -> bool:
        return bool(self._accounts[username]["balance"] >= self.limits["minimum_account_balance_safety_box"])

    def maximum_deposit_limit(self, amount: float, unit: str) -> bool:
        return bool((amount if "dollar" in unit else amount / 100) <= self.limits["maximum_deposit"])

    def maximum_exchange_amount(self, amount: float, unit: str) -> bool:
        return bool(self.limits["maximum_exchange"] >= (amount if "dollar" in unit else amount / 100))

    def not_over_credit_limit(self, username: str, amount: float, card_number: str) -> bool:
        card = self._card(username, card_number)
        return bool(amount <= card["credit_limit"] - card["credit_balance"])

    def _card(self, username: str, card_number: str) -> dict[str, Any]:
        card = find_card(self._accounts[username]["credit_cards"], card_number, as_list=self._as_list)
        if card is None:
            raise KeyError(card_number)  # a card that is not found is a tool-call error, as published
        return card

    def call_get_database(self) -> bool:
        return True
