"""One hand-made sample a task, with answers that both profiles accept and refuse."""

from typing import NamedTuple

from assay.symbench.rows import TaskRow


class Example(NamedTuple):
    sample: TaskRow
    right: str
    wrong: str


def _row(task, solution, question="?", **complexity):
    return TaskRow(task=task, sample_id="one", question=question, solution=solution, complexity=complexity)


_PUZZLE = [[(3 * (r % 3) + r // 3 + c) % 9 + 1 for c in range(9)] for r in range(9)]
_LATIN = [["abcdefg"[(r + c) % 7] for c in range(7)] for r in range(7)]
_BOXES = {
    "yellow": [-1, -0.7, -0.25, 0.5],
    "red": [0, 0.9, -1, -0.5],
    "green": [0.2, 0.7, 0.8, 1.2],
    "blue": [-0.5, 0.5, -0.5, 0.5],
    "pink": [-1.2, 0.0, 0.6, 0.9],
    "purple": [-1.0, -0.5, -1.3, -0.9],
    "orange": [0.6, 1.2, -0.5, 0.5],
}
_WALLS = [[-1.5, -1.4, -1.5, 1.5], [1.4, 1.5, -1.5, 1.5], [-1.5, 1.5, -1.5, -1.4], [-1.5, 1.5, 1.4, 1.5]]
_QUEENS = [[0, 0], [1, 4], [2, 7], [3, 5], [4, 2], [5, 6], [6, 1], [7, 3]]
_MAHJONG = 'Two equal cards give "Peng". A sequence gives "Chi".'

EXAMPLES: dict[str, Example] = {
    "game24": Example(_row("game24", {"numbers": [1, 1, 4, 6], "target": 24}), "4*6*1*1", "4*6+1*1"),
    "path_plan": Example(
        _row(
            "path_plan",
            {"boxes": _BOXES, "walls": _WALLS, "start": [-1.3, -1.3], "end": [1.3, 1.3], "instruction_index": 0},
        ),
        "[(-1.3, -1.3), (-0.8, 0.1), (-0.8, 0.55), (0.1, 1.0), (0.5, 1.0), (1.3, 1.3)]",
        "[(-1.3, -1.3), (1.3, 1.3)]",
    ),
    "boxlift": Example(
        _row("boxlift", {"boxes": [60, 30], "lifters": [40, 25, 35], "estimated_steps": 1}),
        "Step 1: [(60, [0, 1]), (30, [2])]",
        "Step 1: [(60, [0, 1])]\nStep 2: [(30, [2])]",
    ),
    "boxnet": Example(
        _row("boxnet", {"state": {"0.5_0.5": ["box_red"], "0.5_1.5": ["target_red"]}, "rows": 1, "columns": 2}),
        '[{"Agent[0.5, 0.5]": "move(box_red, square[0.5, 1.5])"}, {"Agent[0.5, 1.5]": "move(box_red, target_red)"}]',
        '[{"Agent[0.5, 0.5]": "move(box_red, target_red)"}]',
    ),
    "blocksworld": Example(
        _row(
            "blocksworld",
            {"initial_state": {"stack1": ["A", "B"], "stack2": []}, "goal_state": {"stack1": [], "stack2": ["B", "A"]}},
        ),
        "Move B from stack1 to stack2\nMove A from 1 to 2",
        "Move A from stack1 to stack2",
    ),
    "date_understanding": Example(
        _row("date_understanding", {"target": "(B)"}, "When?\n(A) May 1\n(B) May 2"), "(B)", "(A)"
    ),
    "web_of_lies": Example(_row("web_of_lies", {"target": "No"}), "No", "Yes"),
    "logical_deduction": Example(
        _row("logical_deduction", {"target": "(G)"}, "(F) Jo is last\n(G) Al is last"), "G", "F"
    ),
    "navigate": Example(_row("navigate", {"target": "Yes"}), "yes.", "No"),
    "gsm_hard": Example(_row("gsm_hard", {"target": -9867630.0}), "$-9,867,630", "9867630"),
    "math_geometry": Example(_row("math_geometry", {"boxed_target": "\\frac{3}{5}"}), "0.6", "0.61"),
    "math_counting_and_probability": Example(
        _row("math_counting_and_probability", {"boxed_target": "362880"}), "362,880", "3628800"
    ),
    "logical_equation": Example(
        _row("logical_equation", [2, 6, 1], "Find them.\n1. B = 3.0A\n2. A > C\n3. B + C = 7\n"),
        "[2, 6, 1]",
        "[1, 6, 2]",
    ),
    "new_operator": Example(
        _row(
            "new_operator",
            {"operator_definitions": {"@": "(a + b)/b", "#": "2*a+3*b"}, "solution": 19.5},
            "Calculate (3@4)#5@1.",
        ),
        "19.5",
        "18.5",
    ),
    "pooling": Example(
        _row("pooling", {"pooling_type": "max", "solution": [[16, 20], [16, -1]]}), "16,20,16,-1", "16,20,16,1"
    ),
    "light_puzzles": Example(_row("light_puzzles", {"n": 2, "solution": [0, 1, 1, 0]}), "0,1,1,0", "0,1,1,1"),
    "mahjong_pattern": Example(
        _row(
            "mahjong_pattern",
            {
                "initial_cards": "ABDDFHJLNPRTV",
                "rounds": [{"add": "Z", "remove": "A"}, {"add": "D", "remove": "Z"}],
                "solution": 1,
            },
            _MAHJONG,
        ),
        "1",
        "2",
    ),
    "statistical_counting": Example(_row("statistical_counting", {"solution": 3}), "3", "0"),
    "matrix_transformation": Example(
        _row("matrix_transformation", {"solution": [["Y", "V"], ["E", "C"]]}), "Y,V,E,C", "V,Y,E,C"
    ),
    "logic_puzzle": Example(
        _row(
            "logic_puzzle",
            {"grid": [[1, 2], [3, 1]], "constraints": {"type": "sum_le_4"}, "solution": [[0, 1], [1, 0], [0, 0]]},
        ),
        "0 1, 1 0, 0 0",
        "0 1, 1 0",
    ),
    "constrained_linear_arrangement": Example(
        _row(
            "constrained_linear_arrangement",
            {
                "game_type": "stick_game",
                "player_moves": ["A", "B", "C"],
                "results": ["win", "loss", "draw"],
                "solution": ["B", "A", "C"],
            },
        ),
        "B,A,C",
        "B,A,D",
    ),
    "pattern_recognition": Example(_row("pattern_recognition", {"row": 5, "column": 6}), "5, 6", "6, 5"),
    "string_insertion": Example(_row("string_insertion", {"modified_string": "ABCDA"}), "ABCDA", "ABCD"),
    "letter_logic_diagram": Example(
        _row("letter_logic_diagram", {"grid": [["a"] + [None] * 6] + [[None] * 7] * 6, "solution": _LATIN}),
        "[" + ",".join("[" + ",".join(row) + "]" for row in _LATIN) + "]",
        "[" + ",".join("[" + ",".join(row[::-1]) + "]" for row in _LATIN) + "]",
    ),
    "string_deletion_and_modification": Example(
        _row("string_deletion_and_modification", {"final_string": "bbcc"}), "bbcc", "bbc"
    ),
    "string_synthesis": Example(
        _row(
            "string_synthesis", {"A_count": 1, "B_count": 1, "C_count": 1, "final_counts": [0, 0, 0, 1, 0, 0, 0, 0, 0]}
        ),
        "0 0 0 1 0 0 0 0 0",
        "0 0 0 0 1 0 0 0 0",
    ),
    "reversi": Example(_row("reversi", {"board_size": 2, "solution": "*,1,0,*"}), "*,1,0,*", "*,0,1,*"),
    "standard_sudoku": Example(
        _row("standard_sudoku", {"puzzle": [[1] + [0] * 8] + [[0] * 9] * 8}), str(_PUZZLE), str(_PUZZLE[::-1])
    ),
    "letters": Example(
        _row("letters", {"word": "banana", "letter": "a", "count": 3, "positions": [2, 4, 6]}),
        "Count: 3, Positions: [2, 4, 6]",
        "Count: 3, Positions: [1, 3, 5]",
    ),
    "eight_queens": Example(
        _row("eight_queens", {"blocked_positions": [[2, 4]], "placed_queens": [[0, 0]], "solution": _QUEENS}),
        ", ".join(f"{r} {c}" for r, c in _QUEENS),
        "0 0, 1 4, 2 7, 3 5, 4 2, 5 6, 6 1, 7 2",
    ),
    "number_multiply": Example(_row("number_multiply", {"input_value_list": [-6, 44, 9255]}), "-2443320", "-244332"),
    "cryptanalysis": Example(_row("cryptanalysis", {"answer": ["5", "3", "F", "A"]}), "53FA", "35FA"),
    "string_splitting": Example(
        _row("string_splitting", {"expected_answer": ["0", "0", "1", "2", "0", "3"]}), "001203", "001230"
    ),
    "combinatorial_calculation": Example(
        _row("combinatorial_calculation", {"numbers": [6, 2, 7], "target": 10}), "6, /, 2, +, 7", "6, *, 2, +, 7"
    ),
    "synthesis_decomposition": Example(
        _row("synthesis_decomposition", {"complexity": 1, "solution": {"answer": ["1", "0", "0", "2", "0"]}}),
        "1, 0, 2",
        "1, 0, 3",
    ),
    "2048": Example(_row("2048", {"solution": "16, 0\n4, 2"}), "16, 0, 4, 2", "16, 0, 2, 4"),
    "permutations_and_combinations": Example(
        _row(
            "permutations_and_combinations",
            {
                "items": ["A", "B", "C"],
                "constraints_text": "1. Book A must be placed in position 2.\n"
                "2. Book B must be to the left of book C.\n"
                "3. Book C cannot be placed in position 1.\n"
                "4. Book A must be adjacent to book C.",
            },
        ),
        '["B", "A", "C"]',
        '["C", "A", "B"]',
    ),
}
