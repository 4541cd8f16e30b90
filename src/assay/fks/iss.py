"""Internal state stability, ISS (specification section 9.1).

The mean cosine of two sets of states is the dot product of their mean unit vectors, so all that is needed of a fact is
one vector per family, and the background of a fact is a sum over all facts minus its own part: linear in facts.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Bool = NDArray[np.bool_]

SATURATED = 1e-6
REASONS = ("", "too_few_families", "no_background", "background_saturated")


@dataclass(frozen=True)
class PairCosines:
    """Mean cosines of one relation, shape [n_facts, n_families, n_families] each, NaN where not defined.

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


def pair_cosines(units: Array, has: Bool) -> PairCosines:
    """Return the mean cosines within facts and to the other facts of a relation.

    Parameters
    ----------
    units : array, shape [n_facts, n_families, d]
        Mean unit vectors u_if; zeros where the fact lacks the family.
    has : array of bool, shape [n_facts, n_families]
        Whether it has it.
    """
    n_families = units.shape[1]
    own = np.empty((len(units), n_families, n_families))
    for f in range(n_families):
        for g in range(f, n_families):
            # A quarter of the time of a batched product of such small matrices.
            own[:, f, g] = own[:, g, f] = np.vecdot(units[:, f], units[:, g])
    total = units.sum(axis=0)
    count = has.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        other = (units @ total.T - own) / (count - 1)
    both = has[:, :, None] & has[:, None, :]
    own = np.where(both, own, np.nan)
    return PairCosines(own, np.where(both & (count >= 2), other, np.nan))


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
