"""The reference answer of a sample as text, in the format that its question demands."""

import json
from collections.abc import Callable
from typing import Any

from assay.symbench.boxlift_greedy import greedy_plan
from assay.symbench.rows import TaskRow


def _own(solution: Any) -> str:
    return str(solution["solution"])


def _matrix(solution: Any) -> str:
    return json.dumps(solution["solution"])


def _positions(solution: Any) -> str:
    return ", ".join(f"{row} {column}" for row, column in solution["solution"])


def _synthesis(solution: Any) -> str:
    answer, complexity = solution["solution"]["answer"], solution["complexity"]
    asked = {1: (0, 1, 3), 2: (0, 1, 3), 3: (0, 1, 2, 3), 4: (0, 1, 2, 3)}.get(complexity, (0, 1, 2, 3, 4))
    return f"[{', '.join(answer[index] for index in asked)}]"


def _boxlift(solution: Any) -> str:
    plan = greedy_plan(solution["boxes"], solution["lifters"])
    return "\n".join(f"Step {number}: {step}" for number, step in enumerate(plan, 1))


_RENDER: dict[str, Callable[[Any], str]] = {
    "boxlift": _boxlift,
    "date_understanding": lambda s: str(s["target"]),
    "web_of_lies": lambda s: str(s["target"]),
    "logical_deduction": lambda s: str(s["target"]),
    "navigate": lambda s: str(s["target"]),
    "gsm_hard": lambda s: repr(s["target"]),
    "math_geometry": lambda s: str(s["boxed_target"]),
    "math_counting_and_probability": lambda s: str(s["boxed_target"]),
    "logical_equation": str,
    "new_operator": lambda s: repr(s["solution"]),
    "pooling": _matrix,
    "light_puzzles": _matrix,
    "mahjong_pattern": _own,
    "statistical_counting": _own,
    "matrix_transformation": _matrix,
    "logic_puzzle": _positions,
    "constrained_linear_arrangement": lambda s: ",".join(s["solution"]),
    "pattern_recognition": lambda s: f"[{s['row']}, {s['column']}]",
    "string_insertion": lambda s: str(s["modified_string"]),
    "letter_logic_diagram": lambda s: "\n".join(",".join(row) for row in s["solution"]),
    "string_deletion_and_modification": lambda s: f'"{s["final_string"]}"',
    "string_synthesis": lambda s: " ".join(map(str, s["final_counts"])),
    "reversi": _own,
    "standard_sudoku": _matrix,
    "letters": lambda s: f"Count: {s['count']}, Positions: {s['positions']}",
    "eight_queens": _positions,
    "number_multiply": lambda s: str(s["target_answer"]),
    "cryptanalysis": lambda s: json.dumps(s["answer"]),
    "string_splitting": lambda s: json.dumps(s["expected_answer"]),
    "combinatorial_calculation": lambda s: f"[{', '.join(s['solution'])}]",
    "synthesis_decomposition": _synthesis,
    "2048": _own,
    "permutations_and_combinations": lambda s: json.dumps(s["correct_solution"]),
}


def reference_answer(sample: TaskRow) -> str | None:
    """Return the reference as a model would write it into the marker, or None where none is published.

    Of game24, path_plan, boxnet and blocksworld no reference is published: their verifiers check rules. Generated
    samples of these tasks carry one, under `reference_answer`.
    """
    if isinstance(sample.solution, dict) and "reference_answer" in sample.solution:
        return str(sample.solution["reference_answer"])
    render = _RENDER.get(sample.task)
    return None if render is None else render(sample.solution)
