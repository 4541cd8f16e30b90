"""String synthesis: combine blocks by six methods; nine counts remain."""

from collections.abc import Mapping
from typing import Any, Self

from pydantic import Field, model_validator

from assay.symbench.drafts import Draft, Parameters
from assay.symbench.drawing import Draws
from assay.symbench.exchanges import ROUNDS, Method, cycle
from assay.symbench.wording import listed, marked

BLOCKS = ("[A]", "[B]", "[C]", "{A}", "{B}", "{C}", "(A)", "(B)", "(C)")
METHODS = (
    Method((("[A]", 1), ("[B]", 1), ("[C]", 1)), (("{A}", 1),)),
    Method((("[A]", 1), ("[B]", 1)), (("{C}", 1),)),
    Method((("[B]", 1), ("[C]", 1)), (("{B}", 1),)),
    Method((("[C]", 2),), (("{C}", 1),)),
    Method((("{A}", 1), ("{C}", 1)), (("(A)", 1), ("(B)", 1))),
    Method((("{B}", 2),), (("(C)", 1),)),
)


class StringSynthesisConfig(Parameters):
    """How many blocks there are at first."""

    fewest: int = Field(ge=0, le=1000)
    """Fewest blocks of each of the three kinds."""
    most: int = Field(ge=1, le=1000)
    """Most blocks of each kind."""

    @model_validator(mode="after")
    def _range_is_ordered(self) -> Self:
        if self.fewest > self.most:
            raise ValueError(f"fewest {self.fewest} exceeds most {self.most}")
        return self

    def space(self) -> int:
        """Return the number of starts."""
        return int((self.most - self.fewest + 1) ** 3)


LEVELS = (
    StringSynthesisConfig(fewest=1, most=9),
    StringSynthesisConfig(fewest=10, most=24),
    StringSynthesisConfig(fewest=25, most=60),
    StringSynthesisConfig(fewest=61, most=150),
)


def generate(draws: Draws, config: StringSynthesisConfig) -> Draft:
    """Draw three counts and work the methods through."""
    while True:
        start = [draws.integer(config.fewest, config.most) for _ in range(3)]
        counts = synthesize(start)
        if counts[:3] != start:
            break
    solution = dict(zip(("A_count", "B_count", "C_count"), start, strict=True)) | {"final_counts": counts}
    return Draft(question=render(solution), solution=solution, reference=", ".join(map(str, counts)))


def synthesize(start: list[int]) -> list[int]:
    """Return the nine counts that remain, in the order of `BLOCKS`."""
    stock = dict.fromkeys(BLOCKS, 0) | dict(zip(BLOCKS, start, strict=False))
    return [cycle(stock, METHODS)[0][block] for block in BLOCKS]


def render(solution: Mapping[str, Any]) -> str:
    """Return the question about the blocks."""
    methods = "\n".join(f"Method {number}: {method.text()}." for number, method in enumerate(METHODS, 1))
    counts = (solution["A_count"], solution["B_count"], solution["C_count"])
    start = listed([f"{count} of {block}" for count, block in zip(counts, BLOCKS, strict=False)])
    return (
        f"Blocks of the nine kinds {listed(BLOCKS)} can be exchanged by these methods:\n\n{methods}\n\n{ROUNDS}\n\n"
        f"At the start there are {start}, and no others. How many blocks of each kind are there at the end? Give nine "
        "numbers in the order of the kinds above, with commas between them. "
        + marked("the numbers", "1, 0, 2, 0, 0, 1, 0, 0, 3")
    )
