"""Why an artifact is not current: the first component of its key that differs, as a sentence."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from assay.artifact.manifest import MANIFEST, Manifest, read_manifest
from assay.artifact.recipe import Planned
from assay.artifact.store import finished
from assay.errors import ArtifactError

State = Literal["current", "damaged", "missing", "changed", "upstream"]
# In the order in which people think: what did I change?
_COMPONENTS = ("config", "lock", "function", "code", "libraries", "python", "version")


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
    if os.path.lexists(root / planned.manifest):
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
    try:
        files = read_manifest(root / planned.manifest).files
    except ArtifactError as error:
        return error.message
    for name, file in files.items():
        path = root / planned.folder / name
        if not path.is_file() or path.stat().st_size != file.size:
            what = "has another size" if path.is_file() else "is missing"
            return f"{name} {what}; delete the folder, or restore it by dvc checkout"
    return ""


def _latest(root: Path, planned: Planned) -> Manifest | None:
    found = sorted(((folder / MANIFEST).stat().st_mtime_ns, folder) for folder in finished(root, *planned.name))
    for _, folder in reversed(found):
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
            return f"{place}: {_short(a)} -> {_short(b)}"
    return None


def _deepest(place: str, old: Any, new: Any) -> tuple[str, Any, Any]:
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted({*old, *new}):
            if old.get(key) != new.get(key):
                return _deepest(f"{place}.{key}", old.get(key), new.get(key))
    return place, old, new


def _verb(old: Any, new: Any) -> str:
    return "is new" if old is None else "is no longer imported" if new is None else "changed"


def _short(value: Any) -> str:
    text = "nothing" if value is None else str(value)
    return text if len(text) <= 60 else text[:57] + "…"
