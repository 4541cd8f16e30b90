"""Finished artifacts on disk: finding them, trusting them, and giving a folder its final name."""

import contextlib
import fcntl
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from assay.artifact.large import WORK
from assay.artifact.manifest import MANIFEST, File, Manifest, files_digest, read_manifest
from assay.artifact.recipe import ATTIC, RESULTS, Planned
from assay.canonical import file_digest
from assay.errors import ArtifactError
from assay.records.atomic import fsync_folder, write_if_changed

# Files up to this size are hashed at every read; larger ones once per identity of the file.
SMALL_BYTES = 4 << 20


class Verified:
    """Digests of large files that were computed once, by device, inode, size and times of the file."""

    def __init__(self, root: Path) -> None:
        self._path = root / ".assay" / "hashed_files.json"
        self._known: dict[str, str] = {}
        with contextlib.suppress(FileNotFoundError, ValueError):
            known = json.loads(self._path.read_bytes())
            self._known = known if isinstance(known, dict) else {}

    def digest(self, path: Path) -> str:
        """Return a file's sha256; small files are always read."""
        stat = path.stat()
        if stat.st_size <= SMALL_BYTES:
            return file_digest(path)
        identity = f"{stat.st_dev}:{stat.st_ino}:{stat.st_size}:{stat.st_mtime_ns}:{stat.st_ctime_ns}"
        if identity not in self._known:
            self._known[identity] = file_digest(path)
            write_if_changed(self._path, json.dumps(self._known, sort_keys=True).encode())
        return self._known[identity]


def check_files(folder: Path, manifest: Manifest, verified: Verified | None = None) -> None:
    """Check the data files of an artifact against its manifest.

    Raises
    ------
    ArtifactError
        About the first file that is missing or has other bytes.
    """
    for name, file in manifest.files.items():
        check_file(folder / name, file, verified)


def check_file(path: Path, file: File, verified: Verified | None = None) -> None:
    """Check one data file against the size and digest that its manifest states."""
    remedy = f"delete {path.parent} and run snakemake, or dvc checkout"
    if not path.is_file():
        raise ArtifactError("the data file is missing", file=path, remedy=remedy)
    size = path.stat().st_size
    if size != file.size:
        raise ArtifactError(
            "the data file is damaged", file=path, expected=f"{file.size} bytes, not {size}", remedy=remedy
        )
    found = verified.digest(path) if verified else file_digest(path)
    if found != file.sha256:
        expected = f"sha256 {file.sha256[:16]}…, not {found[:16]}…"
        raise ArtifactError("the data file is damaged", file=path, expected=expected, remedy=remedy)


def read_sound(root: Path, planned: Planned, verified: Verified) -> Manifest:
    """Return the manifest of a planned artifact after checking it and its files; what is damaged is an error."""
    manifest = read_manifest(root / planned.manifest)
    require_planned(planned, manifest)
    check_files(root / planned.folder, manifest, verified)
    return manifest


def require_planned(planned: Planned, manifest: Manifest) -> None:
    """Refuse the manifest of another artifact, and one whose digest, which decides what is reused, is not its files'.

    Raises
    ------
    ArtifactError
        Naming the manifest and the field.
    """
    remedy = f"delete {planned.folder} and run snakemake, or dvc checkout"
    for name, found, wanted in (
        ("key", manifest.key, planned.key),
        ("digest", manifest.digest, files_digest(manifest.files)),
    ):
        if found != wanted:
            raise ArtifactError(
                "the folder holds another artifact" if name == "key" else "the manifest is damaged",
                file=planned.manifest,
                key=name,
                expected=f"{wanted[:12]}, not {found[:12]}",
                remedy=remedy,
            )


def finished(root: Path, stage: str, item: str) -> Iterator[Path]:
    """Yield the folders of all finished artifacts of a stage and item: attic first, then results."""
    for place in (ATTIC, RESULTS):
        for manifest in sorted((root / place / stage / item).glob(f"*/{MANIFEST}")):
            yield manifest.parent


def find_equal(root: Path, planned: Planned, content_key: str, verified: Verified) -> Path | None:
    """Return an undamaged finished artifact of the same item with the same content key, if there is one."""
    for folder in finished(root, *planned.name):
        try:
            manifest = read_manifest(folder / MANIFEST)
            if manifest.content_key == content_key:
                check_files(folder, manifest, verified)
                return folder
        except ArtifactError:
            continue  # a damaged artifact is no source; `assay verify` reports it
    return None


def link_files(source: Path, names: Iterator[str] | list[str], target: Path) -> None:
    """Give immutable files a second name; a copy where the file system has no hard links."""
    for name in names:
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(source / name, target / name)
        except OSError:
            shutil.copy2(source / name, target / name)


@contextlib.contextmanager
def exclusive(root: Path, name: str) -> Iterator[None]:
    """Hold a lock that goes with its process, so that nothing has to be unlocked after a crash."""
    path = root / WORK / "locks" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def install(work: Path, final: Path, root: Path) -> Path | None:
    """Make a complete folder durable and give it its final name by one rename.

    What stands there without being an artifact (an empty folder made by the workflow engine, leftovers of
    deleted files) gives way; leftovers are kept under `.work/damaged/`, and where is returned.
    """
    for base, _, names in os.walk(work):
        for name in names:
            descriptor = os.open(Path(base) / name, os.O_RDONLY)
            os.fsync(descriptor)
            os.close(descriptor)
        fsync_folder(Path(base))
    final.parent.mkdir(parents=True, exist_ok=True)
    aside = set_aside(final, root) if final.is_dir() and any(final.iterdir()) else None
    work.rename(final)  # replaces an empty folder, never a full one
    fsync_folder(final.parent)
    return aside


def set_aside(folder: Path, root: Path) -> Path:
    """Move a folder that is no sound artifact to `.work/damaged/` and return where it went."""
    base = root / WORK / "damaged"
    base.mkdir(parents=True, exist_ok=True)
    number = sum(1 for _ in base.iterdir())
    while True:
        target = base / f"{number:04d}-{folder.parent.parent.name}-{folder.parent.name}-{folder.name}"
        if not target.exists():
            shutil.move(folder, target)  # perhaps from another disk
            return target
        number += 1
