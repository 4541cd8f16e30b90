"""Game 24: reach 24 with four numbers and the four operations."""

from collections.abc import Mapping, Sequence
from math import comb
from typing import Any, Self

from pydantic import Field, model_validator

from assay.symbench.drafts import Draft, Parameters
from assay.symbench.drawing import Draws
from assay.symbench.wording import marked

TARGET = 24
# A number as a fraction (numerator, denominator) and the expression that gives it.
Value = tuple[int, int, str]


class Game24Config(Parameters):
    """Which numbers are drawn."""

    largest: int = Field(ge=4, le=60)
    """Largest number; the smallest is 1."""
    above: int = Field(default=0, ge=0, le=59)
    """At least one number is larger than this, so that levels do not overlap."""

    @model_validator(mode="after")
    def _above_is_reachable(self) -> Self:
        if self.above >= self.largest:
            raise ValueError(f"above ({self.above}) must be below largest ({self.largest})")
        return self

    def space(self) -> int:
        """Return the number of multisets; most of them have a solution."""
        return comb(self.largest + 3, 4) - comb(self.above + 3, 4)


LEVELS = (
    Game24Config(largest=9),
    Game24Config(largest=13, above=9),
    Game24Config(largest=20, above=13),
    Game24Config(largest=30, above=20),
)


def generate(draws: Draws, config: Game24Config) -> Draft:
    """Draw numbers until they can reach 24."""
    while True:
        numbers = [draws.integer(1, config.largest) for _ in range(4)]
        if max(numbers) > config.above and (expression := solve(sorted(numbers), TARGET)):
            break
    solution = {"numbers": numbers, "target": TARGET, "reference_answer": f"{expression} = {TARGET}"}
    return Draft(
        question=render(solution),
        solution=solution,
        reference=f"{expression} = {TARGET}",
        identity=" ".join(map(str, sorted(numbers))),
    )


def render(solution: Mapping[str, Any]) -> str:
    """Return the question about the numbers, in their given order."""
    numbers, target = solution["numbers"], solution["target"]
    return (
        f"Combine the numbers {', '.join(map(str, numbers))} into an expression whose value is {target}. You may add, "
        "subtract, multiply and divide (+ - * /) and set brackets. Use every number exactly once and no other number. "
        "Intermediate results may be fractions.\n\n"
        "Worked examples: from 1, 2, 3, 4 one gets 1*2*3*4 = 24; from 2, 5, 7, 8 one gets (2*5-7)*8 = 24; "
        "from 3, 3, 8, 8 one gets 8/(3-8/3) = 24.\n\n" + marked("the equation", "(2*5-7)*8 = 24")
    )


def solve(numbers: Sequence[int], target: int) -> str | None:
    """Return an expression with the exact value, or None if there is none (complete search, rationals)."""
    found = _search([(number, 1, str(number)) for number in numbers], target)
    return None if found is None else found.removeprefix("(").removesuffix(")") if _is_wrapped(found) else found


def _is_wrapped(text: str) -> bool:
    """Say whether the first bracket closes at the very end."""
    depth = 0
    for index, sign in enumerate(text):
        depth += (sign == "(") - (sign == ")")
        if depth == 0:
            return index == len(text) - 1 and len(text) > 1
    return False


def _search(values: list[Value], target: int) -> str | None:
    if len(values) == 1:
        numerator, denominator, text = values[0]
        return text if numerator == target * denominator else None
    for i, (n1, d1, t1) in enumerate(values):
        for j in range(i + 1, len(values)):
            n2, d2, t2 = values[j]
            rest = values[:i] + values[i + 1 : j] + values[j + 1 :]
            pairs = [
                (n1 * d2 + n2 * d1, d1 * d2, f"({t1}+{t2})"),
                (n1 * n2, d1 * d2, f"({t1}*{t2})"),
                (n1 * d2 - n2 * d1, d1 * d2, f"({t1}-{t2})"),
                (n2 * d1 - n1 * d2, d1 * d2, f"({t2}-{t1})"),
            ]
            pairs += [(n1 * d2, d1 * n2, f"({t1}/{t2})")] if n2 else []
            pairs += [(n2 * d1, d2 * n1, f"({t2}/{t1})")] if n1 else []
            for value in pairs:
                if found := _search([*rest, value], target):
                    return found
    return None
