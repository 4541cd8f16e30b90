"""What a disk or its owner refuses, in words."""

import errno

from assay.errors import ArtifactError

# Everything else of the operating system is our mistake and keeps its traceback.
_REFUSED = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM})


def refusal(error: BaseException) -> ArtifactError | None:
    """Return the error to show where a disk is full or a place cannot be written or read; else None."""
    if not isinstance(error, OSError) or error.errno not in _REFUSED:
        return None
    return ArtifactError(
        error.strerror or str(error),
        file=error.filename,
        remedy="make room or change its rights, and run the same command again: what was finished is kept",
    )
