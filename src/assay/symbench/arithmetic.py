"""Evaluate + - * / and brackets on integers with exact rationals, in bounded time and space."""

import itertools
import re
from collections.abc import Mapping
from fractions import Fraction

MAX_CHARS = 2_000
MAX_DEPTH = 50
MAX_BITS = 4_096

_TOKEN = re.compile(r"\s*(?:(\d+)|([-+*/()])|([a-z]))", re.ASCII)
# What people and LaTeX write for the four operations.
_SPELLINGS = str.maketrans({"×": "*", "⋅": "*", "·": "*", "÷": "/", "−": "-", "–": "-", "[": "(", "]": ")"})
_LATEX = (
    (re.compile(r"\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}"), r"((\1)/(\2))"),
    (re.compile(r"\\(?:times|cdot)(?![A-Za-z])"), "*"),
    (re.compile(r"\\div(?![A-Za-z])"), "/"),
    (re.compile(r"\\(?:left|right)(?![A-Za-z])"), ""),
)


class ArithmeticTextError(ValueError):
    """The text is no expression of the four operations, or its value has no bounded exact form."""


def plain_operators(text: str) -> str:
    """Return the text with LaTeX and Unicode operators replaced by + - * / and round brackets."""
    if len(text) > MAX_CHARS:
        raise ArithmeticTextError(f"the expression has {len(text)} characters, more than {MAX_CHARS}")
    for pattern, replacement in _LATEX:
        text = pattern.sub(replacement, text)
    return text.translate(_SPELLINGS)


Token = int | Fraction | str


def tokenize(text: str, names: Mapping[str, Fraction] | None = None) -> list[Token]:
    """Split an expression into non-negative integers, the values of one-letter `names`, and operators.

    Examples
    --------
    >>> tokenize("(10-4)*4")
    ['(', 10, '-', 4, ')', '*', 4]
    """
    if len(text) > MAX_CHARS:
        raise ArithmeticTextError(f"the expression has {len(text)} characters, more than {MAX_CHARS}")
    tokens: list[Token] = []
    position, text = 0, text.rstrip()
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise ArithmeticTextError(f"{text[position : position + 10].strip()!r} is neither a number nor an operator")
        number, sign, name = match.groups()
        if name and (names is None or name not in names):
            raise ArithmeticTextError(f"{name!r} is neither a number nor an operator")
        tokens.append(int(number) if number else sign or (names or {})[name])
        position = match.end()
    return tokens


def is_reduction(sides: list[list[Token]]) -> bool:
    """Say whether every side of an equation has fewer numbers than the side before it.

    So has a calculation that is carried out step by step; two expressions that are said to be equal have not.
    """
    numbers = [sum(not isinstance(token, str) for token in side) for side in sides]
    return all(later < earlier for earlier, later in itertools.pairwise(numbers))


def rational(tokens: list[Token]) -> Fraction:
    """Return the exact value of an expression; signs may stand before an operand.

    Raises
    ------
    ArithmeticTextError
        If operands and operators do not alternate, brackets do not match, something is divided by zero, or a
        limit of the module is exceeded.

    Examples
    --------
    >>> rational(tokenize("8/(1-6/9)"))
    Fraction(24, 1)
    """
    value, index = _sum(tokens, 0, 0)
    if index != len(tokens):
        raise ArithmeticTextError(f"{tokens[index]!r} is not expected after a complete expression")
    return value


def _sum(tokens: list[Token], index: int, depth: int) -> tuple[Fraction, int]:
    if depth > MAX_DEPTH:
        raise ArithmeticTextError(f"brackets are nested more than {MAX_DEPTH} deep")
    value, index = _product(tokens, index, depth)
    while index < len(tokens) and tokens[index] in ("+", "-"):
        right, after = _product(tokens, index + 1, depth)
        value = _bounded(value + right if tokens[index] == "+" else value - right)
        index = after
    return value, index


def _product(tokens: list[Token], index: int, depth: int) -> tuple[Fraction, int]:
    value, index = _operand(tokens, index, depth)
    while index < len(tokens) and tokens[index] in ("*", "/"):
        right, after = _operand(tokens, index + 1, depth)
        if tokens[index] == "/" and right == 0:
            raise ArithmeticTextError("division by zero")
        value = _bounded(value * right if tokens[index] == "*" else value / right)
        index = after
    return value, index


def _operand(tokens: list[Token], index: int, depth: int) -> tuple[Fraction, int]:
    negative = False
    while index < len(tokens) and tokens[index] in ("+", "-"):
        negative ^= tokens[index] == "-"
        index += 1
    if index == len(tokens):
        raise ArithmeticTextError("the expression ends too early")
    token = tokens[index]
    if isinstance(token, int | Fraction):
        value, index = Fraction(token), index + 1
    elif token == "(":
        value, index = _sum(tokens, index + 1, depth + 1)
        if index == len(tokens) or tokens[index] != ")":
            raise ArithmeticTextError("a bracket is not closed")
        index += 1
    else:
        raise ArithmeticTextError(f"{token!r} stands where a number is expected")
    return (-value if negative else value), index


def _bounded(value: Fraction) -> Fraction:
    if value.numerator.bit_length() > MAX_BITS or value.denominator.bit_length() > MAX_BITS:
        raise ArithmeticTextError(f"a value needs more than {MAX_BITS} bits")
    return value
