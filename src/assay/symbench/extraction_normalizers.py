"""Repair the format of an extracted answer, in place of the second language model that upstream asks.

Each normaliser turns the format that a question demands, and its usual variants, into the one format that the
task's upstream verifier reads. They work on the marker's content.
"""

import json
import re
from collections.abc import Callable

_INNER_ROW = re.compile(r"\[([^\[\]]*)\]")
_FLAT_DELETED = str.maketrans("\n", ",", "[]()\"'")
_JOIN_DELETED = str.maketrans("", "", "[]\"',")


def flat(text: str) -> str:
    r"""Return a comma list: line ends separate, brackets and quotes go, empty items go.

    Examples
    --------
    >>> flat("[1, 2]\n[3, 4]")
    '1, 2, 3, 4'
    """
    items = (item.strip() for item in text.strip().translate(_FLAT_DELETED).split(","))
    return ", ".join(item for item in items if item)


def join(text: str) -> str:
    """Return the items of a list as one word."""
    return "".join(text.translate(_JOIN_DELETED).split())


def quote(text: str) -> str:
    """Return the text without enclosing quotes."""
    text = text.strip()
    start, end = 0, len(text)
    # Two positions move inwards; slicing the text for every pair would take quadratic time.
    while end - start >= 2 and text[start] == text[end - 1] and text[start] in "\"'":
        start, end = start + 1, end - 1
        while start < end and text[start].isspace():
            start += 1
        while start < end and text[end - 1].isspace():
            end -= 1
    return text[start:end]


def grid(text: str) -> str:
    """Return rows and cells as compact nested brackets without quotes and blanks."""
    text = text.strip()
    rows = _INNER_ROW.findall(text) if text.startswith("[") else [row for row in text.split("\n") if row.strip()]
    return "[" + ",".join("[" + ",".join(_cells(row)) + "]" for row in rows) + "]"


def _cells(row: str) -> list[str]:
    cells = row.split(",") if "," in row else row.split()
    return [cell.strip().strip("\"'") for cell in cells]


def string_list(text: str) -> str:
    """Return a JSON list of strings; what is JSON already stays as it is."""
    text = text.strip()
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        items = (item.strip().strip("\"'") for item in text.strip("[]()").split(","))
        return json.dumps([item for item in items if item])
    return text


def bracketed(text: str) -> str:
    """Return the text with one pair of square brackets around it, if it does not open with one."""
    text = text.strip()
    return text if text.startswith("[") else f"[{text}]"


def integer_or(fallback: str) -> Callable[[str], str]:
    """Make a normaliser that keeps integers and replaces everything else by the nothing-found value."""

    def normalize(text: str) -> str:
        try:
            int(text)
        except ValueError:
            return fallback
        return text.strip()

    return normalize


def unchanged(text: str) -> str:
    """Return the text as it is."""
    return text


# Tasks that are not listed keep the text unchanged.
NORMALIZERS: dict[str, Callable[[str], str]] = {
    "2048": flat,
    "pooling": flat,
    "light_puzzles": flat,
    "reversi": flat,
    "matrix_transformation": flat,
    "synthesis_decomposition": flat,
    "constrained_linear_arrangement": flat,
    "pattern_recognition": flat,
    "cryptanalysis": join,
    "string_splitting": join,
    "string_insertion": quote,
    "string_deletion_and_modification": quote,
    "letter_logic_diagram": grid,
    "standard_sudoku": grid,
    "permutations_and_combinations": string_list,
    "logical_equation": bracketed,
    "combinatorial_calculation": bracketed,
    "mahjong_pattern": integer_or("-1"),
    "statistical_counting": integer_or("0"),
}
