"""New tasks of the bank: accounts, and what their holders ask for."""

from random import Random
from typing import Any

from assay.sopbench.domain import Scenario
from assay.sopbench.domains.bank.functions import Bank
from assay.sopbench.pools import account_name, chosen, clock, code, mostly, people, secret

_RATES = {"EUR": 0.91, "GBP": 0.78, "JPY": 149.5, "CHF": 0.88, "SEK": 10.4}
_CREDENTIALS = ("username", "identification", "admin_password")


def world(draw: Random) -> dict[str, Any]:
    """Draw two to four accounts and the rates of foreign currencies."""
    accounts = {account_name(person): _account(draw, person) for person in people(draw, draw.randrange(2, 5))}
    rates = {name: _RATES[name] for name in draw.sample(sorted(_RATES), 3)}
    return {"accounts": accounts, "foreign_exchange": rates, "interaction_time": clock(draw).isoformat()}


def _account(draw: Random, person: str) -> dict[str, Any]:
    return {
        "identification": _identification(draw),
        "admin_password": secret(draw),
        "balance": float(mostly(draw, (800, 1500, 4000), (0, 50, 250))),
        "owed_balance": float(mostly(draw, (0, 0, 120, 400), (500, 900))),
        "credit_score": mostly(draw, (620, 700, 790), (480, 600)),
        "safety_box": f"papers of {person}",
        "credit_cards": [_card(draw) for _ in range(draw.randrange(3))],
    }


def _identification(draw: Random) -> str | dict[str, str]:
    if draw.random() < 0.5:
        return secret(draw)
    return {"drivers_license_id": code(draw, 1, 7), "drivers_license_state": draw.choice(("CA", "NY", "WA"))}


def _card(draw: Random) -> dict[str, Any]:
    number = " ".join("".join(draw.choices("123456789", k=4)) for _ in range(4))
    return {"card_number": number, "credit_limit": 500.0, "credit_balance": draw.choice((0.0, 0.0, 120.0, 480.0))}


def request(draw: Random, state: dict[str, Any], goal: str) -> dict[str, Any]:
    """Draw a holder and what is asked for."""
    names = sorted(state["accounts"])
    user, other = draw.sample(names, 2)
    account = state["accounts"][user]
    cards = [card["card_number"] for card in account["credit_cards"]]
    newcomer = account_name(people(draw, 1)[0])
    values: dict[str, Any] = {
        "username": user,
        "identification": account["identification"],
        "admin_password": account["admin_password"],
        "admin_password_new": secret(draw),
        "username_new": newcomer,
        "identification_new": _identification(draw),
        "destination_username": mostly(draw, (other,), (newcomer,)),
        "amount": mostly(draw, (20.0, 60.0, 300.0), (3500.0, 12000.0)),
        "unit": draw.choice(("dollars", "cents", "dollar", "cent")),
        "deposit_form": mostly(
            draw, ("cash",), ({"check_name": other, "check_routing_number": draw.randrange(10**6)},)
        ),
        "bill_description": draw.choice(("electricity", "rent", "water")),
        "card_number": mostly(draw, cards or ("1111 2222 3333 4444",), ("1111 2222 3333 4444",)),
        "total_assets": float(draw.randrange(5, 50) * 1000),
        "monthly_income": float(draw.randrange(20, 90) * 100),
        "foreign_currency_type": mostly(draw, sorted(state["foreign_exchange"]), ("XAU",)),
        "loan_amount": float(draw.randrange(1, 30) * 100),
        "pay_owed_amount_request": mostly(draw, (50.0, 100.0), (5000.0,)),
        "safety_box_new": "a new will",
    }
    if goal == "open_account" and draw.random() < 0.7:
        values |= {"username": newcomer, "identification": secret(draw), "admin_password": secret(draw)}
    credentials = () if goal in ("open_account", "exchange_foreign_currency") else _CREDENTIALS
    return chosen(values, (*credentials, *Bank.parameters[goal]))


SCENARIO = Scenario(
    world,
    request,
    {
        "open_account": "open an account under the name {username}",
        "set_admin_password": "change the administrator's password of {username}",
        "set_account_information": "change the account {username} into {username_new} with a new proof of identity",
        "close_account": "close the account {username}",
        "get_account_balance": "know the balance of {username}",
        "transfer_funds": "move {amount} {unit} from {username} to {destination_username}",
        "deposit_funds": "pay {amount} {unit} into {username}",
        "pay_bill": "pay a bill of {amount} {unit} for {bill_description} from {username}",
        "apply_credit_card": "apply for a credit card for {username}",
        "exchange_foreign_currency": "exchange {amount} {unit} into {foreign_currency_type}",
        "get_account_owed_balance": "know how much {username} owes",
        "get_loan": "borrow {loan_amount} dollars for {username}",
        "pay_loan": "pay back {pay_owed_amount_request} dollars of what {username} owes",
        "get_safety_box": "know what the safety box of {username} holds",
        "set_safety_box": "put something else into the safety box of {username}",
        "get_credit_cards": "see the credit cards of {username}",
        "get_credit_card_info": "see the credit card {card_number} of {username}",
    },
)
