"""`assay data fetch symbench`: the authors' repository at the pinned commit, or a local clone or mirror."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

from assay.errors import DataError
from assay.records.checkout import checkout
from assay.symbench.datasets_build import build

REPOSITORY = "https://github.com/yongchao98/CodeSteer-v1.0"
COMMIT = "2a7750d85c569cdaacd0f7cf6da40c6cc2a9d058"


def fetch(source: str | None, out: Path, companion: Path | None) -> Iterator[str]:
    """Write the sample files; yield one line a task.

    Parameters
    ----------
    source : str or None
        A folder (clone, unpacked archive, or its dataset_gather), or the URL of a mirror; None: the original.
    out : Path
        Folder for TASK.jsonl.
    companion : Path or None
        path_plan_environments.json; without it path_plan is left out.
    """
    if companion is not None and not companion.is_file():
        raise DataError(
            "a folder, not a file" if companion.is_dir() else "the file does not exist",
            file=companion,
            expected="path_plan_environments.json",
        )
    if source is not None and Path(source).is_dir():
        yield from build(Path(source), companion, out)
        return
    with tempfile.TemporaryDirectory(prefix="assay-symbench-") as folder:
        checkout(source or REPOSITORY, COMMIT, "dataset_gather", Path(folder), benchmark="symbench")
        yield from build(Path(folder), companion, out)
