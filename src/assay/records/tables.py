"""CSV tables: one form of a cell in every table that is written."""

import csv
import io
from collections.abc import Iterable, Sequence


def csv_text(columns: Sequence[str], lines: Iterable[Iterable[object]]) -> str:
    r"""Return a CSV text: the header, then one line each, with line feeds.

    What is not defined (None) is an empty cell, a truth value is `true` or `false`, and a float is written so that it
    reads back as the same number.

    Examples
    --------
    >>> csv_text(["name", "value", "kept"], [["a, b", 0.1 + 0.2, True], ["c", None, False]])
    'name,value,kept\n"a, b",0.30000000000000004,true\nc,,false\n'
    """
    text = _Lines()
    # With this end of line the writer also quotes a lone carriage return, at which readers would end the line.
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(columns)
    writer.writerows([_cell(value) for value in line] for line in lines)
    return text.getvalue()


class _Lines(io.StringIO):
    """What a CSV writer gives, line by line, ended by a line feed alone."""

    def write(self, line: str) -> int:
        return super().write(line.removesuffix("\r\n") + "\n")


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return repr(float(value)) if isinstance(value, float) else str(value)
