"""Finds the tool calls in what a model wrote, however it wrote them. The text itself is always kept by the caller."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from assay.model.loose import LooseError, read_value, skip_space

_NAME_KEYS = ("name", "function", "function_name", "tool", "tool_name", "action")
_ARGUMENT_KEYS = ("arguments", "parameters", "args", "kwargs", "action_input", "tool_input", "input")
_CALL = re.compile(r"(?<![\w.])(?:[A-Za-z_]\w*\.)*([A-Za-z_]\w*)\s*\(")
_TAGGED = re.compile(r"<function=([\w.-]+)>")
_START = re.compile(r"[{\[]")
# A block whose whole content is a call may use a name that nobody announced.
_BLOCK = re.compile(r"(?:<tool_call>|```(?:\w+)?\n|\[TOOL_CALLS\]|<\|python_tag\|>)\s*")


class ToolCall(msgspec.Struct, frozen=True):
    """One call.

    Attributes
    ----------
    arguments : dict
        By parameter name; empty where `problem` is set.
    raw : str
        The piece of text that was read as this call.
    problem : str or None
        Why the arguments could not be read.
    """

    name: str
    arguments: dict[str, Any]
    raw: str
    problem: str | None = None


def parse_tool_calls(text: str, tools: Mapping[str, Sequence[str]] | None = None) -> list[ToolCall]:
    """Return the calls in a text in their order; an empty list is an answer without a call.

    Reads JSON objects and lists in prose, in fences and in tags, also with single quotes, Python words, trailing
    commas and unquoted keys; OpenAI's nested shape; `<function=name>{...}`; and Python-like calls `name(key=value)`.
    Nothing is evaluated.

    Parameters
    ----------
    tools : mapping, optional
        Tool name -> parameter names in order, for positional arguments. With it, a JSON object that has a name but
        no arguments counts only if the name is a tool's; Python-like calls in prose count only then, too.

    Examples
    --------
    >>> parse_tool_calls("Sure: {'name': 'add', 'arguments': {'a': 1, 'b': None,}}")[0].arguments
    {'a': 1, 'b': None}
    >>> parse_tool_calls("I call add(1, b='x').", {"add": ["a", "b"]})[0].arguments
    {'a': 1, 'b': 'x'}
    """
    known = dict(tools or {})
    calls: list[ToolCall] = []
    at = 0
    while at < len(text):
        found = _next(text, at, known)
        if found is None:
            break
        new, at = found
        calls.extend(new)
    return calls


def _next(text: str, start: int, tools: dict[str, Sequence[str]]) -> tuple[list[ToolCall], int] | None:
    """Return the calls of the first piece after `start` that holds any, and the position after it."""
    places = sorted([*_json_places(text, start), *_call_places(text, start, tools)])
    for at, kind, name in places:
        try:
            if kind == "json":
                value, end = read_value(text, at)
                calls = list(_calls_in(value, text[at:end], tools))
            elif kind == "tagged":
                value, end = read_value(text, at)
                calls = [_call(name, value, text[at:end])]
            else:
                arguments, end = _python_arguments(text, at, tools.get(name, ()))
                calls = [ToolCall(name, arguments, text[_name_start(text, at, name) : end])]
        except LooseError:
            continue
        if calls:
            return calls, end
    return None


def _json_places(text: str, start: int) -> Iterator[tuple[int, str, str]]:
    for match in _START.finditer(text, start):
        yield match.start(), "json", ""
    for match in _TAGGED.finditer(text, start):
        yield match.end(), "tagged", match[1]


def _call_places(text: str, start: int, tools: dict[str, Sequence[str]]) -> Iterator[tuple[int, str, str]]:
    blocks = {match.end() for match in _BLOCK.finditer(text, start)} | {skip_space(text, 0)}
    blocks |= {skip_space(text, at + 1) for at in blocks if text[at : at + 1] == "["}
    for match in _CALL.finditer(text, start):
        if match[1] in tools or (not tools and match.start() in blocks):
            yield match.end(), "python", match[1]


def _name_start(text: str, at: int, name: str) -> int:
    return text.rfind(name, 0, at)


def _calls_in(value: Any, raw: str, tools: dict[str, Sequence[str]]) -> Iterator[ToolCall]:
    """Yield the calls anywhere inside a value, outermost first."""
    if isinstance(value, list):
        for inner in value:
            yield from _calls_in(inner, raw, tools)
    elif isinstance(value, dict):
        call = _as_call(value, raw, tools)
        if call is not None:
            yield call
        else:
            for inner in value.values():
                yield from _calls_in(inner, raw, tools)


def _as_call(value: dict[str, Any], raw: str, tools: dict[str, Sequence[str]]) -> ToolCall | None:
    function = value.get("function")
    if isinstance(function, dict) and isinstance(function.get("name"), str):
        value = function
    name = next((value[key] for key in _NAME_KEYS if isinstance(value.get(key), str)), None)
    if name is None or not name:
        return None
    key = next((key for key in _ARGUMENT_KEYS if key in value), None)
    if key is None:
        # {"name": "Anna"} is data, unless a tool is called Anna.
        return ToolCall(name, {}, raw) if name in tools else None
    if key == "parameters" and _is_schema(value[key]):
        return None  # models repeat what they were told about a tool
    return _call(name, value[key], raw)


def _is_schema(value: Any) -> bool:
    return isinstance(value, dict) and value.get("type") == "object" and isinstance(value.get("properties"), dict)


def _call(name: str, arguments: Any, raw: str) -> ToolCall:
    if isinstance(arguments, str) and arguments.strip():
        try:
            arguments = read_value(arguments)[0]
        except LooseError:
            return ToolCall(name, {}, raw, "the arguments are a text that is no JSON")
        if not isinstance(arguments, dict):
            return ToolCall(name, {}, raw, "the arguments are no object")
    if arguments is None or arguments == "" or arguments == []:
        arguments = {}
    if not isinstance(arguments, dict):
        return ToolCall(name, {}, raw, "the arguments are no object")
    return ToolCall(name, arguments, raw)


def _python_arguments(text: str, at: int, parameters: Sequence[str]) -> tuple[dict[str, Any], int]:
    """Read `1, b="x")` from after the opening bracket."""
    arguments: dict[str, Any] = {}
    position = 0
    while True:
        at = skip_space(text, at)
        if text[at : at + 1] == ")":
            return arguments, at + 1
        keyword = re.compile(r"([A-Za-z_]\w*)\s*=(?!=)").match(text, at)
        if keyword:
            name, at = keyword[1], keyword.end()
        elif position < len(parameters):
            name = parameters[position]
            position += 1
        else:
            raise LooseError("a positional argument without a name")
        arguments[name], at = read_value(text, at)
        at = skip_space(text, at)
        if text[at : at + 1] == ",":
            at += 1
        elif text[at : at + 1] != ")":
            raise LooseError("neither a comma nor a bracket")
