"""Names and words from which new worlds are made; every one is invented."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from random import Random
from string import ascii_lowercase, ascii_uppercase, digits
from typing import Any

FIRST = (
    "Ada",
    "Bela",
    "Chidi",
    "Dara",
    "Emre",
    "Fatou",
    "Goran",
    "Hana",
    "Ines",
    "Jonas",
    "Kaya",
    "Lior",
    "Mina",
    "Noor",
)
LAST = ("Abara", "Brandt", "Castro", "Dimov", "Eriksen", "Farkas", "Grieve", "Hadid", "Ito", "Juhasz", "Kovac", "Lund")
STREETS = (
    "Alder Lane",
    "Bridge Road",
    "Canal Street",
    "Dune Way",
    "Elm Court",
    "Ferry Road",
    "Garden Walk",
    "Hill Street",
)


def people(draw: Random, count: int) -> list[str]:
    """Return different full names."""
    pairs = [f"{first} {last}" for first in FIRST for last in LAST]
    return draw.sample(pairs, count)


def account_name(person: str) -> str:
    """Return the account name of a person."""
    return person.lower().replace(" ", "_")


def secret(draw: Random, length: int = 10) -> str:
    """Return a password."""
    return "".join(draw.choices(ascii_lowercase + digits, k=length))


def code(draw: Random, letters: int, numbers: int) -> str:
    """Return an identifier of letters and digits; the first digit is no zero, so that it reads as a text of digits."""
    return "".join(draw.choices(ascii_uppercase, k=letters)) + "".join(draw.choices("123456789", k=numbers))


def address(draw: Random) -> str:
    """Return a postal address."""
    return f"{draw.randrange(1, 200)} {draw.choice(STREETS)}"


def clock(draw: Random, first_hour: int = 8, last_hour: int = 19) -> datetime:
    """Return a moment at which everything happens."""
    start = datetime(2025, 1, 10) + timedelta(days=draw.randrange(300))  # noqa: DTZ001 - the domains' clock has no zone
    return start + timedelta(hours=draw.randrange(first_hour, last_hour + 1), minutes=draw.randrange(60), seconds=31)


def shifted(now: datetime, days: int) -> str:
    """Return the date some days after (before, if negative) a moment."""
    return (now + timedelta(days=days)).strftime("%Y-%m-%d")


def birthday(draw: Random, today: date, youngest: int, oldest: int) -> str:
    """Return a date of birth; the 29th of February is left out."""
    return date(
        today.year - draw.randrange(youngest, oldest + 1), draw.randrange(1, 13), draw.randrange(1, 29)
    ).isoformat()


def mostly(draw: Random, usual: Sequence[Any], unusual: Sequence[Any], share: float = 0.8) -> Any:
    """Return one of the usual values, or seldom one of the others."""
    return draw.choice(usual if draw.random() < share else unusual)


def chosen(values: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Return the values with these names, each once, in their order; names without a value are left out."""
    return {name: values[name] for name in dict.fromkeys(names) if name in values}
