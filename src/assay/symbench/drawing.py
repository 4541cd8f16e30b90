"""Random draws whose results no Python version may change.

Of the standard generator only the sequence of `random()` for a seed is promised to stay the same; `shuffle`,
`sample` and `choice` have changed before. Everything here is built on `random()` alone.
"""

import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")

MAX_BELOW = 2**53
# Generators draw again until an item fits. No default level needs a hundredth of this for one item.
MAX_DRAWS = 200_000


class ExhaustedError(ValueError):
    """So much was drawn for one item that its parameters seem to allow none."""


class Draws:
    """A stream of draws that depends on its seed and on nothing else.

    Examples
    --------
    >>> [Draws(7).below(10) for _ in range(3)]
    [3, 3, 3]
    >>> sorted(Draws(1).shuffled("abc"))
    ['a', 'b', 'c']
    """

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._left = MAX_DRAWS

    def below(self, limit: int) -> int:
        """Return an integer in [0, limit); 1 <= limit <= 2**53.

        Raises
        ------
        ExhaustedError
            After `MAX_DRAWS` draws, so that no loop of a generator is endless.
        """
        if not 1 <= limit <= MAX_BELOW:
            raise ValueError(f"cannot draw below {limit}")
        self._left -= 1
        if self._left < 0:
            raise ExhaustedError(f"no item after {MAX_DRAWS} draws")
        return int(self._random.random() * limit)

    def integer(self, low: int, high: int) -> int:
        """Return an integer in [low, high]."""
        return low + self.below(high - low + 1)

    def choice(self, items: Sequence[T]) -> T:
        """Return one of the items."""
        return items[self.below(len(items))]

    def chance(self, numerator: int, denominator: int) -> bool:
        """Return True in `numerator` of `denominator` cases."""
        return self.below(denominator) < numerator

    def sample(self, items: Sequence[T], count: int) -> list[T]:
        """Return `count` items of different positions, in random order."""
        pool = list(items)
        if count > len(pool):
            raise ValueError(f"cannot draw {count} of {len(pool)} items")
        for index in range(count):
            other = index + self.below(len(pool) - index)
            pool[index], pool[other] = pool[other], pool[index]
        return pool[:count]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """Return the items in random order."""
        return self.sample(items, len(items))
