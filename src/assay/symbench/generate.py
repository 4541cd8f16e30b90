"""Make fresh samples of every task: the job function of the `tasks` stage.

Row `index` of a seed is drawn from a seed that is derived from (task, level's parameters, seed, index, try), so it
does not depend on how many rows are asked for or on any other task.

Different seeds share no items. Where the space of a level is large (`LARGE_SPACE`), two runs of 100 items share one
with a probability below 1e-8. A smaller space is divided: an item belongs to the class that the
digest of its identity gives, modulo `CLASSES`, and a seed takes items of the class `seed % CLASSES` only. There,
seeds with different remainders are disjoint for certain; seeds with equal remainders can share items.
"""

import importlib
from collections.abc import Iterator
from typing import Any, Protocol, cast

import msgspec
from pydantic import ValidationError

from assay.canonical import derive_seed, text_digest
from assay.errors import ConfigError
from assay.records.step import Inputs, Outputs
from assay.symbench.catalogue import TASKS
from assay.symbench.drafts import Draft, Parameters
from assay.symbench.drawing import Draws, ExhaustedError
from assay.symbench.rows import TaskRow
from assay.symbench.tasks.registry import TASK_MODULES

LARGE_SPACE = 2**40
CLASSES = 8
MAX_TRIES = 2_000


class TaskModule(Protocol):
    """What a module in `tasks` offers."""

    LEVELS: tuple[Parameters, ...]

    def generate(self, draws: Draws, config: Any) -> Draft:
        """Make one item."""
        ...


class GenerateSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the `tasks` job of generated samples reads.

    Attributes
    ----------
    tasks : tuple of str
        Names of tasks, in output order.
    count : int
        Samples per task; `generated100` is 100 of each of the 37 tasks.
    seed : int
        Runs with different seeds ask different questions.
    levels : dict
        Task -> complexity levels that replace the task's own, each with all its parameters.
    """

    tasks: tuple[str, ...]
    count: int = 100
    seed: int = 0
    levels: dict[str, list[dict[str, Any]]] = {}


def build(config: dict[str, Any], inputs: Inputs) -> Outputs:
    """Return `tasks.jsonl` with the generated samples of all tasks that the job names."""
    del inputs
    settings = msgspec.convert(config, GenerateSettings)
    unused = sorted(set(settings.levels) - set(settings.tasks))
    if unused:
        raise ConfigError(f"levels are given for {unused[0]!r}, which is not among the tasks", key="levels")
    rows = (
        row
        for task in settings.tasks
        for row in generate_rows(task, settings.count, settings.seed, settings.levels.get(task))
    )
    return {"tasks.jsonl": rows}


def load_task(task: str) -> TaskModule:
    """Return the module that makes a task's questions."""
    if task not in TASK_MODULES:
        raise ConfigError(f"there is no task {task!r}", expected=f"one of {', '.join(TASKS)}")
    return cast(TaskModule, importlib.import_module(TASK_MODULES[task]))


def task_levels(task: str, levels: list[dict[str, Any]] | None = None) -> tuple[Parameters, ...]:
    """Return the complexity levels of a task: its own, or the given ones, checked.

    Raises
    ------
    ConfigError
        If a given level lacks a parameter, has an unknown one, or one outside its range.
    """
    own = load_task(task).LEVELS
    if levels is None:
        return own
    if not levels:
        raise ConfigError(f"no level is given for {task}", key="levels")
    made = []
    for number, values in enumerate(levels, 1):
        try:
            # Configs are JSON: its lists are tuples here, nothing else is converted.
            made.append(type(own[0]).model_validate_json(msgspec.json.encode(values)))
        except ValidationError as error:
            first = error.errors()[0]
            raise ConfigError(
                f"level {number} of {task}: {first['msg']}",
                key=".".join(map(str, first["loc"])) or None,
                expected=", ".join(type(own[0]).model_fields),
            ) from error
    return tuple(made)


def generate_rows(task: str, count: int, seed: int, levels: list[dict[str, Any]] | None = None) -> Iterator[TaskRow]:
    """Yield `count` different samples; the complexity levels take turns.

    `complexity` of a row holds the number of its level, counted from 1, under the key "complexity", and the
    level's parameters.

    Raises
    ------
    ConfigError
        If the levels are wrong, or if one has not enough different items for this seed.
    """
    if count < 0 or seed < 0:
        raise ConfigError(f"count is {count} and seed is {seed}", expected="no negative number")
    ladder = task_levels(task, levels)
    seen: set[str] = set()
    for index in range(count):
        level = index % len(ladder)
        draft = _fresh(task, ladder[level], seed, index, seen)
        yield TaskRow(
            task=task,
            sample_id=f"g{seed}-{index:04d}",
            question=draft.question,
            # As the row reads when it comes back from its file: lists, no tuples.
            solution=msgspec.to_builtins(draft.solution),
            complexity={"complexity": level + 1, **ladder[level].model_dump(mode="json")},
            question_source="generated",
        )


def draft_of(task: str, config: Parameters, seed: int, index: int, attempt: int = 0) -> Draft:
    """Return the draft that a row tries first, second, ...; nothing but the arguments decides it."""
    identity = (task, config.model_dump(mode="json"), seed, index, attempt)
    return load_task(task).generate(Draws(derive_seed("symbench-task", *identity)), config)


def _fresh(task: str, config: Parameters, seed: int, index: int, seen: set[str]) -> Draft:
    divided = config.space() < LARGE_SPACE
    for attempt in range(MAX_TRIES):
        try:
            draft = draft_of(task, config, seed, index, attempt)
        except ExhaustedError as error:
            raise ConfigError(
                f"{task}: the level {config!r} gives {error}",
                remedy="choose parameters that contradict each other less",
            ) from error
        identity = text_digest(f"{task}\0{draft.identity or draft.question}")
        if identity in seen or (divided and int(identity[:12], 16) % CLASSES != seed % CLASSES):
            continue
        seen.add(identity)
        return draft
    raise ConfigError(
        f"{task}: no new item for row {index + 1} after {MAX_TRIES} tries; the level {config!r} has about "
        f"{config.space()} items, of which a seed gets one in {CLASSES if divided else 1}",
        remedy="ask for fewer samples or give levels with more room",
    )
