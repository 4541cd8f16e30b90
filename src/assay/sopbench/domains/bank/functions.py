"""The bank: accounts, cards, loans, foreign exchange.

Two dialects of credit cards exist. "list" is what the published data and trajectories use; "map" is what the code at
the pinned commit expects, which on list data fails to find any card.
"""

from copy import deepcopy
from typing import Any

from assay.sopbench.rows import CardDialect
from assay.sopbench.system import System

Pair = tuple[bool, Any]


def find_card(cards: Any, card_number: str, *, as_list: bool) -> dict[str, Any] | None:
    """Return the card with a number, or None; under the map dialect a published list holds no card."""
    if as_list:
        return next((card for card in cards if card["card_number"] == card_number), None)
    return cards[card_number] if card_number in cards else None  # noqa: SIM401 - a published list has no get


class Bank(System):
    """State and functions of the bank."""

    def __init__(self, state: dict[str, Any], cards: CardDialect = "list") -> None:
        super().__init__(state)
        self.cards = cards
        self._accounts: dict[str, Any] = state["accounts"]
        self._as_list = cards == "list"

    @classmethod
    def opened(cls, state: dict[str, Any], cards: CardDialect = "list") -> "Bank":
        """Return a bank on a state, with cards of the given dialect."""
        return cls(state, cards)

    def _card(self, username: str, card_number: str) -> dict[str, Any] | None:
        return find_card(self._accounts[username]["credit_cards"], card_number, as_list=self._as_list)

    def login_user(self, username: str, identification: Any) -> bool:
        if username not in self._accounts:
            return False
        return bool(self._accounts[username]["identification"] == identification)

    def logout_user(self, username: str) -> bool:
        return True

    def open_account(self, username: str, identification: Any, admin_password: str) -> bool:
        self._accounts[username] = {
            "identification": identification,
            "admin_password": admin_password,
            "balance": 0,
            "owed_balance": 0,
            "safety_box": "",
            "credit_cards": [] if self._as_list else {},
        }
        return True

    def authenticate_admin_password(self, username: str, admin_password: str) -> bool:
        return bool(self._accounts[username]["admin_password"] == admin_password)

    def set_admin_password(self, username: str, admin_password_new: str) -> bool:
        self._accounts[username]["admin_password"] = admin_password_new
        return True

    def set_account_information(self, username: str, username_new: str, identification_new: Any) -> bool:
        if username_new != username:
            self._accounts[username_new] = deepcopy(self._accounts[username])
            del self._accounts[username]
        self._accounts[username_new]["identification"] = identification_new
        return True

    def close_account(self, username: str) -> bool:
        del self._accounts[username]
        return True

    def get_account_balance(self, username: str) -> Pair:
        return True, self._accounts[username]["balance"]

    def transfer_funds(self, username: str, destination_username: str, amount: float, unit: str) -> bool:
        if not amount > 0:
            return False
        dollars = amount / 100 if "cent" in unit else amount
        self._accounts[username]["balance"] -= dollars
        self._accounts[destination_username]["balance"] += dollars
        return True

    def deposit_funds(self, username: str, amount: float, unit: str, deposit_form: Any) -> bool:
        if not amount > 0:
            return False
        self._accounts[username]["balance"] += amount if "dollar" in unit else amount / 100
        return True

    def pay_bill(
        self, username: str, amount: float, unit: str, bill_description: str | None = None, **_more: Any
    ) -> bool:
        if not amount > 0:
            return False
        self._accounts[username]["balance"] -= amount if "dollar" in unit else amount / 100
        return True

    def pay_bill_with_credit_card(self, username: str, amount: float, card_number: str) -> bool:
        if not amount > 0:
            return False
        card = self._card(username, card_number)
        if card is not None:
            card["credit_balance"] += amount
        return True

    def apply_credit_card(self, username: str, total_assets: float, monthly_income: float) -> bool:
        # Upstream computes a card number and a limit, and writes them only where that number already exists.
        self._accounts[username]["credit_cards"]
        _limit = total_assets / 10 + monthly_income / 10
        return True

    def exchange_foreign_currency(self, amount: float, unit: str, foreign_currency_type: str) -> Pair:
        dollars = amount / 100 if "cent" in unit else amount
        return True, self.state["foreign_exchange"][foreign_currency_type] * dollars

    def get_account_owed_balance(self, username: str) -> Pair:
        return True, self._accounts[username]["owed_balance"]

    def get_loan(self, username: str, loan_amount: float) -> bool:
        account = self._accounts[username]
        account["balance"] += loan_amount
        account["owed_balance"] += 1.1 * loan_amount
        return True

    def pay_loan(self, username: str, pay_owed_amount_request: float) -> bool:
        if not pay_owed_amount_request > 0:
            return False
        account = self._accounts[username]
        account["balance"] -= pay_owed_amount_request
        account["owed_balance"] -= pay_owed_amount_request
        return True

    def get_safety_box(self, username: str) -> Pair:
        return True, self._accounts[username]["safety_box"]

    def set_safety_box(self, username: str, safety_box_new: str) -> bool:
        self._accounts[username]["safety_box"] = safety_box_new
        return True

    def get_credit_cards(self, username: str) -> Pair:
        # An unknown user has no account record, so that the look-up fails on None (TypeError, as published).
        return True, self._accounts.get(username)["credit_cards"]  # type: ignore[index]

    def get_credit_card_info(self, username: str, card_number: str) -> Pair:
        if username not in self._accounts:
            return False, {}
        card = self._card(username, card_number)
        return (False, {}) if card is None else (True, card)

    def cancel_credit_card(self, username: str, card_number: str) -> bool:
        if username not in self._accounts:
            return False
        card = self._card(username, card_number)
        if card is None:
            return False
        cards = self._accounts[username]["credit_cards"]
        if self._as_list:
            cards.remove(card)
        else:
            del cards[card_number]
        return True

    def get_bank_maximum_loan_amount(self, **given: Any) -> Pair:
        return True, given.get("bank_total_cash", 0) / 2

    def internal_get_database(self) -> Pair:
        return True, self.state

    def internal_check_username_exist(self, username: str) -> Pair:
        return True, username in self._accounts

    def internal_check_foreign_currency_available(self, foreign_currency_type: str) -> Pair:
        return True, foreign_currency_type in self.state["foreign_exchange"]

    def internal_get_credit_score(self, username: str) -> bool | Pair:
        if username not in self._accounts:
            return False
        return True, self._accounts[username]["credit_score"]

    def internal_check_credit_card_exist(self, username: str, card_number: str) -> bool | Pair:
        if username not in self._accounts:
            return False
        return True, self._card(username, card_number) is not None
