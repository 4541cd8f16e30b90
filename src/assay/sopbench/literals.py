"""Text from a trajectory, read as a Python literal without evaluating anything.

Upstream evaluates recorded arguments and results with `eval` and keeps the text where that raises. `literal` gives
the same values for everything that occurs in trajectories, and never runs code. What it shares with `eval` on
purpose: JSON's true, false and null are unknown names (the text stays text), and a date without leading zeros is a
subtraction. What it does not share: names and calls, which stay text.
"""

import ast
import json
import operator
import re
import warnings
from collections.abc import Callable
from functools import lru_cache
from math import isfinite
from typing import Any

import msgspec

_MAX_PARSED = 200_000  # characters; longer text is no literal that a domain returns, and parsing it costs seconds
_MAX_DEPTH = 90  # of brackets; CPython's parser is safe far beyond
_SIGNS = re.compile(r"(?:[-+~]\s*){50}|(?:not\s+){50}")
_ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


def literal(text: str) -> Any:
    """Return the value of a Python literal, or the text itself where it is none.

    Examples
    --------
    >>> literal("(True, {'a': 1.5})"), literal("2025-11-21"), literal("2025-01-21"), literal("true")
    ((True, {'a': 1.5}), 1993, '2025-01-21', 'true')
    """
    return _cached(text) if len(text) < 200 else _literal(text)


@lru_cache(maxsize=1 << 15)
def _cached(text: str) -> Any:
    # Callers compare results, they never change them; longer and rarer texts are not kept.
    return _literal(text)


def _literal(text: str) -> Any:
    if len(text) > _MAX_PARSED or _depth(text) > _MAX_DEPTH or _SIGNS.search(text):
        return text
    try:
        return _value(_parsed(text.lstrip(" \t")))
    except (ValueError, TypeError, SyntaxError, ArithmeticError, RecursionError, MemoryError):
        return text


def _parsed(text: str) -> ast.expr:
    if "\\" not in text:
        return ast.parse(text, mode="eval").body
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an escape that Python does not know stands for itself
        return ast.parse(text, mode="eval").body


def _depth(text: str) -> int:
    if text.count("(") + text.count("[") + text.count("{") <= _MAX_DEPTH:
        return 0
    depth = deepest = 0
    for mark in text:
        if mark in "([{":
            depth += 1
            deepest = max(deepest, depth)
        elif mark in ")]}":
            depth -= 1
    return deepest


def _value(node: ast.expr) -> Any:
    match node:
        case ast.Constant(value):
            return value
        case ast.Tuple(elements):
            return tuple([_value(element) for element in elements])
        case ast.List(elements):
            return [_value(element) for element in elements]
        case ast.Set(elements):
            return {_value(element) for element in elements}
        case ast.Dict(keys, values):
            return {_value(_present(key)): _value(value) for key, value in zip(keys, values, strict=True)}
        case ast.UnaryOp(ast.USub(), operand):
            return -_number(_value(operand))
        case ast.UnaryOp(ast.UAdd(), operand):
            return +_number(_value(operand))
        case ast.BinOp(left, op, right) if type(op) in _ARITHMETIC:
            result = _ARITHMETIC[type(op)](_number(_value(left)), _number(_value(right)))
            if isinstance(result, int) and result.bit_length() > 10_000:
                raise ValueError("a number of this size is no result of a domain")
            return result
    raise ValueError(f"{type(node).__name__} is not part of a literal")


def _present(key: ast.expr | None) -> ast.expr:
    if key is None:
        raise ValueError("unpacking is not part of a literal")
    return key


def _number(value: Any) -> Any:
    if isinstance(value, int | float | complex):
        return value
    raise TypeError("only numbers are added")


def strict_json(text: str) -> Any:
    """Return the value of JSON text.

    Raises
    ------
    ValueError
        For anything else, NaN and nesting deeper than any argument of a domain included.
    """
    try:
        value = _json(text)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ValueError(str(error)) from error
    if _too_deep(text, value):
        raise ValueError(f"it is nested more than {_MAX_DEPTH} deep")
    return value


def _json(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except UnicodeEncodeError:
        return json.loads(text, parse_constant=_refuse)  # a lone surrogate, which models do write


def _too_deep(text: str, value: Any) -> bool:
    """Return whether JSON data is nested so deep that what walks through it could exceed Python's recursion limit."""
    if text.count("[") + text.count("{") <= _MAX_DEPTH:
        return False
    level = [value]
    for _ in range(_MAX_DEPTH + 1):
        groups = [item.values() if isinstance(item, dict) else item for item in level if isinstance(item, dict | list)]
        level = [child for group in groups for child in group]
    return bool(level)


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def tool_arguments(text: str) -> Any:
    """Return the arguments of a call as our own systems read them: JSON, and no text for no arguments.

    Raises
    ------
    ValueError
        For text that is no JSON.
    """
    return strict_json(text or "{}")


def json_or_literal(text: str) -> Any:
    """Return the value of JSON text, else of a Python literal, else the text: the corrected reading of arguments.

    The result is always a fresh object, because a domain may keep a list that it is given.
    """
    try:
        return strict_json(text)
    except ValueError:
        return _literal(text)


def arguments_literal(text: str) -> Any:
    """Return the same as `_literal` for the texts that models write as arguments, mostly without parsing twice.

    The result is always a fresh object, as that of `json_or_literal`.
    """
    if "\\" not in text and len(text) < 4000:
        # Without escapes, JSON is a Python literal of the same value, except for its three names.
        try:
            value = msgspec.json.decode(text)
        except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
            return _literal(text)
        if _too_deep(text, value):
            return text
        if ("true" in text or "false" in text or "null" in text) and _holds_names(value):
            return text
        return value
    return _literal(text)


def _holds_names(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_holds_names, value.values()))
    if isinstance(value, list):
        return any(map(_holds_names, value))
    return value is None or isinstance(value, bool)


def as_lists(value: Any) -> Any:
    """Turn tuples into lists, recursively."""
    if isinstance(value, list | tuple):
        return [as_lists(element) for element in value]
    if isinstance(value, dict):
        return {key: as_lists(element) for key, element in value.items()}
    return value


def plain(value: Any) -> Any:
    """Return a copy of a value as JSON data: tuples as lists, None and numbers as object keys written out.

    Functions return live parts of the state, so that what is recorded must be a copy. A number that has grown beyond
    all floats is written as text, because JSON has none for it.
    """
    if isinstance(value, dict):
        return {_key(key): plain(element) for key, element in value.items()}
    if isinstance(value, list | tuple):
        return [plain(element) for element in value]
    if isinstance(value, float) and not isfinite(value):
        return str(value)
    return value


def _key(key: Any) -> str:
    if isinstance(key, str):
        return key
    # As the json module writes them.
    return "null" if key is None else str(key).lower() if isinstance(key, bool) else str(key)
