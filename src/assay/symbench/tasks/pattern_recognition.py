"""Pattern recognition: find the square of equal characters in a matrix."""

from collections.abc import Mapping, Sequence
from string import ascii_uppercase
from typing import Any, Self

from pydantic import Field, model_validator

from assay.symbench.drafts import Draft, Parameters
from assay.symbench.drawing import Draws
from assay.symbench.wording import marked, rows_text

MIN_SIDE = 3


class PatternRecognitionConfig(Parameters):
    """Size of the matrix and how easily it misleads."""

    rows: int = Field(ge=5, le=40)
    """Rows of the matrix."""
    columns: int = Field(ge=5, le=40)
    """Columns of the matrix."""
    side: int = Field(ge=MIN_SIDE, le=12)
    """Side of the uniform square."""
    letters: int = Field(default=26, ge=3, le=26)
    """Different characters; fewer make more accidental neighbours."""

    @model_validator(mode="after")
    def _square_fits(self) -> Self:
        if self.side >= min(self.rows, self.columns):
            raise ValueError(f"a square of side {self.side} does not fit into {self.rows} x {self.columns}")
        return self

    def space(self) -> int:
        """Return the number of fillings around the square."""
        return int(self.letters ** (self.rows * self.columns - self.side * self.side))


LEVELS = (
    PatternRecognitionConfig(rows=7, columns=8, side=3),
    PatternRecognitionConfig(rows=10, columns=10, side=3, letters=12),
    PatternRecognitionConfig(rows=12, columns=14, side=4, letters=8),
    PatternRecognitionConfig(rows=16, columns=18, side=3, letters=5),
)


def generate(draws: Draws, config: PatternRecognitionConfig) -> Draft:
    """Draw a matrix and set the square into it until there is no other uniform 3 x 3 window."""
    letters = ascii_uppercase[: config.letters]
    top = draws.below(config.rows - config.side + 1)
    left = draws.below(config.columns - config.side + 1)
    row, column = top + config.side - 1, left + config.side - 1
    while True:
        matrix = [[draws.choice(letters) for _ in range(config.columns)] for _ in range(config.rows)]
        letter = draws.choice(letters)
        for r in range(top, row + 1):
            matrix[r][left : column + 1] = [letter] * config.side
        corners = uniform_corners(matrix)
        inside = [(r, c) for r in range(top + 2, row + 1) for c in range(left + 2, column + 1)]
        if corners == inside:
            break
    solution = {"row": row, "column": column, "matrix": ["".join(line) for line in matrix]}
    return Draft(question=render(solution), solution=solution, reference=f"[{row}, {column}]")


def uniform_corners(matrix: Sequence[Sequence[str]]) -> list[tuple[int, int]]:
    """Return the bottom-right corners of all uniform 3 x 3 windows, row by row."""
    return [
        (row, column)
        for row in range(MIN_SIDE - 1, len(matrix))
        for column in range(MIN_SIDE - 1, len(matrix[0]))
        if len({cell for line in matrix[row - 2 : row + 1] for cell in line[column - 2 : column + 1]}) == 1
    ]


def render(solution: Mapping[str, Any]) -> str:
    """Return the question about the matrix."""
    return (
        "Somewhere in the following matrix one character fills a whole square of at least 3 x 3 cells. There is only "
        f"one such square; take it as large as it is.\n\n{rows_text(solution['matrix'], ' ')}\n\n"
        "In which row and column is the bottom-right cell of the square? Both are counted from 0. "
        + marked("row and column", "[4, 7]")
    )
