"""Rank correlation, plain and under many resamplings at once."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


def spearman(first: ArrayLike, second: ArrayLike) -> float | None:
    """Return Spearman's rank correlation with average ranks for ties, in [-1, 1].

    None where it is not defined: fewer than two values, one side constant, or a NaN among them.

    Examples
    --------
    >>> spearman([1, 2, 3], [10, 20, 30])
    1.0
    """
    from scipy.stats import rankdata

    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if a.shape != b.shape or a.ndim != 1:
        raise ValueError(f"rank correlation needs two equal vectors, got shapes {a.shape} and {b.shape}")
    if len(a) < 2:
        return None
    return rank_pearson(rankdata(a), rankdata(b))


def rank_pearson(first: Array, second: Array) -> float | None:
    """Return the correlation of two rank vectors that already exist, in [-1, 1]; None if one is constant or has NaN."""
    # Ranks are halves of integers, so twice the centred rank is an exact integer and equal sides give exactly 1.
    n = len(first)
    a, b = 2 * first - (n + 1), 2 * second - (n + 1)
    norm = float(a @ a) * float(b @ b)
    if not norm > 0:
        return None
    return float(min(1.0, max(-1.0, float(a @ b) / np.sqrt(norm))))


def resampled_spearman(first: ArrayLike, second: ArrayLike, counts: Array) -> Array:
    """Return Spearman's correlation of every resample, shape [resamples], NaN where it is not defined.

    Parameters
    ----------
    first, second : array, shape [n]
        The values.
    counts : array, shape [resamples, n]
        How often each unit stands in each resample (rows need not sum to n). A unit drawn c times is c tied values.

    Notes
    -----
    A resample needs no sorting of its own: in the order of the original values the mid-rank of a tie group is the
    number of draws before it plus half of its own draws, so ranks are cumulative sums.
    """
    a, b = _mid_ranks(np.asarray(first, dtype=np.float64), counts), _mid_ranks(np.asarray(second, float), counts)
    total = counts.sum(axis=1, keepdims=True)
    a, b = a - total / 2, b - total / 2
    covariance = np.einsum("bn,bn,bn->b", counts, a, b)
    variance = np.einsum("bn,bn,bn->b", counts, a, a) * np.einsum("bn,bn,bn->b", counts, b, b)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(variance > 0, np.clip(covariance / np.sqrt(variance), -1, 1), np.nan)


def _mid_ranks(values: Array, counts: Array) -> Array:
    """Return mid-ranks minus one half; shape of `counts`."""
    distinct, group = np.unique(values, return_inverse=True)
    order = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[order], np.arange(len(distinct)))
    per_group = np.add.reduceat(counts[:, order], starts, axis=1)
    middle = np.cumsum(per_group, axis=1) - per_group / 2
    return np.asarray(middle[:, group])
