"""Files that are either absent or complete."""

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any


@contextmanager
def atomic_file(path: Path, mode: str = "wb") -> Iterator[IO[Any]]:
    """Open a temporary file beside `path`; on success fsync it and rename it to `path`.

    On an exception the temporary file goes and `path` is what it was. Text is UTF-8 with line
    feeds on every platform.

    Raises
    ------
    OSError
        If the disk is full, naming `path`: the system's own error names no file.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.parent / f".{path.name}.{secrets.token_hex(6)}.tmp"
    text = {} if "b" in mode else {"encoding": "utf-8", "newline": "\n"}
    try:
        with temporary.open(mode, **text) as file:  # type: ignore[call-overload]
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
        fsync_folder(path.parent)
    except OSError as error:
        if error.errno in {errno.ENOSPC, errno.EDQUOT} and error.filename is None:
            error.filename = str(path)
        raise
    finally:
        temporary.unlink(missing_ok=True)


def fsync_folder(folder: Path) -> None:
    """Make the names in a folder durable."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_if_changed(path: Path, data: bytes) -> bool:
    """Write bytes atomically unless the file already holds them; return whether it was written."""
    if path.is_file() and path.read_bytes() == data:
        return False
    with atomic_file(path) as file:
        file.write(data)
    return True
