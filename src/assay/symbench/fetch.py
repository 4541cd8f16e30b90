"""`assay data fetch symbench`: the authors' repository at the pinned commit, or a local clone or mirror."""

import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from assay.errors import DataError
from assay.symbench.datasets_build import build

REPOSITORY = "https://github.com/yongchao98/CodeSteer-v1.0"
COMMIT = "2a7750d85c569cdaacd0f7cf6da40c6cc2a9d058"
_TIMEOUT_S = 1800


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
        raise DataError("the file does not exist", file=companion)
    if source is not None and Path(source).is_dir():
        yield from build(Path(source), companion, out)
        return
    with tempfile.TemporaryDirectory(prefix="assay-symbench-") as folder:
        _clone(source or REPOSITORY, Path(folder))
        yield from build(Path(folder), companion, out)


def _clone(url: str, folder: Path) -> None:
    """Check out the pinned commit alone, without history and without the models' files."""
    if "://" not in url and not url.startswith("git@"):
        raise DataError(f"{url!r} is neither a folder nor a URL", expected="a clone of the authors' repository")
    for arguments in (
        ["init", "--quiet"],
        ["fetch", "--quiet", "--depth", "1", "--filter=blob:none", url, COMMIT],
        ["sparse-checkout", "set", "dataset_gather"],
        ["checkout", "--quiet", "FETCH_HEAD"],
    ):
        try:
            subprocess.run(
                ["git", "-C", str(folder), *arguments],
                check=True,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_TIMEOUT_S,
            )
        except FileNotFoundError as error:
            raise DataError(
                "git is not installed", remedy="install git, or unpack the repository and use --from"
            ) from error
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
            said = str(error.stderr or error).strip().splitlines()[-1:]
            raise DataError(
                f"the repository cannot be fetched ({''.join(said)})",
                file=url,
                expected=f"commit {COMMIT}",
                remedy="clone it elsewhere and name the folder: assay data fetch symbench --from FOLDER",
            ) from error
