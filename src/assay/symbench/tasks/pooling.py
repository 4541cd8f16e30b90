"""Pooling: maximum or average over a sliding window with stride 1."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from assay.symbench.drafts import Draft, Parameters
from assay.symbench.drawing import Draws
from assay.symbench.wording import marked, rows_text


class PoolingConfig(Parameters):
    """Size of matrix and window, and what is computed."""

    size: int = Field(ge=3, le=20)
    """Rows and columns of the matrix."""
    window_size: int = Field(ge=2, le=10)
    """Rows and columns of the window."""
    pooling_type: Literal["max", "average"]
    """What becomes of the numbers in a window."""
    largest: int = Field(default=50, ge=5, le=10_000)
    """Largest number; the smallest is its negative."""

    @model_validator(mode="after")
    def _window_slides(self) -> Self:
        if self.window_size >= self.size:
            raise ValueError(f"window_size {self.window_size} must be below size {self.size}")
        return self

    def space(self) -> int:
        """Return the number of matrices."""
        return int((2 * self.largest + 1) ** (self.size * self.size))


LEVELS = (
    PoolingConfig(size=4, window_size=2, pooling_type="max"),
    PoolingConfig(size=4, window_size=2, pooling_type="average"),
    PoolingConfig(size=6, window_size=3, pooling_type="max"),
    PoolingConfig(size=6, window_size=3, pooling_type="average"),
    PoolingConfig(size=8, window_size=3, pooling_type="average"),
)


def generate(draws: Draws, config: PoolingConfig) -> Draft:
    """Draw a matrix of whole numbers."""
    matrix = [[draws.integer(-config.largest, config.largest) for _ in range(config.size)] for _ in range(config.size)]
    result = pool(matrix, config.window_size, config.pooling_type)
    solution = {
        "matrix": matrix,
        "window_size": config.window_size,
        "pooling_type": config.pooling_type,
        "solution": [[int(v) if v.denominator == 1 else float(v) for v in row] for row in result],
    }
    return Draft(question=render(solution), solution=solution, reference=str(solution["solution"]))


def pool(matrix: Sequence[Sequence[int]], window: int, kind: str) -> list[list[Fraction]]:
    """Return the exact results, row by row."""
    rows, columns = len(matrix) - window + 1, len(matrix[0]) - window + 1
    cells = [
        [[v for row in matrix[r : r + window] for v in row[c : c + window]] for c in range(columns)]
        for r in range(rows)
    ]
    return [[Fraction(max(v)) if kind == "max" else Fraction(sum(v), len(v)) for v in row] for row in cells]


def render(solution: Mapping[str, Any]) -> str:
    """Return the question about the matrix."""
    width, is_max = solution["window_size"], solution["pooling_type"] == "max"
    what = "the largest number in it" if is_max else "the average of the numbers in it, to at least two decimals"
    return (
        f"A window of {width} x {width} cells slides over the matrix below, one cell at a time, from left to right "
        f"and from top to bottom, and never leaves it. For every position of the window write down {what}; the "
        f"results form a smaller matrix.\n\n{rows_text(solution['matrix'], ', ')}\n\n"
        "Give the smaller matrix as a list of rows. " + marked("it", "[[1, 2], [3, 4]]")
    )
