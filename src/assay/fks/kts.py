"""Knowledge transfer of geometry and identity between conditions: KTS-Geo and KTS-ID (sections 9.2, 9.3)."""

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
        """Return the corrected accuracy of each ordered pair, NaN where it is not retained."""
        counted = ~np.isnan(self.hit)
        total = np.where(counted, self.hit, 0.0).sum(axis=0)
        return np.where(counted.any(axis=0), total / np.maximum(counted.sum(axis=0), 1), np.nan)


def retrieval(means: Array, has: Bool, metric: KtsMetric, min_facts: int) -> Retrieval:
    """Find every fact again in another family by its nearest representative.

    Fact i is retrieved from f to g if its own representative in g is nearest to the one in f among all facts that
    have both; nearest ones within 1e-12 share the credit. The credit is corrected for chance: (credit - 1/n) /
    (1 - 1/n), so that 0 is guessing and 1 perfect.

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
    """
    n_facts, n_families = has.shape
    hit = np.full((n_facts, n_families, n_families), np.nan)
    count = np.zeros((n_families, n_families), dtype=np.int64)
    vectors = _unit(means) if metric == "cosine" else means
    for f in range(n_families):
        for g in range(f + 1, n_families):
            common = np.flatnonzero(has[:, f] & has[:, g])
            n = len(common)
            count[f, g] = count[g, f] = n
            if n < max(min_facts, 2):
                continue
            a, b = vectors[common, f], vectors[common, g]
            forward, backward = _credits_cosine(a, b) if metric == "cosine" else _credits_euclidean(a, b)
            hit[common, f, g] = (forward - 1 / n) / (1 - 1 / n)
            hit[common, g, f] = (backward - 1 / n) / (1 - 1 / n)
    return Retrieval(hit, count)


def _unit(means: Array) -> Array:
    norm = np.sqrt(np.einsum("nfd,nfd->nf", means, means))[:, :, None]
    return np.asarray(means / np.where(norm > 0, norm, 1.0))


def _credits_cosine(a: Array, b: Array) -> tuple[Array, Array]:
    distance = 1.0 - a @ b.T
    return _credits(distance), _credits(distance.T)


def _credits(distance: Array) -> Array:
    nearest = distance <= distance.min(axis=1, keepdims=True) + TIE
    return np.where(np.diagonal(nearest), 1.0 / nearest.sum(axis=1), 0.0)


def _credits_euclidean(a: Array, b: Array) -> tuple[Array, Array]:
    return _nearest_euclidean(a, b), _nearest_euclidean(b, a)


def _nearest_euclidean(a: Array, b: Array) -> Array:
    """Return the credits by distance: candidates from the fast Gram form, decided by exact differences."""
    middle = b.mean(axis=0)
    a, b = a - middle, b - middle
    square_a, square_b = np.einsum("nd,nd->n", a, a), np.einsum("nd,nd->n", b, b)
    squared = square_a[:, None] + square_b - 2 * (a @ b.T)
    slack = 1e-9 * (square_a[:, None] + square_b.max(initial=0.0))
    row, column = np.nonzero(squared <= squared.min(axis=1, keepdims=True) + slack)
    exact = np.sqrt(((a[row] - b[column]) ** 2).sum(axis=1))
    first = np.searchsorted(row, np.arange(len(a)))
    nearest = exact <= np.minimum.reduceat(exact, first)[row] + TIE
    ties = np.bincount(row[nearest], minlength=len(a))
    own = np.bincount(row[nearest & (row == column)], minlength=len(a)) > 0
    return np.where(own, 1.0 / ties, 0.0)
