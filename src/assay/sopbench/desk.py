"""The service desk: carries out an agent's calls and records what came back."""

from collections.abc import Collection
from typing import Any, Protocol

from assay.sopbench.literals import plain, tool_arguments
from assay.sopbench.rows import CallRow, ContentDialect


class Callee(Protocol):
    """A base or a strict system."""

    def call(self, name: str, arguments: dict[str, Any]) -> Any:
        """Call a function by name."""


class Desk:
    """Carries out calls on a system.

    Parameters
    ----------
    offered : collection of str
        Functions that may be called; any other is "not found", which still counts as a call.
    dialect : str
        "tuple" shows a returned pair whole, "unwrapped" its second element.
    """

    def __init__(self, system: Callee, offered: Collection[str], dialect: ContentDialect) -> None:
        self._system = system
        self._offered = frozenset(offered)
        self._dialect = dialect

    def call(self, name: str, arguments: str) -> CallRow:
        """Carry out one call; arguments are JSON text, as the model wrote it."""
        if name not in self._offered:
            return CallRow(name, arguments, f"Error: Tool {name} not found.", outcome="missing")
        try:
            value = self._system.call(name, _read(arguments))
        except Exception as error:  # noqa: BLE001 - the model is shown the type and the message
            return CallRow(name, arguments, f"{type(error).__name__}: {error}", outcome="raised")
        pair = self._dialect == "unwrapped" and isinstance(value, tuple) and len(value) == 2
        return CallRow(name, arguments, str(value[1] if pair else value), outcome="returned", value=plain(value))


def _read(arguments: str) -> dict[str, Any]:
    try:
        value = tool_arguments(arguments)
    except ValueError as error:
        raise ValueError(f"the arguments are not JSON: {error}") from error
    if not isinstance(value, dict):
        raise TypeError("the arguments are not an object")
    return value
