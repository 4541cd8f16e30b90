"""Tasks: newly drawn ones, or the published ones, each with an oracle plan."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import msgspec

from assay.errors import ConfigError, DataError
from assay.records.locked import require_locked
from assay.records.step import Inputs, Outputs
from assay.sopbench.domain import Domain
from assay.sopbench.generator import TaskGenerator
from assay.sopbench.parts import DOMAINS
from assay.sopbench.planning import Planner
from assay.sopbench.rows import TaskRow
from assay.sopbench.tasks import load_tasks, task_file
from assay.sopbench.toolbox import offered_functions


class TaskSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Config of a tasks job.

    Attributes
    ----------
    source : str
        "generated" draws new tasks, "published" loads the authors' files from `folder`.
    domains : list of str
        Domains, in the order of the rows.
    succeed, refuse : int
        Generated tasks of each kind and domain.
    files : dict
        Published: file in the folder -> sha256, from the lock.
    """

    source: Literal["generated", "published"]
    domains: list[str]
    seed: int = 0
    succeed: int = 0
    refuse: int = 0
    folder: str = ""
    files: dict[str, str] = {}


def build(config: dict[str, Any], _inputs: Inputs) -> Outputs:
    """Build the tasks of all domains, in the order of the domains."""
    settings = msgspec.convert(config, TaskSettings)
    return {"tasks.jsonl": task_rows(settings)}


def task_rows(settings: TaskSettings) -> Iterator[TaskRow]:
    """Yield the rows of a tasks artifact."""
    for name in ("succeed", "refuse"):
        if getattr(settings, name) < 0:
            raise ConfigError(f"{getattr(settings, name)} tasks are asked for", key=name, expected="at least 0")
    for name, sha256 in settings.files.items():
        require_locked(Path(settings.folder) / name, sha256, "sopbench")
    for name in settings.domains:
        domain = domain_named(name)
        if settings.source == "generated":
            yield from TaskGenerator(domain).tasks(settings.seed, settings.succeed, settings.refuse)
        else:
            _require_locked_choice(settings, name)
            yield from planned(domain, load_tasks(Path(settings.folder), name))


def _require_locked_choice(settings: TaskSettings, domain: str) -> None:
    """Refuse a file that stands before the locked one, such as an unpacked copy: it would be read in its place."""
    folder = Path(settings.folder)
    path = task_file(folder, domain)
    require_locked(path, settings.files.get(path.relative_to(folder).as_posix()), "sopbench")


def planned(domain: Domain, rows: list[TaskRow]) -> Iterator[TaskRow]:
    """Yield rows with an oracle plan; a task that should succeed and has none counts as not solvable.

    Without a plan there are: tasks whose user lacks a credential, tasks of functions that no schema offers, and tasks
    that need the hidden database tool. A task that should be refused is always solvable, by refusing.
    """
    planner = Planner(domain.procedure, offered_functions(domain.toolbox))
    for row in rows:
        try:
            plan = planner.plan(row.task)
        except DataError as error:
            place = f"{row.domain}, task {row.index}"
            raise DataError(
                error.message, row=place, key=error.key, expected=error.expected, remedy=error.remedy
            ) from error
        solvable = plan is not None or not row.task.action_should_succeed
        yield msgspec.structs.replace(row, plan=plan, solvable=solvable)


def domain_named(name: str) -> Domain:
    """Return a domain of the catalogue.

    A user's own domain is one package like the seven, and one line each in `systems`, `catalogue` and `parts`: so its
    code is part of every recipe that uses it.

    Raises
    ------
    ConfigError
        If there is no such domain.
    """
    if name not in DOMAINS:
        raise ConfigError(f"{name!r} is no domain", key="domains", expected=f"one of {', '.join(DOMAINS)}")
    return DOMAINS[name]
