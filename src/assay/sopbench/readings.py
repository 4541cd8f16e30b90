"""How a profile reads what a trajectory recorded: arguments, results, and whether a call succeeded."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite
from typing import Any

from assay.sopbench.literals import arguments_literal, as_lists, json_or_literal, literal, plain, tool_arguments
from assay.sopbench.rows import CallRow, ContentDialect


@dataclass(frozen=True)
class Reading:
    """One way of reading recorded calls.

    Attributes
    ----------
    arguments : callable
        Call -> value of its arguments; anything but a dict cannot be called with.
    same : callable
        (call, value of the strict system, dialect) -> whether the recorded result is that value.
    same_state : callable
        (recorded database, state of the strict system) -> whether they are equal.
    succeeded : callable
        (call, value of the strict system, dialect) -> whether the recorded call was successful.
    careful : bool
        Whether sessions change only on success, variables are compared by binding, and tools that were not offered
        count as errors.
    """

    arguments: Callable[[CallRow], Any]
    same: Callable[[CallRow, Any, ContentDialect], bool]
    same_state: Callable[[Any, Any], bool]
    succeeded: Callable[[CallRow, Any, ContentDialect], bool]
    careful: bool


def not_found(call: CallRow) -> bool:
    """Return whether the answer was that there is no such tool."""
    if call.outcome is not None:
        return call.outcome == "missing"
    return call.content.startswith("Error: Tool ") and call.content.endswith(" not found.")


def _arguments_upstream(call: CallRow) -> Any:
    return arguments_literal(call.arguments)


def _same_upstream(call: CallRow, value: Any, _dialect: ContentDialect) -> bool:
    content = call.content
    if content in ("True", "False"):
        plain = content == "True"
        return bool(value == plain) or as_lists(value) == [True, plain]
    # Equal texts are equal values wherever the text reads back as the value; parsing is the slow way.
    if _reads_back(value, content) and content == str(value):
        return True
    if _is_true_pair(value) and _reads_back(value[1], content) and content == str(value[1]):
        return True
    read = as_lists(literal(content))
    expected = as_lists(value)
    return bool(read == expected or [True, read] == expected)


def _same_state_upstream(recorded: Any, state: Any) -> bool:
    return bool(recorded == state)


def _is_true_pair(value: Any) -> bool:
    return type(value) is tuple and len(value) == 2 and value[0] is True


def _reads_back(value: Any, content: str) -> bool:
    """Return whether the literal of `str(value)` is certainly `value` again; bare strings and inf, nan are not."""
    if isinstance(value, dict | list | tuple):
        return "inf" not in content and "nan" not in content
    return value is None or isinstance(value, int) or (isinstance(value, float) and isfinite(value))


def _succeeded_upstream(call: CallRow, _value: Any, _dialect: ContentDialect) -> bool:
    content = literal(call.content)
    if isinstance(content, bool):
        return content
    if isinstance(content, tuple | list):
        return bool(content[0]) if content else False
    return False


def _arguments_corrected(call: CallRow) -> Any:
    if call.outcome is None:
        return json_or_literal(call.arguments)
    try:
        return tool_arguments(call.arguments)  # as it was carried out
    except ValueError:
        return call.arguments


def _same_corrected(call: CallRow, value: Any, dialect: ContentDialect) -> bool:
    if call.outcome is not None:
        return call.outcome == "returned" and bool(call.value == plain(value))
    if call.content == str(value) or (type(value) is tuple and len(value) == 2 and call.content == str(value[1])):
        return True
    # Other code versions order keys differently; bare text is compared as text, never as a number or a date.
    return call.content[:1] in ("{", "[", "(") and _same_upstream(call, value, dialect)


def _same_state_corrected(recorded: Any, state: Any) -> bool:
    # What was recorded went through JSON, so that a key that is None is "null" there.
    return bool(recorded == state or recorded == plain(state))


_EXCEPTION = re.compile(r"(?:Error|[A-Za-z_]\w*(?:Error|Exception)): ")


def _succeeded_corrected(call: CallRow, value: Any, dialect: ContentDialect) -> bool:
    if call.outcome is not None:
        return call.outcome == "returned" and _status(call.value)
    if _same_corrected(call, value, dialect):
        return _status(value)
    read = literal(call.content)
    if isinstance(read, bool | tuple):
        return _status(read)
    # Text of a result that the strict system refused: the base system carried it out unless it raised.
    return not _EXCEPTION.match(call.content)


def _status(value: Any) -> bool:
    """Return the success that a result states: a bool itself, a pair by its first element, bare data by being there."""
    if isinstance(value, bool):
        return value
    if isinstance(value, tuple | list) and len(value) == 2 and isinstance(value[0], bool):
        return value[0]
    return value is not None


UPSTREAM = Reading(_arguments_upstream, _same_upstream, _same_state_upstream, _succeeded_upstream, careful=False)
CORRECTED = Reading(_arguments_corrected, _same_corrected, _same_state_corrected, _succeeded_corrected, careful=True)
