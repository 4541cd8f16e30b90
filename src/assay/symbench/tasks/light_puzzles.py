"""Light puzzles: press buttons that toggle lights; the answer is the final grid."""

from collections.abc import Mapping, Sequence
from math import comb
from string import ascii_uppercase
from typing import Any

from pydantic import Field

from assay.symbench.drafts import Draft, Parameters
from assay.symbench.drawing import Draws
from assay.symbench.wording import marked, rows_text

Cells = list[list[int]]


class LightPuzzlesConfig(Parameters):
    """Size of the grid, number of buttons and presses."""

    n: int = Field(ge=2, le=12)
    """Rows and columns."""
    buttons: int = Field(ge=1, le=26)
    """Buttons; each toggles a random half of the lights at most."""
    presses: int = Field(ge=1, le=60)
    """How often a button is pressed."""

    def space(self) -> int:
        """Return the number of grids and presses, with two lights a button."""
        return int(2 ** (self.n * self.n) * (comb(self.n * self.n, 2) ** self.buttons) * self.buttons**self.presses)


LEVELS = (
    LightPuzzlesConfig(n=3, buttons=3, presses=3),
    LightPuzzlesConfig(n=4, buttons=3, presses=4),
    LightPuzzlesConfig(n=5, buttons=4, presses=6),
    LightPuzzlesConfig(n=6, buttons=5, presses=9),
)


def generate(draws: Draws, config: LightPuzzlesConfig) -> Draft:
    """Draw a grid, buttons and presses, and play them."""
    cells = [[row, column] for row in range(1, config.n + 1) for column in range(1, config.n + 1)]
    state = [[draws.below(2) for _ in range(config.n)] for _ in range(config.n)]
    buttons = {
        letter: draws.sample(cells, draws.integer(2, max(2, len(cells) // 2)))
        for letter in ascii_uppercase[: config.buttons]
    }
    presses = [draws.choice(tuple(buttons)) for _ in range(config.presses)]
    final = press(state, buttons, presses)
    solution = {
        "n": config.n,
        "initial_state": state,
        "buttons": buttons,
        "operations": presses,
        "solution": [light for row in final for light in row],
    }
    return Draft(question=render(solution), solution=solution, reference=str(final))


def press(
    state: Sequence[Sequence[int]], buttons: Mapping[str, Sequence[Sequence[int]]], presses: Sequence[str]
) -> Cells:
    """Return the lights after all presses; cells of buttons are counted from 1."""
    lights = [list(row) for row in state]
    for button in presses:
        for row, column in buttons[button]:
            lights[row - 1][column - 1] ^= 1
    return lights


def render(solution: Mapping[str, Any]) -> str:
    """Return the question about the lights."""
    wiring = "\n".join(
        f"Button {name}: {', '.join(f'({row}, {column})' for row, column in cells)}"
        for name, cells in solution["buttons"].items()
    )
    return (
        f"A grid of {solution['n']} x {solution['n']} lights shows 1 for a light that is on and 0 for one that is "
        f"off:\n\n{rows_text(solution['initial_state'], ' ')}\n\n"
        "Pressing a button switches each of its lights: on becomes off, off becomes on. Its lights are given as (row, "
        f"column), counted from 1.\n\n{wiring}\n\n"
        f"The buttons are pressed in this order: {', '.join(solution['operations'])}.\n\n"
        "What does the grid show in the end? Give all rows, one after the other. "
        + marked("the grid", "[[0, 1], [1, 0]]")
    )
