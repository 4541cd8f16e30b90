"""Numbers by value: a mark before exactly three digits groups, any other mark is a decimal point.

So 8,849, 8.849 and 8 849 are one number. A number that the query contains is no answer, and one after the right one
counts only where it is joined to it.
"""

import re
from bisect import bisect_left, bisect_right
from itertools import pairwise
from typing import NamedTuple

from assay.fks.clauses import is_negated
from assay.fks.lexicon import Lexicon
from assay.fks.normalisation import LETTER, Text
from assay.fks.outcome import Outcome
from assay.fks.wordlists import ARTICLES, CONNECTORS, DISJUNCTIONS, RANGE_WORDS

# A run of digits and single marks between them; what the marks mean is decided part by part. Letters may follow
# directly ("8849m") but not stand before ("A318").
_RUN = re.compile(rf"(?<!{LETTER})(?<!\d[.,])\d+(?:[ ,.]\d+)*", re.ASCII)
_PART = re.compile(r"[ ,.]?\d+", re.ASCII)
_SIGN = re.compile(r"(?:^|[ (])-\Z")
_FIRST_ITEM = re.compile(r"\(?1[.)] \S")
_MARKS = " ,、-–/&+~|"
_UNIT_GAP = 1  # tokens (a unit) that may stand between two numbers besides a connector


class Number(NamedTuple):
    """A number: tokens start..end-1, and its value in one spelling ("8849", "-3.5")."""

    start: int
    end: int
    value: str


def read_numbers(text: Text) -> list[Number]:
    """Return the numbers of a text in order."""
    found = []
    for run in _RUN.finditer(text.norm):
        for start, stop, value in _split_run(run.group()):
            first, last = run.start() + start, run.start() + stop
            if start == 0 and _SIGN.search(text.norm[max(0, first - 2) : first]):
                value = "-" + value if value != "0" else value
            offsets = text.offsets
            found.append(Number(bisect_right(offsets, first) - 1, bisect_left(offsets, last), value))
    return found


def _split_run(run: str) -> list[tuple[int, int, str]]:
    """Cut a run into numbers: a mark before exactly three digits groups, another one is decimal."""
    numbers: list[tuple[int, int, str]] = []
    start, digits, fraction, grouped, end = 0, "", "", False, 0

    def finish() -> None:
        if digits:
            value = digits.lstrip("0") or "0"
            decimals = fraction.rstrip("0")
            numbers.append((start, end, f"{value}.{decimals}" if decimals else value))

    for part in _PART.finditer(run):
        mark, figures = ("", part.group()) if part.group()[0].isdigit() else (part.group()[0], part.group()[1:])
        if mark and grouped and not fraction and len(figures) == 3 and digits != "0":
            digits += figures
        elif mark in (",", ".") and digits and not fraction:
            fraction = figures
        else:
            finish()
            start, digits, fraction = part.start() + len(mark), figures, ""
            grouped = len(figures) <= 3
        end = part.end()
    finish()
    return numbers


def starts_list(text: Text) -> bool:
    """Tell whether a text begins with the number of a list's first item, "1. +43": no answer, unless 1 is right."""
    return _FIRST_ITEM.match(text.norm) is not None


def values_of(surface: str) -> str | None:
    """Return the value of a surface that is nothing but a number, sign and mark aside; else None."""
    text = Text(surface)
    numbers = read_numbers(text)
    if len(numbers) == 1 and numbers[0].end - numbers[0].start == len(text.tokens):
        return numbers[0].value
    return None


def judge_numbers(text: Text, golds: frozenset[str], words: Lexicon, asked: frozenset[str], german: bool) -> Outcome:
    """Label a segment whose answer is a number.

    Parameters
    ----------
    golds : frozenset of str
        Values of the accepted surfaces that are numbers.
    words : Lexicon
        The other accepted surfaces ("seventy-nine").
    asked : frozenset of str
        Values that the query contains; wrong ones among them are ignored.
    """
    spelt = [Number(m.start, m.end, "") for m in words.mentions(text, german=german, code=False)]
    numbers = sorted(read_numbers(text) + spelt)
    live, denied = [], ""
    for number in numbers:
        if not text.masked.isdisjoint(range(number.start, number.end)):
            continue
        right = number.value in golds or not number.value
        if number.start == 0 and not right and starts_list(text):
            continue
        if is_negated(text, number.start, number.end):
            denied = denied or (_written(text, number) if right else "")
        elif right or number.value not in asked:
            live.append((number, right))
    first = next((place for place, (_, right) in enumerate(live) if right), None)
    if first is None:
        surface = _written(text, live[0][0]) if live else denied
        return Outcome("incorrect", "number_wrong" if live else "number_negated" if denied else "number_none", surface)
    surface = _written(text, live[first][0])
    if first > 0:
        return Outcome("ambiguous", "number_wrong_before", surface, True)
    for (one, right), (other, other_right) in pairwise(live):
        if right != other_right and _joined(text, one, other):
            return Outcome("ambiguous", "number_joined", surface, True)
    if denied:
        return Outcome("ambiguous", "number_affirmed_and_denied", surface, True)
    return Outcome("correct", "number", surface, True)


def _written(text: Text, number: Number) -> str:
    return number.value or " ".join(text.tokens[number.start : number.end])


def _joined(text: Text, one: Number, other: Number) -> bool:
    between = text.tokens[one.end : other.start]
    gaps = text.gaps[one.end : other.start + 1]
    if any(gap.strip(_MARKS) for gap in gaps):
        return False
    strong = any(token in DISJUNCTIONS or token in RANGE_WORDS for token in between)
    others = [t for t in between if t not in CONNECTORS | DISJUNCTIONS | RANGE_WORDS | ARTICLES]
    return len(others) <= (_UNIT_GAP if strong else 0)
