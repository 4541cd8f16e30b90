"""What a model scores that answers every query by a fair coin between two answers.

The expectation is exact: binomial counts of every family are enumerated, nothing is drawn.
"""

import itertools
from collections import Counter
from collections.abc import Iterable
from math import comb

import numpy as np

from assay.fks.external import bcs_bes


def coin_floor(sizes: tuple[int, ...]) -> tuple[float, float]:
    """Return the expected (BCS, BES) of one fact whose families have `sizes` queries; zeros are absent families.

    Examples
    --------
    >>> coin_floor((1,))
    (1.0, 1.0)
    >>> coin_floor((2,))
    (0.75, 0.5)
    """
    sizes = tuple(size for size in sizes if size > 0)
    if not sizes:
        raise ValueError("a fact without queries has no floor")
    counts = np.array(list(itertools.product(*(range(size + 1) for size in sizes))))
    ways = np.array([[comb(size, k) for k in range(max(sizes) + 1)] for size in sizes], dtype=float)
    weight = np.prod([ways[place, counts[:, place]] / 2.0**size for place, size in enumerate(sizes)], axis=0)
    first = (counts / np.array(sizes)).sum(axis=1) / len(sizes)
    second = ((np.array(sizes) - counts) / np.array(sizes)).sum(axis=1) / len(sizes)
    shares = np.stack([first, second], axis=1)
    group, column = np.nonzero(shares > 0)
    bcs, bes = bcs_bes(group, shares[group, column], len(shares))
    return float(weight @ bcs), float(weight @ bes)


def mean_coin_floor(sizes_per_fact: Iterable[tuple[int, ...]]) -> tuple[float, float]:
    """Return the mean floor over facts; facts with the same sizes are computed once."""
    tally = Counter(tuple(sorted(size for size in sizes if size > 0)) for sizes in sizes_per_fact)
    tally.pop((), None)
    total = sum(tally.values())
    floors = [(count, coin_floor(sizes)) for sizes, count in sorted(tally.items())]
    return (
        sum(count * floor[0] for count, floor in floors) / total,
        sum(count * floor[1] for count, floor in floors) / total,
    )
