"""Letter logic diagram: a 7x7 Latin square over a..g with a constant minor diagonal."""

from assay.symbench.rows import TaskRow
from assay.symbench.verdicts import RIGHT, Profile, Verdict, loose_items, unreadable, when, wrong

SIZE = 7
LETTERS = "abcdefg"
Grid = list[list[str]]


def verify(sample: TaskRow, answer: str, profile: Profile) -> Verdict:
    """Compare with the stored square, or check the rules.

    84 of the 200 published puzzles have more than one completion (deviation D5), so `corrected` checks rows,
    columns, the minor diagonal and the given letters.
    """
    if profile == "upstream":
        rows = [[cell.strip() for cell in row.strip("[]").split(",")] for row in answer.strip("[]").split("],[")]
        if len(rows) != SIZE or any(len(row) != SIZE for row in rows):
            return unreadable("not seven rows of seven cells")
        return when(rows == sample.solution["solution"], "the square differs from the reference")
    cells = list("".join(loose_items(answer)))
    if len(cells) != SIZE * SIZE:
        return unreadable(f"{len(cells)} letters, expected {SIZE * SIZE}")
    return check([cells[row * SIZE : (row + 1) * SIZE] for row in range(SIZE)], sample.solution["grid"])


def check(rows: Grid, givens: list[list[str | None]]) -> Verdict:
    """Check a complete square against the three rules and the given letters."""
    for index in range(SIZE):
        if sorted(rows[index]) != list(LETTERS):
            return wrong(f"row {index + 1} does not hold each letter once")
        if sorted(row[index] for row in rows) != list(LETTERS):
            return wrong(f"column {index + 1} does not hold each letter once")
    if len({rows[index][SIZE - 1 - index] for index in range(SIZE)}) != 1:
        return wrong("the minor diagonal holds different letters")
    for row, given in zip(rows, givens, strict=True):
        if any(want is not None and cell != want for cell, want in zip(row, given, strict=True)):
            return wrong("a given letter was changed")
    return RIGHT
