"""Logic puzzle: select different numbers of a grid under a row and column constraint."""

from collections.abc import Mapping
from math import comb, perm
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from assay.symbench.drafts import Draft, Parameters
from assay.symbench.drawing import Draws
from assay.symbench.wording import marked, rows_text

MAX_SUM = 4
Cell = tuple[int, int]


class LogicPuzzleConfig(Parameters):
    """Size of the grid, number of cells to select, and the constraint."""

    size: int = Field(ge=3, le=12)
    """Rows and columns."""
    selected: int = Field(ge=3, le=60)
    """Cells to select."""
    constraint: Literal["sum_le_4", "product_gt_0"]
    """What holds for the selected numbers of each row and column."""
    limit: int = Field(default=20, ge=5, le=200)
    """Largest number; the smallest is its negative."""

    @model_validator(mode="after")
    def _selection_exists(self) -> Self:
        if self.selected > self.size**2 // 2 or self.selected > self.limit:
            raise ValueError(f"selected {self.selected} exceeds half of the cells or the limit of {self.limit}")
        if self.constraint == "product_gt_0" and self.selected < 5:
            raise ValueError(f"selected {self.selected}: a product puzzle has at least 5")
        return self

    def space(self) -> int:
        """Return the number of grids, the selected numbers counted once."""
        rest = self.size**2 - self.selected
        return int((2 * self.limit) ** rest * comb(self.size**2, self.selected) * perm(self.limit, self.selected))


LEVELS = (
    LogicPuzzleConfig(size=4, selected=5, constraint="sum_le_4"),
    LogicPuzzleConfig(size=5, selected=7, constraint="product_gt_0"),
    LogicPuzzleConfig(size=6, selected=10, constraint="sum_le_4"),
    LogicPuzzleConfig(size=8, selected=16, constraint="product_gt_0", limit=30),
)


def generate(draws: Draws, config: LogicPuzzleConfig) -> Draft:
    """Choose cells and fitting numbers for them first, then fill the rest at random."""
    corner = (0, config.size - 1)
    every = [(row, column) for row in range(config.size) for column in range(config.size)]
    if config.constraint == "sum_le_4":
        others = draws.sample([cell for cell in every if cell != corner], config.selected - 1)
        values = _small_sums(draws, [corner, *others], config.limit)
    else:
        values = _positive_products(draws, corner, every, config)
    rest = [number for number in range(-config.limit, config.limit + 1) if number]
    grid = [
        [values.get((row, column)) or draws.choice(rest) for column in range(config.size)] for row in range(config.size)
    ]
    solution = {
        "grid": grid,
        "constraints": {"type": config.constraint},
        "solution": [list(cell) for cell in values],
    }
    reference = ", ".join(f"{row} {column}" for row, column in values)
    return Draft(question=render(solution), solution=solution, reference=reference)


def _small_sums(draws: Draws, cells: list[Cell], limit: int) -> dict[Cell, int]:
    """Give the cells different numbers so that no row or column sums to more than 4."""
    values: dict[Cell, int] = {}
    for row, column in cells:
        in_row = sum(value for (r, _), value in values.items() if r == row)
        in_column = sum(value for (_, c), value in values.items() if c == column)
        bound = MAX_SUM - max(in_row, in_column)
        # The bound is never negative and there are as many negative numbers as cells, so one is always left.
        fitting = [n for n in range(-limit, bound + 1) if n and n <= limit and n not in values.values()]
        # Only the largest are drawn, so that the sums are tight.
        values[row, column] = draws.choice(fitting[-6:])
    return values


def _positive_products(draws: Draws, corner: Cell, every: list[Cell], config: LogicPuzzleConfig) -> dict[Cell, int]:
    """Give negative numbers to the corners of a rectangle: two in each of its rows and columns."""
    top, bottom = sorted(draws.sample(range(config.size), 2))
    left, right = sorted(draws.sample(range(config.size), 2))
    negative = [(top, left), (top, right), (bottom, left), (bottom, right)]
    chosen = [corner, *(cell for cell in negative if cell != corner)]
    others = [cell for cell in every if cell not in chosen]
    chosen += draws.sample(others, config.selected - len(chosen))
    numbers = draws.sample(range(1, config.limit + 1), config.selected)
    return {cell: -number if cell in negative else number for cell, number in zip(chosen, numbers, strict=True)}


def render(solution: Mapping[str, Any]) -> str:
    """Return the question about the grid."""
    grid, count = solution["grid"], len(solution["solution"])
    rule = (
        f"the selected numbers of each row must sum to at most {MAX_SUM}, and so must those of each column"
        if solution["constraints"]["type"] == "sum_le_4"
        else "the product of the selected numbers of each row must be greater than 0, and so must that of each column"
    )
    last = len(grid[0]) - 1
    return (
        f"Select exactly {count} cells of the grid below. Their numbers must all be different, and {rule}; rows and "
        f"columns without a selected cell do not matter. The cell at the top right, (0, {last}) with the number "
        f"{grid[0][last]}, must be selected and stand first in your list.\n\n{rows_text(grid, ', ')}\n\n"
        "Give the cells as `row column` pairs counted from 0, with commas between the pairs. "
        + marked("the list", f"0 {last}, 1 0, 2 1")
    )
