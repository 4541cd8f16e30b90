"""A folder of a repository at one commit, without history, for published data."""

import os
import subprocess
from pathlib import Path

from assay.errors import DataError

# What a hook of another repository sets: with it git would check out there.
_OF_ANOTHER = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY")


def checkout(url: str, commit: str, subfolder: str, target: Path, *, benchmark: str, timeout_s: float = 1800) -> None:
    """Check out one folder of a repository at a pinned commit.

    Parameters
    ----------
    url : str
        The repository or a mirror of it.
    subfolder : str
        The one folder that is fetched.
    target : Path
        An empty folder.
    benchmark : str
        Named in the remedy: `assay data fetch BENCHMARK --from FOLDER`.
    timeout_s : float
        Longest wait for each step.

    Raises
    ------
    DataError
        If git is missing, the address is none, or the commit cannot be had.
    """
    if "://" not in url and not url.startswith("git@"):
        raise DataError(f"{url!r} is neither a folder nor a URL", expected="a clone of the authors' repository")
    elsewhere = f"clone it elsewhere and name the folder: assay data fetch {benchmark} --from FOLDER"
    environment = {name: value for name, value in os.environ.items() if name not in _OF_ANOTHER}
    environment |= {"LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0"}  # messages as `_cause` reads them; nobody is asked
    for arguments in (
        ["init", "--quiet"],
        ["fetch", "--quiet", "--depth", "1", "--filter=blob:none", url, commit],
        ["sparse-checkout", "set", subfolder],
        ["checkout", "--quiet", "FETCH_HEAD"],
    ):
        command = ["git", "-C", str(target), *arguments]
        try:
            subprocess.run(
                command,
                check=True,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=timeout_s,
                env=environment,
            )
        except FileNotFoundError as error:
            raise DataError("git is not installed", remedy=f"install git, or {elsewhere}") from error
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
            raise DataError(
                f"the repository cannot be fetched ({_cause(str(error.stderr or error))})",
                file=url,
                expected=f"commit {commit}",
                remedy=elsewhere,
            ) from error


def _cause(said: str) -> str:
    """Return the line of git's message that names the cause; advice may follow it."""
    lines = said.strip().splitlines()
    named = [line for line in lines if line.startswith(("fatal:", "error:"))]
    return named[0] if named else lines[-1] if lines else "git gives no reason"
