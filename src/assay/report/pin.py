"""Pins: a reviewable file that names artifacts, table cells, configs, lock and environment, and its proof."""

import contextlib
import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from assay.artifact.environment import CONSTRAINTS
from assay.artifact.manifest import MANIFEST, read_manifest
from assay.artifact.recipe import ATTIC, RESULTS, SHORT
from assay.artifact.verify import Problem, verify_folder, verify_plan, verify_published
from assay.canonical import file_digest
from assay.config.files import Strict, read_yaml, unknown_key, validate
from assay.errors import ArtifactError, ConfigError
from assay.plan import MAIN_TABLE, Project
from assay.records.atomic import write_if_changed

PINS = Path("pins")
SCHEMA = 1
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*\Z")
_HEAD = """\
# A pin: exactly these artifacts gave exactly these numbers. Written by `assay pin`; checked by `assay verify --pin`.
# With `git tag` and `dvc push` it is a release.
"""


class PinnedArtifact(Strict):
    """One artifact of a pin."""

    stage: str
    item: str
    key: str
    """Recipe (64 hex digits)."""
    digest: str
    """Contents: names and digests of the data files."""
    manifest_sha256: str
    """Digest of the manifest file itself."""
    determinism: str


class Pin(Strict):
    """A pin file."""

    schema_version: int
    name: str
    experiment: str
    files: dict[str, str]
    """Configs, lock and constraints -> sha256."""
    published: dict[str, str]
    """Published copy -> sha256."""
    cells: dict[str, str]
    """Table row (its primary key) -> value as printed in `table.csv`."""
    artifacts: list[PinnedArtifact]


def write_pin(project: Project, name: str) -> tuple[Path, Pin]:
    """Pin every artifact and every table cell of the plan, after verifying them.

    Raises
    ------
    ArtifactError
        If an artifact of the plan is missing or damaged, or a published copy is not the planned one.
    """
    if not _NAME.match(name):
        raise ConfigError(f"{name!r} cannot be the name of a pin", key="NAME", expected="letters, digits, . _ -")
    problems = [*verify_plan(project.root, project.plan), *verify_published(project.root, project.published)]
    if problems:
        first, more = problems[0], f" ({len(problems) - 1} more)" if problems[1:] else ""
        raise ArtifactError(
            f"{first.what}{more}", file=first.path, remedy="run snakemake, or see `assay verify`, and pin again"
        )
    pinned = []
    for planned in project.plan.values():
        manifest = read_manifest(project.root / planned.manifest)
        pinned.append(
            PinnedArtifact(
                stage=manifest.stage,
                item=manifest.item,
                key=manifest.key,
                digest=manifest.digest,
                manifest_sha256=file_digest(project.root / planned.manifest),
                determinism=manifest.determinism,
            )
        )
    pin = Pin(
        schema_version=SCHEMA,
        name=name,
        experiment=project.configs.name,
        files={path: file_digest(project.root / path) for path in _declared_files(project.root)},
        published={path: file_digest(project.root / path) for path in sorted(project.published)},
        cells=_cells(project.root / project.plan[MAIN_TABLE].folder / "table.csv"),
        artifacts=pinned,
    )
    path = PINS / f"{name}.yaml"
    text = yaml.safe_dump(pin.model_dump(), sort_keys=False, allow_unicode=True, width=200)
    write_if_changed(project.root / path, (_HEAD + text).encode())
    return path, pin


def _declared_files(root: Path) -> list[str]:
    files = [path.relative_to(root).as_posix() for path in sorted((root / "configs").rglob("*.yaml"))]
    return [*files, CONSTRAINTS.as_posix()]


def _cells(table: Path) -> dict[str, str]:
    """Return primary key -> value as printed; of a damaged table, which its digest tells, what can be read."""
    reader = csv.DictReader(io.StringIO(table.read_text(encoding="utf-8", errors="replace")))
    names = list(reader.fieldnames or ())
    if "value" not in names:
        return {}
    with contextlib.suppress(csv.Error):
        return {
            " | ".join(f"{n}={row[n]}" for n in names[: names.index("value")] if row[n]): row["value"] for row in reader
        }
    return {}


def verify_pin(root: Path, name: str) -> Iterator[Problem]:
    """Yield every way in which this folder does not hold what a pin names.

    The pin alone is the reference: artifacts are found by the keys that it lists, in `results/` or in the attic.
    """
    path = PINS / f"{name}.yaml"
    if not (root / path).is_file():
        known = [p.stem for p in (root / PINS).glob("*.yaml")]
        if not known:
            remedy = "run the command in the project folder at the tagged commit, or write one by `assay pin`"
            raise ConfigError("there is no pin here", file=PINS, key=name, remedy=remedy)
        raise unknown_key("pin", name, known, PINS)
    pin = validate(Pin, read_yaml(root / path), path)
    if pin.schema_version != SCHEMA:
        raise ConfigError(f"the pin has schema {pin.schema_version}", file=path, expected=f"schema {SCHEMA}")
    for file, sha256 in (pin.files | pin.published).items():
        if not (root / file).is_file():
            yield Problem(file, "is missing")
        elif file_digest(root / file) != sha256:
            yield Problem(file, "is not the file that was pinned (is this the tagged commit?)")
    for artifact in pin.artifacts:
        yield from _verify_artifact(root, artifact)
    yield from _verify_cells(root, pin)


def _find(root: Path, artifact: PinnedArtifact) -> Path:
    inside = Path(artifact.stage) / artifact.item / artifact.key[:SHORT]
    return next((p / inside for p in (RESULTS, ATTIC) if (root / p / inside / MANIFEST).is_file()), RESULTS / inside)


def _verify_artifact(root: Path, artifact: PinnedArtifact) -> Iterator[Problem]:
    folder = _find(root, artifact)
    try:
        manifest = read_manifest(root / folder / MANIFEST)
    except ArtifactError as error:
        yield Problem(str(folder), error.message)
        return
    if file_digest(root / folder / MANIFEST) != artifact.manifest_sha256:
        yield Problem(str(folder / MANIFEST), "is not the manifest that was pinned")
    expected: dict[str, Any] = artifact.model_dump(include={"stage", "item", "key", "digest", "determinism"})
    for field, value in expected.items():
        if getattr(manifest, field) != value:
            yield Problem(str(folder / MANIFEST), f"{field} is {getattr(manifest, field)}, pinned is {value}")
    yield from verify_folder(root, folder, manifest)


def _verify_cells(root: Path, pin: Pin) -> Iterator[Problem]:
    main = next((a for a in pin.artifacts if (a.stage, a.item) == MAIN_TABLE), None)
    if main is None:
        yield Problem(f"pins/{pin.name}.yaml", "names no main table")
        return
    table = root / _find(root, main) / "table.csv"
    if not table.is_file():
        return  # reported with the artifact
    found = _cells(table)
    for cell in sorted({*found, *pin.cells}):
        if found.get(cell) != pin.cells.get(cell):
            yield Problem(str(table.relative_to(root)), f"{cell}: {found.get(cell)}, pinned is {pin.cells.get(cell)}")
