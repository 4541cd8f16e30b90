"""Means over facts with both bootstrap intervals, and the rows of the tidy table that they become."""

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from assay.fks.metric_settings import BootstrapSettings, MetricSettings
from assay.records.rows import MetricRow, setting_text
from assay.stats.bootstrap import Interval, group_sums, ratio_intervals, resample, unit_counts

Array = NDArray[np.float64]
NONE = Interval(None, None, 0)
DIGITS = 12
STATE_DIGITS = 9
"""Numbers from states, which are stored with 8 or 24 bits of precision; what lies beyond is the processor's."""


@dataclass(frozen=True)
class Number:
    """One reported number: its metric, what tells it apart, its value and its intervals by unit.

    `intervals` maps the bootstrap unit ("fact", "relation") to the interval; the tidy table has one row for each.
    """

    metric: str
    value: float | None
    n: int
    n_failed: int = 0
    setting: Mapping[str, object] = field(default_factory=dict)
    intervals: Mapping[str, Interval] = field(default_factory=dict)
    baseline: str = ""
    unit: str = "fraction"
    digits: int = DIGITS


def tidy(value: float | None, digits: int = DIGITS) -> float | None:
    """Return a number as it is written: to significant digits and decimals, no negative zero, None for NaN.

    The last bits of logarithms and of long sums differ between processors; what is written must not. All of them are
    left where a sum should be 0, so that significant digits alone would print them.
    """
    if value is None or np.isnan(value):
        return None
    return float(f"{round(value, digits):.{digits}g}") + 0.0


def tidy_values(values: Array, digits: int = DIGITS) -> Array:
    """Return numbers, shape [n], as they are written, NaN where undefined: what is ranked, so that equals are tied.

    Equal shares that were added up in another order differ in their last bits, and ranks would count that.
    """
    return np.array([tidy(value, digits) for value in values], dtype=np.float64)


@functools.lru_cache(maxsize=4)
def counts(n_units: int, settings: BootstrapSettings) -> Array:
    """Return the resampling of `n_units` units, shape [resamples, n_units]; the same for every statistic of them."""
    return unit_counts(resample(n_units, settings.resamples, settings.seed), n_units)


def fact_means(
    values: Array, relations: Sequence[str], settings: BootstrapSettings
) -> list[tuple[float | None, dict[str, Interval]]]:
    """Return per column the mean over facts and its intervals when facts, and when relations, are resampled.

    Parameters
    ----------
    values : array, shape [n_facts, n_columns]
        Facts sorted by id, without undefined values.
    relations : sequence of str
        The relation of each fact.
    """
    if not len(values):
        return [(None, {"fact": NONE, "relation": NONE})] * values.shape[1]
    by_fact = interval_columns(values, None, settings)
    _, sums, sizes = group_sums(values, relations)
    by_relation = interval_columns(sums, sizes, settings)
    means = values.mean(axis=0)
    return [
        (float(mean), {"fact": fact, "relation": relation})
        for mean, fact, relation in zip(means, by_fact, by_relation, strict=True)
    ]


def interval_columns(numerators: Array, denominators: Array | None, settings: BootstrapSettings) -> list[Interval]:
    """Return bootstrap intervals of ratios of sums over units, one per column.

    `numerators` is of shape [n_units, n_columns], `denominators` of shape [n_units]; see `ratio_intervals`.
    """
    if len(numerators) < 2:
        return [Interval(None, None, len(numerators))] * numerators.shape[1]
    return ratio_intervals(numerators, denominators, counts(len(numerators), settings), settings.level)


def relation_macro(
    values: Array, relations: Sequence[str], settings: BootstrapSettings
) -> list[tuple[float | None, dict[str, Interval]]]:
    """Return per column of `values`, shape [n_facts, n_columns], the unweighted mean of the relations' means.

    Beside it stands the interval when whole relations are resampled.
    """
    if not len(values):
        return [(None, {"relation": NONE})] * values.shape[1]
    _, sums, sizes = group_sums(values, relations)
    means = sums / sizes[:, None]
    intervals = interval_columns(means, None, settings)
    return [(float(mean), {"relation": interval}) for mean, interval in zip(means.mean(axis=0), intervals, strict=True)]


def metric_rows(numbers: Sequence[Number], settings: MetricSettings) -> Iterator[MetricRow]:
    """Yield the rows of the tidy table; a number with two intervals becomes two rows, told apart by `interval`."""
    for number in numbers:
        for unit, interval in number.intervals.items() or [(None, NONE)]:
            extra: dict[str, object] = {**settings.setting, **number.setting}
            if unit is not None:
                extra["interval"] = unit
            yield MetricRow(
                benchmark="fks",
                dataset=settings.dataset,
                model=settings.model,
                method=settings.method,
                profile=settings.profile,
                setting=setting_text(**{key: _plain(value) for key, value in extra.items()}),
                metric=number.metric,
                baseline=number.baseline,
                value=tidy(number.value, number.digits),
                ci_low=tidy(interval.low, number.digits),
                ci_high=tidy(interval.high, number.digits),
                unit=number.unit,
                n=number.n,
                n_failed=number.n_failed,
            )


def _plain(value: object) -> object:
    # Relation names are data and may hold the separators of the setting column.
    return value.replace("%", "%25").replace(";", "%3B").replace("=", "%3D") if isinstance(value, str) else value
