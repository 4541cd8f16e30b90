"""BoxLift: assign lifters to boxes, step by step."""

from collections.abc import Mapping
from typing import Any, Self

from pydantic import Field, model_validator

from assay.symbench.boxlift_greedy import greedy_plan
from assay.symbench.drafts import Draft, Parameters
from assay.symbench.drawing import Draws
from assay.symbench.wording import marked


class BoxliftConfig(Parameters):
    """How many boxes and lifters, and how heavy and strong they are."""

    num_boxes: int = Field(ge=2, le=100)
    """Boxes; weights may repeat."""
    num_lifters: int = Field(ge=2, le=20)
    """Lifters."""
    heaviest: int = Field(default=100, ge=10, le=1000)
    """Largest weight; the smallest is 5."""
    weakest: int = Field(default=40, ge=5, le=1000)
    """Smallest capacity."""
    strongest: int = Field(default=60, ge=5, le=1000)
    """Largest capacity."""

    @model_validator(mode="after")
    def _everything_can_be_lifted(self) -> Self:
        if self.weakest > self.strongest:
            raise ValueError(f"weakest {self.weakest} exceeds strongest {self.strongest}")
        if self.num_lifters * self.weakest < self.heaviest:
            raise ValueError(f"{self.num_lifters} lifters of {self.weakest} may be too weak for {self.heaviest}")
        return self

    def space(self) -> int:
        """Return the number of lists of weights and capacities."""
        return int((self.heaviest - 4) ** self.num_boxes * (self.strongest - self.weakest + 1) ** self.num_lifters)


LEVELS = (
    BoxliftConfig(num_boxes=10, num_lifters=3),
    BoxliftConfig(num_boxes=15, num_lifters=4),
    BoxliftConfig(num_boxes=20, num_lifters=5),
    BoxliftConfig(num_boxes=25, num_lifters=6),
)


def generate(draws: Draws, config: BoxliftConfig) -> Draft:
    """Draw weights and capacities; a greedy plan shows that the allowed number of steps suffices."""
    boxes = [draws.integer(5, config.heaviest) for _ in range(config.num_boxes)]
    lifters = [draws.integer(config.weakest, config.strongest) for _ in range(config.num_lifters)]
    plan = greedy_plan(boxes, lifters)
    solution = {"boxes": boxes, "lifters": lifters, "estimated_steps": len(plan)}
    reference = "\n".join(f"Step {number}: {step}" for number, step in enumerate(plan, 1))
    return Draft(question=render(solution), solution=solution, reference=reference)


def render(solution: Mapping[str, Any]) -> str:
    """Return the question about the boxes and lifters."""
    lifters = ", ".join(f"lifter {index}: {capacity}" for index, capacity in enumerate(solution["lifters"]))
    return (
        f"Boxes of these weights have to be lifted: {', '.join(map(str, solution['boxes']))}.\n"
        f"The lifters, counted from 0, can carry at most: {lifters}.\n\n"
        "In every step each lifter may take part in lifting one box at most, and each box is lifted by one lifter or "
        "by several together whose capacities add up to at least its weight. A lifted box is done. Lift all boxes in "
        f"at most {solution['estimated_steps']} steps.\n\n"
        "Write one line for each step: the lifted boxes as (weight, [lifters]). "
        + marked("the lines", "Step 1: [(50, [0, 2]), (30, [1])]\nStep 2: [(45, [1])]")
    )
