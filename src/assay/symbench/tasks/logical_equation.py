"""Logical equation: give letters values from a list so that every relation holds."""

from collections.abc import Sequence
from math import perm
from string import ascii_uppercase
from typing import Self

from pydantic import Field, model_validator

from assay.symbench.drafts import Draft, Parameters
from assay.symbench.drawing import Draws
from assay.symbench.wording import listed, marked, numbered


class LogicalEquationConfig(Parameters):
    """How many letters and relations."""

    num_letters: int = Field(ge=3, le=26)
    """Letters, from A on."""
    num_constraints: int = Field(ge=2, le=60)
    """Relations between two letters each; no pair occurs twice."""
    largest: int = Field(default=120, ge=30, le=1000)
    """Largest value; the smallest is 1, all are different."""

    @model_validator(mode="after")
    def _pairs_suffice(self) -> Self:
        if self.num_constraints > self.num_letters * (self.num_letters - 1) // 2:
            raise ValueError(f"{self.num_letters} letters have fewer than {self.num_constraints} pairs")
        return self

    def space(self) -> int:
        """Return the number of assignments of values to letters."""
        return perm(self.largest, self.num_letters)


LEVELS = (
    LogicalEquationConfig(num_letters=7, num_constraints=6),
    LogicalEquationConfig(num_letters=9, num_constraints=8),
    LogicalEquationConfig(num_letters=11, num_constraints=11),
    LogicalEquationConfig(num_letters=13, num_constraints=12),
    LogicalEquationConfig(num_letters=15, num_constraints=14),
)


def generate(draws: Draws, config: LogicalEquationConfig) -> Draft:
    """Draw values first and then true relations between pairs, so that a solution always exists."""
    values = draws.sample(range(1, config.largest + 1), config.num_letters)
    letters = ascii_uppercase[: config.num_letters]
    pairs = [(i, j) for i in range(len(letters)) for j in range(i + 1, len(letters))]
    relations = []
    for i, j in draws.sample(pairs, config.num_constraints):
        first, second = (i, j) if draws.chance(1, 2) else (j, i)
        relations.append(_relation(draws, letters[first], values[first], letters[second], values[second]))
    return Draft(question=render(sorted(values), relations), solution=values, reference=str(values))


def _relation(draws: Draws, a: str, x: int, b: str, y: int) -> str:
    """Return one true relation; multiples are stated wherever they hold, because they say most."""
    if x % y == 0:
        return f"{a} = {x // y}.0{b}"
    if y % x == 0:
        return f"{b} = {y // x}.0{a}"
    kind = draws.below(5)
    if kind < 2:
        return f"{a} + {b} = {x + y}"
    if kind < 4:
        return f"{a} - {b} = {x - y}"
    return f"{a} > {b}" if x > y else f"{a} < {b}"


def render(values: Sequence[int], relations: Sequence[str]) -> str:
    """Return the question; only its relations stand on numbered lines, which the verifier reads."""
    letters = list(ascii_uppercase[: len(values)])
    return (
        f"The letters {listed(letters)} stand for the numbers {listed([str(v) for v in values])}, each letter for "
        "another one, so that each number is used once. In the relations below 3.0D means three times D:\n\n"
        f"{numbered(relations)}\n\n"
        "Find values that fulfil all relations. Give them as a list in alphabetical order of the letters. "
        + marked("the list", "[1, 2, 3]")
    )
