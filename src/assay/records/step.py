"""What a step hands to the function that its job names, and what it expects back."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from assay.errors import ArtifactError
from assay.records.jsonl import read_rows

Row = TypeVar("Row")

# File name -> rows (structs or plain JSON data) for JSONL, or ready bytes for every other kind of file.
Outputs = Mapping[str, Iterable[object] | bytes]


@dataclass(frozen=True)
class Input:
    """One finished artifact that a job reads."""

    role: str
    stage: str
    item: str
    key: str
    folder: Path
    determinism: str

    def path(self, name: str) -> Path:
        """Return the path of a data file of the artifact."""
        return self.folder / name

    def rows(self, name: str, kind: type[Row]) -> Iterator[Row]:
        """Yield the typed rows of a JSONL file of the artifact."""
        return read_rows(self.folder / name, kind)


@dataclass(frozen=True)
class Inputs:
    """The artifacts of a job by role; a role may hold several (every metrics artifact of a table)."""

    artifacts: tuple[Input, ...]

    def one(self, role: str) -> Input:
        """Return the only artifact with this role."""
        found = self.all(role)
        if len(found) != 1:
            raise ArtifactError(f"the job has {len(found)} inputs with role {role!r}", expected="exactly one")
        return found[0]

    def all(self, role: str) -> tuple[Input, ...]:
        """Return the artifacts with this role, in the order in which the job names them."""
        return tuple(artifact for artifact in self.artifacts if artifact.role == role)


@dataclass(frozen=True)
class StepContext:
    """Everything that a step may use.

    Only `config`, `inputs`, `locked` and the code decide the bytes that it writes. `root`, `store` and
    `shards` are places to keep finished work; `facts` collects what goes into the envelope.
    """

    stage: str
    item: str
    function: Callable[..., Any] | None
    config: dict[str, Any]
    inputs: Inputs
    locked: dict[str, Any]  # lock name ("models/smollm2-135m") -> lock entry
    out: Path  # write data files here; the artifact layer renames the folder when the step returns
    shards: Path  # survives a crash; keyed by content key, so nothing stale can be in it
    root: Path  # the project folder
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def store(self) -> Path:
        """Folder of the row store."""
        return self.root / ".assay"
