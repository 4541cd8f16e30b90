"""Digests of files that are read once per process as long as nobody touches the file."""

from pathlib import Path

from assay.canonical import file_digest

_digests: dict[tuple[Path, str], str] = {}


def file_identity(path: Path) -> str:
    """Return device, inode, size and times of a file; changed bytes under old size and time change the last one."""
    stat = path.stat()
    return f"{stat.st_dev}:{stat.st_ino}:{stat.st_size}:{stat.st_mtime_ns}:{stat.st_ctime_ns}"


def known_digest(path: Path) -> str:
    """Return a file's sha256, computed once per process and identity of the file."""
    identity = (path, file_identity(path))
    if identity not in _digests:
        _digests[identity] = file_digest(path)
    return _digests[identity]
