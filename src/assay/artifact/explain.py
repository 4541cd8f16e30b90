"""Why an artifact is not current: the first component of its key that differs, as a sentence."""

import contextlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from assay.artifact.manifest import MANIFEST, Manifest, read_manifest
from assay.artifact.recipe import Planned
from assay.artifact.store import finished, require_planned
from assay.errors import ArtifactError

State = Literal["current", "damaged", "missing", "changed", "upstream"]
# In the order in which people think: what did I change?
_COMPONENTS = ("config", "lock", "function", "code", "libraries", "python", "version")
_SHOWN = 60
"""Characters of a value in a reason."""


@dataclass(frozen=True)
class Status:
    """State of one planned artifact.

    `damaged`: it is there, but its manifest cannot be read, or a file is missing or has another size; `missing`:
    nothing of this item was ever made; `changed`: a component of its own differs from the newest one that was;
    `upstream`: only its inputs differ.
    """

    planned: Planned
    state: State
    reason: str = ""


def status(root: Path, planned: Planned) -> Status:
    """Return whether a planned artifact exists, else what changed since the newest one of the same item."""
    if os.path.lexists(root / planned.manifest) or _holds_something(root / planned.folder):
        damage = _damage(root, planned)
        return Status(planned, "damaged" if damage else "current", damage)
    latest = _latest(root, planned)
    if latest is None:
        return Status(planned, "missing", "never made")
    reason = first_difference(latest.own, planned.own)
    if reason is not None:
        return Status(planned, "changed", reason)
    if latest.key == planned.key:
        return Status(planned, "missing", f"swept or deleted; {planned.key[:12]} can be linked again")
    before = {(n.role, n.stage, n.item): n.key for n in latest.needs}
    for role, upstream in planned.needs:
        if before.get((role, *upstream.name)) != upstream.key:
            return Status(planned, "upstream", f"{upstream.job.name} is another artifact")
    return Status(planned, "upstream", "the inputs are others")


def _damage(root: Path, planned: Planned) -> str:
    """Return what a look at manifest and sizes finds; `assay verify` reads every byte."""
    if not os.path.lexists(root / planned.manifest):
        return f"{MANIFEST} is missing; snakemake makes it again"
    try:
        manifest = read_manifest(root / planned.manifest)
        require_planned(planned, manifest)
    except ArtifactError as error:
        return error.message
    files = manifest.files
    for name, file in files.items():
        path = root / planned.folder / name
        if not path.is_file() or path.stat().st_size != file.size:
            what = "has another size" if path.is_file() else "is missing"
            return f"{name} {what}; delete the folder, or restore it by dvc checkout"
    return ""


def _holds_something(folder: Path) -> bool:
    return folder.is_dir() and any(folder.iterdir())


def _latest(root: Path, planned: Planned) -> Manifest | None:
    found = []
    for folder in finished(root, *planned.name):
        with contextlib.suppress(FileNotFoundError):  # somebody sweeps meanwhile
            found.append(((folder / MANIFEST).stat().st_mtime_ns, folder))
    for _, folder in sorted(found, reverse=True):
        try:
            return read_manifest(folder / MANIFEST)
        except ArtifactError:
            continue
    return None


def first_difference(before: Mapping[str, Any], now: Mapping[str, Any]) -> str | None:
    """Return a sentence about the first component that differs, or None."""
    for component in _COMPONENTS:
        old, new = before.get(component), now.get(component)
        if old != new:
            place, a, b = _deepest(component, old, new)
            if component == "code":
                return f"code: {place.partition('.')[2] or place} {_verb(a, b)}"
            if component == "lock":
                return f"{place}: other digests in the lock"
            return f"{place}: {' -> '.join(_shown(a, b))}"
    return None


def _deepest(place: str, old: Any, new: Any) -> tuple[str, Any, Any]:
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted({*old, *new}):
            if old.get(key) != new.get(key):
                return _deepest(f"{place}.{key}", old.get(key), new.get(key))
    return place, old, new


def _verb(old: Any, new: Any) -> str:
    return "is new" if old is None else "is no longer imported" if new is None else "changed"


def _shown(old: Any, new: Any) -> list[str]:
    """Return two values in one line each, long ones around the place at which they part."""
    texts = ["nothing" if value is None else str(value).replace("\n", "\\n") for value in (old, new)]
    if max(map(len, texts)) <= _SHOWN:
        return texts
    parts = next((place for place, (a, b) in enumerate(zip(*texts, strict=False)) if a != b), min(map(len, texts)))
    start = max(0, parts - _SHOWN // 3)
    return [_cut(text, start) for text in texts]


def _cut(text: str, start: int) -> str:
    before, after = "…" if start else "", "…" if len(text) > start + _SHOWN else ""
    return before + text[start : start + _SHOWN] + after
