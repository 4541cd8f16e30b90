"""Combinatorial calculation: put operators between given numbers to reach a target."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Self

from pydantic import Field, model_validator

from assay.symbench.drafts import Draft, Parameters
from assay.symbench.drawing import Draws
from assay.symbench.wording import marked

PRECEDENCE = {"+": 1, "-": 1, "*": 2, "/": 2}
Tokens = list[str]


class CombinatorialCalculationConfig(Parameters):
    """How many numbers, and how large."""

    numbers: int = Field(ge=3, le=10)
    """Numbers, in an order that may not change."""
    largest: int = Field(default=9, ge=5, le=99)
    """Largest number; the smallest is 1."""
    largest_target: int = Field(default=100, ge=10, le=10_000)
    """Largest target; the smallest is 1."""

    @model_validator(mode="after")
    def _targets_are_reachable(self) -> Self:
        if self.largest_target < self.largest:
            raise ValueError(f"largest_target {self.largest_target} is below largest {self.largest}")
        return self

    def space(self) -> int:
        """Return the number of lists of numbers, a tenth of the targets reachable."""
        return int(self.largest**self.numbers * (self.largest_target // 10))


LEVELS = (
    CombinatorialCalculationConfig(numbers=4),
    CombinatorialCalculationConfig(numbers=5),
    CombinatorialCalculationConfig(numbers=6),
    CombinatorialCalculationConfig(numbers=8, largest=12),
)


def generate(draws: Draws, config: CombinatorialCalculationConfig) -> Draft:
    """Draw an expression over the numbers until its exact value can be a target."""
    while True:
        numbers = [draws.integer(1, config.largest) for _ in range(config.numbers)]
        built = _expression(draws, numbers)
        if built is None:
            continue
        value, tokens, _ = built
        if value.denominator == 1 and 1 <= value <= config.largest_target:
            break
    solution = {"numbers": numbers, "target": int(value), "solution": tokens}
    return Draft(question=render(solution), solution=solution, reference=f"[{', '.join(tokens)}]")


def _expression(draws: Draws, numbers: list[int]) -> tuple[Fraction, Tokens, int] | None:
    """Return value, tokens and precedence of a random expression, or None where it divides by zero."""
    if len(numbers) == 1:
        return Fraction(numbers[0]), [str(numbers[0])], 3
    cut = draws.integer(1, len(numbers) - 1)
    sign = draws.choice("++--**/")
    left, right = _expression(draws, numbers[:cut]), _expression(draws, numbers[cut:])
    if left is None or right is None or (sign == "/" and right[0] == 0):
        return None
    a, b = left[0], right[0]
    value = {"+": lambda: a + b, "-": lambda: a - b, "*": lambda: a * b, "/": lambda: a / b}[sign]()
    level = PRECEDENCE[sign]
    # An equal precedence on the right needs brackets: a - (b + c), a / (b * c); sums and products do not mind them.
    first = left[1] if left[2] >= level else ["(", *left[1], ")"]
    second = right[1] if right[2] > level else ["(", *right[1], ")"]
    return value, [*first, sign, *second], level


def render(solution: Mapping[str, Any]) -> str:
    """Return the question about the numbers."""
    return (
        f"Take the numbers {', '.join(map(str, solution['numbers']))} in exactly this order, each of them once. Put "
        "one of the signs + - * / between every two neighbours, and brackets where you like, so that the value of the "
        f"whole is {solution['target']}. No sign may stand before the first number or after an opening bracket, and "
        "intermediate results may be fractions.\n\n"
        "Give a list of all numbers, signs and brackets from left to right. "
        + marked("the list", "[4, *, (, 6, -, 1, )]")
    )
