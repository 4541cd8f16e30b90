"""Data files that the lock names: they are read only as they were recorded."""

from pathlib import Path

from assay.canonical import file_digest
from assay.errors import DataError


def require_locked(path: Path, sha256: str | None, benchmark: str) -> None:
    """Refuse a data file that is not the one in the lock.

    Parameters
    ----------
    sha256 : str or None
        As the lock records it; None where the lock does not name the file.
    benchmark : str
        Whose data it is: named in the remedy.

    Raises
    ------
    DataError
        If the file is missing, unknown to the lock, or another one.
    """
    remedy = f"put the recorded file there, or run `assay data lock {benchmark} --renew` if the change is meant"
    if sha256 is None:
        raise DataError(
            "the lock does not name this file", file=path, expected="a file of configs/lock.yaml", remedy=remedy
        )
    if not path.is_file():
        raise DataError("the file is missing", file=path, expected=f"sha256 {sha256}", remedy=remedy)
    found = file_digest(path)
    if found != sha256:
        raise DataError(
            f"the file is not the locked one: sha256 {found}", file=path, expected=f"sha256 {sha256}", remedy=remedy
        )
