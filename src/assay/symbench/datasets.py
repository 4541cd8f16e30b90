"""The published samples: one JSON Lines file a task, checked against the digests of their content."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from assay.errors import DataError
from assay.symbench.catalogue import TASKS
from assay.symbench.rowfiles import read_compressed_rows
from assay.symbench.rows import TaskRow

HOW_TO_GET = "run `assay data fetch symbench`, or name the folder that holds TASK.jsonl or TASK.jsonl.gz"


def task_file(folder: Path, task: str) -> Path:
    """Return the file that holds a task's samples, plain or compressed."""
    if task not in TASKS:
        raise DataError(f"there is no task {task!r}", expected=f"one of {', '.join(TASKS)}")
    for name in (f"{task}.jsonl", f"{task}.jsonl.gz"):
        if (folder / name).is_file():
            return folder / name
    raise DataError(f"the samples of {task} are not there", file=folder / f"{task}.jsonl", remedy=HOW_TO_GET)


def present_tasks(folder: Path) -> tuple[list[str], list[str]]:
    """Return the tasks that a folder has files of, and the others; path_plan needs a file that no clone holds.

    Raises
    ------
    DataError
        If it has none.
    """
    present = [task for task in TASKS if any((folder / f"{task}.jsonl{end}").is_file() for end in ("", ".gz"))]
    if not present:
        raise DataError("the folder holds no samples", file=folder, remedy=HOW_TO_GET)
    return present, [task for task in TASKS if task not in present]


def load_published(folder: Path, task: str) -> list[TaskRow]:
    """Return a task's samples in file order.

    Raises
    ------
    DataError
        If the file is absent, damaged, holds another task's rows or one sample twice.
    """
    path = task_file(folder, task)
    rows = list(read_compressed_rows(path, TaskRow))
    seen: set[str] = set()
    for number, row in enumerate(rows, 1):
        if row.task != task:
            raise DataError(f"a sample of {row.task!r}", file=path, row=number, key="task", expected=task)
        if row.sample_id in seen:
            raise DataError(f"the sample {row.sample_id!r} occurs twice", file=path, row=number, key="sample_id")
        seen.add(row.sample_id)
    return rows


def load_all(folder: Path, tasks: Iterable[str] = TASKS) -> Iterator[tuple[str, list[TaskRow]]]:
    """Yield each task with its samples."""
    for task in tasks:
        yield task, load_published(folder, task)
