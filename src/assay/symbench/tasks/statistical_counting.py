"""Statistical counting: score runs of equal letters."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from string import ascii_uppercase
from typing import Any

from pydantic import Field

from assay.symbench.drafts import Draft, Parameters
from assay.symbench.drawing import Draws
from assay.symbench.wording import counted, marked, numbered


class StatisticalCountingConfig(Parameters):
    """Length of the string and number of letters."""

    letters: int = Field(ge=2, le=8)
    """Different letters, from A on; each has a rule."""
    length: int = Field(ge=5, le=400)
    """Characters of the string."""
    longest_run: int = Field(default=2, ge=2, le=5)
    """Largest number of equal letters that a rule asks for; the smallest is 2."""

    def space(self) -> int:
        """Return the number of strings."""
        return int(self.letters**self.length)


LEVELS = (
    StatisticalCountingConfig(letters=2, length=20),
    StatisticalCountingConfig(letters=3, length=32),
    StatisticalCountingConfig(letters=3, length=50, longest_run=3),
    StatisticalCountingConfig(letters=4, length=80, longest_run=3),
)


def generate(draws: Draws, config: StatisticalCountingConfig) -> Draft:
    """Draw rules and a string whose letters often repeat."""
    letters = ascii_uppercase[: config.letters]
    rules = [
        {"letter": letter, "min_consecutive": draws.integer(2, config.longest_run), "score": draws.integer(1, 9)}
        for letter in letters
    ]
    text = draws.choice(letters)
    while len(text) < config.length:
        text += text[-1] if draws.chance(1, 4) else draws.choice(letters)
    solution = {"sequence": text, "rules": rules, "solution": score(text, rules)}
    return Draft(question=render(solution), solution=solution, reference=str(solution["solution"]))


def score(text: str, rules: Sequence[Mapping[str, Any]]) -> int:
    """Add the score of every maximal run that is long enough."""
    by_letter = {rule["letter"]: rule for rule in rules}
    total = 0
    for letter, run in groupby(text):
        rule = by_letter.get(letter)
        if rule is not None and len(list(run)) >= rule["min_consecutive"]:
            total += rule["score"]
    return total


def render(solution: Mapping[str, Any]) -> str:
    """Return the question about the string."""
    rules = [
        f"a run of {rule['min_consecutive']} or more letters {rule['letter']} gives {counted(rule['score'], 'point')}"
        for rule in solution["rules"]
    ]
    return (
        "A run is a group of equal letters side by side that cannot be extended to either side. The runs of a string "
        f"are scored as follows, each run once however long it is, and other runs give nothing:\n\n{numbered(rules)}"
        f"\n\nHow many points does {solution['sequence']} get in total? " + marked("the number", "12")
    )
