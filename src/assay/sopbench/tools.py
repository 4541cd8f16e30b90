"""Tool descriptions, written down briefly: JSON Schemas for the parameters of a domain's functions."""

from typing import Any

from assay.sopbench.domain import Tool

Schema = dict[str, Any]


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


def tool(
    name: str, description: str, /, *, optional: tuple[str, ...] = (), open_ended: bool = False, **parameters: Schema
) -> Tool:
    """Return a tool.

    Parameters
    ----------
    optional : tuple of str
        Parameters that may be left out.
    open_ended : bool
        Whether other arguments are allowed, too.
    """
    schema = {
        "type": "object",
        "properties": parameters,
        "required": [parameter for parameter in parameters if parameter not in optional],
        "additionalProperties": open_ended,
    }
    return Tool(name, description, schema)
