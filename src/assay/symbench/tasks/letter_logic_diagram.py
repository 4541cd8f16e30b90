"""Letter logic diagram: a 7 x 7 Latin square over a..g with a constant minor diagonal."""

from collections.abc import Mapping, Sequence
from functools import cache
from math import comb, factorial
from typing import Any

from pydantic import Field

from assay.symbench.drafts import Draft, Parameters
from assay.symbench.drawing import Draws
from assay.symbench.gridfill import EMPTY, Grid
from assay.symbench.wording import marked

SIZE = 7
LETTERS = "abcdefg"
DIAGONAL = [row * SIZE + SIZE - 1 - row for row in range(SIZE)]


class LetterLogicDiagramConfig(Parameters):
    """How much of the square is missing."""

    blanks: int = Field(ge=1, le=38)
    """Empty cells; fewer where the solution would not stay the only one."""

    def space(self) -> int:
        """Return the number of squares (letters and order are free, up to shifts) and of kept diagonal cells."""
        squares = factorial(SIZE) * factorial(SIZE - 1)
        return squares * SIZE * comb(SIZE * (SIZE - 1), max(0, self.blanks - SIZE + 1))


LEVELS = (
    LetterLogicDiagramConfig(blanks=20),
    LetterLogicDiagramConfig(blanks=25),
    LetterLogicDiagramConfig(blanks=30),
    LetterLogicDiagramConfig(blanks=35),
)


def generate(draws: Draws, config: LetterLogicDiagramConfig) -> Draft:
    """Shuffle a cyclic square so that its diagonal survives, and empty cells while the solution stays unique.

    One letter of the diagonal stays, so that the diagonal is known and the rest is an ordinary Latin square.
    """
    letters, order = draws.shuffled(range(SIZE)), draws.shuffled(range(SIZE))
    # Row i holds symbol order[i] - order[6 - j] in column j, which is 0 on the whole minor diagonal.
    full = [letters[(order[row] - order[SIZE - 1 - column]) % SIZE] for row in range(SIZE) for column in range(SIZE)]
    kept = draws.choice(DIAGONAL)
    hidden = [cell for cell in DIAGONAL if cell != kept]
    others = draws.shuffled([cell for cell in range(SIZE * SIZE) if cell not in DIAGONAL])
    puzzle = shape().dig(full, others, max(0, config.blanks - len(hidden)))
    for cell in hidden[: config.blanks]:
        puzzle[cell] = EMPTY
    square = [[LETTERS[cell] for cell in row] for row in _rows(full)]
    solution = {
        "grid": [[None if cell == EMPTY else LETTERS[cell] for cell in row] for row in _rows(puzzle)],
        "solution": square,
    }
    reference = "\n".join(",".join(row) for row in square)
    return Draft(question=render(solution), solution=solution, reference=reference)


@cache
def shape() -> Grid:
    """Return rows and columns."""
    rows = [[row * SIZE + column for column in range(SIZE)] for row in range(SIZE)]
    columns = [[row * SIZE + column for row in range(SIZE)] for column in range(SIZE)]
    return Grid(rows + columns, SIZE)


def _rows(cells: Sequence[int]) -> list[Sequence[int]]:
    return [cells[start : start + SIZE] for start in range(0, SIZE * SIZE, SIZE)]


def render(solution: Mapping[str, Any]) -> str:
    """Return the question about the square."""
    puzzle = "\n".join(" ".join(cell or "." for cell in row) for row in solution["grid"])
    return (
        "Fill the empty cells (points) of this square with the letters a to g. Every row and every column must hold "
        "each of the seven letters once, and the diagonal from the top right to the bottom left must hold one and the "
        f"same letter throughout.\n\n{puzzle}\n\n"
        "Give seven lines of seven letters with commas between them. " + marked("the lines", "\na,b,c,d,e,f,g\n...\n")
    )
