"""Recount where published references contradict the stated rules, are ambiguous, or are asked twice."""

import itertools
import math
from collections.abc import Callable, Iterator

import msgspec

from assay.symbench.catalogue import TASKS
from assay.symbench.judging import judge
from assay.symbench.references import reference_answer
from assay.symbench.rows import TaskRow
from assay.symbench.verifiers import constrained_linear_arrangement as cards
from assay.symbench.verifiers import logic_puzzle, mahjong_pattern, new_operator, string_synthesis
from assay.symbench.verifiers.letter_logic_diagram import LETTERS, SIZE, Grid


class Finding(msgspec.Struct, frozen=True):
    """One counted fact about the samples of a task: `count` of `total` `what`; `samples` names them."""

    task: str
    id: str
    count: int
    total: int
    what: str
    samples: tuple[str, ...] = ()


Check = Callable[[TaskRow], bool]


def audit(task: str, samples: list[TaskRow]) -> Iterator[Finding]:
    """Yield the findings on one task, first how many questions are distinct."""
    distinct = len({sample.question for sample in samples})
    yield Finding(task, "duplicates", distinct, len(samples), "questions are distinct")
    for identity, what, applies, check in _CHECKS.get(task, ()):
        subjects = [sample for sample in samples if applies(sample)]
        found = tuple(sample.sample_id for sample in subjects if check(sample))
        yield Finding(task, identity, len(found), len(subjects), what, found)
    answered = [(sample, answer) for sample in samples if (answer := reference_answer(sample)) is not None]
    for profile, extraction in (("upstream", "normalized"), ("corrected", "marker")):
        refused = tuple(
            sample.sample_id
            for sample, answer in answered
            if not judge(sample, f"<<<{answer}>>>", None, profile, extraction).correct  # type: ignore[arg-type]
        )
        yield Finding(task, profile, len(refused), len(answered), f"references are refused by {profile}", refused)


def audit_all(samples: dict[str, list[TaskRow]]) -> Iterator[Finding]:
    """Yield the findings on every task, in the order of the paper's table."""
    for task in TASKS:
        yield from audit(task, samples[task])


def _everything(sample: TaskRow) -> bool:
    del sample
    return True


def _differs_from_both_readings(sample: TaskRow) -> bool:
    """Say whether the reference is neither the value from the left nor the one from the right."""
    readings = (new_operator.left_to_right(sample), new_operator.right_to_left(sample))
    return not any(math.isclose(float(value), sample.solution["solution"], rel_tol=1e-9) for value in readings)


def _is_ambiguous_square(sample: TaskRow) -> bool:
    return len(list(itertools.islice(completions(sample.solution["grid"]), 2))) > 1


def completions(givens: list[list[str | None]]) -> Iterator[Grid]:
    """Yield every completion of a letter logic diagram, one letter of the minor diagonal after the other."""
    for letter in LETTERS:
        grid = [list(row) for row in givens]
        diagonal = [(row, SIZE - 1 - row) for row in range(SIZE)]
        if all(grid[row][column] in (None, letter) for row, column in diagonal):
            for row, column in diagonal:
                grid[row][column] = letter
            if not _has_repeats(grid):
                yield from _fill(grid)


def _has_repeats(grid: list[list[str | None]]) -> bool:
    lines = [*grid, *([row[column] for row in grid] for column in range(SIZE))]
    filled = ([cell for cell in line if cell is not None] for line in lines)
    return any(len(set(cells)) != len(cells) for cells in filled)


def _fill(grid: list[list[str | None]]) -> Iterator[Grid]:
    """Fill the empty cell with the fewest candidates first."""
    best: tuple[int, int, list[str]] | None = None
    for row in range(SIZE):
        for column in range(SIZE):
            if grid[row][column] is None:
                used = {*grid[row], *(line[column] for line in grid)}
                candidates = [letter for letter in LETTERS if letter not in used]
                if best is None or len(candidates) < len(best[2]):
                    best = (row, column, candidates)
    if best is None:
        yield [[cell or "" for cell in row] for row in grid]
        return
    row, column, candidates = best
    for letter in candidates:
        grid[row][column] = letter
        yield from _fill(grid)
    grid[row][column] = None


def _fails_constraint(sample: TaskRow) -> bool:
    cells = {(row, column) for row, column in sample.solution["solution"]}
    return not logic_puzzle.check_lines(cells, sample).correct


def has_valid_selection(sample: TaskRow) -> bool:
    """Say whether any selection meets all stated rules of a logic puzzle; the reference is tried first."""
    if logic_puzzle.verify(sample, reference_answer(sample) or "", "corrected").correct:
        return True
    grid, wanted = sample.solution["grid"], len(sample.solution["solution"])
    first = (0, len(grid[0]) - 1)
    fixed = grid[first[0]][first[1]]
    cells_of: dict[int, list[tuple[int, int]]] = {}
    for row, numbers in enumerate(grid):
        for column, number in enumerate(numbers):
            if number != fixed:
                cells_of.setdefault(number, []).append((row, column))
    if sample.solution["constraints"]["type"] == "product_gt_0":
        return _has_even_selection(cells_of, first, fixed, wanted)
    # The grids with sums are small: at most nine cells.
    others = [cell for cells in cells_of.values() for cell in cells]
    for rest in itertools.combinations(others, wanted - 1):
        distinct = len({grid[row][column] for row, column in rest}) == wanted - 1
        if distinct and logic_puzzle.check_lines({first, *rest}, sample).correct:
            return True
    return False


def _has_even_selection(
    cells_of: dict[int, list[tuple[int, int]]], first: tuple[int, int], fixed: int, wanted: int
) -> bool:
    """Say whether `wanted` different numbers can be selected with an even number of negatives in every line.

    Positive numbers are free. Which lines a choice of negatives leaves odd is listed for two halves of them, and
    the halves that cancel are looked up: all choices together would be too many.
    """
    if fixed == 0:
        return False
    free = sum(number > 0 for number in cells_of)
    negatives = [cells for number, cells in sorted(cells_of.items()) if number < 0]
    halves = [_odd_lines(negatives[part::2]) for part in (0, 1)]
    start = _line_bits(first) if fixed < 0 else 0
    for odd, counts in halves[0].items():
        for one in counts:
            if any(wanted - free <= 1 + one + other <= wanted for other in halves[1].get(odd ^ start, ())):
                return True
    return False


def _odd_lines(negatives: list[list[tuple[int, int]]]) -> dict[int, set[int]]:
    """Return for each set of odd lines, as bits, how many numbers can produce it."""
    reachable: dict[int, set[int]] = {0: {0}}
    for cells in negatives:
        for odd, counts in [(odd, tuple(counts)) for odd, counts in reachable.items()]:
            for cell in cells:
                reachable.setdefault(odd ^ _line_bits(cell), set()).update(count + 1 for count in counts)
    return reachable


def _line_bits(cell: tuple[int, int]) -> int:
    row, column = cell
    return 1 << row | 1 << (32 + column)


def _is_elements(sample: TaskRow) -> bool:
    return bool(sample.solution["game_type"] == "elements")


def _rounds(sample: TaskRow) -> list[tuple[str, str, str]]:
    solution = sample.solution
    return list(zip(solution["player_moves"], solution["solution"], solution["results"], strict=True))


def _contradicts_symmetric(sample: TaskRow) -> bool:
    return any(cards.symmetric_result(player, other) != result for player, other, result in _rounds(sample))


def _contradicts_one_sided(sample: TaskRow) -> bool:
    game = sample.solution["game_type"]
    return any(result not in cards.possible_results(game, player, other) for player, other, result in _rounds(sample))


def _prints_the_answer(sample: TaskRow) -> bool:
    """Say whether a reversi question shows the final board as its first one."""
    cells, size = sample.solution["solution"].split(","), sample.solution["board_size"]
    rows = ["".join(cells[start : start + size]) for start in range(0, len(cells), size)]
    return "\n".join(rows) in sample.question


_CHECKS: dict[str, tuple[tuple[str, str, Check, Check], ...]] = {
    "pooling": (
        (
            "D1",
            "references are no integers and can never be accepted by upstream",
            _everything,
            lambda s: any(float(cell) != int(cell) for row in s.solution["solution"] for cell in row),
        ),
    ),
    "new_operator": (
        ("D2", "references differ from both orders of evaluation", _everything, _differs_from_both_readings),
    ),
    "string_synthesis": (
        (
            "D3",
            "references differ from the stated cyclic procedure",
            _everything,
            lambda s: string_synthesis.cycled(string_synthesis.start(s)) != s.solution["final_counts"],
        ),
    ),
    "mahjong_pattern": (
        (
            "D4",
            "references contradict the stated rules",
            _everything,
            lambda s: mahjong_pattern.result(s) != s.solution["solution"],
        ),
    ),
    "letter_logic_diagram": (("D5", "puzzles have more than one valid completion", _everything, _is_ambiguous_square),),
    "string_splitting": (
        (
            "D9",
            "references hold a count of two digits, so that the word of counts is ambiguous",
            _everything,
            lambda s: any(len(count) > 1 for count in s.solution["expected_answer"]),
        ),
    ),
    "reversi": (("D26", "questions print the final board that is asked for", _everything, _prints_the_answer),),
    "logic_puzzle": (
        ("D11", "references fail the stated row and column constraint", _everything, _fails_constraint),
        ("D11-unsolvable", "puzzles have no valid selection", _everything, lambda s: not has_valid_selection(s)),
    ),
    "constrained_linear_arrangement": (
        (
            "D13",
            "elements references contradict the rules read symmetrically",
            _is_elements,
            _contradicts_symmetric,
        ),
        ("D13-one-sided", "references contradict the one-sided rule", _everything, _contradicts_one_sided),
    ),
}
