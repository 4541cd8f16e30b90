"""Matrix transformation: rotate a matrix of characters by 90 degrees clockwise."""

from collections.abc import Mapping, Sequence
from string import ascii_uppercase, digits
from typing import Any, Literal

from pydantic import Field

from assay.symbench.drafts import Draft, Parameters
from assay.symbench.drawing import Draws
from assay.symbench.wording import marked, rows_text

# No character that separates items of a list.
CHARACTERS = {"letters": ascii_uppercase, "digits": digits, "symbols": "!@#$%^&*+=?~"}


class MatrixTransformationConfig(Parameters):
    """Size of the matrix and what it holds."""

    rows: int = Field(ge=2, le=20)
    """Rows of the matrix."""
    columns: int = Field(ge=2, le=20)
    """Columns of the matrix."""
    characters: Literal["letters", "digits", "symbols"]
    """Kind of characters."""

    def space(self) -> int:
        """Return the number of matrices."""
        return int(len(CHARACTERS[self.characters]) ** (self.rows * self.columns))


LEVELS = (
    MatrixTransformationConfig(rows=3, columns=4, characters="letters"),
    MatrixTransformationConfig(rows=4, columns=5, characters="symbols"),
    MatrixTransformationConfig(rows=6, columns=5, characters="digits"),
    MatrixTransformationConfig(rows=7, columns=8, characters="symbols"),
)


def generate(draws: Draws, config: MatrixTransformationConfig) -> Draft:
    """Draw a matrix and rotate it."""
    characters = CHARACTERS[config.characters]
    matrix = [[draws.choice(characters) for _ in range(config.columns)] for _ in range(config.rows)]
    turned = rotate(matrix)
    flat = ",".join(cell for row in turned for cell in row)
    solution = {"matrix": matrix, "solution": turned, "formatted_solution": flat}
    return Draft(question=render(solution), solution=solution, reference=flat)


def rotate(matrix: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return the matrix turned clockwise: its first column, from the bottom up, becomes the first row."""
    return [[row[column] for row in reversed(matrix)] for column in range(len(matrix[0]))]


def render(solution: Mapping[str, Any]) -> str:
    """Return the question about the matrix."""
    return (
        "Turn the following matrix of characters clockwise by a quarter turn (90 degrees).\n\n"
        f"{rows_text(solution['matrix'], ' ')}\n\n"
        "Give the characters of the turned matrix row by row, with commas between them. "
        + marked("the list", "A,B,C,D")
    )
