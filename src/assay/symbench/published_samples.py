"""The `tasks` job of the published samples: a selection of them, checked against the lock."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from assay.canonical import file_digest
from assay.records.locked import require_locked
from assay.records.step import Inputs, Outputs
from assay.symbench.datasets import load_published, task_file
from assay.symbench.datasets_selection import Selection, select
from assay.symbench.rows import TaskRow


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Config of the job; `files` is what the lock records of the folder, file name -> sha256."""

    tasks: list[str]
    folder: str
    selection: Selection
    files: dict[str, str]


def build(config: dict[str, Any], inputs: Inputs) -> Outputs:
    """Return tasks.jsonl: the selected samples of every task, in the order of the tasks."""
    del inputs
    settings = msgspec.convert(config, Settings)
    return {"tasks.jsonl": _rows(settings)}


def lock_entry(folder: Path, tasks: list[str]) -> dict[str, Any]:
    """Return what the lock records of the samples: the sha256 of each file that is read."""
    paths = sorted(task_file(folder, task) for task in tasks)
    return {"kind": "symbench", "files": {path.name: file_digest(path) for path in paths}}


def _rows(settings: Settings) -> Iterator[TaskRow]:
    for task in settings.tasks:
        path = task_file(Path(settings.folder), task)
        require_locked(path, settings.files.get(path.name), "symbench")
        yield from select(load_published(Path(settings.folder), task), settings.selection)
