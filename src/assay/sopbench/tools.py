"""Tool descriptions, written down briefly: JSON Schemas for the parameters of a domain's functions."""

import re
from collections.abc import Mapping
from typing import Any

from assay.sopbench.domain import Tool, Toolbox

Schema = dict[str, Any]
_SIGNATURE = re.compile(r"(?P<name>\w+)\((?P<parameters>[^()]*)\)")


def string(description: str, *, of: tuple[str, ...] = ()) -> Schema:
    """Return the schema of a text, or of one of the texts `of`."""
    return {"type": "string", "description": description} | ({"enum": list(of)} if of else {})


def number(description: str) -> Schema:
    """Return the schema of a number."""
    return {"type": "number", "description": description}


def integer(description: str) -> Schema:
    """Return the schema of a whole number."""
    return {"type": "integer", "description": description}


def boolean(description: str) -> Schema:
    """Return the schema of a truth value."""
    return {"type": "boolean", "description": description}


def array(items: Schema, description: str) -> Schema:
    """Return the schema of a list."""
    return {"type": "array", "items": items, "description": description}


def record(description: str, /, **fields: Schema) -> Schema:
    """Return the schema of an object that has exactly these fields."""
    return {
        "type": "object",
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
        "description": description,
    }


def either(description: str, *choices: Schema) -> Schema:
    """Return the schema of a value in one of several forms."""
    return {"anyOf": list(choices), "description": description}


def identity(description: str) -> Schema:
    """Return the schema of a proof of identity: a password, or a driver's licence."""
    licence = record(
        "The driver's licence.",
        drivers_license_id=string("Number of the licence."),
        drivers_license_state=string("State that issued it."),
    )
    return either(description, string("The password."), licence)


def toolbox(
    parameters: Mapping[str, Schema],
    functions: Mapping[str, str],
    *,
    hidden: tuple[str, ...] = (),
    unpublished: tuple[str, ...] = (),
) -> Toolbox:
    """Return the tools of a domain, in their order.

    Parameters
    ----------
    parameters : mapping
        Name -> schema; functions with a parameter of one name share its schema.
    functions : mapping
        Signature -> description. In a signature ``name?`` is a parameter that may be left out, ``name=other`` one
        with the schema listed as ``other``, and ``...`` at the end allows other arguments, too.
    hidden, unpublished : tuple of str
        As in `Toolbox`.

    Raises
    ------
    ValueError
        If a signature cannot be read, or names a parameter that is not listed.

    Examples
    --------
    >>> made = toolbox({"user": string("Who."), "sum": number("How much.")}, {"pay(user, sum?)": "Pay."})
    >>> made.tools[0].parameters["required"]
    ['user']
    """
    return Toolbox(tuple(_tool(text, what, parameters) for text, what in functions.items()), hidden, unpublished)


def _tool(signature: str, description: str, parameters: Mapping[str, Schema]) -> Tool:
    matched = _SIGNATURE.fullmatch(signature)
    if matched is None:
        raise ValueError(f"{signature!r} is no signature, such as 'pay(user, sum?)'")
    words = [word.strip() for word in matched["parameters"].split(",") if word.strip()]
    open_ended = words[-1:] == ["..."]
    properties, required = {}, []
    for word in words[: len(words) - open_ended]:
        name, _, listed = word.removesuffix("?").partition("=")
        if (listed or name) not in parameters:
            raise ValueError(f"{signature!r} names the parameter {listed or name!r}, which is not listed")
        properties[name] = parameters[listed or name]
        required += [] if word.endswith("?") else [name]
    schema = {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": open_ended,
    }
    return Tool(matched["name"], description, schema)
