"""What a verifier says about one answer, and the small readers that verifiers share."""

import re
from typing import Any, Literal

import msgspec

Profile = Literal["upstream", "corrected"]
Outcome = Literal["right", "wrong", "unreadable", "crash", "failed"]

_SEPARATORS = re.compile(r"[\s,;\[\](){}\"'`]+")


class Verdict(msgspec.Struct, frozen=True):
    """The judgement of one answer text.

    `outcome` is "unreadable" for an answer that is not of the kind that the task asks for, "crash" where the authors'
    verifier raises and ends their run (`upstream` only), and "failed" where there was nothing to judge: no response, or
    a sample that lacks what its verifier reads. Everything but "right" counts as wrong.
    """

    outcome: Outcome
    reason: str = ""

    @property
    def correct(self) -> bool:
        """Whether the answer earns the point."""
        return self.outcome == "right"


RIGHT = Verdict("right")


def wrong(reason: str) -> Verdict:
    """Refuse a readable answer."""
    return Verdict("wrong", reason[:200])


def unreadable(reason: str) -> Verdict:
    """Refuse a text that holds no answer of the expected kind."""
    return Verdict("unreadable", reason[:200])


def crash(reason: str) -> Verdict:
    """Say that the authors' verifier raises on this text."""
    return Verdict("crash", reason[:200])


def failed(reason: str) -> Verdict:
    """Say that the answer could not be judged at all."""
    return Verdict("failed", reason[:200])


def when(condition: bool, otherwise: str) -> Verdict:
    """Accept if the condition holds, else refuse with a reason."""
    return RIGHT if condition else wrong(otherwise)


def comma_items(text: str) -> list[str]:
    """Split at commas and trim, as most of the authors' verifiers do; newlines do not separate."""
    return [item.strip() for item in text.split(",")]


def loose_items(text: str) -> list[str]:
    r"""Split at commas, white space, brackets and quotes: every layout of a matrix gives the same items.

    Examples
    --------
    >>> loose_items("[[1, 2],\n [3, 4]]") == loose_items("1,2,3,4") == loose_items("1 2\n3 4")
    True
    """
    return [item for item in _SEPARATORS.split(text) if item]


def compare_items(items: list[str], expected: list[str]) -> Verdict:
    """Accept equal lists; name the first difference otherwise."""
    if len(items) != len(expected):
        return wrong(f"{len(items)} items, expected {len(expected)}")
    for index, (item, want) in enumerate(zip(items, expected, strict=True), 1):
        if item != want:
            return wrong(f"item {index} is {item[:20]!r}, expected {want!r}")
    return RIGHT


def integers(items: list[str]) -> list[int] | None:
    """Return the items as integers, or None if one is none (Python's integer syntax, any decimal digits)."""
    try:
        return [int(item) for item in items]
    except ValueError:
        return None


def flatten(rows: list[list[Any]]) -> list[Any]:
    """Return the cells of a matrix row by row."""
    return [cell for row in rows for cell in row]


def clipped(text: str, width: int = 40) -> str:
    """Return a text short enough for a reason."""
    return text if len(text) <= width else text[: width - 3] + "..."
