"""Dates as the domains write them, on a clock that never advances."""

import re
from datetime import date, datetime

_ORDINAL = re.compile(r"(\d+)(st|nd|rd|th)")


def moment(text: str) -> datetime:
    """Read an ISO date-time (``2024-11-21T16:25:31``)."""
    return datetime.fromisoformat(text)


def day(text: str) -> datetime:
    """Read a plain date (``2024-11-21``) as its midnight; date-times raise ValueError."""
    return datetime.strptime(text, "%Y-%m-%d")  # noqa: DTZ007 - the domains' clock has no zone


def completed_years(birthday: date, today: date) -> int:
    """Return the age in completed years."""
    return today.year - birthday.year - ((today.month, today.day) < (birthday.month, birthday.day))


def from_human(text: str) -> datetime:
    """Read ``October 10th, 2024``; the ordinal ending is not checked against the number."""
    return datetime.strptime(_ORDINAL.sub(r"\1", text), "%B %d, %Y")  # noqa: DTZ007


def to_human(value: date) -> str:
    """Write ``October 10th, 2024``.

    Examples
    --------
    >>> to_human(date(2024, 11, 12)), to_human(date(2024, 11, 22))
    ('November 12th, 2024', 'November 22nd, 2024')
    """
    teens = 10 <= value.day % 100 <= 20
    ending = "th" if teens else {1: "st", 2: "nd", 3: "rd"}.get(value.day % 10, "th")
    return f"{_MONTHS[value.month - 1]} {value.day}{ending}, {value.year}"


# strftime follows the process's locale; the data is English.
_MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
