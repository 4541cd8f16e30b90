"""What the Snakemake files call: planning with one clear sentence on error, published copies, stale locks."""

import contextlib
import fcntl
import filecmp
import os
import secrets
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from assay.artifact.manifest import MANIFEST
from assay.artifact.recipe import Planned
from assay.artifact.stages import STAGES
from assay.config.files import unknown_key
from assay.errors import ArtifactError, AssayError
from assay.plan import Project, open_project


def plan_or_stop(config: Mapping[str, object]) -> Project:
    """Plan, or leave with the error's sentence and exit code instead of the engine's traceback.

    Parameters
    ----------
    config : mapping
        What `snakemake --config` says; the one key is `experiment`.
    """
    try:
        for key in config:
            if key != "experiment":
                raise unknown_key(key, key, ["experiment"], "--config")
        named = config.get("experiment")
        project = open_project(experiment=None if named is None else str(named))
        if note := project.configs.left_out:
            print(f"assay: {note}", file=sys.stderr)  # noqa: T201
        return project
    except AssayError as error:
        print(f"assay: {error}", file=sys.stderr)  # noqa: T201
        raise SystemExit(error.exit_code) from None


def shown_by(planned: Planned) -> list[str]:
    """Return the files that a target must ask for to be sure of an artifact: the manifest, and what it has lost.

    The engine looks only at files that something asks for, and asking for every data file costs it a third of the
    time of a run with nothing to do.
    """
    folder, manifest = str(planned.folder), f"{planned.folder}/{MANIFEST}"
    if not os.path.exists(manifest):  # noqa: PTH110 - for thousands of files
        return [manifest]
    files = (f"{folder}/{name}" for name in STAGES[planned.job.stage].outputs)
    return [manifest, *(path for path in files if not os.path.exists(path))]  # noqa: PTH110


class PublishedState:
    """Which published copies are the planned artifacts' files, and the marker names of those that are not."""

    def __init__(self, published: Mapping[str, Path]) -> None:
        self._published = published
        self._token = secrets.token_hex(8)

    @property
    def paths(self) -> list[str]:
        """All published paths."""
        return list(self._published)

    def together(self, path: str) -> list[str]:
        """Return what asking for a path publishes: the main table brings all others with it."""
        return self.paths if path == self.main else [path]

    @property
    def main(self) -> str:
        """The published main table."""
        return self.paths[0]

    def source(self, path: str) -> Path:
        """Return the artifact file that a published path is a copy of."""
        return self._published[path]

    def manifest(self, path: str) -> Path:
        """Return the manifest of the artifact that a published path is a copy of."""
        return self._published[path].parent / "manifest.json"

    def current(self, path: str) -> bool:
        """Return whether the copy exists and has the bytes of the planned artifact's file."""
        source = self._published[path]
        return Path(path).is_file() and source.is_file() and filecmp.cmp(source, path, shallow=False)

    def marker(self, path: str) -> str:
        """Return the name of a file that cannot exist yet."""
        return f".work/published/{path}.{self._token}"


_held: list[IO[bytes]] = []


def release_stale_locks(root: Path) -> bool:
    """Remove the engine's lock files if no other process of ours can be running; return whether it is safe.

    The engine leaves its locks behind when it is killed. Ours is an flock, which the kernel releases: every process
    shares it for as long as it lives, and whoever has it alone for a moment knows that nobody else is at work here.
    """
    folder = root / ".snakemake"
    try:
        folder.mkdir(exist_ok=True)
        file = (folder / "assay.lock").open("wb")
    except OSError as error:
        print(f"assay: {folder}: {error.strerror}; snakemake must write there, also for a dry run", file=sys.stderr)  # noqa: T201
        raise SystemExit(ArtifactError.exit_code) from None
    _held.append(file)  # for as long as this process lives
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        alone = True
    except OSError:
        alone = False
    if alone:
        shutil.rmtree(folder / "locks", ignore_errors=True)
    with contextlib.suppress(OSError):  # a file system without such locks
        fcntl.flock(file, fcntl.LOCK_SH)
    return alone
