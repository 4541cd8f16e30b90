"""Internal metrics averaged over the layer window, as reported numbers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.fks.answers import Answers
from assay.fks.internal import FactSelection, LayerResult
from assay.fks.internal_run import InternalRun
from assay.fks.iss import REASONS
from assay.fks.joint import pooled_intervals, within_intervals, within_relations
from assay.fks.metric_selection import Selection
from assay.fks.metric_settings import BootstrapSettings, MetricSettings, Transport
from assay.fks.summary import NONE, STATE_DIGITS, Number, counts, fact_means, relation_macro, tidy_values
from assay.stats.bootstrap import Interval, percentile_interval
from assay.stats.ranks import spearman

Array = NDArray[np.float64]


@dataclass(frozen=True)
class WindowResult:
    """One selection and transport over all layers of the window."""

    chosen: Selection
    transport: Transport
    layers: Sequence[LayerResult]
    setting: Mapping[str, object]
    n_failed: int


def fact_selections(chosen: Sequence[Selection], families: Sequence[str], n_facts: int) -> list[FactSelection]:
    """Return what the internal metrics need of selections."""
    result = []
    for selection in chosen:
        facts = np.zeros(n_facts, dtype=np.bool_)
        facts[selection.facts] = True
        result.append(FactSelection(tuple(families.index(name) for name in selection.families), facts))
    return result


def window_results(run: InternalRun, chosen: Sequence[Selection], lens_prompts: int | None) -> Iterator[WindowResult]:
    """Yield every selection under every transport, in the order of the selections."""
    for number, selection in enumerate(chosen):
        for transport, layers in run.results.items():
            setting: dict[str, object] = {
                "anchor": selection.anchor,
                "coverage": selection.coverage,
                "subset": selection.subset,
                "transport": transport,
                "top_state": run.report.header.get("top_state", "unknown"),
            }
            if transport == "jlens" and lens_prompts is not None:
                setting["lens_prompts"] = lens_prompts
            yield WindowResult(
                selection, transport, [layer[number] for layer in layers], setting, run.report.n_nonfinite
            )


def fact_iss(window: WindowResult, whitening: str) -> Array:
    """Return ISS per fact, shape [n_facts]: the mean over the layers in which it is defined, NaN where it never is."""
    return mean_over_layers([layer.iss[whitening] for layer in window.layers])  # type: ignore[index]


def fact_retrieval(window: WindowResult, metric: str) -> Array:
    """Return KTS-ID per fact, shape [n_facts], averaged over layers likewise."""
    return mean_over_layers([layer.fact_retrieval[metric] for layer in window.layers])  # type: ignore[index]


def mean_over_layers(tables: Sequence[Array]) -> Array:
    """Return the mean over layers (one table each, all of one shape) of what is defined, in the shape of a table."""
    stacked = np.stack(tables)
    defined = ~np.isnan(stacked)
    total = np.where(defined, stacked, 0.0).sum(axis=0)
    return np.where(defined.any(axis=0), total / np.maximum(defined.sum(axis=0), 1), np.nan)


def internal_numbers(answers: Answers, window: WindowResult, settings: MetricSettings) -> Iterator[Number]:
    """Yield ISS, KTS-Geo and KTS-ID of one selection and transport."""
    for whitening in settings.internal.iss_whitening:
        yield from _iss_numbers(answers, window, whitening, settings)
    geo_setting = {**window.setting, "whitening": settings.internal.kts_geo_whitening}
    layered = [layer.geo for layer in window.layers]
    raw, interval, n = layered_macro(layered, settings.bootstrap)
    yield _number("kts_geo_raw_spearman", raw, n, window, geo_setting, {"relation": interval})
    yield _number("kts_geo", _half(raw), n, window, geo_setting, {"relation": _half_interval(interval)})
    breakdown = window.chosen.subset == "all"
    if breakdown:
        for relation, (rho, _) in relation_means(layered).items():
            setting = {**geo_setting, "relation": relation}
            facts = max((n for layer in window.layers for _, n in layer.geo_pairs[relation].values()), default=0)
            yield _number("kts_geo_raw_spearman", rho, facts, window, setting)
            yield _number("kts_geo", _half(rho), facts, window, setting)
    for metric in settings.internal.kts_id_metrics:
        setting = {**window.setting, "whitening": settings.internal.kts_id_whitening, "distance": metric}
        layered = [layer.retrieval[metric] for layer in window.layers]
        value, interval, n = layered_macro(layered, settings.bootstrap)
        yield _number("kts_id", value, n, window, setting, {"relation": interval})
        per_fact = fact_retrieval(window, metric)
        ((value, intervals),), size = _means(answers, per_fact, settings)
        yield _number("kts_id_fact_mean", value, size, window, setting, intervals)
        if breakdown:
            for relation, (one, _) in relation_means(layered).items():
                pairs = [layer.retrieval_pairs[metric][relation] for layer in window.layers]
                facts = max((n for layer in pairs for _, n in layer.values()), default=0)
                yield _number("kts_id", one, facts, window, {**setting, "relation": relation})


def _iss_numbers(answers: Answers, window: WindowResult, whitening: str, settings: MetricSettings) -> Iterator[Number]:
    setting = {**window.setting, "whitening": whitening}
    values = fact_iss(window, whitening)
    ((value, intervals),), n = _means(answers, values, settings)
    yield _number("iss", value, n, window, setting, intervals)
    kept = np.flatnonzero(~np.isnan(values))
    relations = [answers.facts[fact].relation for fact in kept]
    ((macro, by_relation),) = relation_macro(values[kept][:, None], relations, settings.bootstrap)
    yield _number("iss_relation_macro", macro, len(set(relations)), window, setting, by_relation)
    for reason, count in undefined_iss(window, whitening).items():
        yield Number(
            "iss_excluded_facts", count, len(window.chosen.rows), 0, {**setting, "reason": reason}, unit="facts"
        )
    if window.chosen.subset == "all":
        names = np.asarray(relations, dtype=str)
        for relation in sorted(set(relations)):
            here = kept[names == relation]
            one = fact_means(values[here][:, None], [relation] * len(here), settings.bootstrap)[0]
            own = {"fact": one[1]["fact"]}
            yield _number("iss", one[0], len(here), window, {**setting, "relation": relation}, own)


def undefined_iss(window: WindowResult, whitening: str) -> dict[str, int]:
    """Return reason -> number of selected facts whose ISS is undefined in every layer (`no_states` included)."""
    values = fact_iss(window, whitening)[window.chosen.facts]
    reasons = window.layers[0].reason[whitening][window.chosen.facts]  # type: ignore[index]
    tally: dict[str, int] = {}
    for reason in reasons[np.isnan(values)]:
        name = "no_states" if reason < 0 else REASONS[reason] or "undefined_in_some_layers"
        tally[name] = tally.get(name, 0) + 1
    return dict(sorted(tally.items()))


def _means(
    answers: Answers, values: Array, settings: MetricSettings
) -> tuple[list[tuple[float | None, dict[str, Interval]]], int]:
    kept = np.flatnonzero(~np.isnan(values))
    relations = [answers.facts[fact].relation for fact in kept]
    return fact_means(values[kept][:, None], relations, settings.bootstrap), len(kept)


def _number(
    metric: str,
    value: float | None,
    n: int,
    window: WindowResult,
    setting: Mapping[str, object],
    intervals: Mapping[str, Interval] | None = None,
) -> Number:
    # Scores have 1 at the top and the background, or chance, at 0 (kts_geo: at 0.5); they are shares of nothing.
    unit = "correlation" if metric == "kts_geo_raw_spearman" else "score"
    return Number(metric, value, n, window.n_failed, setting, intervals or {}, unit=unit, digits=STATE_DIGITS)


def relation_means(layered: Sequence[Mapping[str, float]]) -> dict[str, tuple[float, int]]:
    """Return per relation the mean over the layers in which it is defined, and their number."""
    names = sorted({name for layer in layered for name in layer})
    found = {name: [layer[name] for layer in layered if name in layer] for name in names}
    return {name: (sum(values) / len(values), len(values)) for name, values in found.items()}


def layered_macro(
    layered: Sequence[Mapping[str, float]], settings: BootstrapSettings
) -> tuple[float | None, Interval, int]:
    """Return the mean over layers of the mean over relations, its interval over relations, and their number."""
    names = sorted({name for layer in layered for name in layer})
    if not names:
        return None, NONE, 0
    table = np.array([[layer.get(name, np.nan) for layer in layered] for name in names])
    value = _macro(np.ones((1, len(names))), table)[0]
    if len(names) < 2:
        return float(value), Interval(None, None, len(names)), len(names)
    low, high = percentile_interval(_macro(counts(len(names), settings), table), settings.level)
    return float(value), Interval(low, high, len(names)), len(names)


def _macro(weights: Array, table: Array) -> Array:
    defined = ~np.isnan(table)
    total, weight = weights @ np.where(defined, table, 0.0), weights @ defined
    per_layer = np.where(weight > 0, total / np.maximum(weight, 1), np.nan)
    return mean_over_layers(list(per_layer.T))


def _half(raw: float | None) -> float | None:
    return None if raw is None else (raw + 1) / 2


def _half_interval(raw: Interval) -> Interval:
    return Interval(_half(raw.low), _half(raw.high), raw.n_units, raw.method)


JOINT_SUBSETS = ("all", "answer_not_in_subject")


def joint_numbers(answers: Answers, window: WindowResult, settings: MetricSettings) -> Iterator[Number]:
    """Yield the joint analysis of one selection and transport: pooled, within relations, and over relations."""
    if window.chosen.subset not in JOINT_SUBSETS:
        return
    external = {name: np.full(len(answers.facts), np.nan) for name in ("bcs", "bes")}
    external["bcs"][window.chosen.facts] = tidy_values(window.chosen.measured.bcs[window.chosen.rows])
    external["bes"][window.chosen.facts] = tidy_values(window.chosen.measured.bes[window.chosen.rows])
    sides = {
        "iss": tidy_values(fact_iss(window, settings.internal.iss_whitening[0]), STATE_DIGITS),
        "kts_id": tidy_values(fact_retrieval(window, settings.internal.kts_id_metrics[0]), STATE_DIGITS),
    }
    for inside, inner in sides.items():
        for outside, outer in external.items():
            setting = {**window.setting, "inside": inside, "outside": outside}
            kept = np.flatnonzero(~np.isnan(inner) & ~np.isnan(outer))
            a, b = inner[kept], outer[kept]
            relations = [answers.facts[fact].relation for fact in kept]
            pooled = spearman(a, b)
            intervals = {} if pooled is None else pooled_intervals(a, b, relations, settings.bootstrap)
            yield _joint("joint_spearman_pooled", pooled, len(kept), window, setting, intervals)
            within = within_relations(a, b, relations, settings.internal.joint_min_facts)
            mean = sum(within.values()) / len(within) if within else None
            spread = within_intervals(a, b, relations, within, settings.bootstrap) if within else {}
            yield _joint("joint_spearman_within_relation", mean, len(within), window, setting, spread)
    yield from _joint_geo(answers, window, external, settings)


def _joint_geo(
    answers: Answers, window: WindowResult, external: Mapping[str, Array], settings: MetricSettings
) -> Iterator[Number]:
    """KTS-Geo exists per relation, so it is correlated over relations."""
    geo = relation_means([layer.geo for layer in window.layers])
    relations = np.array([answers.facts[fact].relation for fact in window.chosen.facts], dtype=str)
    for outside, outer in external.items():
        values = outer[window.chosen.facts]
        a = tidy_values(np.array([geo[name][0] for name in geo]), STATE_DIGITS)
        b = tidy_values(np.array([values[relations == name].mean() for name in geo]))
        setting = {**window.setting, "inside": "kts_geo", "outside": outside}
        rho = spearman(a, b)
        intervals = {} if rho is None else {"relation": pooled_intervals(a, b, list(geo), settings.bootstrap)["fact"]}
        yield _joint("joint_spearman_over_relations", rho, len(geo), window, setting, intervals)


def _joint(
    metric: str,
    value: float | None,
    n: int,
    window: WindowResult,
    setting: Mapping[str, object],
    intervals: Mapping[str, Interval],
) -> Number:
    return Number(metric, value, n, window.n_failed, setting, intervals, unit="correlation", digits=STATE_DIGITS)
