"""Permutation tests for paired differences between two systems on the same units."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

_EXACT_UP_TO = 14  # 2**14 sign patterns are fewer than the draws of the default


def paired_permutation(
    first: ArrayLike, second: ArrayLike, *, permutations: int = 20_000, seed: int, groups: Sequence[str] | None = None
) -> float:
    """Return the two-sided p-value of "both systems have the same mean" by flipping signs of paired differences.

    Parameters
    ----------
    first, second : array, shape [n]
        Values of the two systems on the same units, in the same order.
    permutations : int
        Drawn sign patterns; with at most 14 units all patterns are taken and the test is exact.
    seed : int
        Seed of the draw.
    groups : sequence of str, optional
        Units of one group flip together (facts of one relation, runs of one task).

    Returns
    -------
    float
        In (0, 1]. A drawn test counts the observed pattern as one more draw (Phipson and Smyth 2010), so it is
        never 0. Two equal inputs give 1.
    """
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if a.shape != b.shape or a.ndim != 1 or not len(a):
        raise ValueError(f"paired values need two equal, non-empty vectors, got shapes {a.shape} and {b.shape}")
    difference: NDArray[np.float64] = a - b
    if groups is not None:
        code = np.unique(np.asarray(groups, dtype=str), return_inverse=True)[1]
        difference = np.bincount(code, weights=difference).astype(np.float64)
    n = len(difference)
    observed = abs(difference.sum())
    # Sums in another order differ in the last bits; a pattern equal to the observed one must count as reaching it.
    threshold = observed - 1e-12 * max(1.0, np.abs(difference).sum())
    if n <= _EXACT_UP_TO:
        bits = (np.arange(2**n)[:, None] >> np.arange(n)) & 1
        return float(np.mean(np.abs((1.0 - 2.0 * bits) @ difference) >= threshold))
    generator = np.random.default_rng(seed)
    reached, left = 0, permutations
    while left:
        batch = min(left, 1000)
        signs = 1.0 - 2.0 * generator.integers(0, 2, (batch, n))
        reached += int(np.sum(np.abs(signs @ difference) >= threshold))
        left -= batch
    return (reached + 1) / (permutations + 1)
