"""Read lists of grid positions, `row column` pairs."""

import re

Cell = tuple[int, int]

# Possessive throughout: runs of white space that may be split in two would take quadratic time.
_PAIR = re.compile(
    r"\s*+[\[(]?+\s*+(\d{1,4})(?:\s*+,\s*+|\s++)(\d{1,4})(?:\s*+[\])])?+(?:\s*+(?:[,;]|\Z)|[^\S\n]*+\n)", re.ASCII
)


def read_positions(text: str) -> list[Cell]:
    """Read pairs as upstream does: stop without a word at the first part that is not two integers."""
    cells: list[Cell] = []
    for part in text.split(","):
        try:
            row, column = map(int, part.split())
        except ValueError:
            break
        cells.append((row, column))
    return cells


def read_strictly(text: str) -> list[Cell] | None:
    r"""Read a list of nothing but pairs, between commas or on lines of their own, or return None.

    Examples
    --------
    >>> read_strictly("0 3, 1 0") == read_strictly("[(0, 3), (1, 0)]") == read_strictly("0 3\n1 0") == [(0, 3), (1, 0)]
    True
    >>> read_strictly("0 3, 1 0 and so on") is None
    True
    """
    text = text.strip()
    if text.startswith("[") and text.endswith("]") and ("[" in text[1:] or text.count("]") == 1):
        text = text[1:-1].strip()
    cells: list[Cell] = []
    position = 0
    while position < len(text):
        match = _PAIR.match(text, position)
        if match is None:
            return None
        cells.append((int(match.group(1)), int(match.group(2))))
        position = match.end()
    return cells
