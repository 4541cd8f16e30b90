"""Internal state stability, ISS = (S+ - S-) / (1 - S-), of every fact of a relation.

For two families f and g, S+ is the mean cosine between the fact's own states in f and in g, S- that between its states
in f and other facts' states in g, both averaged over the pairs of families. 1 is identical, 0 is the background.

The mean cosine of two sets of states is the dot product of their mean unit vectors, so all that is needed of a fact is
one vector per family, and the background of a fact is a sum over all facts minus its own part: linear in facts.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Bool = NDArray[np.bool_]

SATURATED = 1e-6
_FACTS_AT_ONCE = 32
REASONS = ("", "too_few_families", "no_background", "background_saturated")


@dataclass(frozen=True)
class PairCosines:
    """Mean cosines of one relation, shape [n_facts, n_families, n_families] each, NaN where not defined, as for f = g.

    `own[i, f, g]` is between the states of fact i in families f and g; `other[i, f, g]` is the mean over the other
    facts j that have g, between fact i in f and fact j in g.
    """

    own: Array
    other: Array


@dataclass(frozen=True)
class Iss:
    """ISS per fact, shape [n_facts]; NaN where undefined, with `reason` as a position in `REASONS`."""

    s_plus: Array
    s_minus: Array
    iss: Array
    reason: NDArray[np.int64]


class UnitSums:
    """What ISS needs of the mean unit vectors of one relation, gathered while they are in the processor's cache.

    Parameters
    ----------
    store : array, shape [n_facts, n_families, d]
        Where the vectors are kept for the second look, in the precision in which they are made.
    sets : array of bool, shape [n_sets, n_facts]
        Sets of facts; each fact of a set has the others as its background.
    """

    def __init__(self, store: NDArray[Any], sets: Bool) -> None:
        n_facts, n_families, width = store.shape
        self.store, self.sets = store, sets
        self.own = np.full((n_facts, n_families, n_families), np.nan)
        self.totals = np.zeros((len(sets), n_families * width))

    def add(self, facts: slice, units: NDArray[Any]) -> None:
        """Take in the vectors u_if of consecutive facts, [n, n_families, d]; zeros where a fact lacks a family."""
        self.store[facts] = units
        exact = units.astype(np.float64, copy=False)
        own = self.own[facts]
        for f in range(own.shape[1]):
            for g in range(f + 1, own.shape[1]):
                # A third of the time of a batched product of such small matrices.
                own[:, f, g] = own[:, g, f] = np.vecdot(exact[:, f], exact[:, g])
        self.totals += self.sets[:, facts] @ exact.reshape(len(exact), -1)

    def cosines(self, has: Bool) -> list[PairCosines]:
        """Return the mean cosines within facts and to the other facts, for each set; rows are the facts of the set.

        Parameters
        ----------
        has : array of bool, shape [n_facts, n_families]
            Whether a fact has a family.
        """
        n_facts, n_families, width = self.store.shape
        columns = self.totals.reshape(-1, width).T
        flat = np.empty((n_facts, n_families, columns.shape[1]))
        for start in range(0, n_facts, _FACTS_AT_ONCE):
            part = slice(start, start + _FACTS_AT_ONCE)
            flat[part] = self.store[part].astype(np.float64, copy=False) @ columns
        products = flat.reshape(n_facts, n_families, len(self.sets), n_families)
        result = []
        for number, members in enumerate(self.sets):
            mine, own = has[members], self.own[members]
            count = mine.sum(axis=0)
            both = mine[:, :, None] & mine[:, None, :]
            with np.errstate(invalid="ignore", divide="ignore"):
                other = (products[members, :, number] - own) / (count - 1)
            result.append(PairCosines(np.where(both, own, np.nan), np.where(both & (count >= 2), other, np.nan)))
        return result


def iss(cosines: PairCosines, families: list[int] | None = None) -> Iss:
    """Return ISS of every fact over the unordered pairs of its families.

    Parameters
    ----------
    cosines : PairCosines
        Of the facts that are compared with one another.
    families : list of int, optional
        Positions of the families that count; all by default.

    Returns
    -------
    Iss
        ISS = (S+ - S-) / (1 - S-) is at most 1; 0 is the background of other facts. A pair without another fact in
        one of its directions is left out of S+ and S- alike.
    """
    n = len(cosines.own)
    chosen = list(range(cosines.own.shape[1])) if families is None else families
    pairs = [(f, g) for place, f in enumerate(chosen) for g in chosen[place + 1 :]]
    first, second = [f for f, _ in pairs], [g for _, g in pairs]
    own = cosines.own[:, first, second]
    background = 0.5 * (cosines.other[:, first, second] + cosines.other[:, second, first])
    with_pair, with_background = ~np.isnan(own), ~np.isnan(background)
    s_plus = _mean(own, with_background)
    s_minus = _mean(background, with_background)
    lonely = ~with_background.any(axis=1)
    s_plus = np.where(lonely, _mean(own, with_pair), s_plus)
    with np.errstate(invalid="ignore"):
        saturated = 1 - s_minus < SATURATED
    reason = np.zeros(n, dtype=np.int64)
    reason[saturated] = 3
    reason[lonely] = 2
    reason[~with_pair.any(axis=1)] = 1
    with np.errstate(invalid="ignore", divide="ignore"):
        value = (s_plus - s_minus) / (1 - s_minus)
    return Iss(s_plus, s_minus, np.where(reason == 0, value, np.nan), reason)


def _mean(values: Array, keep: Bool) -> Array:
    count = keep.sum(axis=1)
    total = np.where(keep, values, 0.0).sum(axis=1)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)
