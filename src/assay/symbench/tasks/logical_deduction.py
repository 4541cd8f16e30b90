"""Logical deduction: the order of seven objects from clues (BIG-Bench Hard kind)."""

from collections.abc import Mapping
from functools import cache
from itertools import permutations
from math import factorial, perm
from typing import Any

import msgspec
from pydantic import Field

from assay.symbench.drafts import Draft, Parameters
from assay.symbench.drawing import Draws
from assay.symbench.wording import listed, marked

LETTERS = "ABCDEFG"
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh")


class Setting(msgspec.Struct, frozen=True):
    """A scene, the things that it orders, and how its clues are worded."""

    opening: str
    things: tuple[str, ...]
    before: str
    after: str
    at: str


def _the(names: str) -> tuple[str, ...]:
    return tuple(f"the {name}" for name in names.split())


_RUNNERS = (
    "Amir Berit Cosimo Dunja Eskil Fatou Gesa Hakon Ilona Jarek Katya Luca Mirela Nandi Orhan Pilar Quentin Rania"
)
SETTINGS = (
    Setting(
        "Seven books stand on a shelf, counted from the left",
        _the(
            "atlas novel diary cookbook dictionary songbook comic manual biography thriller almanac encyclopedia "
            "grammar catalogue scrapbook memoir anthology guidebook"
        ),
        "{} stands somewhere to the left of {}",
        "{} stands somewhere to the right of {}",
        "{} is the {} book from the left",
    ),
    Setting(
        "Seven runners finished a race, no two at the same time",
        tuple(_RUNNERS.split()),
        "{} finished before {}",
        "{} finished after {}",
        "{} came in {}",
    ),
    Setting(
        "Seven buildings are of different age, ordered from the oldest",
        _the(
            "inn mill school chapel bakery forge barn library theatre market tower brewery hospital warehouse stable "
            "station bathhouse courthouse"
        ),
        "{} is older than {}",
        "{} is newer than {}",
        "{} takes the {} place in the order of age",
    ),
    Setting(
        "Seven fruits lie on a stall, each at another price, ordered from the cheapest",
        _the(
            "figs plums pears quinces melons cherries grapes apricots lemons dates oranges peaches mangoes papayas "
            "apples limes kiwis nectarines"
        ),
        "{} cost less than {}",
        "{} cost more than {}",
        "{} take the {} place in the order of prices",
    ),
)


class LogicalDeductionConfig(Parameters):
    """How much single clues say."""

    objects: int = Field(default=7, ge=3, le=7)
    """Objects to order."""
    absolute: int = Field(ge=0, le=6)
    """Clues that name a place; the others compare two objects."""

    def space(self) -> int:
        """Return the number of orders of objects drawn from the settings."""
        return len(SETTINGS) * perm(len(SETTINGS[0].things), self.objects) * factorial(self.objects)


LEVELS = (
    LogicalDeductionConfig(absolute=3),
    LogicalDeductionConfig(absolute=2),
    LogicalDeductionConfig(absolute=1),
    LogicalDeductionConfig(absolute=0),
)

Clue = tuple[str, int, int]  # ("at", object, place) or ("before" | "after", object, other object)


def generate(draws: Draws, config: LogicalDeductionConfig) -> Draft:
    """Add true clues until exactly one order is left, then drop clues that are not needed."""
    setting = draws.choice(SETTINGS)
    opening = setting.opening if config.objects == 7 else setting.opening.replace("Seven", str(config.objects), 1)
    things = draws.sample(setting.things, config.objects)
    places = draws.shuffled(range(config.objects))
    texts = [_text(setting, clue, things) for clue in draws.shuffled(_clues(draws, places, config.absolute))]
    asked = draws.below(config.objects)
    options = [
        f"({letter}) {_capital(_place(setting, thing, asked))}" for letter, thing in zip(LETTERS, things, strict=False)
    ]
    solution = {
        "input": (
            f"{opening}: {listed(things)}. {' '.join(f'{_capital(text)}.' for text in texts)}\n"
            "Which statement is true?\nOptions:\n" + "\n".join(options)
        ),
        "target": f"({LETTERS[places.index(asked)]})",
    }
    return Draft(question=render(solution), solution=solution, reference=solution["target"])


def _clues(draws: Draws, places: list[int], absolute: int) -> list[Clue]:
    """Return clues that only the given order fulfils, each of them needed."""
    count = len(places)
    pairs = [(a, b) for a in range(count) for b in range(count) if places[a] < places[b]]
    fixed: list[Clue] = [("at", thing, places[thing]) for thing in draws.sample(range(count), absolute)]
    compared: list[Clue] = [
        ("before", a, b) if draws.chance(1, 2) else ("after", b, a) for a, b in draws.shuffled(pairs)
    ]
    used: list[Clue] = []
    left = everything = (1 << factorial(count)) - 1
    for clue in fixed + compared:
        kept = left & orders_with(clue, count)
        if kept != left:
            used.append(clue)
            left = kept
    # Comparisons are tried for removal first, so that clues that name a place are kept.
    for clue in sorted(used, key=lambda clue: clue[0] == "at"):
        left = everything
        for other in used:
            left &= orders_with(other, count) if other != clue else everything
        if left.bit_count() == 1:
            used.remove(clue)
    return used


@cache
def orders_with(clue: Clue, count: int) -> int:
    """Return the orders that fulfil a clue, as bits in the order of `itertools.permutations`."""
    kind, a, b = clue
    bits = 0
    for index, order in enumerate(permutations(range(count))):
        fits = order[a] == b if kind == "at" else order[a] < order[b] if kind == "before" else order[a] > order[b]
        bits |= fits << index
    return bits


def _text(setting: Setting, clue: Clue, things: list[str]) -> str:
    kind, a, b = clue
    if kind == "at":
        return _place(setting, things[a], b)
    return (setting.before if kind == "before" else setting.after).format(things[a], things[b])


def _place(setting: Setting, thing: str, place: int) -> str:
    return setting.at.format(thing, ORDINALS[place])


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def render(solution: Mapping[str, Any]) -> str:
    """Return the question with the request for the marker."""
    return f"{solution['input']}\n\n" + marked("the letter of the true statement in brackets", "(X)")
