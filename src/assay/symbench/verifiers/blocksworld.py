"""Blocksworld: move blocks between stacks until the goal state is reached."""

from assay.symbench.rows import TaskRow
from assay.symbench.verdicts import Profile, Verdict, clipped, unreadable, when, wrong


def verify(sample: TaskRow, answer: str, profile: Profile) -> Verdict:
    """Carry out the moves; every line must be `Move BLOCK from SOURCE to DESTINATION`.

    Both profiles agree: upstream's fault lies before, in the extraction (deviation D8).
    """
    del profile
    stacks = {name: list(blocks) for name, blocks in sample.solution["initial_state"].items()}
    for number, line in enumerate(answer.strip().split("\n"), 1):
        words = line.split()
        if len(words) != 6 or (words[0], words[2], words[4]) != ("Move", "from", "to"):
            return unreadable(f"line {number} is not a move: {clipped(line)!r}")
        block, source, destination = words[1], _stack(words[3]), _stack(words[5])
        if source not in stacks or destination not in stacks:
            return wrong(f"line {number} names an unknown stack")
        if not stacks[source] or stacks[source][-1] != block:
            return wrong(f"line {number}: {clipped(block)} is not on top of {source}")
        stacks[destination].append(stacks[source].pop())
    goal = {name: list(blocks) for name, blocks in sample.solution["goal_state"].items() if blocks}
    return when({name: blocks for name, blocks in stacks.items() if blocks} == goal, "the goal is not reached")


def _stack(name: str) -> str:
    return name if name.startswith("stack") else f"stack{name}"
