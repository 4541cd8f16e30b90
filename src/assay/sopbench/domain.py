"""A domain: the parts that the benchmark's machinery works on."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

from assay.sopbench.consistency import check_rules, check_words
from assay.sopbench.rules import Rules
from assay.sopbench.system import Session, System


@dataclass(frozen=True)
class Procedure:
    """What is enforced: functions, constraints and rules."""

    name: str
    system: type[System]
    session: type[Session]
    rules: Rules

    def __post_init__(self) -> None:
        check_rules(self)


@dataclass(frozen=True)
class Texts:
    """What a model is told, in our own words.

    Attributes
    ----------
    role : str
        One sentence: whom the assistant works for.
    conditions : dict
        Constraint or helper -> clause, or pair of clauses: when it must hold, and when it must not. ``{parameter}``
        stands for the name of the variable that it is bound to, ``{limits[name]}`` for a threshold.
    """

    role: str
    conditions: dict[str, str | tuple[str, str]]


@dataclass(frozen=True)
class Tool:
    """A function as a model sees it: description and JSON Schema of the parameters."""

    name: str
    description: str
    parameters: dict[str, Any]


@dataclass(frozen=True)
class Toolbox:
    """The tools of a domain, services first.

    Attributes
    ----------
    hidden : tuple of str
        Tools with a schema that are never offered.
    unpublished : tuple of str
        Tools that the published data lacks a schema for; offered only on request.
    """

    tools: tuple[Tool, ...]
    hidden: tuple[str, ...] = ()
    unpublished: tuple[str, ...] = ()


@dataclass(frozen=True)
class Scenario:
    """How new tasks are drawn.

    Attributes
    ----------
    world : callable
        Draws a database.
    request : callable
        ``request(random, state, goal)`` draws what a user may know and ask for: every parameter of the goal and the
        credentials.
    wishes : dict
        Goal -> sentence with ``{parameter}`` places: what the user asks for.
    """

    world: Callable[[Random], dict[str, Any]]
    request: Callable[[Random, dict[str, Any], str], dict[str, Any]]
    wishes: dict[str, str]


@dataclass(frozen=True)
class Domain:
    """All parts of a domain; a user's own domain is one object of this type."""

    procedure: Procedure
    texts: Texts
    toolbox: Toolbox
    scenario: Scenario

    def __post_init__(self) -> None:
        check_words(self)

    @property
    def name(self) -> str:
        """The domain's name."""
        return self.procedure.name
