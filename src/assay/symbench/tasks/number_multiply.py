"""Number multiply: the exact product of several integers."""

import math
from collections.abc import Mapping
from typing import Any

from pydantic import Field

from assay.symbench.drafts import Draft, Parameters
from assay.symbench.drawing import Draws
from assay.symbench.wording import marked


class NumberMultiplyConfig(Parameters):
    """How many digits each factor has."""

    digits: tuple[int, ...] = Field(min_length=2, max_length=8)
    """Number of digits per factor, each 1 to 12."""

    def model_post_init(self, context: object) -> None:
        """Check each number of digits."""
        if not all(1 <= count <= 12 for count in self.digits):
            raise ValueError(f"digits {self.digits}: each must be 1 to 12")

    def space(self) -> int:
        """Return the number of lists of factors, signs included."""
        return math.prod(2 * 9 * 10 ** (count - 1) for count in self.digits)


LEVELS = (
    NumberMultiplyConfig(digits=(1, 2, 4)),
    NumberMultiplyConfig(digits=(1, 3, 4)),
    NumberMultiplyConfig(digits=(1, 2, 2, 4)),
    NumberMultiplyConfig(digits=(3, 4, 5)),
)


def generate(draws: Draws, config: NumberMultiplyConfig) -> Draft:
    """Draw factors with the given numbers of digits and random signs."""
    factors = [draws.integer(10 ** (count - 1), 10**count - 1) * draws.choice((1, -1)) for count in config.digits]
    solution = {"input_value_list": factors, "target_answer": math.prod(factors)}
    return Draft(question=render(solution), solution=solution, reference=str(solution["target_answer"]))


def render(solution: Mapping[str, Any]) -> str:
    """Return the question about the factors."""
    product = " * ".join(f"({factor})" if factor < 0 else str(factor) for factor in solution["input_value_list"])
    return f"Compute the exact value of {product}.\n\n" + marked("the integer", "-1234567")
