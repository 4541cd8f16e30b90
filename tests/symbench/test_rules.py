"""Every stated rule by itself: an answer that breaks this one and no other is wrong, in both profiles."""

import itertools

import msgspec
import pytest
from examples import EXAMPLES

from assay.symbench.verifiers.registry import VERIFIERS


def outcomes(task, answer, question=None, **changes):
    sample = EXAMPLES[task].sample
    solution = sample.solution | changes if changes else sample.solution
    sample = msgspec.structs.replace(sample, solution=solution, question=question or sample.question)
    return [VERIFIERS[task](sample, answer, profile).outcome for profile in ("upstream", "corrected")]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Step 1: [(60, [0, 1]), (30, [2])]", "right"),
        ("Step 1: [(60, [0, 1]), (30, [0])]", "wrong"),  # a lifter in two places
        ("Step 1: [(60, [0, 1]), (30, [3])]", "wrong"),  # no such lifter
        ("Step 1: [(60, [0]), (30, [2])]", "wrong"),  # too weak
        ("Step 1: [(60, [0, 1]), (31, [2])]", "wrong"),  # no such box
        ("Step 1: [(60, [0, 1])]\nStep 2: [(30, [0])]", "wrong"),  # too late
    ],
)
def test_boxlift(answer, expected):
    assert outcomes("boxlift", answer) == [expected] * 2


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Move B from 1 to 2\nMove A from 1 to 2", "right"),
        ("Move A from 1 to 2\nMove B from 1 to 2", "wrong"),  # not on top
        ("Move B from 1 to 3\nMove A from 1 to 2", "wrong"),  # no such stack
        ("Move B from 2 to 1\nMove A from 1 to 2", "wrong"),  # not there
        ("Move B from 1 to 2", "wrong"),  # not the goal
    ],
)
def test_blocksworld(answer, expected):
    assert outcomes("blocksworld", answer) == [expected] * 2


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ([("0.5, 0.5", "square[0.5, 1.5]"), ("0.5, 1.5", "square[1.5, 1.5]"), ("1.5, 1.5", "target_red")], "right"),
        ([("0.5, 0.5", "square[1.5, 1.5]"), ("1.5, 1.5", "target_red")], "wrong"),  # not a neighbour
        ([("0.5, 0.5", "square[0.5, 0.5]"), ("0.5, 0.5", "target_red")], "wrong"),  # the target is elsewhere
        ([("0.5, 1.5", "square[1.5, 1.5]"), ("1.5, 1.5", "target_red")], "wrong"),  # the box is elsewhere
        ([("0.5, 0.5", "square[0.5, 1.5]"), ("0.5, 1.5", "square[1.5, 1.5]")], "wrong"),  # not matched
    ],
)
def test_boxnet(steps, expected):
    state = {"0.5_0.5": ["box_red"], "0.5_1.5": [], "1.5_0.5": [], "1.5_1.5": ["target_red"]}
    plan = ", ".join(f'{{"Agent[{agent}]": "move(box_red, {place})"}}' for agent, place in steps)
    assert outcomes("boxnet", f"[{plan}]", state=state) == [expected] * 2


def test_boxnet_matches_colours():
    plan = '[{"Agent[0.5, 0.5]": "move(box_red, target_blue)"}]'
    assert outcomes("boxnet", plan, state={"0.5_0.5": ["box_red", "target_blue"]}) == ["wrong"] * 2


def _queens(keep):
    """Return the first order of columns of which exactly one family of lines repeats, or none."""
    for columns in itertools.permutations(range(8)):
        falling, rising = (len({row + sign * c for row, c in enumerate(columns)}) == 8 for sign in (-1, 1))
        if (falling, rising) == keep:
            return ", ".join(f"{row} {column}" for row, column in enumerate(columns))
    raise AssertionError


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (_queens((True, True)), "right"),
        (_queens((False, True)), "wrong"),
        (_queens((True, False)), "wrong"),
        (_queens((True, True)).replace("7 ", "6 "), "wrong"),  # a row twice
        (_queens((True, True)).rpartition(",")[0], "wrong"),  # seven
    ],
)
def test_eight_queens(answer, expected):
    assert outcomes("eight_queens", answer, blocked_positions=[], placed_queens=[]) == [expected] * 2
    if expected == "right":
        row, column = map(int, answer.partition(",")[0].split())
        assert outcomes("eight_queens", answer, blocked_positions=[[row, column]], placed_queens=[]) == ["wrong"] * 2


def test_standard_sudoku():
    """Grids of which rows, columns or boxes alone are not complete."""
    right = [[(3 * (r % 3) + r // 3 + c) % 9 + 1 for c in range(9)] for r in range(9)]
    columns = [[(3 * (r % 3) + c) % 9 + 1 for c in range(9)] for r in range(9)]
    rows = [list(line) for line in zip(*columns, strict=True)]
    boxes = [[(r + c) % 9 + 1 for c in range(9)] for r in range(9)]
    empty = [[0] * 9 for _ in range(9)]
    for grid, expected in ((right, "right"), (columns, "wrong"), (rows, "wrong"), (boxes, "wrong")):
        assert outcomes("standard_sudoku", str(grid), puzzle=empty) == [expected] * 2
    given = [list(line) for line in empty]
    given[4][4] = right[4][4] % 9 + 1
    assert outcomes("standard_sudoku", str(right), puzzle=given) == ["wrong"] * 2


@pytest.mark.parametrize(
    ("constraint", "expected"),
    [
        ("Book A must be placed in position 2.", "right"),
        ("Book A must be placed in position 1.", "wrong"),
        ("Book B cannot be placed in position 2.", "right"),
        ("Book B cannot be placed in position 1.", "wrong"),
        ("Book B must be to the left of book C.", "right"),
        ("Book C must be to the left of book B.", "wrong"),
        ("Book C must be to the right of book B.", "right"),
        ("Book A must be to the right of book C.", "wrong"),
        ("Book C must be adjacent to book A.", "right"),
        ("Book C must be adjacent to book B.", "wrong"),
    ],
)
def test_permutations_and_combinations(constraint, expected):
    found = outcomes("permutations_and_combinations", '["B", "A", "C"]', constraints_text=f"1. {constraint}")
    assert found == [expected] * 2


@pytest.mark.parametrize(
    ("constraint", "expected"),
    [
        ("B = 3.0A", "right"),
        ("B = 2.0A", "wrong"),
        ("A > C", "right"),
        ("C > A", "wrong"),
        ("C < B", "right"),
        ("A < C", "wrong"),
        ("B + C = 7", "right"),
        ("B + C = 8", "wrong"),
        ("C - B = -5", "right"),
        ("B - C = -5", "wrong"),
    ],
)
def test_logical_equation(constraint, expected):
    assert outcomes("logical_equation", "[2, 6, 1]", question=f"Find them.\n1. {constraint}\n") == [expected] * 2


def test_logic_puzzle():
    """A row, then a column, sums to 5; a column, then a row, has a negative product."""
    for grid, kind, expected in (
        ([[1, 2], [3, 1]], "sum_le_4", "right"),
        ([[9, 1], [2, 3]], "sum_le_4", "wrong"),
        ([[9, 2], [1, 3]], "sum_le_4", "wrong"),
        ([[9, 1], [2, 3]], "product_gt_0", "right"),
        ([[9, 1], [-2, -3]], "product_gt_0", "wrong"),
        ([[9, -1], [2, -3]], "product_gt_0", "wrong"),
        ([[9, 1], [0, 3]], "product_gt_0", "wrong"),
    ):
        found = outcomes("logic_puzzle", "0 1, 1 0, 1 1", grid=grid, constraints={"type": kind})
        assert found == [expected] * 2, (grid, kind)


def test_letters():
    for answer, expected in (
        ("Count: 3, Positions: [2, 4, 6]", "right"),
        ("Count: 4, Positions: [2, 4, 6]", "wrong"),
        ("Count: 3, Positions: [2, 4]", "wrong"),
        ("Count: 3, Positions: [2, 4, 6, 7]", "wrong"),
    ):
        assert outcomes("letters", answer) == [expected] * 2


def test_constrained_linear_arrangement():
    """Upstream checks for cards that are played twice in one game only."""
    game = {"game_type": "stick_game", "player_moves": ["A", "C"], "results": ["draw", "draw"], "solution": ["A", "C"]}
    assert outcomes("constrained_linear_arrangement", "C, A", **game) == ["right", "right"]
    assert outcomes("constrained_linear_arrangement", "A, A", **game) == ["right", "wrong"]
    assert outcomes("constrained_linear_arrangement", "A, B", **game) == ["wrong", "wrong"]
    animals = game | {"game_type": "animal", "results": ["win", "win"], "solution": ["B", "D"]}
    assert outcomes("constrained_linear_arrangement", "D, E", **animals) == ["right", "right"]
    assert outcomes("constrained_linear_arrangement", "D, D", **animals) == ["wrong", "wrong"]


@pytest.mark.parametrize(
    ("task", "changes", "last", "beyond"),
    [
        # D1: 0.01, or 0.1 percent where that is more.
        ("pooling", {"pooling_type": "average", "solution": [[2.5]]}, "2.51", "2.511"),
        ("pooling", {"pooling_type": "average", "solution": [[-2000.5]]}, "-2002.5", "-2002.51"),
        ("pooling", {"pooling_type": "max", "solution": [[2000]]}, "2000.0", "2000.001"),
        # D2: the answer's own decimals, at least two; or a millionth.
        ("new_operator", {}, "19.50", "19.51"),
        ("new_operator", {"operator_definitions": {"@": "a/b", "#": "a/b"}}, "0.15", "0.1"),
        ("new_operator", {"operator_definitions": {"@": "a*b", "#": "a*b*100000"}}, "6000006", "6000007"),
        # 0.1 percent, the limit left out.
        ("gsm_hard", {"target": 1000.0}, "1000.99", "1001"),
        ("math_geometry", {"boxed_target": "1000"}, "999.01", "999"),
    ],
)
def test_tolerances(task, changes, last, beyond):
    assert outcomes(task, last, **changes)[1] == "right"
    assert outcomes(task, beyond, **changes)[1] == "wrong"
