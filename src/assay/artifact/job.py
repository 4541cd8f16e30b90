"""A job: one artifact that an experiment needs, described before anything runs."""

import re
from dataclasses import dataclass, field
from typing import Any

from assay.errors import ConfigError

_ITEM = re.compile(r"[a-z0-9][a-z0-9._-]*\Z")


@dataclass(frozen=True)
class Need:
    """An input of a job: which role it plays, and which artifact it is."""

    role: str
    stage: str
    item: str


@dataclass(frozen=True)
class Work:
    """How much a job asks of its model, for the estimate of the plan; it is in no recipe.

    Parameters
    ----------
    rows : int
        Rows that are answered side by side.
    prompt_tokens : int
        Typical tokens that are read for one row, all its turns together.
    new_tokens : int
        Most tokens that are written for one row, all its turns together.
    """

    rows: int
    prompt_tokens: int
    new_tokens: int


@dataclass(frozen=True)
class Job:
    """What a benchmark's pipeline asks for.

    Parameters
    ----------
    stage, item : str
        Names; the item is readable, lower case, and unique within its stage.
    function : str
        "package.module:name" of the function that the stage's step calls. Its import closure is part of the
        recipe, so it must import nothing that does not decide the result.
    config : dict
        Resolved values, defaults filled in, that the step reads; JSON data, nothing else of the configs.
    needs : tuple of Need
        Inputs in a fixed order.
    lock : tuple of str
        Names in the lock ("models/NAME", "data/NAME") whose declared digests enter the recipe.
    libraries : tuple of str
        Distributions whose pinned versions enter the recipe, besides those that the stage names.
    determinism : str
        Class of this step alone; the plan takes the weakest along the way.
    model : str or None
        Name of the model that the job loads; it then takes a model slot.
    work : Work or None
        What it asks of that model, where it can be told before the run.
    """

    stage: str
    item: str
    function: str
    config: dict[str, Any] = field(default_factory=dict)
    needs: tuple[Need, ...] = ()
    lock: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()
    determinism: str = "bytes"
    model: str | None = None
    work: Work | None = None

    def __post_init__(self) -> None:
        if not _ITEM.match(self.item):
            raise ConfigError(
                f"{self.item!r} cannot be the item of a job", expected="lower-case letters, digits, . _ -"
            )

    @property
    def name(self) -> str:
        """Stage and item, as people and logs write them."""
        return f"{self.stage}/{self.item}"
