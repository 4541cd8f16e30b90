"""Reads values that models write when they mean JSON: single quotes, Python words, trailing commas. Never eval."""

import math
import re
import sys
from typing import Any

MOST_DEPTH = 48
_SPACE = re.compile(r"\s*")
_NUMBER = re.compile(r"[-+]?(?:\d+(?:_\d+)*)(?:\.\d*)?(?:[eE][-+]?\d+)?|[-+]?\.\d+(?:[eE][-+]?\d+)?")
_WORD = re.compile(r"[A-Za-z_]\w*")
_WORDS: dict[str, Any] = {"true": True, "True": True, "false": False, "False": False, "null": None, "None": None}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "/": "/", "\\": "\\", '"': '"', "'": "'", "\n": ""}
_WIDTHS = {"x": 2, "u": 4, "U": 8}
_QUOTES = {'"': '"', "'": "'", "\u201c": "\u201d", "\u2018": "\u2019"}
_MOST_DIGITS = 400


class LooseError(ValueError):
    """No value stands at this place."""


def read_value(text: str, start: int = 0, depth: int = 0) -> tuple[Any, int]:
    """Return the value that begins at `start` and the position after it.

    Takes objects, lists, tuples (as lists), strings, numbers and the words true, false, null of JSON and Python.

    Raises
    ------
    LooseError
        If there is no complete value, or one nested deeper than `MOST_DEPTH`.
    """
    at = skip_space(text, start)
    if at >= len(text) or depth > MOST_DEPTH:
        raise LooseError("no value")
    first = text[at]
    if first == "{":
        return _object(text, at + 1, depth)
    if first in "[(":
        return _list(text, at + 1, "]" if first == "[" else ")", depth)
    if first in _QUOTES:
        return _string(text, at)
    word = _WORD.match(text, at)
    if word and word[0] in _WORDS:
        return _WORDS[word[0]], word.end()
    number = _NUMBER.match(text, at)
    if number:
        return _number(number[0]), number.end()
    raise LooseError("no value")


def skip_space(text: str, at: int) -> int:
    """Return the position of the next character that is no space."""
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _object(text: str, at: int, depth: int) -> tuple[dict[str, Any], int]:
    found: dict[str, Any] = {}
    while True:
        at = skip_space(text, at)
        if text[at : at + 1] == "}":
            return found, at + 1
        key, at = _key(text, at)
        at = skip_space(text, at)
        if text[at : at + 1] != ":":
            raise LooseError("no colon after a key")
        found[key], at = read_value(text, at + 1, depth + 1)
        at = _comma(text, at, "}")


def _key(text: str, at: int) -> tuple[str, int]:
    if text[at : at + 1] in _QUOTES and at < len(text):
        return _string(text, at)
    word = _WORD.match(text, at)
    if word is None:
        raise LooseError("no key")
    return word[0], word.end()


def _list(text: str, at: int, end: str, depth: int) -> tuple[list[Any], int]:
    found: list[Any] = []
    while True:
        at = skip_space(text, at)
        if text[at : at + 1] == end:
            return found, at + 1
        value, at = read_value(text, at, depth + 1)
        found.append(value)
        at = _comma(text, at, end)


def _comma(text: str, at: int, end: str) -> int:
    at = skip_space(text, at)
    if text[at : at + 1] == ",":
        return at + 1
    if text[at : at + 1] == end:
        return at
    raise LooseError("neither a comma nor an end")


def _string(text: str, at: int) -> tuple[str, int]:
    close = _QUOTES[text[at]]
    parts: list[str] = []
    at += 1
    while True:
        end = text.find(close, at)
        if end < 0:
            raise LooseError("a string without an end")
        slash = text.find("\\", at, end)
        if slash < 0:
            parts.append(text[at:end])
            return "".join(parts), end + 1
        parts.append(text[at:slash])
        piece, at = _escape(text, slash + 1)
        parts.append(piece)


def _escape(text: str, at: int) -> tuple[str, int]:
    letter = text[at : at + 1]
    if letter in _WIDTHS:
        code, end = _code_point(text, at)
        if 0xD800 <= code < 0xDC00 and text[end : end + 2] == "\\u":
            low, after = _code_point(text, end + 1)
            if 0xDC00 <= low < 0xE000:
                return chr(0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00)), after
        return ("\ufffd" if 0xD800 <= code < 0xE000 else chr(code)), end
    return _ESCAPES.get(letter, "\\" + letter), at + 1


def _code_point(text: str, at: int) -> tuple[int, int]:
    width = _WIDTHS[text[at]]
    digits = text[at + 1 : at + 1 + width]
    if not re.fullmatch(rf"[0-9a-fA-F]{{{width}}}", digits) or int(digits, 16) > sys.maxunicode:
        raise LooseError("a broken escape")
    return int(digits, 16), at + 1 + width


def _number(digits: str) -> int | float:
    if len(digits) > _MOST_DIGITS:
        raise LooseError("a number too long")
    plain = digits.replace("_", "")
    if re.match(r"[-+]?0\d", plain):
        raise LooseError("a number with a leading zero")  # a code or a date: 7 for 007 would be another value
    if re.fullmatch(r"[-+]?\d+", plain):
        return int(plain)
    value = float(plain)
    if not math.isfinite(value):
        raise LooseError("a number too large")
    return value
