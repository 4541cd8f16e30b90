"""Digests of files that are read once per process as long as nobody touches the file; words about a full disk."""

import errno
import os
import time
from pathlib import Path

from assay.canonical import file_digest

# A second change within one tick of a file system's clock leaves the identity as it is; the coarsest tick is 2 s.
_YOUNG_NS = 2_000_000_000
_digests: dict[tuple[Path, str], str] = {}


def file_identity(path: Path) -> str:
    """Return device, inode, size and times of a file; changed bytes under old size and time change the last one."""
    stat = path.stat()
    return f"{stat.st_dev}:{stat.st_ino}:{stat.st_size}:{stat.st_mtime_ns}:{stat.st_ctime_ns}"


def known_digest(path: Path) -> str:
    """Return a file's sha256, computed once per process and identity of the file, unless it has just been written."""
    identity = (path, file_identity(path))
    if identity in _digests:
        return _digests[identity]
    age_ns = time.time_ns() - path.stat().st_ctime_ns
    found = file_digest(path)
    if age_ns > _YOUNG_NS:
        _digests[identity] = found
    return found


def raise_full_disk(said: str) -> None:
    """Raise the `OSError` of a full disk if that is what another process died of, by its last words."""
    for number in (errno.ENOSPC, errno.EDQUOT):
        if os.strerror(number) in said:
            raise OSError(number, f"{os.strerror(number)}, there or in the folder for temporary files")
