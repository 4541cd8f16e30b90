"""Pooling: maximum or average over a sliding window with stride 1."""

import math

from assay.symbench.rows import TaskRow
from assay.symbench.verdicts import (
    RIGHT,
    Profile,
    Verdict,
    clipped,
    comma_items,
    flatten,
    integers,
    loose_items,
    unreadable,
    when,
    wrong,
)

# Deviation D1: averages may be rounded to two decimals.
ABSOLUTE, RELATIVE = 1e-2, 1e-3


def verify(sample: TaskRow, answer: str, profile: Profile) -> Verdict:
    """Compare the numbers with the reference matrix, row by row.

    `upstream` reads integers only, so no average answer can ever pass. `corrected` reads decimals: averages may
    differ by 0.01 or 0.1 percent, maxima not at all.
    """
    expected = flatten(sample.solution["solution"])
    if profile == "upstream":
        values = integers(comma_items(answer))
        if values is None:
            return unreadable("not a list of integers")
        return when(values == expected, "the values differ from the reference")
    return _corrected(loose_items(answer), expected, exact=sample.solution["pooling_type"] == "max")


def _corrected(items: list[str], expected: list[float], exact: bool) -> Verdict:
    if len(items) != len(expected):
        return wrong(f"{len(items)} values, expected {len(expected)}")
    for index, (item, want) in enumerate(zip(items, expected, strict=True), 1):
        try:
            value = float(item.replace("−", "-"))
        except ValueError:
            return unreadable(f"value {index} is {clipped(item)!r}, not a number")
        # The margin is closed: 0.125 rounded to 0.12 or 0.13 must pass whatever binary rounding does to it.
        limit = 0.0 if exact else max(ABSOLUTE, RELATIVE * abs(want)) * (1 + 1e-9)
        if not math.isfinite(value) or abs(value - want) > limit:
            return wrong(f"value {index} is {clipped(item)}, expected {want}")
    return RIGHT
