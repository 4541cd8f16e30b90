"""What the SOPBench tests share."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from assay.records.jsonl import read_rows, write_rows
from assay.records.step import Input, Inputs
from assay.sopbench.generator import TaskGenerator
from assay.sopbench.parts import DOMAINS
from assay.sopbench.rows import TaskRow

sys.path.insert(0, str(Path(__file__).parent))  # bikes, mutations


@pytest.fixture(scope="session")
def vectors(shared: Path) -> Path:
    """The folder of the published tasks and trajectories."""
    folder = shared / "data" / "sopbench"
    if not folder.is_dir():
        pytest.skip(f"no SOPBench vectors at {folder}")
    return folder


@pytest.fixture(scope="session")
def tables(vectors: Path) -> dict[str, Any]:
    """The reference tables of the seven domains."""
    return json.loads((vectors / "reference_tables.json").read_text())


@pytest.fixture(scope="session")
def generated() -> dict[str, list[TaskRow]]:
    """Eight new tasks of each kind and domain."""
    return {name: TaskGenerator(domain).tasks(0, 8, 8) for name, domain in DOMAINS.items()}


class Stage:
    """Runs job functions on real files, as the steps do."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, stage: str, outputs: Any, item: str = "item") -> Input:
        """Write what a job function returned and return it as an input."""
        folder = self.folder / stage / item
        for name, content in outputs.items():
            if isinstance(content, bytes):
                folder.mkdir(parents=True, exist_ok=True)
                (folder / name).write_bytes(content)
            else:
                write_rows(folder / name, content)
        return Input(stage, stage, item, "0" * 12, folder, "bytes")

    def rows(self, made: Input, name: str, kind: Any) -> list[Any]:
        """Return the typed rows of a written file."""
        return list(read_rows(made.folder / name, kind))

    @staticmethod
    def inputs(*made: Input) -> Inputs:
        """Return inputs of a job."""
        return Inputs(made)


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    """A folder in which job functions run."""
    return Stage(tmp_path)
