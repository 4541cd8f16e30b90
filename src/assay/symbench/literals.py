"""Read Python literals out of model text without running it.

The authors' scorer evaluates model text as Python. `python_value` gives the same value for everything that an
answer can sensibly be (numbers, strings, lists, tuples, dictionaries, sets and arithmetic on numbers), refuses
the rest, and is bounded: text length, nesting and the size of numbers have limits, so a tower of powers ends in
a sentence instead of a hung process.
"""

import operator
import re
from collections.abc import Callable
from typing import Any

# Far above any answer that a task asks for: the longest published reference has 3,000 characters.
MAX_CHARS = 200_000
MAX_DEPTH = 50
MAX_BITS = 20_000


class LiteralError(ValueError):
    """The text is no literal, or too large to be read."""


_TOKEN = re.compile(
    r"""
    (?P<space>[ \t\f]+|\\\n)
  | (?P<comment>\#[^\n]*)
  | (?P<newline>\n)
  | (?P<number>
        0[xX](?:_?[0-9a-fA-F])+ | 0[bB](?:_?[01])+ | 0[oO](?:_?[0-7])+
      | (?:[0-9](?:_?[0-9])*)?\.[0-9](?:_?[0-9])*(?:[eE][+-]?[0-9](?:_?[0-9])*)?
      | [0-9](?:_?[0-9])*\.?(?:[eE][+-]?[0-9](?:_?[0-9])*)?
    )
  | (?P<string>[uUrR]?(?:\"\"\"(?:[^\\]|\\[\s\S])*?\"\"\"|'''(?:[^\\]|\\[\s\S])*?'''
        |"(?:[^"\\\n]|\\[\s\S])*"|'(?:[^'\\\n]|\\[\s\S])*'))
  | (?P<name>[^\W\d]\w*|\.\.\.)
  | (?P<operator>\*\*|//|[-+*/%~,:()\[\]{}])
    """,
    re.VERBOSE,
)
_INTEGER = re.compile(r"(?:0(?:_?0)*|[1-9](?:_?[0-9])*)\Z")
_ESCAPE = re.compile(r"\\(\n|[0-7]{1,3}|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[\s\S])")
_SIMPLE_ESCAPES = {"\\": "\\", "'": "'", '"': '"', "\n": ""} | dict(zip("abfnrtv", "\a\b\f\n\r\t\v", strict=True))
_CONSTANTS = {"True": True, "False": False, "None": None, "...": ...}
_OPEN = {"(": ")", "[": "]", "{": "}"}


def python_value(text: str) -> Any:
    """Return the value of a Python expression made of literals and arithmetic.

    Raises
    ------
    LiteralError
        For everything that is no such expression, or that exceeds the module's limits, or whose arithmetic
        fails (division by zero, overflow). The message is short and safe to store.

    Examples
    --------
    >>> python_value("[(0, 1.5), (2, -3)]")
    [(0, 1.5), (2, -3)]
    >>> python_value("1, 2")
    (1, 2)
    """
    if len(text) > MAX_CHARS:
        raise LiteralError(f"the text has {len(text)} characters, more than {MAX_CHARS}")
    text = text.replace("\r\n", "\n").replace("\r", "\n").lstrip(" \t")
    parser = _Parser(_tokens(text))
    value = parser.expression_list()
    parser.expect_end()
    return value


def _tokens(text: str) -> list[tuple[str, str]]:
    """Split into (kind, text); line ends outside brackets become one "end", as Python's tokenizer sees them."""
    tokens: list[tuple[str, str]] = []
    position, depth, started, line_is_blank, indented = 0, 0, False, True, False
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise LiteralError(f"unexpected character {text[position]!r}")
        kind, piece, position = str(match.lastgroup), match.group(), match.end()
        if kind == "space":
            # A blank at the start of a line (not of the text) is an indentation, which an expression cannot have.
            indented = indented or (line_is_blank and depth == 0 and match.start() > 0)
        elif kind == "newline":
            if depth == 0 and started:
                tokens.append(("end", ""))
            line_is_blank, indented = True, False
        elif kind != "comment":
            if indented and not started:
                raise LiteralError("the first line of the expression is indented")
            started, line_is_blank = True, False
            depth += (piece in _OPEN) - (piece in _OPEN.values() and kind == "operator")
            if depth > MAX_DEPTH:
                raise LiteralError(f"brackets are nested more than {MAX_DEPTH} deep")
            tokens.append((kind, piece))
    if indented and started and line_is_blank:
        raise LiteralError("blanks without a line end follow the expression on a line of their own")
    return tokens


class _Parser:
    """Recursive descent over the tokens, with Python's precedence: sum, product, sign, power, atom."""

    def __init__(self, tokens: list[tuple[str, str]]) -> None:
        self.tokens = tokens
        self.index = 0
        self.depth = 0

    def peek(self) -> tuple[str, str]:
        return self.tokens[self.index] if self.index < len(self.tokens) else ("end", "")

    def next_is(self, *pieces: str) -> str | None:
        kind, piece = self.peek()
        if kind == "operator" and piece in pieces:
            self.index += 1
            return piece
        return None

    def expect_end(self) -> None:
        while self.index < len(self.tokens):
            kind, piece = self.peek()
            if kind != "end":
                raise LiteralError(f"unexpected {piece[:20]!r}")
            self.index += 1

    def expression_list(self) -> Any:
        """Read a value, or several with commas between: a tuple."""
        values, is_list = self.items()
        return tuple(values) if is_list else values[0]

    def items(self) -> tuple[list[Any], bool]:
        """Read at least one value; the flag says whether there was a comma."""
        values, is_list = [self.sum()], False
        while self.next_is(","):
            is_list = True
            kind, piece = self.peek()
            if kind == "end" or (kind == "operator" and piece in ")]}"):
                break
            values.append(self.sum())
        return values, is_list

    def sum(self) -> Any:
        self.depth += 1
        if self.depth > 4 * MAX_DEPTH:
            raise LiteralError("the expression is nested too deeply")
        value = self.product()
        while sign := self.next_is("+", "-"):
            value = _apply(sign, value, self.product())
        self.depth -= 1
        return value

    def product(self) -> Any:
        value = self.signed()
        while sign := self.next_is("*", "/", "//", "%"):
            value = _apply(sign, value, self.signed())
        return value

    def signed(self) -> Any:
        signs = []
        while sign := self.next_is("+", "-", "~"):
            signs.append(sign)
        value = self.power()
        for sign in reversed(signs):
            value = _apply_sign(sign, value)
        return value

    def power(self) -> Any:
        base = self.atom()
        if not self.next_is("**"):
            return base
        self.depth += 1
        if self.depth > 4 * MAX_DEPTH:
            raise LiteralError("the expression is nested too deeply")
        exponent = self.signed()
        self.depth -= 1
        return _apply("**", base, exponent)

    def atom(self) -> Any:
        kind, piece = self.peek()
        self.index += 1
        if kind == "number":
            if self.peek()[0] == "name" and self.peek()[1] != "...":
                raise LiteralError(f"invalid number {piece[:20]!r}")
            return _number(piece)
        if kind == "string":
            parts = [_string(piece)]
            while self.peek()[0] == "string":
                parts.append(_string(self.peek()[1]))
                self.index += 1
            return "".join(parts)
        if kind == "name" and piece in _CONSTANTS:
            return _CONSTANTS[piece]
        if kind == "operator" and piece in _OPEN:
            return self.bracket(piece)
        raise LiteralError(f"{piece[:20]!r} is no literal" if piece else "the text ends too early")

    def bracket(self, opening: str) -> Any:
        if opening == "{":
            return self.braces()
        if self.next_is(_OPEN[opening]):
            return () if opening == "(" else []
        values, is_list = self.items()
        if not self.next_is(_OPEN[opening]):
            raise LiteralError(f"a {opening!r} is not closed")
        if opening == "[":
            return values
        return tuple(values) if is_list else values[0]

    def braces(self) -> Any:
        items: list[Any] = []
        keys: list[Any] = []
        while not self.next_is("}"):
            items.append(self.sum())
            if self.next_is(":"):
                keys.append(items.pop())
                items.append(self.sum())
            if not self.next_is(",") and self.peek()[1] != "}":
                raise LiteralError("a '{' is not closed")
        try:
            if keys and len(keys) == len(items):
                return dict(zip(keys, items, strict=True))
            if not items:
                return {}
            if not keys:
                return set(items)
        except TypeError as error:
            raise LiteralError(str(error)) from error
        raise LiteralError("a dictionary and a set are mixed")


def _number(piece: str) -> int | float:
    try:
        if piece[:2].lower() in ("0x", "0b", "0o"):
            return int(piece, 0)
        if _INTEGER.match(piece):
            return int(piece)
        if piece.replace("_", "").isdigit():
            raise LiteralError("an integer may not begin with 0")
        return float(piece)
    except ValueError as error:
        raise LiteralError(f"unreadable number {piece[:20]!r}") from error


def _string(piece: str) -> str:
    raw = piece[0] in "rR"
    if piece[0] in "uUrR":
        piece = piece[1:]
    width = 3 if piece[:3] in ('"""', "'''") else 1
    body = piece[width:-width]
    return body if raw else _ESCAPE.sub(_unescape, body)


def _unescape(match: re.Match[str]) -> str:
    code = match.group(1)
    if code in _SIMPLE_ESCAPES:
        return _SIMPLE_ESCAPES[code]
    if code[0] in "01234567":
        return chr(int(code, 8))
    if code[0] in "xuU" and len(code) > 1:
        point = int(code[1:], 16)
        if point > 0x10FFFF:
            raise LiteralError(f"no character has the number {code}")
        return chr(point)
    if code in ("x", "u", "U", "N"):
        raise LiteralError(f"unfinished or unsupported escape \\{code}")
    return match.group()


_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
}


def _apply(sign: str, left: Any, right: Any) -> Any:
    if not isinstance(left, int | float) or not isinstance(right, int | float):
        if sign == "+" and type(left) is type(right) and isinstance(left, str | list | tuple):
            return left + right
        raise LiteralError(f"{sign} between values that are not numbers")
    if isinstance(left, int) and isinstance(right, int):
        bits = {"*": left.bit_length() + right.bit_length(), "**": left.bit_length() * max(right, 0)}
        if bits.get(sign, 0) > MAX_BITS:
            raise LiteralError(f"the result has more than {MAX_BITS} bits")
    try:
        value = _OPERATORS[sign](left, right)
    except (ArithmeticError, ValueError) as error:
        raise LiteralError(str(error)) from error
    if isinstance(value, complex):
        raise LiteralError("the result is a complex number")
    return value


def _apply_sign(sign: str, value: Any) -> Any:
    if not isinstance(value, int | float) or (sign == "~" and isinstance(value, float)):
        raise LiteralError(f"{sign} before a value that is not a number")
    if sign == "~":
        return ~int(value)
    return -value if sign == "-" else +value
