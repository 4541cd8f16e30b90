"""Game 24: reach 24 with four numbers."""

import re
from typing import Any

from assay.symbench.alternatives import NOT_ONE
from assay.symbench.arithmetic import ArithmeticTextError, is_reduction, plain_operators, rational, tokenize
from assay.symbench.literals import LiteralError, python_value
from assay.symbench.rows import TaskRow
from assay.symbench.verdicts import RIGHT, Profile, Verdict, clipped, unreadable, when, wrong

_DIGITS = re.compile(r"\d+")
_FRACTION = re.compile(r"\\frac\{([^{}]*)\}\{([^{}]*)\}")


def verify(sample: TaskRow, answer: str, profile: Profile) -> Verdict:
    """Check that the expression uses the four numbers and has the value 24.

    `upstream` evaluates in binary floating point and wants exactly 24, so 8/(1-6/9) fails, and accepts every
    Python operator (deviation D14); between the first and the last equal sign anything may stand. `corrected` computes
    with rationals, knows + - * / and brackets only, in plain, Unicode or LaTeX spelling, and wants 24 on every
    side of a calculation (D25).
    """
    target = sample.solution["target"]
    text = answer.strip()
    if "=" not in text:
        text += f" = {target}"
    if profile == "upstream":
        return _upstream(text[: text.index("=")], text[text.rindex("=") + 1 :], sample)
    try:
        tokens, *others = sides = [tokenize(plain_operators(side)) for side in text.split("=")]
        if not is_reduction(sides):
            return unreadable(NOT_ONE)
        for side in others:
            if (value := rational(side)) != target:
                return wrong(f"one side is {value}, not {target}")
        value = rational(tokens)
    except ArithmeticTextError as error:
        return unreadable(str(error))
    if sorted(token for token in tokens if isinstance(token, int)) != sorted(sample.solution["numbers"]):
        return wrong("the numbers are not the given ones")
    return when(value == target, f"the value is {value}, not {target}")


def _upstream(left: str, right: str, sample: TaskRow) -> Verdict:
    try:
        if not _is(python_value(_translated(right)), sample.solution["target"]):
            return wrong("the right side is not 24")
        left = _translated(left)
        numbers = [int(digits) for digits in _DIGITS.findall(left)]
        if sorted(numbers) != sorted(sample.solution["numbers"]):
            return wrong("the numbers are not the given ones")
        value = python_value(left)
    except LiteralError as error:
        return unreadable(str(error))
    except ValueError:
        return unreadable("a number is too long")
    return RIGHT if _is(value, sample.solution["target"]) else wrong(f"the value is {clipped(repr(value))}")


def _is(value: Any, target: int) -> bool:
    return isinstance(value, int | float) and value == target


def _translated(text: str) -> str:
    text = text.strip().replace("\\times", "*").replace("\\div", "/")
    return _FRACTION.sub(r"(\1/\2)", text)
