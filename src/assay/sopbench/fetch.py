"""`assay data fetch sopbench`: the authors' seven task files, from their repository, a clone or any folder."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from assay.canonical import bytes_digest, file_digest
from assay.errors import DataError
from assay.records.atomic import write_if_changed
from assay.records.checkout import checkout
from assay.sopbench.tasks import DOMAINS, file_bytes, task_file

REPOSITORY = "https://github.com/Leezekun/SOPBench"
COMMIT = "8cd43276845fb25a760a6fcd1090e5aae3a36273"
# Of the uncompressed files at that commit. Another commit will do if it has the same ones.
SHA256 = {
    "bank": "ef85869ed02892139b6664aeaac6c4b95384cede3d52a375e2f12eb19167db43",
    "dmv": "fa1948a205fdb6a821ddf1d828537a4448aab1033be92df221086f70b972b47b",
    "healthcare": "aa177d4a3585574891d58a77ec1d0ebf9d2d39f809eca328a242221d9be9774f",
    "hotel": "e7de32b596742f27d511170ea03d8851d88455f57351de6cd0a325acd6f9b7dc",
    "library": "2c5fcff0ca4aa55b2661ca588afab964adf74d02b3e6d73bafaeb3af3e0ca8f3",
    "online_market": "311146e38774ba3daf4577fb65420ee1b61c3cf9c79a777b27cbdfc00c4ae9a0",
    "university": "ba6b36b56a21c8f78e3725301c23a8458ac4dbbe5f74567fd86857f1e8437ada",
}
LICENCE = (
    "The data belong to the SOPBench authors; their licence is not Assay's. At this commit the repository names none, "
    "later ones carry a separate DATA_LICENSE: read it before you pass the files on."
)


def fetch(source: str | None, out: Path, companion: Path | None) -> Iterator[str]:
    """Write the seven task files; yield one line a file and one about the licence.

    Parameters
    ----------
    source : str or None
        A folder (clone, or the files themselves, plain or xz-compressed), or the URL of a mirror; None: the original.
    out : Path
        Folder for `<domain>_tasks.json`.
    companion : Path or None
        Not used by this benchmark.

    Raises
    ------
    DataError
        If a file is missing, or is not the one of the pinned commit.
    """
    if companion is not None:
        raise DataError("sopbench needs no further file", file=companion, remedy="leave --with out")
    if out.exists() and not out.is_dir():
        raise DataError("there is a file where the folder should be", file=out, remedy="name another folder")
    if source is not None and Path(source).is_dir():
        yield from _copied(Path(source), out)
    else:
        with tempfile.TemporaryDirectory(prefix="assay-sopbench-") as folder:
            checkout(source or REPOSITORY, COMMIT, "data", Path(folder), benchmark="sopbench")
            yield from _copied(Path(folder), out)
    yield LICENCE


def _copied(source: Path, out: Path) -> Iterator[str]:
    checked = {domain: _checked(task_file(source, domain), domain) for domain in DOMAINS}
    for domain, data in checked.items():
        path = out / f"{domain}_tasks.json"
        written = write_if_changed(path, data)
        yield f"{path}: {len(data)} bytes, {'written' if written else 'unchanged'}"


def _checked(path: Path, domain: str) -> bytes:
    data = file_bytes(path)
    if bytes_digest(data) != SHA256[domain]:
        raise DataError(
            "the file is not the one that was measured",
            file=path,
            expected=f"sha256 {SHA256[domain]}",
            remedy=f"take it from commit {COMMIT}",
        )
    return data


def lock_entry(folder: Path) -> dict[str, Any]:
    """Return the lock's entry of fetched task files: path in the folder -> sha256."""
    paths = [task_file(folder, domain) for domain in DOMAINS]
    return {"kind": "sopbench", "files": {path.relative_to(folder).as_posix(): file_digest(path) for path in paths}}
