"""Corrections of p-values for several tests at once."""

import numpy as np
from numpy.typing import ArrayLike, NDArray


def holm(p_values: ArrayLike) -> NDArray[np.float64]:
    """Return Holm's step-down adjusted p-values (family-wise error), in the order given.

    Examples
    --------
    >>> [round(float(p), 4) for p in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    p = _checked(p_values)
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    return _back(np.minimum(stepped, 1.0), order)


def benjamini_hochberg(p_values: ArrayLike) -> NDArray[np.float64]:
    """Return Benjamini and Hochberg's adjusted p-values (false discovery rate), in the order given.

    Examples
    --------
    >>> [round(float(p), 4) for p in benjamini_hochberg([0.01, 0.04, 0.03])]
    [0.03, 0.04, 0.04]
    """
    p = _checked(p_values)
    order = np.argsort(p, kind="stable")
    raised = p[order] * len(p) / np.arange(1, len(p) + 1)
    return _back(np.minimum(np.minimum.accumulate(raised[::-1])[::-1], 1.0), order)


def _checked(p_values: ArrayLike) -> NDArray[np.float64]:
    p = np.asarray(p_values, dtype=np.float64)
    if p.ndim != 1 or np.isnan(p).any() or ((p < 0) | (p > 1)).any():
        raise ValueError("p-values must be a vector of numbers in [0, 1]")
    return p


def _back(adjusted: NDArray[np.float64], order: NDArray[np.int64]) -> NDArray[np.float64]:
    result = np.empty_like(adjusted)
    result[order] = adjusted
    return result
