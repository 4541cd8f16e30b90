"""Loading of tasks: the published files, or any file of the same form."""

import lzma
from collections.abc import Iterator
from pathlib import Path

import msgspec

from assay.errors import DataError
from assay.sopbench.rows import Task, TaskRow

DOMAINS = ("bank", "dmv", "healthcare", "hotel", "library", "online_market", "university")


def task_file(folder: Path, domain: str) -> Path:
    """Return the task file of a domain in a folder: JSON, plain or xz-compressed.

    Raises
    ------
    DataError
        If there is none.
    """
    for place in (folder, folder / "data", folder / "tasks"):
        for name in (f"{domain}_tasks.json", f"{domain}_tasks.json.xz"):
            if (place / name).is_file():
                return place / name
    raise DataError(
        f"there is no task file of {domain}",
        file=folder,
        expected=f"{domain}_tasks.json or {domain}_tasks.json.xz",
        remedy="fetch the published tasks with `assay data fetch sopbench`",
    )


def load_tasks(folder: Path, domain: str) -> list[TaskRow]:
    """Load the published tasks of a domain, in file order; the index is the position in the flattened file."""
    return list(read_tasks(task_file(folder, domain), domain))


def file_bytes(path: Path) -> bytes:
    """Return the bytes of a task file, unpacked where its name ends in `.xz`."""
    data = path.read_bytes()
    if path.suffix != ".xz":
        return data
    try:
        return lzma.decompress(data)
    except lzma.LZMAError as error:
        raise DataError("the file is not xz-compressed, or cut off", file=path, remedy="fetch it again") from error


def read_tasks(path: Path, domain: str) -> Iterator[TaskRow]:
    """Yield the tasks of one file: an object mapping target service to a list of tasks.

    Raises
    ------
    DataError
        Naming file, service and position, if the file is no JSON or a task lacks a field.
    """
    try:
        by_goal = msgspec.json.decode(file_bytes(path), type=dict[str, list[msgspec.Raw]])
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise DataError(str(error), file=path, expected="an object mapping services to lists of tasks") from error
    index = 0
    for goal, raws in by_goal.items():
        for position, raw in enumerate(raws):
            try:
                task = msgspec.json.decode(raw, type=Task)
            except msgspec.DecodeError as error:
                raise DataError(str(error), file=path, row=position, key=goal, expected="a task of SOPBench") from error
            # Two published files leave the goal to the object key.
            task = task if task.user_goal else msgspec.structs.replace(task, user_goal=goal)
            yield TaskRow.of(domain, index, task)
            index += 1
