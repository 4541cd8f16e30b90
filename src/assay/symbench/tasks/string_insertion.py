"""String insertion: insert a character after certain substrings."""

from collections.abc import Mapping, Sequence
from math import comb
from typing import Any

from pydantic import Field

from assay.symbench.drafts import Draft, Parameters
from assay.symbench.drawing import Draws
from assay.symbench.wording import listed, marked, numbered

ALPHABET = "ABCDE"


class StringInsertionConfig(Parameters):
    """Length of the string and number of rules."""

    length: int = Field(ge=8, le=200)
    """Characters of the given string."""
    rules: int = Field(ge=2, le=20)
    """Substrings after which something is inserted."""
    width: int = Field(default=4, ge=2, le=4)
    """Characters of each substring."""

    def space(self) -> int:
        """Return the number of strings, with the choice of rules."""
        return int(len(ALPHABET) ** self.length * comb(len(ALPHABET) ** self.width, self.rules))


LEVELS = (
    StringInsertionConfig(length=15, rules=3),
    StringInsertionConfig(length=20, rules=5),
    StringInsertionConfig(length=30, rules=5, width=3),
    StringInsertionConfig(length=45, rules=7, width=3),
)


def generate(draws: Draws, config: StringInsertionConfig) -> Draft:
    """Draw rules and build a string in which many of their substrings occur."""
    while True:
        patterns = [_word(draws, config.width) for _ in range(config.rules)]
        if len(set(patterns)) < len(patterns):
            continue
        rules = [(pattern, draws.choice(ALPHABET)) for pattern in patterns]
        text = ""
        while len(text) < config.length:
            text += draws.choice(patterns) if draws.chance(1, 3) else draws.choice(ALPHABET)
        text = text[: config.length]
        result = insert(text, rules)
        if len(result) >= len(text) + 2:
            break
    solution = {"original_string": text, "rules": [list(rule) for rule in rules], "modified_string": result}
    return Draft(question=render(solution), solution=solution, reference=result)


def _word(draws: Draws, length: int) -> str:
    return "".join(draws.choice(ALPHABET) for _ in range(length))


def insert(text: str, rules: Sequence[Sequence[str]]) -> str:
    """Scan the original string from left to right and insert after every occurrence in it."""
    result = []
    for end in range(1, len(text) + 1):
        result.append(text[end - 1])
        result += [added for pattern, added in rules if text[max(0, end - len(pattern)) : end] == pattern]
    return "".join(result)


def render(solution: Mapping[str, Any]) -> str:
    """Return the question about the string."""
    lines = [f"after every {pattern} insert the character {added}" for pattern, added in solution["rules"]]
    return (
        f"A string of the characters {listed(list(ALPHABET))} is changed by the following insertions:\n\n"
        f"{numbered(lines)}\n\n"
        "All insertions are made in one pass from left to right. Occurrences are looked up in the original string, "
        "where they may overlap; inserted characters create no new ones.\n\n"
        f"The original string is {solution['original_string']}. What is the string after the pass? "
        + marked("the string", "ABCDAE")
    )
