"""String synthesis: combine blocks by six methods; nine counts remain."""

from collections.abc import Callable

from assay.symbench.rows import TaskRow
from assay.symbench.verdicts import Profile, Verdict, integers, loose_items, unreadable, when

Counts = list[int]
_UPSTREAM_DELETED = str.maketrans("", "", "[]', ")

# Blocks in the order [A] [B] [C] {A} {B} {C} (A) (B) (C). A method: what it takes, what it gives.
METHODS: tuple[tuple[dict[int, int], dict[int, int]], ...] = (
    ({0: 1, 1: 1, 2: 1}, {3: 1}),
    ({0: 1, 1: 1}, {5: 1}),
    ({1: 1, 2: 1}, {4: 1}),
    ({2: 2}, {5: 1}),
    ({3: 1, 5: 1}, {6: 1, 7: 1}),
    ({4: 2}, {8: 1}),
)


def verify(sample: TaskRow, answer: str, profile: Profile) -> Verdict:
    """Compare the nine counts with the reference.

    The published references repeat each method until it fails before they go on; the question says that the methods
    are cycled, one at a time (deviation D3). `upstream` keeps the reference, `corrected` accepts either reading. The
    questions of generated samples have one reading, and its counts stand in `final_counts`.
    """
    if profile == "upstream":
        values = integers(list(answer.translate(_UPSTREAM_DELETED)))
        if values is None:
            return unreadable("something else than digits")
        return when(values == sample.solution["final_counts"], "the counts differ from the reference")
    items = loose_items(answer)
    values = integers(items if len(items) != 1 else list(items[0]))
    if values is None or len(values) != 9:
        return unreadable("not nine counts")
    accepted = [sample.solution["final_counts"]]
    if sample.question_source != "generated":
        accepted += [cycled(start(sample)), exhausted(start(sample))]
    return when(values in accepted, "the counts do not follow from the rules")


def start(sample: TaskRow) -> Counts:
    """Return the nine counts that the question begins with."""
    return [sample.solution["A_count"], sample.solution["B_count"], sample.solution["C_count"], 0, 0, 0, 0, 0, 0]


def cycled(counts: Counts) -> Counts:
    """Apply each method at most once per cycle, until a whole cycle changes nothing."""
    return _simulate(counts, lambda counts, method: _apply(counts, *METHODS[method]))


def exhausted(counts: Counts) -> Counts:
    """Apply each method until it fails, then the next, until a whole cycle changes nothing."""

    def repeat(counts: Counts, method: int) -> bool:
        changed = False
        while _apply(counts, *METHODS[method]):
            changed = True
        return changed

    return _simulate(counts, repeat)


def _simulate(counts: Counts, use: Callable[[Counts, int], bool]) -> Counts:
    counts = list(counts)
    changed = True
    while changed:
        changed = False
        for method in range(len(METHODS)):
            changed |= use(counts, method)
    return counts


def _apply(counts: Counts, takes: dict[int, int], gives: dict[int, int]) -> bool:
    if any(counts[block] < number for block, number in takes.items()):
        return False
    for block, number in takes.items():
        counts[block] -= number
    for block, number in gives.items():
        counts[block] += number
    return True
