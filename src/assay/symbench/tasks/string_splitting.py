"""String splitting: dismantle machines by a cycle of methods; six counts remain."""

import json
from collections.abc import Mapping
from typing import Any, Self

from pydantic import Field, model_validator

from assay.symbench.drafts import Draft, Parameters
from assay.symbench.drawing import Draws
from assay.symbench.exchanges import ROUNDS, Method, cycle
from assay.symbench.wording import listed, marked

KINDS = ("A", "B", "C", "X", "Y", "Z")


class StringSplittingConfig(Parameters):
    """How many machines there are and how much the methods vary."""

    fewest: int = Field(ge=0, le=1000)
    """Fewest machines of each of the three kinds."""
    most: int = Field(ge=1, le=1000)
    """Most machines of each kind."""
    largest_number: int = Field(default=4, ge=2, le=9)
    """Largest number of units that a method takes or gives of one kind."""

    @model_validator(mode="after")
    def _range_is_ordered(self) -> Self:
        if self.fewest > self.most:
            raise ValueError(f"fewest {self.fewest} exceeds most {self.most}")
        return self

    def space(self) -> int:
        """Return the number of starts and sets of methods."""
        return int((self.most - self.fewest + 1) ** 3 * self.largest_number**4 * (self.largest_number - 1) ** 4)


LEVELS = (
    StringSplittingConfig(fewest=2, most=9),
    StringSplittingConfig(fewest=5, most=20),
    StringSplittingConfig(fewest=15, most=50),
    StringSplittingConfig(fewest=40, most=150),
)


def generate(draws: Draws, config: StringSplittingConfig) -> Draft:
    """Draw methods and machines; every method lowers what is left to exchange, so the cycle ends."""
    while True:
        methods = _methods(draws, config.largest_number)
        start = {kind: draws.integer(config.fewest, config.most) for kind in KINDS[:3]}
        final, history = cycle(start | dict.fromkeys(KINDS[3:], 0), methods)
        if len(history) >= len(methods):
            break
    answer = [str(final[kind]) for kind in KINDS]
    solution = {
        "initial_state": start,
        "methods": [method.text() for method in methods],
        "final_counts": final,
        "expected_answer": answer,
    }
    return Draft(question=render(solution), solution=solution, reference=json.dumps(answer))


def _methods(draws: Draws, largest: int) -> list[Method]:
    """Split A, split several B, split several C, build A from B and C, join X and Y to Z, with drawn numbers."""
    many = [draws.integer(2, largest) for _ in range(4)]
    few = [draws.integer(1, largest) for _ in range(4)]
    return [
        Method((("A", 1),), (("X", few[0]), ("Y", few[1]))),
        Method((("B", many[0]),), (("X", few[2]),)),
        Method((("C", many[1]),), (("Y", few[3]),)),
        Method((("B", 1), ("C", 1)), (("A", 1),)),
        Method((("X", many[2]), ("Y", many[3])), (("Z", 1),)),
    ]


def render(solution: Mapping[str, Any]) -> str:
    """Return the question about the machines."""
    methods = "\n".join(f"Method {number}: {text}." for number, text in enumerate(solution["methods"], 1))
    start = listed([f"{count} of {kind}" for kind, count in solution["initial_state"].items()])
    return (
        "In a workshop there are machines A, B, C and parts X, Y, Z. They can be exchanged by these methods:\n\n"
        f"{methods}\n\n{ROUNDS}\n\n"
        f"At the start there are {start}, and no parts. How many of A, B, C, X, Y and Z are there at the end? Give "
        "six numbers in this order as a list of strings. " + marked("the list", '["1", "0", "2", "0", "1", "3"]')
    )
