"""Read numbers as mathematicians write them, and compare two answers (GSM-Hard and MATH).

The authors let a second language model judge with the rule "equal if the relative difference is below 0.001,
whatever the units, names and formats". This is the same rule without a model.
"""

import math
import re

from assay.symbench.alternatives import DENYING_WORDS

MAX_CHARS = 500  # A longer answer is no number.
MAX_DEPTH = 20
RELATIVE, ABSOLUTE_AT_ZERO = 1e-3, 1e-9

_DROPPED = (
    (re.compile(r"\\(?:text|mbox|mathrm|textbf)\s*\{[^{}]*\}"), " "),
    (re.compile(r"\^\s*\{?\s*\\circ\s*\}?|\\degree(?![A-Za-z])|°"), ""),
    (re.compile(r"\\[!,;: ]|\\(?:left|right|displaystyle)(?![A-Za-z])|\\?[$%]|,"), ""),
)
_UNIT_WORDS = re.compile(r"(?<=[\d})])\s+(?!pi\b)[A-Za-z]{2,}(?:[\s.][A-Za-z.]+)*(?:\^?[23])?\s*\Z")
_NUMBER_WORDS = (
    "zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen|"
    "twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|halves|thirds|"
    "(?:four|fif|six|seven|eigh|nin|ten|hundred|thousand|million|billion)ths?|dozens?"
)
_SEVERAL = re.compile(
    rf"\b(?:or|and|either|versus|vs|no|is|are|was|{_NUMBER_WORDS})\b|{DENYING_WORDS}|[;|&]"
    r"|\\(?:text|mbox|mathrm|textbf)\s*\{[^{}]*\d[^{}]*\}|[\d})]\s+(?:(?:squared|cubed|factorial)\b|\([-+\s\d.,]+\))",
    re.IGNORECASE,
)
_SCALES = {"hundred": 2, "thousand": 3, "million": 6, "billion": 9, "trillion": 12}
_SCALE_WORDS = rf"(?:{'|'.join(_SCALES)})s?\b"
# Behind a number, also inside of LaTeX text, whose other words are the unit.
_SCALE = re.compile(
    rf"(?<=[\d.)}}])(?:((?:\s+{_SCALE_WORDS})+)|\s*\\(?:text|mbox|mathrm|textbf)\s*\{{((?:\s*{_SCALE_WORDS})+)([^{{}}]*)\}})",
    re.IGNORECASE,
)
# Five and a half: in LaTeX, where a missing sign would else be a product, or with a slash.
_MIXED = re.compile(
    r"(?<![\w.})^/])(\d+)(?:(?:\s|\\[,;: ])*\\[dt]?frac\s*(?:\{\s*(\d+)\s*\}\s*\{\s*(\d+)\s*\}|(\d)\s*(\d))"
    r"|\s+(\d+)/(\d+))(?![\d/])"
)
_LATEX_UNIT = re.compile(r"\\(?:text|mbox|mathrm|textbf)\s*\{[^{}]*\}(?:\s*\^\s*(?:[23]|\{\s*[23]\s*\}))?")
_THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d,])", re.ASCII)
_TOKEN = re.compile(
    r"\s*(?:(\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?)|\\?(frac|dfrac|tfrac|sqrt|pi|cdot|times|div)(?![A-Za-z])"
    r"|([-+*/^(){}π√×÷−]))",
    re.ASCII,
)
_SPELLING = {"π": "pi", "√": "sqrt", "×": "*", "÷": "/", "−": "-", "cdot": "*", "times": "*", "div": "/"}


_FORMULA = re.compile(r"\s*(?:\$+([^$]*)\$+|\\\(((?:(?!\\\)).)*+)\\\)|\\\[((?:(?!\\\]).)*+)\\\])[\s.]*", re.DOTALL)
_BOXED = re.compile(r"[$\s]*\\boxed\s*\{(.*)\}[$\s.]*", re.DOTALL)


class _UnreadableError(ValueError):
    pass


def equal(target: str, answer: str) -> bool:
    r"""Say whether two answers name the same value, or are the same text apart from white space.

    Examples
    --------
    >>> equal(r"\frac{3}{5}", "0.6"), equal(r"10\sqrt{3}", "17.3205"), equal("-5420616.0", "$-5,420,616.00")
    (True, True, True)
    >>> equal("20", "20.1")
    False
    """
    left, right = read_number(target), read_number(answer)
    if left is not None and right is not None:
        return abs(right) < ABSOLUTE_AT_ZERO if left == 0 else abs(left - right) < RELATIVE * abs(left)
    return "".join(target.split()) == "".join(answer.split())


def equal_strictly(target: str, answer: str) -> bool:
    r"""Compare as `equal` does, but read one number only (deviation D25).

    What stands in a box of LaTeX is read without it. A comma must separate thousands; several lines, words for
    alternatives, sentences about it and numbers inside words of a unit make no number; a whole number before a proper
    fraction is added to it; the power of a LaTeX unit belongs to the unit, but `million` and its like to the number.

    Examples
    --------
    >>> equal("56", "5,6"), equal_strictly("56", "5,6"), equal_strictly("1056", "1,056")
    (True, False, True)
    >>> equal_strictly("5", "5 or six"), equal_strictly("5", r"5\text{ cm}^2"), equal_strictly("5", "5 million")
    (False, True, False)
    """
    answer = unboxed(answer)
    left, right = _one_number(target), _one_number(answer)
    if left is not None and right is not None:
        return abs(right) < ABSOLUTE_AT_ZERO if left == 0 else abs(left - right) < RELATIVE * abs(left)
    return "".join(target.split()) == "".join(answer.split())


def unboxed(text: str) -> str:
    r"""Return the content of a text that is one box or one formula of LaTeX, else the text.

    Examples
    --------
    >>> unboxed(r"$\boxed{\frac{1}{2}}$"), unboxed(r"\boxed{1} or 2"), unboxed(r"\((0, 6)\)"), unboxed("$5")
    ('\\frac{1}{2}', '\\boxed{1} or 2', '(0, 6)', '$5')
    """
    if len(text) > MAX_CHARS:
        return text
    if match := _FORMULA.fullmatch(text):
        text = next(content for content in match.groups() if content is not None)
    match = _BOXED.fullmatch(text)
    return text if match is None else match.group(1)


def several(text: str) -> bool:
    """Say whether a text names alternatives, denies what it names, or holds what may be a second number in words."""
    return _SEVERAL.search(text) is not None


def _one_number(text: str) -> float | None:
    if len(text) > MAX_CHARS or several(text) or "\n" in text.strip():
        return None
    text = _LATEX_UNIT.sub(" ", _SCALE.sub(_power_of_ten, text.replace("\\!", "")))
    text = _MIXED.sub(_sum_of_mixed, _THOUSANDS.sub(lambda match: match.group().replace(",", ""), text))
    return None if "," in text else read_number(text)


def _power_of_ten(match: re.Match[str]) -> str:
    words, inner, unit = match.groups()
    power = sum(_SCALES[word.lower().removesuffix("s")] for word in (words or inner).split())
    return f"*10^{{{power}}}" + (f"\\text{{{unit}}}" if unit else "")


def _sum_of_mixed(match: re.Match[str]) -> str:
    whole, above, below = (group for group in match.groups() if group is not None)
    return f"({whole}+{above}/{below})" if int(above) < int(below) else match.group()


def parts(text: str) -> list[str]:
    r"""Split a tuple, a set or several answers at the commas that separate values, not thousands.

    Examples
    --------
    >>> parts("(-2, 3)"), parts("1,000"), parts(r"\{4,5,7\}")
    (['-2', '3'], ['1,000'], ['4', '5', '7'])
    """
    text = text.strip().replace("\\left", "").replace("\\right", "").replace("\\{", "{").replace("\\}", "}")
    enclosed = len(text) >= 2 and (text[0], text[-1]) in (("(", ")"), ("{", "}"), ("[", "]"))
    pieces = (text[1:-1] if enclosed else text).split(",")
    if len(pieces) == 1 or not (enclosed or re.search(r",\s", text)):
        return [text]
    return [piece.strip() for piece in pieces]


def read_number(text: str) -> float | None:
    r"""Return the value of a number, fraction, root, multiple of pi or a sum or product of such, or None.

    Examples
    --------
    >>> read_number(r"\frac{1}{4}"), read_number(r"36^\circ"), read_number("x+1")
    (0.25, 36.0, None)
    """
    if len(text) > MAX_CHARS:
        return None
    for pattern, replacement in _DROPPED:
        text = pattern.sub(replacement, text)
    text = _UNIT_WORDS.sub("", text.strip().removesuffix("."))
    try:
        value = _Reader(_tokens(text)).value()
    except (_UnreadableError, ArithmeticError, ValueError, RecursionError):
        return None
    return value if math.isfinite(value) else None


def _tokens(text: str) -> list[float | str]:
    tokens: list[float | str] = []
    position, text = 0, text.rstrip()
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise _UnreadableError
        number, name, sign = match.groups()
        # LaTeX reads one digit as the argument of a fraction: \frac34.
        if number and tokens and _takes_one_digit(tokens) and number.isdigit():
            number = number[0]
            position = match.start(1) + 1
        else:
            position = match.end()
        if number:
            tokens.append(float(number))
        else:
            tokens.append(_SPELLING.get(name or sign, (name or sign).removeprefix("d").removeprefix("t")))
    return tokens


def _takes_one_digit(tokens: list[float | str]) -> bool:
    return tokens[-1] == "frac" or (len(tokens) > 1 and tokens[-2] == "frac" and isinstance(tokens[-1], float))


class _Reader:
    """Recursive descent: sums, products (a missing sign is a product), powers, signed operands."""

    def __init__(self, tokens: list[float | str]) -> None:
        self.tokens = tokens
        self.index = 0
        self.depth = 0

    def value(self) -> float:
        value = self.sum()
        if self.index != len(self.tokens):
            raise _UnreadableError
        return value

    def peek(self) -> float | str | None:
        return self.tokens[self.index] if self.index < len(self.tokens) else None

    def take(self, *signs: str) -> str | None:
        token = self.peek()
        if isinstance(token, str) and token in signs:
            self.index += 1
            return token
        return None

    def sum(self) -> float:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise _UnreadableError
        value = self.product()
        while sign := self.take("+", "-"):
            value = value + self.product() if sign == "+" else value - self.product()
        self.depth -= 1
        return value

    def product(self) -> float:
        value = self.signed()
        while True:
            if sign := self.take("*", "/"):
                value = value * self.signed() if sign == "*" else value / self.signed()
            elif self.peek() in ("(", "frac", "sqrt", "pi", "{") or (
                isinstance(self.peek(), float) and self.tokens[self.index - 1] in (")", "}", "pi")
            ):
                value *= self.power()
            else:
                return value

    def signed(self) -> float:
        negative = False
        while sign := self.take("+", "-"):
            negative ^= sign == "-"
        value = self.power()
        return -value if negative else value

    def power(self) -> float:
        base = self.operand()
        if not self.take("^"):
            return base
        negative = bool(self.take("-"))
        exponent = self.operand()
        # Python raises for a complex or infinite result only in pow of floats that overflow.
        return math.pow(base, -exponent if negative else exponent)

    def operand(self) -> float:
        if isinstance(token := self.peek(), float):
            self.index += 1
            return token
        if self.take("pi"):
            return math.pi
        if self.take("sqrt"):
            return math.sqrt(self.operand())
        if self.take("frac"):
            numerator = self.operand()
            return numerator / self.operand()
        for opening, closing in (("(", ")"), ("{", "}")):
            if self.take(opening):
                value = self.sum()
                if not self.take(closing):
                    raise _UnreadableError
                return value
        raise _UnreadableError
