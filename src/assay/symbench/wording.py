"""Small pieces of English that several questions share."""

from collections.abc import Iterable, Sequence


def marked(what: str, example: str) -> str:
    """Ask for the final answer in the marker."""
    return f"Write {what} between <<< and >>> at the end of your reply, for example <<<{example}>>>."


def listed(items: Sequence[str], last: str = "and") -> str:
    """Join with commas and one last word.

    Examples
    --------
    >>> listed(["A", "B", "C"]), listed(["A"])
    ('A, B and C', 'A')
    """
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} {last} {items[-1]}"


def numbered(lines: Iterable[str]) -> str:
    """Put a number, counted from 1, before each line."""
    return "\n".join(f"{number}. {line}" for number, line in enumerate(lines, 1))


def counted(number: int, singular: str, plural: str | None = None) -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> counted(1, "box", "boxes"), counted(3, "unit")
    ('1 box', '3 units')
    """
    return f"{number} {singular if number == 1 else plural or singular + 's'}"


def rows_text(rows: Iterable[Iterable[object]], separator: str) -> str:
    """Write a matrix, one row a line."""
    return "\n".join(separator.join(str(cell) for cell in row) for row in rows)
