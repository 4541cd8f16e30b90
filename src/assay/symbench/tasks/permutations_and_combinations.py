"""Permutations and combinations: arrange books on a shelf under constraints."""

import json
from collections.abc import Mapping
from itertools import permutations
from math import comb, factorial
from string import ascii_uppercase
from typing import Any, Self

from pydantic import Field, model_validator

from assay.symbench.drafts import Draft, Parameters
from assay.symbench.drawing import Draws
from assay.symbench.wording import listed, marked, numbered


class PermutationsAndCombinationsConfig(Parameters):
    """How many books and constraints."""

    books: int = Field(ge=3, le=26)
    """Books, named by letters drawn from the alphabet."""
    constraints: int = Field(ge=2, le=60)
    """Different constraints that the order meets."""

    @model_validator(mode="after")
    def _constraints_exist(self) -> Self:
        if self.constraints > self.books * (self.books - 1) // 2:
            raise ValueError(f"constraints {self.constraints}: {self.books} books have fewer pairs")
        return self

    def space(self) -> int:
        """Return the number of orders and choices of constraints."""
        pairs = self.books * (self.books - 1) // 2
        return comb(26, self.books) * factorial(self.books) * comb(pairs, self.constraints)


LEVELS = (
    PermutationsAndCombinationsConfig(books=5, constraints=6),
    PermutationsAndCombinationsConfig(books=6, constraints=8),
    PermutationsAndCombinationsConfig(books=7, constraints=9),
    PermutationsAndCombinationsConfig(books=9, constraints=12),
)


def generate(draws: Draws, config: PermutationsAndCombinationsConfig) -> Draft:
    """Draw an order and true statements about it; most of them compare two books."""
    items = sorted(draws.sample(ascii_uppercase, config.books))
    order = draws.shuffled(items)
    places = {book: place for place, book in enumerate(order, 1)}
    # Every pair in either direction, every book with its place and with the others.
    pairs = list(permutations(items, 2))
    neighbours = [pair for pair in pairs if abs(places[pair[0]] - places[pair[1]]) == 1]
    lines: list[str] = []
    used: set[frozenset[str]] = set()
    while len(lines) < config.constraints:
        kind = draws.below(10)
        first, second = draws.choice(neighbours if kind < 3 else pairs)
        about = frozenset((first, second) if kind < 8 else (first, f"{kind}"))
        if about in used:
            continue
        used.add(about)
        lines.append(_statement(draws, kind, first, second, places, len(items)))
    solution = {"items": items, "constraints_text": numbered(lines), "correct_solution": order}
    return Draft(question=render(solution), solution=solution, reference=json.dumps(order))


def _statement(draws: Draws, kind: int, first: str, second: str, places: Mapping[str, int], count: int) -> str:
    """Return a constraint in the wording that the verifier reads."""
    if kind < 3:
        return f"Book {first} must be adjacent to book {second}."
    if kind < 8:
        side = "left" if places[first] < places[second] else "right"
        return f"Book {first} must be to the {side} of book {second}."
    if kind == 8:
        other = draws.choice([place for place in range(1, count + 1) if place != places[first]])
        return f"Book {first} cannot be placed in position {other}."
    return f"Book {first} must be placed in position {places[first]}."


def render(solution: Mapping[str, Any]) -> str:
    """Return the question about the books."""
    count = len(solution["items"])
    return (
        f"The books {listed(solution['items'])} are to be put on a shelf, one in each of the positions 1 to {count} "
        f"from left to right. The following must hold:\n\n{solution['constraints_text']}\n\n"
        "Find one order that meets everything and give the books from left to right as a JSON list of strings. "
        + marked("the list", '["B", "A", "C"]')
    )
