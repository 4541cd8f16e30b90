"""Web of lies: follow a chain of statements about who tells the truth (BIG-Bench Hard kind)."""

from collections.abc import Mapping
from math import perm
from typing import Any

from pydantic import Field

from assay.symbench.drafts import Draft, Parameters
from assay.symbench.drawing import Draws
from assay.symbench.wording import marked

_NAMES = (
    "Abril Agnes Alvaro Amina Anouk Bao Bela Bruno Carmen Chidi Clara Dalia Davit Deniz Dora Edith Elif Emil Enzo Esra "
    "Farid Fiona Frida Gabor Gita Goran Hana Heidi Hugo Ibrahim Ines Ivar Jana Jonas Julia Kai Karin Kofi Lars Leila "
    "Lucia Magda Marek Mei Milan Nadia Nils Noor Olga Omar Otto Paula Petra Priya Rafael Rosa Ruben Sanna Selim Sofia "
    "Tamar Tariq Tilda Ugo Ulla Vera Viktor Wanda Yara Yusuf Zeno Zoe"
)
NAMES = _NAMES.split()


class WebOfLiesConfig(Parameters):
    """Length of the chain."""

    people: int = Field(ge=2, le=60)
    """People, the first of whom is known."""

    def space(self) -> int:
        """Return the number of chains: names in order and a truth value each."""
        return perm(len(NAMES), self.people) << self.people


LEVELS = (
    WebOfLiesConfig(people=5),
    WebOfLiesConfig(people=7),
    WebOfLiesConfig(people=10),
    WebOfLiesConfig(people=15),
)


def generate(draws: Draws, config: WebOfLiesConfig) -> Draft:
    """Decide who tells the truth, then let each speak about the one before."""
    names = draws.sample(NAMES, config.people)
    truthful = [draws.chance(1, 2) for _ in names]
    sentences = [f"{names[0]} {_verdict(truthful[0])}."]
    for index in range(1, len(names)):
        # A truthful speaker reports what the one before is; a liar reports the opposite.
        claim = truthful[index - 1] if truthful[index] else not truthful[index - 1]
        sentences.append(f"{names[index]} says that {names[index - 1]} {_verdict(claim)}.")
    solution = {
        "input": f"Question: {' '.join(sentences)} Does {names[-1]} tell the truth?",
        "target": "Yes" if truthful[-1] else "No",
    }
    return Draft(question=render(solution), solution=solution, reference=solution["target"])


def _verdict(truthful: bool) -> str:
    return "tells the truth" if truthful else "lies"


def render(solution: Mapping[str, Any]) -> str:
    """Return the question with the request for the marker."""
    return f"{solution['input']}\n\n" + marked("Yes or No", "answer")
