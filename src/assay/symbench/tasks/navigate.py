"""Navigation: say whether the steps lead back to the start (BIG-Bench Hard kind)."""

from collections.abc import Mapping, Sequence
from typing import Any, Self

from pydantic import Field, model_validator

from assay.symbench.drafts import Draft, Parameters
from assay.symbench.drawing import Draws
from assay.symbench.wording import counted, marked

# Always facing forward: direction -> (right, forward).
SIDES = {"forward": (0, 1), "backward": (0, -1), "left": (-1, 0), "right": (1, 0)}


class NavigateConfig(Parameters):
    """How long the walk is and whether it turns."""

    steps: int = Field(ge=5, le=60)
    """Instructions of walking."""
    turning: bool = False
    """Whether the walker turns; otherwise it always faces forward and steps sideways."""
    longest: int = Field(default=10, ge=2, le=100)
    """Largest number of steps in one instruction."""

    @model_validator(mode="after")
    def _can_be_closed(self) -> Self:
        if self.turning and self.steps % 2:
            raise ValueError(f"steps is {self.steps}; a turning walk needs an even number to be closed")
        return self

    def space(self) -> int:
        """Return the number of walks whose last instructions are free to close them."""
        return int((4 * self.longest) ** (self.steps - 2))


LEVELS = (
    NavigateConfig(steps=10),
    NavigateConfig(steps=14),
    NavigateConfig(steps=12, turning=True),
    NavigateConfig(steps=20, turning=True),
)


def generate(draws: Draws, config: NavigateConfig) -> Draft:
    """Make a closed walk; for the answer No change the length of one instruction."""
    closed = draws.chance(1, 2)
    while True:
        lines = _turning(draws, config) if config.turning else _sideways(draws, config)
        if not closed:
            index = draws.choice([i for i, (_, count) in enumerate(lines) if count])
            word, count = lines[index]
            lines[index] = word, draws.choice([n for n in range(1, config.longest + 1) if n != count])
        if (end(lines) == (0, 0)) == closed:
            break
    facing = "" if config.turning else " Always face forward."
    walk = " ".join(f"Take {counted(count, 'step')}{word}." if count else f"{word}." for word, count in lines)
    solution = {
        "input": f"You follow these instructions. Do you end where you started?{facing} {walk}\nOptions:\n- Yes\n- No",
        "target": "Yes" if closed else "No",
    }
    return Draft(question=render(solution), solution=solution, reference=solution["target"])


def _sideways(draws: Draws, config: NavigateConfig) -> list[tuple[str, int]]:
    """Return instructions that cancel out, in random order, so that the direction never turns."""
    while True:
        lines = [(f" {draws.choice(tuple(SIDES))}", draws.integer(1, config.longest)) for _ in range(config.steps - 2)]
        right, forward = end(lines)
        if all(1 <= abs(gap) <= config.longest for gap in (right, forward)):
            lines.append((" left" if right > 0 else " right", abs(right)))
            lines.append((" backward" if forward > 0 else " forward", abs(forward)))
            return draws.shuffled(lines)


def _turning(draws: Draws, config: NavigateConfig) -> list[tuple[str, int]]:
    """Return a walk that turns between its steps and whose last two steps lead back."""
    turns = ("Turn left", "Turn right", "Turn around")
    while True:
        lines: list[tuple[str, int]] = []
        for _ in range(config.steps // 2 - 1):
            lines += (
                [(draws.choice(turns), 0), ("", draws.integer(1, config.longest))]
                if lines
                else [("", draws.integer(1, config.longest))]
            )
            lines.append(("", draws.integer(1, config.longest)))
        # Walk home along the present direction and across it; wrong directions are drawn again.
        for turn in (draws.choice(turns), draws.choice(turns[:2])):
            lines.append((turn, 0))
            before = end(lines)
            gain = tuple(a - b for a, b in zip(end([*lines, ("", 1)]), before, strict=True))
            length = -(before[0] * gain[0] + before[1] * gain[1])
            if not 1 <= length <= config.longest:
                break
            lines.append(("", length))
        else:
            return lines


def end(lines: Sequence[tuple[str, int]]) -> tuple[int, int]:
    """Walk the instructions from (0, 0), facing (0, 1), and return the last position."""
    x, y, dx, dy = 0, 0, 0, 1
    for word, count in lines:
        if word == "Turn left":
            dx, dy = -dy, dx
        elif word == "Turn right":
            dx, dy = dy, -dx
        elif word == "Turn around":
            dx, dy = -dx, -dy
        else:
            sx, sy = SIDES[word.strip() or "forward"]
            x, y = x + count * (sx * dy + sy * dx), y + count * (sy * dy - sx * dx)
    return x, y


def render(solution: Mapping[str, Any]) -> str:
    """Return the question with the request for the marker."""
    return f"{solution['input']}\n\n" + marked("Yes or No", "answer")
