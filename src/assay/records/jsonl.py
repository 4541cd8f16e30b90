"""Typed rows in JSON Lines files: canonical bytes out, precise complaints in."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import jsonlines
import msgspec

from assay.canonical import canonical_bytes, canonical_text
from assay.errors import DataError
from assay.records.atomic import atomic_file

Row = TypeVar("Row")


def read_rows(path: Path, kind: type[Row]) -> Iterator[Row]:
    """Yield the rows of a JSON Lines file as `kind` (a msgspec struct, or `dict`), in file order.

    Raises
    ------
    DataError
        Naming file and row, if the file is missing, a line is no JSON, or a row does not fit `kind`.
    """
    convert: Callable[[Any], Row] = (lambda value: value) if kind is dict else lambda v: msgspec.convert(v, kind)
    number = 0
    try:
        with path.open("rb") as file, jsonlines.Reader(file, loads=msgspec.json.decode) as reader:
            for number, value in enumerate(reader, 1):  # noqa: B007 - the error below names it
                yield convert(value)
    except FileNotFoundError as error:
        raise DataError("the file does not exist", file=path, expected="a JSON Lines file") from error
    except msgspec.ValidationError as error:
        raise DataError(str(error), file=path, row=number, expected=f"a {kind.__name__}") from error
    except (jsonlines.InvalidLineError, UnicodeDecodeError) as error:
        row = getattr(error, "lineno", number + 1)
        raise DataError(
            "this line is not JSON in UTF-8", file=path, row=row, expected="one JSON object a line"
        ) from error


def row_bytes(row: object) -> bytes:
    """Return the canonical line of a row, line end included."""
    return canonical_bytes(msgspec.to_builtins(row)) + b"\n"


def write_rows(path: Path, rows: Iterable[object]) -> int:
    """Write rows (structs or plain JSON data) as canonical JSON Lines, atomically; return their number."""
    count = 0
    with atomic_file(path) as file:
        for count, row in enumerate(rows, 1):  # noqa: B007 - it is the result
            file.write(row_bytes(row))
    return count


def write_json(path: Path, value: object) -> None:
    """Write one JSON document: sorted keys, two spaces, one final line end."""
    data = msgspec.to_builtins(value)
    canonical_text(data)  # refuses NaN and keys that are not strings
    with atomic_file(path) as file:
        file.write(msgspec.json.format(canonical_bytes(data), indent=2) + b"\n")
