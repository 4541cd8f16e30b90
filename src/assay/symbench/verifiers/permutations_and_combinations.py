"""Permutations and combinations: arrange books on a shelf under constraints."""

import json
import re
from typing import Any

from assay.symbench.extraction_normalizers import string_list
from assay.symbench.rows import TaskRow
from assay.symbench.verdicts import RIGHT, Profile, Verdict, unreadable, wrong

_FIXED = re.compile(r"Book (\w+) must be placed in position (\d+)")
_EXCLUDED = re.compile(r"Book (\w+) cannot be placed in position (\d+)")
_ORDER = re.compile(r"Book (\w+) must be (to the left of|to the right of|adjacent to) book (\w+)")


def verify(sample: TaskRow, answer: str, profile: Profile) -> Verdict:
    """Check an order of the books, left to right, against all constraints.

    `upstream` checks the constraints alone: books may be missing, foreign or repeated, the last position counts
    (deviation D12). `corrected` requires each book exactly once.
    """
    try:
        order = json.loads(answer if profile == "upstream" else string_list(answer))
    except (ValueError, RecursionError):
        return unreadable("not JSON")
    if not isinstance(order, list | str | dict) or not order:
        return unreadable("not a list of books")
    if profile == "corrected":
        if not isinstance(order, list):
            return unreadable("not a list of books")
        if sorted(map(str, order)) != sorted(sample.solution["items"]):
            return wrong("not every book exactly once")
    try:
        positions = {book: position for position, book in enumerate(order, 1)}
    except TypeError:
        return unreadable("a book is not a name")
    for line in sample.solution["constraints_text"].splitlines():
        if line.strip() and not _holds(line, positions):
            return wrong(f"not met: {line.strip()}")
    return RIGHT


def _holds(line: str, positions: dict[Any, int]) -> bool:
    if match := _FIXED.search(line):
        return positions.get(match.group(1)) == int(match.group(2))
    if match := _EXCLUDED.search(line):
        return positions.get(match.group(1), int(match.group(2))) != int(match.group(2))
    match = _ORDER.search(line)
    if match is None:
        raise ValueError(f"unknown constraint {line!r}")
    first, relation, second = positions.get(match.group(1)), match.group(2), positions.get(match.group(3))
    if first is None or second is None:
        return False
    if relation == "adjacent to":
        return abs(first - second) == 1
    return first < second if relation == "to the left of" else first > second
