"""The model cache: wheels, GGUF files and model folders, shared by all projects of a user."""

import errno
import fcntl
import json
import os
import secrets
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

from assay.canonical import digest, file_digest
from assay.config.models import Embedded, Folder, Gguf, Hub, ModelEntry, Tiny
from assay.errors import ModelError
from assay.model.files import file_identity, known_digest
from assay.model.hub import snapshot
from assay.records.atomic import fsync_folder

VARIABLE = "ASSAY_CACHE"
CONTENTS = ".assay.json"
TINY_BUILDER = 1
"""Raise it when the tiny model of a seed becomes another one."""
# Raise it when the same GGUF file becomes another folder. 2: generation_config.json lists every end token.
_CONVERSION = 2
# Libraries whose versions decide the bytes of a converted folder.
_CONVERTERS = ("torch", "transformers", "gguf", "tokenizers", "safetensors")
# Dequantised weights are kept in full precision: another dtype of a model is a cast at loading, not other weights.
_STORED_DTYPE = "float32"


def cache_folder() -> Path:
    """Return `$ASSAY_CACHE`, or `assay` in the user's cache folder."""
    chosen = os.environ.get(VARIABLE)
    if chosen:
        return Path(chosen).expanduser().absolute()
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "assay"


class Cache:
    """Places in the model cache, and the one way to fill them.

    Parameters
    ----------
    root : Path, optional
        Default: `cache_folder()`.
    """

    def __init__(self, root: Path | None = None) -> None:
        self.root = cache_folder() if root is None else root

    @property
    def wheels(self) -> Path:
        """Folder of downloaded wheels."""
        return self.root / "wheels"

    @property
    def hub(self) -> Path:
        """Folder of hub snapshots."""
        return self.root / "hub"

    def gguf(self, sha256: str) -> Path:
        """Path of an assembled GGUF file."""
        return self.root / "gguf" / f"{sha256}.gguf"

    def converted(self, sha256: str) -> Path:
        """Folder that a GGUF file is converted to under the installed versions."""
        parts = {
            "gguf": sha256,
            "conversion": _CONVERSION,
            "dtype": _STORED_DTYPE,
            "versions": {name: version(name) for name in _CONVERTERS},
        }
        return self.root / "converted" / digest("converted-model", parts)[:32]

    def tiny(self, seed: int) -> Path:
        """Folder of a tiny model; torch's version decides its random numbers."""
        versions = {name: version(name) for name in ("torch", "transformers", "tokenizers")}
        return self.root / "tiny" / digest("tiny-model", [seed, TINY_BUILDER, versions])[:32]

    @contextmanager
    def exclusive(self, name: str) -> Iterator[None]:
        """Hold a lock of the whole machine; a process that dies gives it back."""
        with _explained(self.root):
            folder = self.root / "locks"
            folder.mkdir(parents=True, exist_ok=True)
            file = (folder / f"{name}.lock").open("ab")
        with file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                print(f"waiting for another process that fills {self.root}", file=sys.stderr, flush=True)  # noqa: T201
                fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def fill(self, folder: Path, make: Callable[[Path], None], origin: Mapping[str, Any]) -> Path:
        """Make a folder unless it is there: under a temporary name, with its digests, synced, renamed.

        Two processes that want the same folder do not both make it.
        """
        if folder.is_dir():
            return folder
        with self.exclusive(folder.name):
            if folder.is_dir():
                return folder
            work = folder.parent / f".{folder.name}.{secrets.token_hex(6)}.tmp"
            try:
                with _explained(folder):
                    remove_leftovers(folder)
                    work.mkdir(parents=True)
                    make(work)
                    contents = {
                        "origin": dict(origin),
                        "files": {p.name: file_digest(p) for p in sorted(work.iterdir())},
                    }
                    (work / CONTENTS).write_text(json.dumps(contents, sort_keys=True, indent=1) + "\n")
                    _sync(work)
                    work.rename(folder)
                    fsync_folder(folder.parent)
            finally:
                shutil.rmtree(work, ignore_errors=True)
        return folder


def remove_leftovers(path: Path) -> None:
    """Remove what killed processes left of a file or folder that they were making; the caller holds its lock."""
    for left in path.parent.glob(f".{path.name}.*.tmp"):
        if left.is_dir():
            shutil.rmtree(left)
        else:
            left.unlink()


def contents(folder: Path) -> dict[str, Any]:
    """Return what `Cache.fill` recorded: `origin`, and the plain sha256 of `files` by name.

    Raises
    ------
    ModelError
        If the record is missing or unreadable.
    """
    try:
        found = json.loads((folder / CONTENTS).read_bytes())
        return {"origin": dict(found["origin"]), "files": dict(found["files"])}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelError(
            "the folder in the model cache has no readable record", file=folder / CONTENTS, remedy="delete the folder"
        ) from error


def model_folder(entry: ModelEntry, cache: Cache) -> Path:
    """Return the folder of a local model; GGUF files are converted and tiny models built on first use.

    Raises
    ------
    ModelError
        If the weights are not on this machine; nothing is downloaded here.
    """
    source = entry.source
    match source:
        case Tiny():
            return tiny_folder(source.seed, cache)
        case Folder():
            return _existing(source.path, entry)
        case Hub():
            return snapshot(entry, cache.hub)
        case Gguf():
            path = _existing(source.path, entry)
            if not path.is_file():
                raise ModelError(
                    "this is no file", file=path, key=entry.name, expected="a GGUF file; kind: folder for others"
                )
            return convert_gguf(path, cache, {})
        case Embedded():
            folder = cache.converted(source.sha256)
            if not folder.is_dir():
                raise ModelError(
                    f"the weights of {entry.name} are not in the model cache",
                    file=cache.root,
                    remedy=f"run `assay fetch --models {entry.name}`",
                )
            return folder
        case _:
            raise ModelError(f"{entry.name} is an endpoint: it has no weights here")


def tiny_folder(seed: int, cache: Cache) -> Path:
    """Return the folder of a tiny model, built on first use."""

    def make(folder: Path) -> None:
        from assay.model.loading import prepare_process
        from assay.model.tiny import build_tiny

        prepare_process()
        from transformers.utils import logging

        logging.disable_progress_bar()
        build_tiny(folder, seed)

    return cache.fill(cache.tiny(seed), make, {"seed": seed, "builder": TINY_BUILDER})


def convert_gguf(path: Path, cache: Cache, origin: Mapping[str, Any], sha256: str | None = None) -> Path:
    """Return the folder that a GGUF file is converted to, converting it on first use.

    Parameters
    ----------
    sha256 : str, optional
        Digest of the file where the caller has just checked it.
    """
    from assay.model.convert import run_conversion

    before = file_identity(path)
    sha256 = sha256 or known_digest(path)

    def make(folder: Path) -> None:
        run_conversion(path, folder)
        if file_identity(path) != before:
            raise ModelError("the GGUF file changed while it was converted", file=path, remedy="run the command again")

    return cache.fill(cache.converted(sha256), make, {"gguf_sha256": sha256, **origin})


def _existing(path: Path, entry: ModelEntry) -> Path:
    if not path.exists():
        raise ModelError(
            f"the weights of {entry.name} are missing", file=path, remedy="correct source.path in the registry"
        )
    return path


def _sync(folder: Path) -> None:
    for path in folder.iterdir():
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    fsync_folder(folder)


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        # safetensors, and whatever a conversion in another process met, report a full disk as an error of their own.
        if not isinstance(error, OSError) and os.strerror(errno.ENOSPC) not in str(error):
            raise
        raise ModelError(
            f"the model cache cannot be written: {error}",
            file=path,
            expected="a writable folder with free space",
            remedy=f"make room, or let {VARIABLE} name another folder",
        ) from error
