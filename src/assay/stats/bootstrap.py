"""Percentile bootstrap over independent units: facts, tasks, or whole groups of them.

A statistic here is a ratio of sums, `sum_u a_u / sum_u b_u` over units u: with b = 1 the mean over units, with
b = rows per unit a share of rows whose units are resampled whole, with units = groups the mean over all members of
the resampled groups. Many statistics of the same units share one resampling, hence one matrix product.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Index = NDArray[np.int64]


@dataclass(frozen=True)
class Interval:
    """A confidence interval, or (None, None) where there are too few units for one."""

    low: float | None
    high: float | None
    n_units: int
    method: str = "bootstrap"


def resample(n_units: int, resamples: int, seed: int) -> Index:
    """Return positions drawn with replacement, shape [resamples, n_units], from `numpy.random.default_rng(seed)`.

    The draw depends on `n_units`, `resamples` and `seed` only, so statistics over the same units are paired.
    """
    if n_units < 1 or resamples < 1:
        raise ValueError(f"cannot draw {resamples} resamples of {n_units} units")
    return np.random.default_rng(seed).integers(0, n_units, (resamples, n_units))


def unit_counts(index: ArrayLike, n_units: int) -> Array:
    """Return how often each unit was drawn, shape [resamples, n_units], as floats for matrix products."""
    index = np.asarray(index, dtype=np.int64)
    if index.size and (index.min() < 0 or index.max() >= n_units):
        raise ValueError(f"resampled positions must lie in [0, {n_units})")
    flat = index + n_units * np.arange(len(index), dtype=np.int64)[:, None]
    return np.bincount(flat.ravel(), minlength=len(index) * n_units).reshape(len(index), n_units).astype(np.float64)


def percentile_interval(replicates: ArrayLike, level: float = 0.95) -> tuple[float | None, float | None]:
    """Return the central percentile interval of replicates (linear interpolation), undefined ones left out.

    Examples
    --------
    >>> percentile_interval([0.0, 1.0, 2.0, 3.0, 4.0], 0.5)
    (1.0, 3.0)
    """
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1, got {level}")
    values = np.asarray(replicates, dtype=np.float64)
    values = values[~np.isnan(values)]
    if not len(values):
        return None, None
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2], method="linear")
    return float(low), float(high)


def ratio_intervals(
    numerators: ArrayLike, denominators: ArrayLike | None, counts: Array, level: float = 0.95
) -> list[Interval]:
    """Return one interval per column for the statistic `sum_u a_u / sum_u b_u`.

    Parameters
    ----------
    numerators : array, shape [n_units, n_statistics]
        The a_u; a vector counts as one column.
    denominators : array, shape [n_units], optional
        The b_u > 0; all one by default, which makes the statistic the mean over units.
    counts : array, shape [resamples, n_units]
        From `unit_counts`; may be made from any index matrix.
    level : float, default 0.95
        Coverage.

    Returns
    -------
    list of Interval
        With fewer than two units the bounds are None: one unit resampled is always itself, and an interval of
        width zero would claim certainty.
    """
    top = np.asarray(numerators, dtype=np.float64)
    top = top[:, None] if top.ndim == 1 else top
    n_units = counts.shape[1]
    if len(top) != n_units:
        raise ValueError(f"{len(top)} units have values but the resamples are over {n_units}")
    if n_units < 2:
        return [Interval(None, None, n_units)] * top.shape[1]
    bottom = counts @ (np.ones(n_units) if denominators is None else np.asarray(denominators, dtype=np.float64))
    with np.errstate(invalid="ignore", divide="ignore"):
        replicates = (counts @ top) / bottom[:, None]
    return [Interval(*percentile_interval(column, level), n_units) for column in replicates.T]


def group_sums(values: ArrayLike, groups: Sequence[str]) -> tuple[list[str], Array, Array]:
    """Return the sorted group names, the sums of `values` by group, and the group sizes.

    `values` is of shape [n] or [n, n_columns], the sums of shape [n_groups] or [n_groups, n_columns].

    Resampling groups with all their members is `ratio_intervals(sums, sizes, ...)`.
    """
    matrix = np.asarray(values, dtype=np.float64)
    names, code = np.unique(np.asarray(groups, dtype=str), return_inverse=True)
    sums = np.zeros((len(names), *matrix.shape[1:]))
    np.add.at(sums, code, matrix)
    return [str(name) for name in names], sums, np.bincount(code, minlength=len(names)).astype(np.float64)
