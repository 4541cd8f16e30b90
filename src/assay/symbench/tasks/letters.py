"""Letters: count a letter in a word and list its positions."""

from collections.abc import Mapping
from math import comb
from string import ascii_lowercase
from typing import Any, Self

from pydantic import Field, model_validator

from assay.symbench.drafts import Draft, Parameters
from assay.symbench.drawing import Draws
from assay.symbench.wording import marked


class LettersConfig(Parameters):
    """Length of the word and how often the letter occurs."""

    min_length: int = Field(ge=5, le=200)
    """Fewest letters of the word."""
    max_length: int = Field(ge=5, le=200)
    """Most letters of the word."""
    min_count: int = Field(ge=1, le=50)
    """Fewest occurrences of the letter."""
    max_count: int = Field(ge=1, le=50)
    """Most occurrences of the letter; fewer than the word has letters."""

    @model_validator(mode="after")
    def _ranges_are_ordered(self) -> Self:
        if not self.min_length <= self.max_length or not self.min_count <= self.max_count < self.min_length:
            raise ValueError("expected min_length <= max_length and min_count <= max_count < min_length")
        return self

    def space(self) -> int:
        """Return the number of words with the fewest letters and occurrences."""
        return int(26 * comb(self.min_length, self.min_count) * 25 ** (self.min_length - self.min_count))


LEVELS = (
    LettersConfig(min_length=10, max_length=15, min_count=1, max_count=3),
    LettersConfig(min_length=15, max_length=20, min_count=2, max_count=4),
    LettersConfig(min_length=20, max_length=25, min_count=3, max_count=6),
    LettersConfig(min_length=30, max_length=45, min_count=4, max_count=9),
)


def generate(draws: Draws, config: LettersConfig) -> Draft:
    """Place the letter at random positions and fill the others with different letters."""
    letter = draws.choice(ascii_lowercase)
    length = draws.integer(config.min_length, config.max_length)
    count = draws.integer(config.min_count, config.max_count)
    positions = sorted(draws.sample(range(1, length + 1), count))
    others = ascii_lowercase.replace(letter, "")
    word = "".join(letter if index in positions else draws.choice(others) for index in range(1, length + 1))
    solution = {"word": word, "letter": letter, "count": count, "positions": positions}
    return Draft(question=render(solution), solution=solution, reference=f"Count: {count}, Positions: {positions}")


def render(solution: Mapping[str, Any]) -> str:
    """Return the question about the word."""
    return (
        f"Take the character sequence '{solution['word']}'. How many times does the letter '{solution['letter']}' "
        "occur in it, and at which places? The first character has position 1.\n\n"
        "Use exactly the form Count: X, Positions: [Y, Z, ...]. " + marked("it", "Count: 2, Positions: [1, 3]")
    )
