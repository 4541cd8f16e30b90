"""Combinatorial calculation: put operators between given numbers to reach a target."""

import math

from assay.symbench.alternatives import NOT_ONE
from assay.symbench.arithmetic import ArithmeticTextError, Token, is_reduction, plain_operators, rational, tokenize
from assay.symbench.literals import LiteralError, python_value
from assay.symbench.rows import TaskRow
from assay.symbench.verdicts import RIGHT, Profile, Verdict, clipped, unreadable, when, wrong

_SYMBOLS = ("+", "-", "*", "/", "(", ")")
# A comma separates: without it, 1,2 would be twelve.
_LIST_MARKS = str.maketrans(",", " ", "\"'`")


def verify(sample: TaskRow, answer: str, profile: Profile) -> Verdict:
    """Check that the given numbers are used and that the expression reaches the target.

    `upstream` concatenates the items and evaluates the text as Python: numbers may change their order, adjacent
    stars are a power, adjacent numbers one larger number (deviation D7). `corrected` wants operands and operators
    in turn, the numbers in the given order, exact rational arithmetic, and the target on every side of an equation
    (D25).
    """
    if profile == "upstream":
        return _upstream([item.strip().strip("'\"").strip() for item in answer.split(",")], sample)
    target = sample.solution["target"]
    try:
        tokens, *others = sides = [tokenize(side) for side in _sides(answer)]
        if not is_reduction(sides):
            return unreadable(NOT_ONE)
        if any(rational(side) != target for side in others):
            return wrong(f"one side is not {target}")
        value = rational(tokens)
    except ArithmeticTextError as error:
        return unreadable(str(error))
    if [token for token in tokens if isinstance(token, int)] != sample.solution["numbers"]:
        return wrong("the given numbers do not stand in the given order")
    if _has_sign(tokens):
        return wrong("a sign stands before a number or bracket; operators may only stand between numbers")
    return when(value == target, f"the value is {value}, not {target}")


def _sides(answer: str) -> list[str]:
    """Return the expression inside list brackets, and what it is said to equal."""
    text = answer.strip()
    if text.startswith("[") and text.endswith("]"):
        text = text[1:-1]
    return plain_operators(text.translate(_LIST_MARKS)).split("=")


def _has_sign(tokens: list[Token]) -> bool:
    return any(
        token in ("+", "-") and (index == 0 or tokens[index - 1] in ("+", "-", "*", "/", "("))
        for index, token in enumerate(tokens)
    )


def _upstream(items: list[str], sample: TaskRow) -> Verdict:
    numbers = []
    for item in items:
        if item in _SYMBOLS:
            continue
        try:
            numbers.append(int(item))
        except ValueError:
            return unreadable(f"{clipped(item)!r} is neither an integer nor an operator")
    if sorted(numbers) != sorted(sample.solution["numbers"]):
        return wrong("the numbers are not the given ones")
    if not _balanced(items):
        return unreadable("the brackets are not balanced")
    try:
        value = python_value("".join(items))
    except LiteralError as error:
        return unreadable(str(error))
    if not isinstance(value, int | float):
        return unreadable("the value is not a number")
    try:
        if not math.isfinite(value):
            return wrong("the value is not finite")
        if math.isclose(value, round(value), rel_tol=1e-9):
            value = round(value)
        reached = math.isclose(value, sample.solution["target"], rel_tol=1e-9)
    except OverflowError:
        return wrong("the value is too large")
    return RIGHT if reached else wrong(f"the value is {clipped(repr(value))}")


def _balanced(items: list[str]) -> bool:
    depth = 0
    for item in items:
        depth += (item == "(") - (item == ")")
        if depth < 0:
            return False
    return depth == 0
