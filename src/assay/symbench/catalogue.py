"""The 37 tasks: name, label in the paper, split, and module stem."""

from typing import Literal

import msgspec

Split = Literal["seen", "unseen"]


class TaskInfo(msgspec.Struct, frozen=True):
    """A task as the paper's main table lists it."""

    name: str
    label: str
    split: Split


# In the order of the paper's table: 28 seen tasks, then 9 unseen ones.
TASKS = {
    info.name: info
    for info in (
        TaskInfo("game24", "Game 24", "seen"),
        TaskInfo("path_plan", "Path Plan", "seen"),
        TaskInfo("boxlift", "BoxLift", "seen"),
        TaskInfo("boxnet", "BoxNet", "seen"),
        TaskInfo("blocksworld", "Blocksworld", "seen"),
        TaskInfo("date_understanding", "Date Understanding", "seen"),
        TaskInfo("web_of_lies", "Web of Lies", "seen"),
        TaskInfo("logical_deduction", "Logical Deduction", "seen"),
        TaskInfo("navigate", "Navigation", "seen"),
        TaskInfo("gsm_hard", "GSM-Hard", "seen"),
        TaskInfo("math_geometry", "MATH Geometry", "seen"),
        TaskInfo("math_counting_and_probability", "MATH Count&Probab.", "seen"),
        TaskInfo("logical_equation", "Logical Equation", "seen"),
        TaskInfo("new_operator", "New Operator", "seen"),
        TaskInfo("pooling", "Pooling", "seen"),
        TaskInfo("light_puzzles", "Light Puzzles", "seen"),
        TaskInfo("mahjong_pattern", "Mahjong", "seen"),
        TaskInfo("statistical_counting", "Statistical Counting", "seen"),
        TaskInfo("matrix_transformation", "Matrix Transformation", "seen"),
        TaskInfo("logic_puzzle", "Logical Puzzle", "seen"),
        TaskInfo("constrained_linear_arrangement", "Cons. Linear Arrange.", "seen"),
        TaskInfo("pattern_recognition", "Pattern Recognition", "seen"),
        TaskInfo("string_insertion", "String Insertion", "seen"),
        TaskInfo("letter_logic_diagram", "Letter Logic Diagram", "seen"),
        TaskInfo("string_deletion_and_modification", "String Deletion&Modifi.", "seen"),
        TaskInfo("string_synthesis", "String Synthesis", "seen"),
        TaskInfo("reversi", "Reversi", "seen"),
        TaskInfo("standard_sudoku", "Standard Sudoku", "seen"),
        TaskInfo("letters", "Letters", "unseen"),
        TaskInfo("eight_queens", "Eight Queen", "unseen"),
        TaskInfo("number_multiply", "Number Multiply", "unseen"),
        TaskInfo("cryptanalysis", "Cryptanalysis", "unseen"),
        TaskInfo("string_splitting", "String Splitting", "unseen"),
        TaskInfo("combinatorial_calculation", "Combinatorial Calcul.", "unseen"),
        TaskInfo("synthesis_decomposition", "Synthesis Decompo.", "unseen"),
        TaskInfo("2048", "2048", "unseen"),
        TaskInfo("permutations_and_combinations", "Permut. and Combina.", "unseen"),
    )
}


def module_stem(task: str) -> str:
    """Return the stem of a task's modules; a module name cannot begin with a digit."""
    return f"task_{task}" if task[0].isdigit() else task
