"""Do facts whose states are stable also have stable answers: rank correlations per fact."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from assay.fks.metric_settings import BootstrapSettings
from assay.fks.summary import NONE, counts
from assay.stats.bootstrap import Interval, percentile_interval
from assay.stats.ranks import resampled_spearman, spearman

Array = NDArray[np.float64]


def within_relations(first: Array, second: Array, relations: Sequence[str], min_facts: int) -> dict[str, float]:
    """Return Spearman's correlation within each relation of at least `min_facts` facts, where it is defined.

    `first` and `second` are values of the same facts, shape [n]. Relations are sorted by name; one in which a side is
    constant has no correlation.
    """
    names = np.asarray(relations, dtype=str)
    result = {}
    for name in sorted(set(relations)):
        here = names == name
        rho = spearman(first[here], second[here]) if here.sum() >= min_facts else None
        if rho is not None:
            result[name] = rho
    return result


def pooled_intervals(
    first: Array, second: Array, relations: Sequence[str], settings: BootstrapSettings
) -> dict[str, Interval]:
    """Return intervals of the pooled correlation when facts, and when whole relations, are resampled.

    `first` and `second` are values of the same facts, shape [n].
    """
    n = len(first)
    if n < 2:
        return {"fact": NONE, "relation": NONE}
    by_fact = percentile_interval(resampled_spearman(first, second, counts(n, settings)), settings.level)
    names, code = np.unique(np.asarray(relations, dtype=str), return_inverse=True)
    by_relation: tuple[float | None, float | None] = (None, None)
    if len(names) > 1:
        drawn = counts(len(names), settings)[:, code]
        by_relation = percentile_interval(resampled_spearman(first, second, drawn), settings.level)
    return {"fact": Interval(*by_fact, n), "relation": Interval(*by_relation, len(names))}


def within_intervals(
    first: Array, second: Array, relations: Sequence[str], within: dict[str, float], settings: BootstrapSettings
) -> dict[str, Interval]:
    """Return intervals of the mean correlation within relations.

    Over facts: every replicate draws among all facts and averages over the relations (of `within`) in which the draw
    leaves the correlation defined. Over relations: the correlations themselves are drawn.
    """
    if not within:
        return {"fact": NONE, "relation": NONE}
    n, names = len(first), np.asarray(relations, dtype=str)
    drawn = counts(n, settings)
    replicates = np.stack(
        [resampled_spearman(first[names == name], second[names == name], drawn[:, names == name]) for name in within]
    )
    defined = (~np.isnan(replicates)).sum(axis=0)
    means = np.where(defined > 0, np.nansum(replicates, axis=0) / np.maximum(defined, 1), np.nan)
    by_relation: tuple[float | None, float | None] = (None, None)
    if len(within) > 1:
        values = np.array(list(within.values()))
        by_relation = percentile_interval(counts(len(within), settings) @ values / len(within), settings.level)
    return {
        "fact": Interval(*percentile_interval(means, settings.level), n),
        "relation": Interval(*by_relation, len(within)),
    }
