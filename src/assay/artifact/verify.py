"""Proof that artifacts are what they claim: every byte of data and manifest is recomputed and compared."""

import filecmp
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from assay.artifact.manifest import Manifest, data_files, describe, files_digest, read_manifest
from assay.artifact.recipe import Plan, Planned
from assay.artifact.store import check_file
from assay.errors import ArtifactError


@dataclass(frozen=True)
class Problem:
    """Something that is not as it must be."""

    path: str
    what: str


def verify_plan(root: Path, plan: Plan) -> Iterator[Problem]:
    """Yield every problem of the planned artifacts.

    A manifest is checked by building it anew from the plan, the data files and the inputs' manifests: any
    flipped bit, swapped folder or edited field makes another byte.
    """
    manifests: dict[tuple[str, str], Manifest] = {}
    for name, planned in plan.items():
        try:
            manifest = read_manifest(root / planned.manifest)
            manifests[name] = manifest
            yield from _verify_one(root, planned, manifest, manifests)
        except ArtifactError as error:
            yield Problem(str(planned.manifest), error.message)


def _verify_one(
    root: Path, planned: Planned, manifest: Manifest, manifests: Mapping[tuple[str, str], Manifest]
) -> Iterator[Problem]:
    yield from verify_folder(root, planned.folder, manifest)
    if manifest.key != planned.key:
        yield Problem(str(planned.manifest), f"holds the artifact {manifest.key[:12]}, planned is {planned.key[:12]}")
        return
    inputs = [manifests.get(p.name) for _, p in planned.needs]
    if any(m is None for m in inputs):
        return  # the missing input is a problem of its own
    expected = describe(planned, manifest.files, [m for m in inputs if m is not None])
    if expected.to_bytes() != (root / planned.manifest).read_bytes():
        fields = [f for f in Manifest.__struct_fields__ if getattr(expected, f) != getattr(manifest, f)]
        yield Problem(str(planned.manifest), "is not the manifest of these inputs: " + (", ".join(fields) or "layout"))


def verify_folder(root: Path, folder: Path, manifest: Manifest) -> Iterator[Problem]:
    """Yield what is wrong between a manifest and the files beside it."""
    for name, file in manifest.files.items():
        try:
            check_file(root / folder / name, file)
        except ArtifactError as error:
            detail = f" (expected {error.expected})" if error.expected else ""
            yield Problem(str(folder / name), error.message + detail)
    for name in data_files(root / folder):
        if name not in manifest.files:
            yield Problem(str(folder / name), "is not in the manifest")
    if files_digest(manifest.files) != manifest.digest:
        yield Problem(str(folder / "manifest.json"), "its digest is not that of its files")


def verify_published(root: Path, published: Mapping[str, Path]) -> Iterator[Problem]:
    """Yield published copies that are missing or differ from the planned artifact's file."""
    for path, source in published.items():
        if not (root / path).is_file():
            yield Problem(path, "is missing")
        elif (root / source).is_file() and not filecmp.cmp(root / path, root / source, shallow=False):
            yield Problem(path, f"differs from {source}")
