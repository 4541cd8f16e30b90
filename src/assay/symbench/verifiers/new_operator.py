"""New operator: evaluate an expression of freshly defined operators."""

import re
from fractions import Fraction

from assay.symbench.arithmetic import ArithmeticTextError, plain_operators, rational, tokenize
from assay.symbench.rows import TaskRow
from assay.symbench.verdicts import Profile, Verdict, clipped, unreadable, when

RELATIVE = Fraction(1, 10**6)
_EXPRESSION = re.compile(r"Calculate\s+(.+?)\s*\.?\s*$", re.MULTILINE)
_THOUSANDS = re.compile(r"[-+]?\d{1,3}(?:,\d{3})+(?:\.\d*)?", re.ASCII)
_ANSWER = re.compile(r"[-+]?(?:\d{1,300}(?:\.(\d{0,300}))?|\.(\d{1,300}))(?:[eE][-+]?\d{1,3})?\Z", re.ASCII)


def verify(sample: TaskRow, answer: str, profile: Profile) -> Verdict:
    """Compare one number with the value of the expression.

    `upstream` wants exact equality of floats with the published reference, which at complexity 5 holds the value
    of the last operation alone (deviation D2). `corrected` evaluates the expression from left to right, all
    operators of equal precedence, and accepts 1e-6 relative or the value rounded to the answer's own decimals,
    at least two. Fractions such as 3/4, also of LaTeX, other minus signs and commas between thousands are read.
    """
    if profile == "upstream":
        try:
            value = float(answer)
        except ValueError:
            return unreadable(f"{clipped(answer)!r} is not a number")
        expected = float(sample.solution["solution"])
        return when(value == expected, f"{value} is not {expected}")
    return _corrected(answer.strip().strip("[]").strip(), left_to_right(sample))


def _corrected(text: str, expected: Fraction) -> Verdict:
    try:
        text = plain_operators(text.strip("$"))
        match = _ANSWER.match(text.replace(",", "") if _THOUSANDS.fullmatch(text) else text)
        value = Fraction(match.group()) if match else _fraction(text)
    except ArithmeticTextError as error:
        return unreadable(str(error))
    decimals = len(match.group(1) or match.group(2) or "") if match else 0
    close = abs(value - expected) <= RELATIVE * abs(expected)
    rounded = decimals >= 2 and abs(value - expected) <= Fraction(1, 2 * 10**decimals)
    return when(close or rounded, f"{clipped(text)} is not {float(expected)}")


def _fraction(text: str) -> Fraction:
    """Return the value of an integer or of one integer over another; what is left to be computed is no number."""
    tokens = tokenize(text)
    numbers = sum(isinstance(token, int) for token in tokens)
    if "*" in tokens or numbers > 2 or (numbers == 2) != ("/" in tokens):
        raise ArithmeticTextError(f"{clipped(text)!r} is not a number")
    return rational(tokens)


def left_to_right(sample: TaskRow) -> Fraction:
    """Return the exact value of the question's expression, operators of equal precedence, leftmost first."""
    return _fold(*_operands(sample), from_right=False)


def right_to_left(sample: TaskRow) -> Fraction:
    """Return the exact value with the rightmost operator first; brackets hold in both readings."""
    return _fold(*_operands(sample), from_right=True)


def _operands(sample: TaskRow) -> tuple[str, dict[str, str]]:
    match = _EXPRESSION.search(sample.question)
    if match is None:
        raise ValueError(f"the question of {sample.query_id} has no line 'Calculate ...'")
    return match.group(1), sample.solution["operator_definitions"]


def _fold(expression: str, definitions: dict[str, str], from_right: bool) -> Fraction:
    tokens = re.findall(r"\d+|\S", expression, re.ASCII)
    values, index = _read(tokens, 0, definitions, from_right)
    if index != len(tokens):
        raise ValueError(f"unreadable expression {expression!r}")
    return values


def _read(tokens: list[str], index: int, definitions: dict[str, str], from_right: bool) -> tuple[Fraction, int]:
    operands: list[Fraction] = []
    operators: list[str] = []
    while True:
        if tokens[index] == "(":
            value, index = _read(tokens, index + 1, definitions, from_right)
        else:
            value = Fraction(int(tokens[index]))
        operands.append(value)
        index += 1
        if index == len(tokens) or tokens[index] == ")":
            break
        operators.append(tokens[index])
        index += 1
    while operators:
        at = len(operators) - 1 if from_right else 0
        formula = definitions[operators.pop(at)]
        left, right = operands[at], operands.pop(at + 1)
        operands[at] = rational(tokenize(formula, {"a": left, "b": right}))
    return operands[0], index
