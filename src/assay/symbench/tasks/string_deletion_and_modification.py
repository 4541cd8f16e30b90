"""String deletion and modification: apply rewriting rules in turn until none changes anything."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from pydantic import Field

from assay.symbench.drafts import Draft, Parameters
from assay.symbench.drawing import Draws
from assay.symbench.wording import marked, numbered

ALPHABET = "abc"
MAX_CHANGES = 60


class Rule(msgspec.Struct, frozen=True):
    """One rewriting rule: what it looks for and what it writes instead."""

    kind: str
    found: str
    written: str = ""

    def text(self) -> str:
        """Say the rule in words."""
        return _TEXTS[self.kind].format(found=self.found, written=self.written)

    def apply(self, string: str) -> str:
        """Return the changed string, or the same string where the rule does not apply."""
        if self.kind in ("replace", "delete"):
            return string.replace(self.found, self.written, 1)
        if self.kind in ("suffix", "cut"):
            return string.removesuffix(self.found) + self.written if string.endswith(self.found) else string
        return string.removeprefix(self.found) + self.written if string.startswith(self.found) else string


# Kinds of rules and whether they write something.
_TEXTS = {
    "replace": "If '{found}' occurs in the string, replace its first occurrence by '{written}'.",
    "delete": "If '{found}' occurs in the string, delete its first occurrence.",
    "suffix": "If the string ends in '{found}', replace this ending by '{written}'.",
    "cut": "If the string ends in '{found}', delete this ending.",
    "rotate": "If the string begins with '{found}', delete this beginning and append '{written}' at the end.",
    "behead": "If the string begins with '{found}', delete this beginning.",
}
_WRITING = ("replace", "suffix", "rotate")


class StringDeletionAndModificationConfig(Parameters):
    """Length of the string and number of rules."""

    length: int = Field(ge=5, le=200)
    """Characters of the string."""
    rules: int = Field(ge=2, le=12)
    """Rules that are tried in turn."""
    changes: int = Field(default=3, ge=1, le=MAX_CHANGES)
    """The string changes at least this often."""

    def space(self) -> int:
        """Return the number of strings with the choice of rules."""
        return int(len(ALPHABET) ** self.length * (9 * len(_TEXTS)) ** self.rules)


LEVELS = (
    StringDeletionAndModificationConfig(length=12, rules=4),
    StringDeletionAndModificationConfig(length=18, rules=5, changes=4),
    StringDeletionAndModificationConfig(length=24, rules=6, changes=6),
    StringDeletionAndModificationConfig(length=36, rules=8, changes=9),
)


def generate(draws: Draws, config: StringDeletionAndModificationConfig) -> Draft:
    """Draw rules and a string until the rewriting comes to an end, late enough and with something left."""
    while True:
        rules = [_rule(draws) for _ in range(config.rules)]
        if len({(rule.kind, rule.found) for rule in rules}) < len(rules):
            continue
        string = _word(draws, config.length)
        states = rewrite(string, rules)
        if states is not None and len(states) > config.changes and states[-1]:
            break
    solution = {
        "initial_string": string,
        "selected_rules": [rule.text() for rule in rules],
        "intermediate_states": states,
        "final_string": states[-1],
    }
    return Draft(question=render(solution), solution=solution, reference=f'"{states[-1]}"')


def _word(draws: Draws, length: int) -> str:
    return "".join(draws.choice(ALPHABET) for _ in range(length))


def _rule(draws: Draws) -> Rule:
    kind = draws.choice(tuple(_TEXTS))
    found = _word(draws, draws.integer(2, 3))
    while True:
        written = _word(draws, draws.integer(1, len(found))) if kind in _WRITING else ""
        if written != found:
            return Rule(kind, found, written)


def rewrite(string: str, rules: Sequence[Rule]) -> list[str] | None:
    """Return the string after every change, the first one included, or None if the changes do not seem to end."""
    states = [string]
    while True:
        before = states[-1]
        for rule in rules:
            changed = rule.apply(states[-1])
            if changed != states[-1]:
                states.append(changed)
        if len(states) > MAX_CHANGES:
            return None
        # A round that changes the string and changes it back goes on for ever: every rule must leave it as it is.
        if all(rule.apply(before) == before for rule in rules):
            return states


def render(solution: Mapping[str, Any]) -> str:
    """Return the question about the string."""
    return (
        "A string is rewritten by the following rules:\n\n"
        f"{numbered(solution['selected_rules'])}\n\n"
        "The rules are tried in this order, each one once when its turn comes, always on the string as it is then. "
        "After the last rule it starts again with the first. The end is reached when a whole round of rules changes "
        f'nothing.\n\nThe string is "{solution["initial_string"]}". What is it at the end? '
        + marked("the string in double quotes", '"abc"')
    )
