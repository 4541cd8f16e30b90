"""What two conditions share of the facts of a relation: their distances (KTS-Geo) and who is who (KTS-ID)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.fks.metric_settings import KtsMetric
from assay.stats.ranks import rank_pearson

Array = NDArray[np.float64]
Index = NDArray[np.int64]
Bool = NDArray[np.bool_]

CONSTANT = 1e-12
TIE = 1e-12


@dataclass(frozen=True)
class Geometry:
    """Distances between the facts of a relation, per family.

    Attributes
    ----------
    distances : tuple of array, shape [n_f, n_f]
        Euclidean distances between the facts that have the family.
    place : array of int, shape [n_facts, n_families]
        Row of a fact in that table, -1 where it lacks the family.
    """

    distances: tuple[Array, ...]
    place: Index


def geometry(means: Array, has: Bool) -> Geometry:
    """Return the distances of condition representatives.

    Distances are taken difference by difference and not from a Gram matrix: equal pairs must have equal distances,
    bit for bit, or their ranks would be decided by rounding.

    Parameters
    ----------
    means : array, shape [n_facts, n_families, d]
        Arithmetic means of the states of each fact in each family.
    has : array of bool, shape [n_facts, n_families]
        Whether the fact has the family.
    """
    from scipy.spatial.distance import pdist, squareform

    place = np.where(has, np.cumsum(has, axis=0) - 1, -1)
    tables = []
    for family in range(has.shape[1]):
        chosen = np.ascontiguousarray(means[has[:, family], family])
        tables.append(squareform(pdist(chosen)) if len(chosen) > 1 else np.zeros((len(chosen), len(chosen))))
    return Geometry(tuple(tables), place)


def geometry_correlations(shape: Geometry, facts: Index, min_facts: int) -> tuple[Array, Index]:
    """Return Spearman's rho of the distances of every pair of families, and the number of facts behind it.

    Parameters
    ----------
    shape : Geometry
        Of a relation.
    facts : array of int
        The facts that count, positions in the relation.
    min_facts : int
        A pair of families with fewer common facts is not retained.

    Returns
    -------
    rho : array, shape [n_families, n_families]
        Upper triangle; NaN where the pair is not retained (too few facts, or constant distances in one family).
    n : array of int, same shape
        Common facts.
    """
    n_families = shape.place.shape[1]
    rho = np.full((n_families, n_families), np.nan)
    n = np.zeros((n_families, n_families), dtype=np.int64)
    has = shape.place[facts] >= 0
    # Most pairs share the same facts, so the ranks of a family are kept per set of facts.
    ranks: dict[tuple[int, bytes], Array | None] = {}
    for f in range(n_families):
        for g in range(f + 1, n_families):
            common = facts[has[:, f] & has[:, g]]
            n[f, g] = len(common)
            if len(common) < max(min_facts, 2):
                continue
            first, second = _ranks(shape, f, common, ranks), _ranks(shape, g, common, ranks)
            if first is not None and second is not None:
                value = rank_pearson(first, second)
                rho[f, g] = np.nan if value is None else value
    return rho, n


def _ranks(shape: Geometry, family: int, facts: Index, known: dict[tuple[int, bytes], Array | None]) -> Array | None:
    from scipy.stats import rankdata

    key = (family, facts.tobytes())
    if key not in known:
        rows = shape.place[facts, family]
        distances = shape.distances[family][np.ix_(rows, rows)][np.triu_indices(len(rows), 1)]
        constant = float(np.ptp(distances)) <= CONSTANT
        known[key] = None if constant else rankdata(distances)
    return known[key]


@dataclass(frozen=True)
class Retrieval:
    """KTS-ID of one relation.

    Attributes
    ----------
    hit : array, shape [n_facts, n_families, n_families]
        Chance-corrected hit of each fact for f -> g, in [-1/(n-1), 1]; NaN where the pair is not retained or the fact
        lacks a family.
    n : array of int, shape [n_families, n_families]
        Facts that have both families.
    """

    hit: Array
    n: Index

    def accuracy(self) -> Array:
        """Return the corrected accuracy of each ordered pair, [n_families, n_families]; NaN if not retained."""
        counted = ~np.isnan(self.hit)
        total = np.where(counted, self.hit, 0.0).sum(axis=0)
        return np.where(counted.any(axis=0), total / np.maximum(counted.sum(axis=0), 1), np.nan)


def retrieval(
    means: Array, has: Bool, metric: KtsMetric, min_facts: int, sets: Sequence[Index] | None = None
) -> list[Retrieval]:
    """Find every fact again in another family by its nearest representative, within each set of facts.

    Fact i is retrieved from f to g if its own representative in g is nearest to the one in f among all facts of the
    set that have both; nearest ones within 1e-12 share the credit. The credit is corrected for chance:
    (credit - 1/n) / (1 - 1/n), so that 0 is guessing and 1 perfect.

    Parameters
    ----------
    means : array, shape [n_facts, n_families, d]
        Representatives, whitened if so wanted.
    has : array of bool, shape [n_facts, n_families]
        Whether a fact has a family.
    metric : {"cosine", "euclidean"}
        A zero vector has cosine 0 with everything.
    min_facts : int
        At least 2.
    sets : sequence of array of int, optional
        Sets of facts, ascending positions; all facts by default. Distances are computed once for all sets.

    Returns
    -------
    list of Retrieval
        One per set, its rows in the order of the set.
    """
    n_facts, n_families = has.shape
    sets = [np.arange(n_facts)] if sets is None else sets
    found = [
        Retrieval(
            np.full((len(facts), n_families, n_families), np.nan), np.zeros((n_families, n_families), dtype=np.int64)
        )
        for facts in sets
    ]
    vectors = _unit(means) if metric == "cosine" else means
    for f in range(n_families):
        for g in range(f + 1, n_families):
            both = np.flatnonzero(has[:, f] & has[:, g])
            if len(both) < 2:
                _count(found, sets, both, f, g)
                continue
            table = _Table(vectors[both, f], vectors[both, g], metric)
            for one, facts in zip(found, sets, strict=True):
                # Places of the common facts in the set, and in the table.
                place = np.flatnonzero(np.isin(facts, both, assume_unique=True))
                rows = np.searchsorted(both, facts[place])
                n = len(place)
                one.n[f, g] = one.n[g, f] = n
                if n >= max(min_facts, 2):
                    one.hit[place, f, g] = (table.credits(rows, forward=True) - 1 / n) / (1 - 1 / n)
                    one.hit[place, g, f] = (table.credits(rows, forward=False) - 1 / n) / (1 - 1 / n)
    return found


def _count(found: Sequence[Retrieval], sets: Sequence[Index], both: Index, f: int, g: int) -> None:
    for one, facts in zip(found, sets, strict=True):
        one.n[f, g] = one.n[g, f] = int(np.isin(facts, both).sum())


def _unit(means: Array) -> Array:
    norm = np.sqrt(np.einsum("nfd,nfd->nf", means, means))[:, :, None]
    return np.asarray(means / np.where(norm > 0, norm, 1.0))


class _Table:
    """Distances from the representatives in one family (rows) to those in another (columns)."""

    def __init__(self, a: Array, b: Array, metric: KtsMetric) -> None:
        self.a, self.b, self.metric = a, b, metric
        if metric == "cosine":
            self.distance = 1.0 - a @ b.T
            return
        # The fast Gram form of squared distances only names candidates; exact differences decide among them.
        middle = b.mean(axis=0)
        self.a, self.b = a - middle, b - middle
        square_a, square_b = np.einsum("nd,nd->n", self.a, self.a), np.einsum("nd,nd->n", self.b, self.b)
        self.distance = square_a[:, None] + square_b - 2 * (self.a @ self.b.T)
        self.slack = 1e-9 * float(square_a.max() + square_b.max())

    def credits(self, rows: Index, forward: bool) -> Array:
        """Return the credit of each of `rows` when it is searched among them, shape of `rows`, in [0, 1]."""
        distance = self.distance[np.ix_(rows, rows)]
        distance = distance if forward else distance.T
        smallest = distance.min(axis=1, keepdims=True)
        if self.metric == "cosine":
            nearest = distance <= smallest + TIE
        else:
            # (x + TIE)² of the smallest x, and what the fast form may be off.
            reach = 2 * TIE * np.sqrt(np.maximum(smallest, 0) + self.slack) + TIE**2
            nearest = self._exactly(distance <= smallest + reach + self.slack, rows, forward)
        return np.where(np.diagonal(nearest), 1.0 / nearest.sum(axis=1), 0.0)

    def _exactly(self, candidates: Bool, rows: Index, forward: bool) -> Bool:
        row, column = np.nonzero(candidates)
        left, right = (self.a, self.b) if forward else (self.b, self.a)
        exact = np.sqrt(((left[rows[row]] - right[rows[column]]) ** 2).sum(axis=1))
        first = np.searchsorted(row, np.arange(len(candidates)))
        kept = np.zeros_like(candidates)
        near = exact <= np.minimum.reduceat(exact, first)[row] + TIE
        kept[row[near], column[near]] = True
        return kept
