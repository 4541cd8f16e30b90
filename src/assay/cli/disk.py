"""What a disk or its owner refuses, in words."""

import errno
import os
import re
import tempfile
from pathlib import Path

from assay.errors import ArtifactError, ConfigError

_ROOM = "make room or change its rights, and run the same command again: what was finished is kept"
_IN_THE_WAY = "move what stands in the way, and run the same command again: what was finished is kept"
# Everything else of the operating system is our mistake and keeps its traceback.
_REMEDIES = dict.fromkeys((errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO), _ROOM) | (
    dict.fromkeys((errno.ENOTDIR, errno.EEXIST, errno.EISDIR, errno.ELOOP, errno.ENAMETOOLONG), _IN_THE_WAY)
)
_TEMPORARY = re.compile(r"\.(.+)\.[0-9a-f]{12}\.tmp\Z")


def refusal(error: BaseException) -> ArtifactError | None:
    """Return the error to show where a disk is full or a place cannot be written or read; else None."""
    if not isinstance(error, OSError) or error.errno not in _REMEDIES:
        return None
    return ArtifactError(error.strerror or str(error), file=_meant(error), remedy=_REMEDIES[error.errno])


def _meant(error: OSError) -> Path | None:
    """Return the file that was to be written; the one beside it, which gets its name at the end, tells nobody much."""
    name = error.filename2 or error.filename
    if name is None:
        return None
    path = Path(os.fsdecode(name))
    return path.with_name(found[1]) if (found := _TEMPORARY.match(path.name)) else path


def require_place(path: Path | None, key: str, *, folder: bool = False) -> None:
    """Refuse a place of output that cannot be written, before anything is read, computed or overwritten for it.

    Parameters
    ----------
    path : Path or None
        The file, or the folder for files, that will be written; None, where none was asked for, is right.
    key : str
        The argument that names it.

    Raises
    ------
    ConfigError
        If something else stands there, or no file can be made there.
    """
    if path is None:
        return
    expected = f"a {'folder' if folder else 'file'} that can be written"
    if os.path.lexists(path) and not (path.is_dir() if folder else path.is_file()):
        what = "a folder" if path.is_dir() else "a file" if folder else "no file that can be replaced"
        raise ConfigError(f"this is {what}", file=path, key=key, expected=expected, remedy="name another place")
    here = path if folder else path.parent
    while not os.path.lexists(here):
        here = here.parent
    try:
        with tempfile.NamedTemporaryFile(dir=here, prefix=f".{path.name}.", suffix=".000000.tmp"):
            pass  # its name is about as long as that of the file while it is written
    except OSError as error:
        raise ConfigError(
            f"nothing can be written there ({error.strerror})",
            file=path,
            key=key,
            expected=expected,
            remedy="name another place",
        ) from error
