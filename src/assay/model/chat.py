"""Messages and tools as templates, or as plain text, want them."""

import json
from typing import Any

import msgspec

from assay.canonical import canonical_text
from assay.records.rows import Message

_HOW_TO_CALL = """You can call the functions below. To call one, answer with a block of this form and nothing else:
<tool_call>
{"name": "function_name", "arguments": {"argument": "value"}}
</tool_call>

Functions:
"""


def tools_text(tools: list[dict[str, Any]]) -> str:
    """Return tool schemas as an instruction in plain text."""
    return _HOW_TO_CALL + "\n".join(json.dumps(tool.get("function", tool), ensure_ascii=False) for tool in tools)


def with_tools_as_text(messages: list[Message], tools: list[dict[str, Any]] | None) -> list[Message]:
    """Return messages whose system message describes the tools."""
    if not tools:
        return messages
    text = tools_text(tools)
    if messages and messages[0].role == "system":
        first = msgspec.structs.replace(messages[0], content=f"{messages[0].content or ''}\n\n{text}".strip())
        return [first, *messages[1:]]
    return [Message("system", text), *messages]


def call_text(call: dict[str, Any]) -> str:
    """Return one tool call as the block that models are asked to write."""
    function = call.get("function", call)
    value = {"name": function.get("name"), "arguments": _arguments(function.get("arguments"))}
    return f"<tool_call>\n{canonical_text(value)}\n</tool_call>"


def plain_messages(messages: list[Message], *, native_tools: bool) -> list[dict[str, Any]]:
    """Return messages as templates take them.

    Parameters
    ----------
    native_tools : bool
        Whether the template knows tool calls and results; else they become text of assistant and user.
    """
    plain = []
    for message in messages:
        value: dict[str, Any] = {"role": message.role, "content": message.content or ""}
        if native_tools:
            if message.tool_calls:
                value["tool_calls"] = [_call(call) for call in message.tool_calls]
            if message.tool_call_id is not None:
                value["tool_call_id"] = message.tool_call_id
            if message.name is not None:
                value["name"] = message.name
        else:
            if message.tool_calls:
                value["content"] = "\n".join(filter(None, [message.content, *map(call_text, message.tool_calls)]))
            if message.role == "tool":
                name = f" of {message.name}" if message.name else ""
                value = {"role": "user", "content": f"Result{name}:\n{message.content or ''}"}
        plain.append(value)
    return plain


def merge_system(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return messages with a leading system message put in front of the next one."""
    if len(messages) < 2 or messages[0]["role"] != "system":
        return messages
    head, first, *rest = messages
    return [first | {"content": f"{head['content']}\n\n{first['content']}"}, *rest]


def transcript(messages: list[Message]) -> str:
    """Return messages as plain text that a base model continues."""
    lines = [f"{m['role'].capitalize()}: {m['content']}" for m in plain_messages(messages, native_tools=False)]
    return "\n\n".join([*lines, "Assistant:"])


def _call(call: dict[str, Any]) -> dict[str, Any]:
    # Templates write arguments as JSON themselves; a JSON text would be quoted twice.
    function = call.get("function", call)
    return call | {
        "function": dict(function) | {"arguments": _arguments(function.get("arguments"))},
        "type": "function",
    }


def _arguments(value: object) -> object:
    if isinstance(value, str):
        try:
            found = json.loads(value)
            canonical_text(found).encode()  # NaN, which Python reads, and half characters cannot be written
        except (ValueError, RecursionError):
            return value
        return found
    return {} if value is None else value
