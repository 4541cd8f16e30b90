"""New tasks of the library: books, users and rooms, and what users ask for."""

from datetime import timedelta
from random import Random
from typing import Any

from assay.sopbench.dates import from_human, to_human
from assay.sopbench.domain import Scenario
from assay.sopbench.domains.library.functions import Library
from assay.sopbench.pools import account_name, chosen, clock, code, mostly, people, secret

_TITLES = ("The Salt Road", "A Year of Owls", "Maps of Rain", "The Ninth Bridge", "Small Engines", "Letters to Ona")
_SLOTS = ("9:00", "10:00", "11:00", "14:00", "15:00")
_CREDENTIALS = ("username", "password")


def world(draw: Random) -> dict[str, Any]:
    """Draw four books, three users and two rooms."""
    now = clock(draw)
    titles = draw.sample(_TITLES, 4)
    ids = {title: code(draw, 3, 4) for title in titles}
    days = [to_human(now + timedelta(days=number)) for number in (0, 1, 2)]
    return {
        "interaction_date": to_human(now),
        "accounts": {account_name(person): _account(draw, now, ids) for person in people(draw, 3)},
        "books": {
            book: {"count": draw.choice((0, 1, 2, 5)), "restricted": draw.random() < 0.3} for book in ids.values()
        },
        "book_title_to_id": ids,
        "late_fee_per_book": 5.0,
        "membership_monthly_fee": 12.0,
        "loan_period": 14,
        "rooms": {room: {date: list(_SLOTS) for date in days} for room in ("201", "202")},
    }


def _account(draw: Random, now: Any, ids: dict[str, str]) -> dict[str, Any]:
    borrowed = draw.sample(sorted(ids.values()), draw.randrange(3))
    ends = to_human(now + timedelta(days=draw.choice((-30, 5, 20))))
    return {
        "password": secret(draw),
        "admin": draw.random() < 0.4,
        "balance": mostly(draw, (20.0, 60.0), (0.0, 3.0)),
        "membership": draw.choice((None, ends, ends)),
        "borrowed": {book: to_human(now + timedelta(days=draw.choice((-3, 4, 10)))) for book in borrowed},
        "late_book_count": draw.randrange(4),
        "room_reservation": {},
    }


def request(draw: Random, state: dict[str, Any], goal: str) -> dict[str, Any]:
    """Draw a user and what is asked for."""
    user = draw.choice(sorted(state["accounts"]))
    titles = list(state["book_title_to_id"])
    today = from_human(state["interaction_date"])
    slots = draw.sample(_SLOTS, draw.choice((1, 2, 3, 4)))
    missing = "A Book That Is Not There"
    values: dict[str, Any] = {
        "username": user,
        "password": state["accounts"][user]["password"],
        "book_title": mostly(draw, titles, (missing,), 0.6 if goal == "add_book" else 0.9),
        "amount": float(draw.randrange(1, 40)),
        "count": draw.randrange(1, 6),
        "restricted": draw.choice((True, False)),
        "room_id": mostly(draw, ("201", "202"), ("999",), 0.92),
        "resv_date": to_human(today + timedelta(days=mostly(draw, (0, 1, 2), (9,)))),
        "slots": sorted(slots) if draw.random() < 0.85 else ["23:00"],
    }
    return chosen(values, (*_CREDENTIALS, *Library.parameters[goal]))


SCENARIO = Scenario(
    world,
    request,
    {
        "show_available_book": "see which books are there",
        "borrow_book": "borrow {book_title}",
        "return_book": "bring {book_title} back",
        "check_return_date": "know when {book_title} is due",
        "get_account_balance": "know the balance of {username}",
        "credit_balance": "pay {amount} dollars into {username}",
        "pay_late_fee": "pay the fee for late books",
        "update_membership": "extend the membership of {username} by a month",
        "add_book": "add {count} copies of {book_title}",
        "remove_book": "remove {book_title} from the library",
        "show_available_rooms": "see which rooms are free",
        "reserve_room": "reserve the room {room_id} on {resv_date} at {slots}",
    },
)
