"""Standard sudoku: complete a 9x9 grid."""

import json
from typing import Any

from assay.symbench.rows import TaskRow
from assay.symbench.verdicts import RIGHT, Profile, Verdict, loose_items, unreadable, wrong

SIZE = 9
DIGITS = set(range(1, SIZE + 1))


def verify(sample: TaskRow, answer: str, profile: Profile) -> Verdict:
    """Check rows, columns, boxes and givens; every published puzzle has exactly one solution.

    `upstream` wants JSON and ignores extra rows and columns; `corrected` reads every layout of 81 digits.
    """
    if profile == "upstream":
        try:
            grid = json.loads(answer)
        except (ValueError, RecursionError):
            return unreadable("not JSON")
        try:
            return check([[grid[row][column] for column in range(SIZE)] for row in range(SIZE)], sample)
        except (TypeError, IndexError, KeyError):
            return unreadable("not a 9x9 matrix of numbers")
    digits = "".join(loose_items(answer))
    if len(digits) != SIZE * SIZE or not (digits.isascii() and digits.isdigit()):
        return unreadable("not 81 digits")
    return check([[int(digit) for digit in digits[row * SIZE : (row + 1) * SIZE]] for row in range(SIZE)], sample)


def check(grid: list[list[Any]], sample: TaskRow) -> Verdict:
    """Check a complete grid against the givens (non-zero cells) and the three rules."""
    for row, given in zip(grid, sample.solution["puzzle"], strict=True):
        if any(want and cell != want for cell, want in zip(row, given, strict=True)):
            return wrong("a given digit was changed")
    groups = list(grid)
    groups += [[row[column] for row in grid] for column in range(SIZE)]
    groups += [
        [grid[top + i // 3][left + i % 3] for i in range(SIZE)]
        for top in range(0, SIZE, 3)
        for left in range(0, SIZE, 3)
    ]
    if any(set(group) != DIGITS for group in groups):
        return wrong("a row, column or box does not hold 1 to 9 once each")
    return RIGHT
