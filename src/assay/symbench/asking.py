"""Small pieces of prompts that single-turn and multi-turn methods share."""

import re

from assay.records.rows import Message

_FIELD = re.compile(r"\{([a-z_]+)\}")

# An empty system message, as the authors send: without one, many chat templates put in their own.
NO_SYSTEM = Message("system", "")


def instructed(instruction: str, question: str) -> str:
    """Return a question with an instruction in front."""
    return f"{instruction}\n\n{question}" if instruction else question


def fill(template: str, **values: str) -> str:
    """Put values in the places of a template, in one pass: braces inside a value stay as they are.

    Examples
    --------
    >>> fill("{question} = ?", question="{1, 2} | {x}")
    '{1, 2} | {x} = ?'
    """
    return _FIELD.sub(lambda found: values[found[1]], template)
