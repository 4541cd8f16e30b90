"""How a mode of tool calling writes a conversation for the model, and reads what the model wrote."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from assay.model.toolcalls import parse_tool_calls, without_thoughts
from assay.records.rows import Message
from assay.sopbench.conversation import Request

Mode = Literal["fc", "react", "act-only"]

_ACTION = re.compile(r"^[ \t*]*Action[ \t*]*:[ \t*]*(.+?)[ \t*]*$", re.MULTILINE)
_INPUT = re.compile(r"^[ \t*]*Action Input[ \t*]*:[ \t*]*(.*)", re.MULTILINE | re.DOTALL)
# What a model writes on its own after its first call; no JSON text holds a line that begins so.
_END = re.compile(r"\n[ \t*]*(?:End Action|(?:Observation|Thought|Action)[ \t*]*:).*", re.DOTALL)
STOP = ("End Action", "Observation:")


def read_request(mode: Mode, text: str, tools: Sequence[dict[str, Any]]) -> Request | None:
    """Return the first call in what a model wrote, or None for an answer without a call.

    Only the first of several calls is taken, as in the published runs (parallel calls are off). Arguments that cannot
    be read are handed on as text: the desk answers them with an error, which counts. What a model weighs in its
    thoughts is no call.
    """
    if mode == "fc":
        return _first_call(text, tools)
    text = without_thoughts(text)
    action, given = _ACTION.search(text), _INPUT.search(text)
    if action is None or given is None:
        return None
    return Request(action[1].strip("`\"' "), _unfenced(_END.sub("", "\n" + given[1])))


def _first_call(text: str, tools: Sequence[dict[str, Any]]) -> Request | None:
    names: Mapping[str, list[str]] = {
        tool["function"]["name"]: list(tool["function"]["parameters"]["properties"]) for tool in tools
    }
    calls = parse_tool_calls(text, names)
    if not calls:
        return None
    call = calls[0]
    return Request(call.name, json.dumps(call.raw if call.problem else call.arguments, ensure_ascii=False))


def _unfenced(text: str) -> str:
    """Return the JSON object without a code fence around it; "N/A" and "None" are no arguments."""
    bare = text.strip()
    if bare.startswith("```"):
        bare = bare.strip("`").removeprefix("json").strip()
    return "{}" if bare.lower() in ("", "n/a", "none") else bare


def written(mode: Mode, messages: Sequence[Message]) -> list[Message]:
    """Return the messages as the mode shows them to the model.

    Native function calling takes them as they are. Otherwise calls stand in the assistant's text, results come back
    as user messages that hold the call and the observation, and consecutive user messages are merged.
    """
    if mode == "fc":
        return list(messages)
    shown: list[Message] = []
    request: dict[str, Any] | None = None
    for message in messages:
        if message.tool_calls:
            request = message.tool_calls[0]["function"]
        if message.role == "tool" and request is not None:
            text = f"Call: {request['name']} with {request['arguments']}\nObservation: {message.content or ''}"
            _append(shown, Message("user", text))
        else:
            _append(shown, Message(message.role, message.content))
    return shown


def _append(shown: list[Message], message: Message) -> None:
    if shown and shown[-1].role == message.role == "user":
        shown[-1] = Message("user", f"{shown[-1].content}\n\n{message.content}")
    else:
        shown.append(message)
