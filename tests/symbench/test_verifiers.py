"""Every verifier accepts a right answer and refuses a wrong one; each deviation separates the profiles."""

import msgspec
import pytest
from examples import EXAMPLES

from assay.symbench.catalogue import TASKS, module_stem
from assay.symbench.verifiers.registry import VERIFIERS

PROFILES = ("upstream", "corrected")


def verdict(task, answer, profile, **changes):
    sample = EXAMPLES[task].sample
    if changes:
        sample = msgspec.structs.replace(sample, solution=sample.solution | changes)
    return VERIFIERS[task](sample, answer, profile)


def outcomes(task, answer, **changes):
    """Return the outcomes of both profiles."""
    return tuple(verdict(task, answer, profile, **changes).outcome for profile in PROFILES)


def test_every_task_has_a_verifier_and_an_example():
    assert list(VERIFIERS) == list(TASKS) == list(EXAMPLES)
    assert len(TASKS) == 37
    assert sum(info.split == "seen" for info in TASKS.values()) == 28
    for task, function in VERIFIERS.items():
        assert function.__module__ == f"assay.symbench.verifiers.{module_stem(task)}"


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("task", list(TASKS))
def test_right_answer_is_accepted(task, profile):
    assert verdict(task, EXAMPLES[task].right, profile).outcome == "right"


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("task", list(TASKS))
def test_wrong_answer_is_refused_with_a_reason(task, profile):
    refused = verdict(task, EXAMPLES[task].wrong, profile)
    assert refused.outcome == "wrong"
    assert refused.reason


@pytest.mark.parametrize(
    ("task", "answer", "expected"),
    [
        # D6, D21
        ("logical_equation", "[2, 6, 1.0]", ("right", "right")),
        ("logical_equation", "{'A': 2, 'B': 6, 'C': 1}", ("crash", "right")),
        ("logical_equation", "{'A': 2, 'B': 6, 'C': 6, 'C': 1}", ("crash", "unreadable")),
        ("logical_equation", "['2', '6', '1']", ("crash", "unreadable")),
        ("logical_equation", "5", ("crash", "unreadable")),
        ("mahjong_pattern", "Peng", ("crash", "unreadable")),
        ("mahjong_pattern", "", ("unreadable", "unreadable")),
        ("statistical_counting", "3.0", ("crash", "unreadable")),
        ("boxnet", '[{"Agent[9.5, 9.5]": "move(box_red, target_red)"}]', ("crash", "wrong")),
        ("boxnet", '[{"Agent": "move(box_red, target_red)"}]', ("crash", "wrong")),
        ("boxnet", '[{"Agent[0.5, 0.5]": 3}]', ("unreadable", "unreadable")),
        ("letters", "Count: 3, Positions: [2,,4]", ("crash", "unreadable")),
        ("letters", "Count: 3, Positions: [6, 4, 2, 2]", ("right", "right")),
        # D7: order, power, concatenated digits, signs
        ("combinatorial_calculation", "7, +, 6, /, 2", ("right", "wrong")),
        ("combinatorial_calculation", "6, -, -, 2, *, 7", ("wrong", "wrong")),
        ("combinatorial_calculation", "6, /, 2, +, 7, +", ("unreadable", "unreadable")),
        ("combinatorial_calculation", "6,/,2,+,7", ("right", "right")),
        # D10
        ("eight_queens", "0 0, 1 4, 2 7, 3 5, 4 2, 5 6, 6 1, 7 3, and done", ("right", "unreadable")),
        ("eight_queens", "[(0, 0), (1, 4), (2, 7), (3, 5), (4, 2), (5, 6), (6, 1), (7, 3)]", ("wrong", "right")),
        ("eight_queens", "0 0, 1 4, 2 7, 3 5, 4 2, 5 6, 6 1, 70 30", ("right", "wrong")),
        ("eight_queens", "0 0\n1 4\n2 7\n3 5\n4 2\n5 6\n6 1\n7 3\n", ("wrong", "right")),
        ("eight_queens", "0 0 1 4, 2 7, 3 5, 4 2, 5 6, 6 1, 7 3", ("wrong", "unreadable")),
        ("new_operator", "\\frac{39}{2}", ("unreadable", "right")),
        ("new_operator", "$19.5$", ("unreadable", "right")),
        ("new_operator", "-39/-2", ("unreadable", "right")),
        ("new_operator", "(39)/(2)", ("unreadable", "right")),
        ("new_operator", "2*(3+4)/4+3*5+1", ("unreadable", "unreadable")),
        ("new_operator", "39-19", ("unreadable", "unreadable")),
        ("new_operator", "39/2/1", ("unreadable", "unreadable")),
        ("new_operator", "−19.5", ("unreadable", "wrong")),
        ("pooling", "16 20\n16 −1", ("unreadable", "right")),
        ("math_geometry", "\\boxed{\\frac{3}{5}}", ("wrong", "right")),
        ("math_geometry", "\\boxed{\\frac{3}{5}} or \\boxed{1}", ("wrong", "wrong")),
        ("gsm_hard", "$\\boxed{-9867630}$", ("wrong", "right")),
        ("eight_queens", "7 0, 6 4, 5 7, 4 5, 3 2, 2 6, 1 1, 0 3", ("right", "wrong")),
        # D11
        ("logic_puzzle", "0 1, 1 0, 1 0", ("right", "wrong")),
        ("logic_puzzle", "0 1, 1 0, 9 9", ("right", "wrong")),
        # D12
        ("permutations_and_combinations", '["B", "A", "C", "Z"]', ("right", "wrong")),
        ("permutations_and_combinations", '"BAC"', ("right", "unreadable")),
        ("permutations_and_combinations", "B, A, C", ("unreadable", "right")),
        # D14: exact rationals, no other operators, other spellings
        ("game24", "4*6**1**1", ("right", "unreadable")),
        ("game24", "4 × 6 × 1 × 1 = 24", ("unreadable", "right")),
        ("game24", "4 \\times 6 \\times \\frac{1}{1}", ("right", "right")),
        ("game24", "4*6*1*1 = 25", ("wrong", "wrong")),
        # D16
        ("number_multiply", "2443320", ("wrong", "wrong")),
        ("number_multiply", "99-24433201", ("right", "unreadable")),
        ("number_multiply", "-6 * 44 * 9255 = -2,443,320.", ("right", "right")),
        ("number_multiply", "The product = -2,443,320", ("right", "right")),
        ("number_multiply", "-2443321 = -2,443,320", ("right", "unreadable")),
        ("number_multiply", "-2443320.00", ("right", "right")),
        ("number_multiply", "-2443320.5", ("right", "wrong")),
        # Formats that the questions demand
        ("2048", "16, 0\n4, 2", ("wrong", "right")),
        ("2048", "[[16, 0], [4, 2]]", ("wrong", "right")),
        ("reversi", "*1\n0*", ("wrong", "right")),
        ("cryptanalysis", '["5", "3", "F", "A"]', ("wrong", "right")),
        ("string_splitting", '["0", "0", "1", "2", "0", "3"]', ("wrong", "right")),
        ("synthesis_decomposition", "[1, 0, 2]", ("wrong", "right")),
        ("pattern_recognition", "[5, 6]", ("unreadable", "right")),
        ("pattern_recognition", "5, 6, 7", ("right", "unreadable")),
        ("string_deletion_and_modification", '"bbcc"', ("wrong", "right")),
        ("date_understanding", "May 2", ("unreadable", "right")),
        ("date_understanding", "(b)", ("unreadable", "right")),
        ("date_understanding", "(B) May 2", ("right", "right")),
        ("date_understanding", "Because", ("unreadable", "unreadable")),
        ("gsm_hard", "", ("wrong", "wrong")),
        ("gsm_hard", "-9867630*1", ("right", "unreadable")),
        ("gsm_hard", "9867629.5 - 19735259.5", ("right", "unreadable")),
        ("gsm_hard", "3289210(-3)", ("right", "unreadable")),
        ("gsm_hard", "-9.86763 \\times 10^{6}", ("right", "right")),
        ("gsm_hard", "-9.86763 million cm^2", ("wrong", "right")),
        ("gsm_hard", "-19735260/2", ("right", "right")),
    ],
)
def test_profiles_on_special_answers(task, answer, expected):
    assert outcomes(task, answer) == expected


def test_average_pooling_passes_only_in_corrected():
    """D1."""
    average = {"pooling_type": "average", "solution": [[1.125, 2.5]]}
    assert outcomes("pooling", "1.13, 2.5", **average) == ("unreadable", "right")
    assert outcomes("pooling", "1.125, 2.5", **average) == ("unreadable", "right")
    assert outcomes("pooling", "1.15, 2.5", **average) == ("unreadable", "wrong")
    assert outcomes("pooling", "nan, 2.5", **average) == ("unreadable", "wrong")


def test_new_operator_recomputes_from_left_to_right():
    """D2: the published reference of a chain holds the last operation alone."""
    assert outcomes("new_operator", "6.0", solution=6.0) == ("right", "wrong")
    # 3@4 = 7/4, then 7/4#5 = 2*7/4 + 15 = 18.5, then 18.5@1 = 19.5.
    assert outcomes("new_operator", "19.5", solution=6.0)[1] == "right"


def test_string_synthesis_accepts_both_readings():
    """D3: 3 [A], 1 [B], 2 [C]: exhausting leaves other counts than cycling."""
    start = {"A_count": 3, "B_count": 2, "C_count": 4, "final_counts": [1, 0, 0, 1, 0, 0, 1, 1, 0]}
    from assay.symbench.verifiers import string_synthesis as module

    counts = [3, 2, 4, 0, 0, 0, 0, 0, 0]
    cycled, exhausted = module.cycled(counts), module.exhausted(counts)
    assert cycled != exhausted
    for reading in (cycled, exhausted):
        text = ", ".join(map(str, reading))
        assert outcomes("string_synthesis", text, **(start | {"final_counts": exhausted}))[1] == "right"
    assert (
        outcomes("string_synthesis", ",".join(map(str, cycled)), **(start | {"final_counts": exhausted}))[0] == "wrong"
    )


def test_generated_string_synthesis_has_one_reading():
    """Our own question says how methods are tried; the other reading is wrong there."""
    from assay.symbench.verifiers import string_synthesis as module

    start = {"A_count": 3, "B_count": 2, "C_count": 4}
    cycled, exhausted = (reading([3, 2, 4, 0, 0, 0, 0, 0, 0]) for reading in (module.cycled, module.exhausted))
    assert cycled != exhausted
    sample = msgspec.structs.replace(
        EXAMPLES["string_synthesis"].sample,
        solution={**start, "final_counts": cycled},
        question_source="generated",
    )
    found = [module.verify(sample, ", ".join(map(str, counts)), "corrected").correct for counts in (cycled, exhausted)]
    assert found == [True, False]


def test_mahjong_reference_is_recomputed():
    """D4: a wrong reference, and a `[` that completes no sequence."""
    assert outcomes("mahjong_pattern", "1", solution=0) == ("wrong", "right")
    hand = {"initial_cards": "YZCEGIKMOQSUW", "rounds": [{"add": "[", "remove": "Y"}], "solution": 2}
    assert outcomes("mahjong_pattern", "0", **hand) == ("wrong", "right")
    hand = {"initial_cards": "XYCEGIKMOQSUW", "rounds": [{"add": "Z", "remove": "Y"}], "solution": 2}
    assert outcomes("mahjong_pattern", "2", **hand) == ("right", "right")


def test_letter_diagram_accepts_every_valid_square():
    """D5: any square with a constant minor diagonal and the given letter."""
    rows = ["adgcfbe", "gcfbead", "fbeadgc", "eadgcfb", "dgcfbea", "cfbeadg", "beadgcf"]
    latin = [[("abcdefg")[(2 * r + 2 * c) % 7] for c in range(7)] for r in range(7)]
    text = "\n".join(",".join(row) for row in latin)
    assert outcomes("letter_logic_diagram", text)[1] == "right"
    assert outcomes("letter_logic_diagram", "\n".join(",".join(row) for row in rows))[1] == "wrong"


def test_logical_equation_wants_each_value_once():
    """D6."""
    question = "1. A > C\n2. B > C\n"
    sample = msgspec.structs.replace(EXAMPLES["logical_equation"].sample, question=question)
    found = [VERIFIERS["logical_equation"](sample, "[6, 6, 1]", profile).outcome for profile in PROFILES]
    assert found == ["right", "wrong"]


def test_digits_in_a_list_make_no_number():
    """D7: a comma between two digits separates them, whether or not a blank follows."""
    numbers = {"numbers": [12, 3], "target": 15}
    assert outcomes("combinatorial_calculation", "12,+,3", **numbers)[1] == "right"
    assert outcomes("combinatorial_calculation", "1,2,+,3", **numbers) == ("wrong", "unreadable")


def test_a_tower_of_powers_is_refused_at_once():
    """D22."""
    answer = "(, 9, *, *, 9, *, *, 9, *, *, 9, )"
    numbers = {"numbers": [9, 9, 9, 9]}
    assert outcomes("combinatorial_calculation", answer, **numbers) == ("unreadable", "unreadable")


def test_boxlift_indices_must_be_distinct_and_in_range():
    """D23."""
    assert outcomes("boxlift", "Step 1: [(60, [0, -2]), (30, [2])]") == ("right", "wrong")
    assert outcomes("boxlift", "Step 1: [(60, [0, 0]), (30, [2])]") == ("right", "wrong")
    assert outcomes("boxlift", "Step 1: [(60, [0, 7]), (30, [2])]") == ("wrong", "wrong")


@pytest.mark.parametrize(
    "step",
    [
        '{"Agent[0.5, 0.5]": "%s", "Agent[0.5,0.5]": "%s"}',
        '{"Agent[0.5, 0.5]": "%s", "the agent in 0.5 and 0.50": "%s"}',
        '{"Agent[0.5, 0.5]": "%s", "Agent[0.5, 0.5]": "%s"}',
    ],
)
def test_boxnet_agents_act_once_a_step(step):
    """However the key of an agent is spelled; upstream carries out both, and of equal keys the last."""
    state = {"0.5_0.5": ["box_red", "target_red", "box_blue", "target_blue"], "0.5_1.5": []}
    once, other = "move(box_red, target_red)", "move(box_blue, target_blue)"
    both = f"[{step % (once, other)}]"
    assert verdict("boxnet", both, "corrected", state=state).outcome == "wrong"
    one_after_the_other = f'[{{"Agent[0.5, 0.50]": "{once}"}}, {{"Agent[0.5,0.5]": "{other}"}}]'
    assert verdict("boxnet", one_after_the_other, "corrected", state=state).outcome == "right"
    idle = f"[{step % ('wait', once)}, {step % ('wait', other)}]"
    assert verdict("boxnet", idle, "corrected", state=state).outcome == (
        "wrong" if idle.count("0.5, 0.5]") > 2 else "right"
    )


def test_boxnet_cells_have_signs():
    right = EXAMPLES["boxnet"].right
    assert outcomes("boxnet", right) == ("right", "right")
    assert outcomes("boxnet", right.replace("square[0.5, 1.5]", "square[0.5, -1.5]")) == ("right", "wrong")
    assert outcomes("boxnet", right.replace("Agent[0.5, 0.5]", "Agent[-0.5, 0.5]")) == ("right", "wrong")


def test_logic_puzzle_of_our_own_wants_the_fixed_cell_first():
    """Its question says so; most published references list it later."""
    sample = EXAMPLES["logic_puzzle"].sample
    assert VERIFIERS["logic_puzzle"](sample, "1 0, 0 1, 0 0", "corrected").outcome == "right"
    own = msgspec.structs.replace(sample, question_source="generated")
    assert VERIFIERS["logic_puzzle"](own, "1 0, 0 1, 0 0", "corrected").outcome == "wrong"
    assert VERIFIERS["logic_puzzle"](own, "0 1, 1 0, 0 0", "corrected").outcome == "right"


def test_string_splitting_counts_of_two_digits():
    """D9: 1, 10 and 11, 0 give one word."""
    reference = {"expected_answer": ["1", "10", "0", "0", "0", "0"]}
    assert outcomes("string_splitting", "1100000", **reference) == ("right", "right")
    assert outcomes("string_splitting", "11, 0, 0, 0, 0, 0", **reference) == ("wrong", "wrong")
    assert outcomes("string_splitting", "1, 10, 0, 0, 0, 0", **reference) == ("wrong", "right")


def test_constrained_arrangement_accepts_what_the_one_sided_rule_allows():
    """D13."""
    elements = {
        "game_type": "elements",
        "player_moves": ["A", "B"],
        "results": ["win", "draw"],
        "solution": ["C", "A"],
    }
    assert outcomes("constrained_linear_arrangement", "C,A", **elements) == ("right", "right")
    assert outcomes("constrained_linear_arrangement", "C,B", **elements) == ("right", "right")
    assert outcomes("constrained_linear_arrangement", "C,C", **elements)[1] == "wrong"
    sticks = {"player_moves": ["A", "B", "C"], "results": ["draw", "draw", "draw"], "solution": ["A", "B", "C"]}
    assert outcomes("constrained_linear_arrangement", "C,D,A", **sticks) == ("right", "right")


def test_path_plan_touching_and_instructions():
    trajectory = EXAMPLES["path_plan"].right
    assert outcomes("path_plan", trajectory, instruction_index=6) == ("wrong", "wrong")
    assert outcomes("path_plan", trajectory.replace("1.3)]", "1.45)]")) == ("wrong", "wrong")
    assert outcomes("path_plan", f"Here: {trajectory}. Done.") == ("unreadable", "right")
    assert outcomes("path_plan", trajectory.replace("(", "[").replace(")", "]")) == ("wrong", "right")
    assert outcomes("path_plan", "[(-1.3, -1.3)]") == ("wrong", "wrong")
    assert outcomes("path_plan", trajectory, instruction_index=40) == ("wrong", "wrong")


@pytest.mark.parametrize(
    ("target", "answer", "upstream", "corrected"),
    [
        ("10\\sqrt{3}", "17.3205", True, True),
        ("\\dfrac34", "3/4", True, True),
        ("36^\\circ", "36 degrees", True, True),
        ("12\\pi", "12*pi", True, True),
        ("(-2,3)", "(-2, 3)", True, True),
        ("(-2,3)", "(-2.0, 3)", False, True),
        ("k=3", "3", False, True),
        ("k=3", "k", False, False),
        ("1,\\!000,\\!000", "1000000", True, True),
        ("\\frac{1}{N+1}", "\\frac{1}{N + 1}", True, True),
        ("\\text{B}", "B", False, True),
        ("12-p", "12", False, False),
        ("0.56 = 56\\%", "0.56", False, True),
        ("\\{4,5,7\\}", "4, 5, 7", False, True),
        ("\\{4,5,7\\}", "\\{7, 4, 5\\}", False, True),
        ("\\{4,5,7\\}", "\\{4, 5, 5\\}", False, False),
        ("\\{4,5,7\\}", "4", False, False),
        ("\\{5000,5001\\}", "\\{5000, 7\\}", False, False),
        ("(-2,3)", "(3, -2)", False, False),
        # Words behind a number are its unit, unless they make another number of it.
        ("7", "x = 7", False, True),
        ("7", "x >= 7", False, False),
        ("7", "!= 7", False, False),
        ("5", "5 inches squared", True, True),
        ("5", "5 squared", True, False),
        ("5", "5 million", True, False),
        ("5", "5 thousandths", True, False),
        ("5", "5\\text{ million}", True, False),
        ("5", "5 plus six", True, False),
        ("5", "5 is wrong", True, False),
        ("5", "5 (1)", True, False),
        ("5", "\\(5\\)", False, True),
        ("5", "\\[\\boxed{5}\\]", False, True),
        ("(0,6)", "$(0, 6)$", False, True),
        ("(0,6)", "$0$, $6$", False, True),
        ("5", "$5$ $6$", False, False),
        ("6", "2(3)", True, True),
        ("\\frac{11}{2}", "5\\frac{1}{2}", False, True),
        ("-5.5", "-5\\,\\frac12", False, True),
        ("1000.5", "1,000 1/2 inches", False, True),
        ("2.5", "5\\frac{1}{2}", True, False),
        ("10", "6\\frac{5}{3}", True, True),
        ("2500000", "\\$2.5\\text{ million dollars}", False, True),
        ("-500000", "-5 hundred thousand dollars", False, True),
    ],
)
def test_mathematical_answers(target, answer, upstream, corrected):
    found = [verdict("math_geometry", answer, profile, boxed_target=target).correct for profile in PROFILES]
    assert found == [upstream, corrected]
