"""Manifests: what an artifact is, in bytes that equal work makes equal."""

import os
from pathlib import Path
from typing import Any

import msgspec

from assay.artifact.recipe import Planned
from assay.canonical import canonical_bytes, digest, file_digest
from assay.errors import ArtifactError

MANIFEST = "manifest.json"
ENVELOPE = "envelope.json"
SCHEMA = 1


class File(msgspec.Struct, frozen=True):
    """Digest and size of one data file."""

    sha256: str
    size: int


class NeedRecord(msgspec.Struct, frozen=True):
    """One input as it was when the artifact was made."""

    role: str
    stage: str
    item: str
    key: str
    digest: str


class Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Contents of `manifest.json`; it holds no time, host, user or path outside the project."""

    schema: int
    stage: str
    item: str
    key: str
    content_key: str
    digest: str
    determinism: str
    files: dict[str, File]
    needs: list[NeedRecord]
    own: dict[str, Any]

    def to_bytes(self) -> bytes:
        """Return the file's exact bytes."""
        return msgspec.json.format(canonical_bytes(msgspec.to_builtins(self)), indent=1) + b"\n"


def describe(planned: Planned, files: dict[str, File], inputs: list[Manifest]) -> Manifest:
    """Return the one manifest that these data files and inputs give."""
    return Manifest(
        schema=SCHEMA,
        stage=planned.job.stage,
        item=planned.job.item,
        key=planned.key,
        content_key=planned.content_key(m.digest for m in inputs),
        digest=files_digest(files),
        determinism=planned.determinism,
        files=files,
        needs=[NeedRecord(role, *p.name, p.key, m.digest) for (role, p), m in zip(planned.needs, inputs, strict=True)],
        own=planned.own,
    )


def files_digest(files: dict[str, File]) -> str:
    """Return the digest of an artifact's contents: names and digests of its data files."""
    return digest("files", {name: file.sha256 for name, file in files.items()})


def data_files(folder: Path) -> list[str]:
    """Return the names of an artifact's data files, sorted; folders inside are walked, links to folders are named."""
    found = []
    for base, folders, names in os.walk(folder):
        links = [name for name in folders if (Path(base) / name).is_symlink()]
        for name in (*names, *links):
            relative = (Path(base) / name).relative_to(folder).as_posix()
            if relative not in (MANIFEST, ENVELOPE):
                found.append(relative)
    return sorted(found)


def hash_files(folder: Path) -> dict[str, File]:
    """Return digest and size of every data file of a folder."""
    return {name: File(file_digest(folder / name), (folder / name).stat().st_size) for name in data_files(folder)}


def read_manifest(path: Path) -> Manifest:
    """Read a manifest.

    Raises
    ------
    ArtifactError
        If it is missing, unreadable, or of a newer schema.
    """
    try:
        manifest = msgspec.json.decode(path.read_bytes(), type=Manifest)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise ArtifactError("the artifact is missing", file=path, remedy="run snakemake, or dvc pull") from error
    except OSError as error:
        raise ArtifactError(
            f"the manifest cannot be read ({error.strerror})", file=path, remedy="change the rights of its folder"
        ) from error
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise ArtifactError(
            f"the manifest is damaged ({error})", file=path, remedy=f"delete {path.parent} and run snakemake again"
        ) from error
    if manifest.schema != SCHEMA:
        raise ArtifactError(
            f"the manifest has schema {manifest.schema}",
            file=path,
            expected=f"schema {SCHEMA}",
            remedy=f"use the version of Assay that wrote it, or delete {path.parent} and run snakemake again",
        )
    return manifest
