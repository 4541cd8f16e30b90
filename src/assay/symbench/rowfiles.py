"""JSON Lines files, compressed or not, as typed rows."""

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

import msgspec

from assay.errors import DataError
from assay.records.jsonl import read_rows

Row = TypeVar("Row")


def read_compressed_rows(path: Path, kind: type[Row]) -> Iterator[Row]:
    """Yield the rows of a `.jsonl` or `.jsonl.gz` file as `kind`.

    Raises
    ------
    DataError
        Naming file and row, if the file is missing or damaged, or a row does not fit `kind`.
    """
    if path.suffix != ".gz":
        yield from read_rows(path, kind)
        return
    number = 0
    try:
        with gzip.open(path, "rb") as file:
            for line in file:
                number += 1
                yield msgspec.json.decode(line, type=kind)
    except FileNotFoundError as error:
        raise DataError("the file does not exist", file=path) from error
    except msgspec.ValidationError as error:
        raise DataError(str(error), file=path, row=number, expected=f"a {kind.__name__}") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise DataError("this line is not JSON in UTF-8", file=path, row=number) from error
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"the file cannot be decompressed ({error})", file=path, row=number + 1) from error
