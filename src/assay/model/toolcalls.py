"""Finds the tool calls in what a model wrote, however it wrote them. The text itself is always kept by the caller."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from assay.model.loose import LooseError, read_value, skip_space

_NAME_KEYS = ("name", "function", "function_name", "tool", "tool_name", "action")
_ARGUMENT_KEYS = ("arguments", "parameters", "args", "kwargs", "action_input", "tool_input", "input")
_CALL = re.compile(r"(?<!\bdef )(?<![\w.])(?:[A-Za-z_]\w*\.)*([A-Za-z_]\w*)\s*\(")
_TAGGED = re.compile(r"<function=([\w.-]+)>")
# Calls in a list are found one by one.
_START = re.compile(r"{")
_THOUGHTS = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL)
_THOUGHTS_END = re.compile(r"</think(?:ing)?>")
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
    Nothing is evaluated. What a model thinks (`<think>`, also without its end, or with nothing but its end where the
    template has begun it) is passed over: a call that it weighs there is not made.

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
    thoughts = list(_thoughts(text))
    done = 0
    for at, kind, name, start in sorted([*_json_places(text), *_call_places(text, known)]):
        while thoughts and thoughts[0][1] <= start:
            thoughts.pop(0)
        if start < done or (thoughts and thoughts[0][0] <= start):
            continue  # inside a piece that was read, or inside a thought
        try:
            new, end = _read(text, at, kind, name, known)
        except LooseError:
            continue
        if new:
            calls.extend(new)
            done = end
    return calls


def without_thoughts(text: str) -> str:
    """Return a text without what the model thinks in it.

    Examples
    --------
    >>> without_thoughts("<think>Paris? Yes.</think>Paris")
    'Paris'
    """
    kept, done = [], 0
    for start, end in _thoughts(text):
        kept.append(text[done:start])
        done = max(done, end)
    return "".join([*kept, text[done:]])


def _thoughts(text: str) -> Iterator[tuple[int, int]]:
    """Yield where thoughts begin and end."""
    end, first = _THOUGHTS_END.search(text), _THOUGHTS.search(text)
    if end is not None and (first is None or end.start() < first.start()):
        yield 0, end.end()
    for match in _THOUGHTS.finditer(text):
        yield match.span()


def _read(text: str, at: int, kind: str, name: str, tools: dict[str, Sequence[str]]) -> tuple[list[ToolCall], int]:
    """Return the calls in the piece that begins at a place, and the position after it."""
    if kind == "python":
        arguments, end = _python_arguments(text, at, tools.get(name, ()))
        return [ToolCall(name, arguments, text[_name_start(text, at, name) : end])], end
    value, end = read_value(text, at)
    if kind == "tagged":
        return [_call(name, value, text[at:end])], end
    return list(_calls_in(value, text[at:end], tools)), end


# Places are (where the value begins, kind, name, where the whole piece begins).
def _json_places(text: str) -> Iterator[tuple[int, str, str, int]]:
    for match in _START.finditer(text):
        yield match.start(), "json", "", match.start()
    for match in _TAGGED.finditer(text):
        yield match.end(), "tagged", match[1], match.start()


def _call_places(text: str, tools: dict[str, Sequence[str]]) -> Iterator[tuple[int, str, str, int]]:
    blocks = {match.end() for match in _BLOCK.finditer(text)} | {skip_space(text, 0)}
    blocks |= {skip_space(text, at + 1) for at in blocks if text[at : at + 1] == "["}
    for match in _CALL.finditer(text):
        if match[1] in tools or (not tools and match.start() in blocks):
            yield match.end(), "python", match[1], match.start()


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
            value, end = read_value(arguments)
        except LooseError:
            end = -1
        if end < 0 or arguments[end:].strip():
            return ToolCall(name, {}, raw, "the arguments are a text that is no JSON")
        arguments = value
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
        elif position == len(arguments) and position < len(parameters):
            name = parameters[position]
            position += 1
        else:
            raise LooseError("a positional argument without a name, or after a named one")
        if name in arguments:
            raise LooseError("an argument given twice")
        arguments[name], at = read_value(text, at)
        at = skip_space(text, at)
        if text[at : at + 1] == ",":
            at += 1
        elif text[at : at + 1] != ")":
            raise LooseError("neither a comma nor a bracket")
