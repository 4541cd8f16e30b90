"""Eight queens: complete a board on which some cells are blocked."""

from assay.symbench.positions import Cell, read_positions, read_strictly
from assay.symbench.rows import TaskRow
from assay.symbench.verdicts import RIGHT, Profile, Verdict, unreadable, wrong

SIZE = 8


def verify(sample: TaskRow, answer: str, profile: Profile) -> Verdict:
    """Check the eight queens against each other and against the blocked cells.

    `upstream` stops reading at the first bad pair, knows no edge of the board and lets given queens move
    (deviation D10); `corrected` requires 0..7, every given queen, and a text of nothing but pairs.
    """
    if profile == "upstream":
        queens = read_positions(answer)
    else:
        strict = read_strictly(answer)
        if strict is None:
            return unreadable("not a list of row column pairs, 0 to 7")
        queens = strict
    if len(queens) != SIZE:
        return wrong(f"{len(queens)} queens")
    if profile == "corrected" and any(max(queen) >= SIZE for queen in queens):
        return wrong("a queen stands outside the board")
    if any(list(queen) in sample.solution["blocked_positions"] for queen in queens):
        return wrong("a queen stands on a blocked cell")
    if profile == "corrected" and any(tuple(given) not in queens for given in sample.solution["placed_queens"]):
        return wrong("a given queen is missing")
    return _attack_free(queens)


def _attack_free(queens: list[Cell]) -> Verdict:
    lines = (
        ("row", {row for row, _ in queens}),
        ("column", {column for _, column in queens}),
        ("diagonal", {row - column for row, column in queens}),
        ("diagonal", {row + column for row, column in queens}),
    )
    for name, values in lines:
        if len(values) != len(queens):
            return wrong(f"two queens share a {name}")
    return RIGHT
