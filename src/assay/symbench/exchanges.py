"""Exchange methods that are tried in turn: goods taken, goods given, until none works."""

from collections.abc import Mapping, Sequence

import msgspec

from assay.symbench.wording import counted, listed

Stock = dict[str, int]


class Method(msgspec.Struct, frozen=True):
    """One exchange: how many units of what it takes and gives, as (name, number) pairs."""

    takes: tuple[tuple[str, int], ...]
    gives: tuple[tuple[str, int], ...]

    def text(self) -> str:
        """Say the exchange in words."""
        sides = [[f"{counted(number, 'unit')} of {name}" for name, number in side] for side in (self.takes, self.gives)]
        return f"exchange {listed(sides[0])} for {listed(sides[1])}"

    def total(self) -> int:
        """Return by how many units the stock grows."""
        return sum(number for _, number in self.gives) - sum(number for _, number in self.takes)


def cycle(stock: Mapping[str, int], methods: Sequence[Method]) -> tuple[Stock, list[Stock]]:
    """Try each method once in its turn, again and again, until a whole round changes nothing.

    Returns
    -------
    tuple
        The last stock, and the stock after every successful exchange.
    """
    now, history = dict(stock), []
    changed = True
    while changed:
        changed = False
        for method in methods:
            if all(now[name] >= number for name, number in method.takes):
                for name, number in method.takes:
                    now[name] -= number
                for name, number in method.gives:
                    now[name] += number
                history.append(dict(now))
                changed = True
    return now, history


ROUNDS = (
    "The methods are tried in this order, each one at most once when its turn comes; a method that lacks something is "
    "skipped. After the last method it starts again with the first. Everything ends when a whole round of methods "
    "changes nothing."
)
