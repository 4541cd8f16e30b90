"""Blocksworld: move blocks between stacks until the goal state is reached."""

from collections.abc import Mapping, Sequence
from math import comb, factorial, perm
from string import ascii_uppercase
from typing import Any, Self

from pydantic import Field, model_validator

from assay.symbench.drafts import Draft, Parameters
from assay.symbench.drawing import Draws
from assay.symbench.wording import marked

Stacks = dict[str, list[str]]
Move = tuple[str, str, str]  # block, source, destination


class BlocksworldConfig(Parameters):
    """How many blocks and stacks."""

    num_blocks: int = Field(ge=2, le=26)
    """Blocks; their names are drawn from A to Z."""
    initial_stacks: int = Field(ge=3, le=10)
    """Stacks that exist; three always suffice."""
    goal_stacks: int = Field(ge=1, le=10)
    """Stacks among which the goal is spread; the others end empty."""

    @model_validator(mode="after")
    def _goal_has_stacks(self) -> Self:
        if self.goal_stacks > self.initial_stacks:
            raise ValueError(f"goal_stacks {self.goal_stacks} exceeds initial_stacks {self.initial_stacks}")
        return self

    def space(self) -> int:
        """Return the number of pairs of states, with the choice of names."""
        initial = factorial(self.num_blocks) * comb(self.num_blocks + self.initial_stacks - 1, self.num_blocks)
        goal = comb(self.num_blocks + self.goal_stacks - 1, self.num_blocks)
        return initial * goal * perm(26, self.num_blocks)


LEVELS = (
    BlocksworldConfig(num_blocks=4, initial_stacks=3, goal_stacks=2),
    BlocksworldConfig(num_blocks=5, initial_stacks=4, goal_stacks=2),
    BlocksworldConfig(num_blocks=6, initial_stacks=4, goal_stacks=3),
    BlocksworldConfig(num_blocks=8, initial_stacks=4, goal_stacks=3),
    BlocksworldConfig(num_blocks=10, initial_stacks=5, goal_stacks=4),
)


def generate(draws: Draws, config: BlocksworldConfig) -> Draft:
    """Draw two different states; with three stacks or more one can always be turned into the other."""
    blocks = sorted(draws.sample(ascii_uppercase, config.num_blocks))
    names = [f"stack{number}" for number in range(1, config.initial_stacks + 1)]
    while True:
        initial, goal = _state(draws, blocks, names), _state(draws, blocks, names[: config.goal_stacks])
        moves = plan(initial, goal)
        if moves:
            break
    reference = "\n".join(f"Move {block} from {source} to {destination}" for block, source, destination in moves)
    solution = {"initial_state": initial, "goal_state": goal, "reference_answer": reference}
    return Draft(question=render(solution), solution=solution, reference=reference)


def _state(draws: Draws, blocks: Sequence[str], names: Sequence[str]) -> Stacks:
    state: Stacks = {name: [] for name in names}
    for block in draws.shuffled(blocks):
        state[draws.choice(names)].append(block)
    return state


def plan(initial: Mapping[str, Sequence[str]], goal: Mapping[str, Sequence[str]]) -> list[Move]:
    """Return moves that reach the goal, empty if it is reached; at least three stacks must exist.

    The goal is built block by block from the bottom. Whatever lies above a finished part is put aside: onto a
    stack that is neither the wanted block's source nor its destination, where it lies above finished parts only.
    """
    stacks = {name: list(blocks) for name, blocks in initial.items()}
    names = list(stacks)
    moves: list[Move] = []

    def move(source: str, destination: str) -> None:
        block = stacks[source].pop()
        stacks[destination].append(block)
        # A block that moves twice in a row moves once.
        if moves and moves[-1][0] == block:
            source = moves.pop()[1]
        if source != destination:
            moves.append((block, source, destination))

    for target in names:
        wanted = goal.get(target, ())
        for height, block in enumerate(wanted):
            if stacks[target][height : height + 1] == [block]:
                continue
            while len(stacks[target]) > height:
                holder = next(name for name in names if block in stacks[name])
                move(target, next(name for name in names if name not in (target, holder)))
            source = next(name for name in names if block in stacks[name])
            aside = next(name for name in names if name not in (target, source))
            while stacks[source][-1] != block:
                move(source, aside)
            move(source, target)
    return moves


def render(solution: Mapping[str, Any]) -> str:
    """Return the question about the two states."""
    initial, goal = _listing(solution["initial_state"]), _listing(solution["goal_state"])
    return (
        "Blocks lie in stacks. Each line names a stack and its blocks from the bottom to the top.\n\n"
        f"Now:\n{initial}\n\nGoal:\n{goal}\n\n"
        "Reach the goal. A move takes the top block of one stack and puts it on top of another one. One block is "
        "moved at a time, only the stacks listed under `Now` exist, and stacks that the goal does not list must end "
        "empty. Write one move a line as `Move BLOCK from SOURCE to DESTINATION` and nothing else in these lines. "
        + marked("the moves", "Move B from stack2 to stack1\nMove A from stack3 to stack2")
    )


def _listing(state: Mapping[str, Sequence[str]]) -> str:
    return "\n".join(f"{name}: {' '.join(blocks) or '(empty)'}" for name, blocks in state.items())
