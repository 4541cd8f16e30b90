"""Rules in words: one clause per check, layouts for groups, names of parameters and thresholds filled in."""

from collections.abc import Mapping
from typing import Any

from assay.sopbench.domain import Texts
from assay.sopbench.expressions import Expression, Group, Single

HEADERS = {
    "and": "ALL of these must hold:",
    "or": "ANY ONE of these must hold:",
    "chain": "These must hold IN THIS ORDER:",
    "gate": "ANY ONE of these must hold, looked at IN THIS ORDER:",
}
LAYOUT = (
    "How rules are written: under ALL, every line must hold; under ANY ONE, a single line is enough. Numbered lines "
    "are checked in their order; lines with a dash may be checked in any order. Words in quotation marks are the names "
    "of arguments."
)
NO_RULE = "no condition"
_INDENT = "  "


class _Limits(dict[str, Any]):
    """Thresholds as they are read in a sentence; one that a task lacks is named."""

    def __missing__(self, name: str) -> str:
        return f"the limit {name}"

    def __getitem__(self, name: str) -> Any:
        value = super().__getitem__(name) if name in self else self.__missing__(name)
        return ", ".join(map(str, value)) if isinstance(value, list) else value


def clause(single: Single, texts: Texts, limits: Mapping[str, Any]) -> str:
    """Return one check as a clause: "the user named by "username" is logged in"."""
    text = texts.conditions.get(single.name)
    names = {parameter: f'"{variable}"' for parameter, variable in single.bindings}
    if text is None:
        positive, negative = f"{single.name}({', '.join(names.values())}) is true", None
    elif isinstance(text, str):
        positive, negative = text, None
    else:
        positive, negative = text
    chosen = positive if not single.negated else negative or f"it is not so that {positive}"
    return chosen if text is None else chosen.format(limits=_Limits(limits), **names)


def rule_text(expression: Expression | None, texts: Texts, limits: Mapping[str, Any]) -> str:
    """Return a rule as indented lines; a rule of one check is one line, no rule says so."""
    if expression is None:
        return NO_RULE
    return "\n".join(_lines(expression, texts, limits))


def _lines(expression: Expression, texts: Texts, limits: Mapping[str, Any]) -> list[str]:
    if isinstance(expression, Single):
        return [clause(expression, texts, limits)]
    lines = [HEADERS[expression.kind]]
    for number, child in enumerate(expression.children, 1):
        mark = f"{number}. " if _ordered(expression) else "- "
        first, *rest = _lines(child, texts, limits)
        lines.append(_INDENT + mark + first)
        lines.extend(_INDENT + " " * len(mark) + line for line in rest)
    return lines


def _ordered(group: Group) -> bool:
    return group.kind in ("chain", "gate")
