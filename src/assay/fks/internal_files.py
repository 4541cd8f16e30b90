"""Per-fact, per-layer and per-pair rows of the internal metrics: the files beside the tidy table."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from assay.fks.answers import Answers
from assay.fks.internal_summary import WindowResult, fact_iss, fact_retrieval, mean_over_layers
from assay.fks.iss import REASONS
from assay.fks.metric_settings import MetricSettings
from assay.fks.summary import STATE_DIGITS, tidy


def fact_values(answers: Answers, window: WindowResult, settings: MetricSettings) -> dict[str, dict[str, object]]:
    """Return fact id -> every internal value of the fact, over the window."""
    iss = {mode: fact_iss(window, mode) for mode in settings.internal.iss_whitening}
    plus = {mode: mean_over_layers([layer.s_plus[mode] for layer in window.layers]) for mode in iss}
    minus = {mode: mean_over_layers([layer.s_minus[mode] for layer in window.layers]) for mode in iss}
    found = {metric: fact_retrieval(window, metric) for metric in settings.internal.kts_id_metrics}
    reasons = {mode: window.layers[0].reason[mode] for mode in iss}
    result: dict[str, dict[str, object]] = {}
    for fact in window.chosen.facts:
        result[answers.facts[fact].fact_id] = {
            "iss": {
                mode: {
                    "iss": tidy(values[fact], STATE_DIGITS),
                    "s_plus": tidy(plus[mode][fact], STATE_DIGITS),
                    "s_minus": tidy(minus[mode][fact], STATE_DIGITS),
                    "reason": _reason(int(reasons[mode][fact])) if np.isnan(values[fact]) else None,
                }
                for mode, values in iss.items()
            },
            "kts_id": {metric: tidy(values[fact], STATE_DIGITS) for metric, values in found.items()},
        }
    return result


def _reason(code: int) -> str:
    return "no_states" if code < 0 else REASONS[code] or "undefined_in_some_layers"


def layer_rows(windows: Iterable[WindowResult], layers: Sequence[int]) -> Iterator[dict[str, object]]:
    """Yield the values of each layer for selections of all facts."""
    for window in windows:
        if window.chosen.subset != "all":
            continue
        for layer, result in zip(layers, window.layers, strict=True):
            geo = _mean(list(result.geo.values()))
            yield {
                **window.setting,
                "layer": layer,
                "iss": {
                    mode: tidy(_mean(list(values[~np.isnan(values)])), STATE_DIGITS)
                    for mode, values in result.iss.items()
                },
                "n_iss": {mode: int((~np.isnan(values)).sum()) for mode, values in result.iss.items()},
                "kts_geo_raw_spearman": tidy(geo, STATE_DIGITS),
                "kts_geo": tidy(None if geo is None else (geo + 1) / 2, STATE_DIGITS),
                "kts_id": {
                    metric: tidy(_mean(list(values.values())), STATE_DIGITS)
                    for metric, values in result.retrieval.items()
                },
            }


def pair_rows(
    windows: Iterable[WindowResult], families: Sequence[str], layers: Sequence[int]
) -> Iterator[dict[str, object]]:
    """Yield every pair of families of every relation with its facts and values per layer; null is not retained.

    Selections of all facts under the longest list of families; those without the anchor are a part of them.
    """
    for window in windows:
        if window.chosen.subset != "all" or len(window.chosen.families) < len(families):
            continue
        for relation in sorted(window.layers[0].geo_pairs):
            for f in range(len(families)):
                for g in range(f + 1, len(families)):
                    found = [layer.geo_pairs[relation].get((f, g)) for layer in window.layers]
                    yield _pair(window, relation, "kts_geo_raw_spearman", f"{families[f]}|{families[g]}", found, layers)
            for metric in sorted(window.layers[0].retrieval_pairs):
                tables = [layer.retrieval_pairs[metric][relation] for layer in window.layers]
                for f, g in sorted({pair for table in tables for pair in table}):
                    values = [table.get((f, g)) for table in tables]
                    yield _pair(window, relation, f"kts_id_{metric}", f"{families[f]}>{families[g]}", values, layers)


def _pair(
    window: WindowResult,
    relation: str,
    metric: str,
    pair: str,
    found: Sequence[tuple[float, int] | None],
    layers: Sequence[int],
) -> dict[str, object]:
    retained = [value for value in found if value is not None]
    return {
        "transport": window.transport,
        "coverage": window.chosen.coverage,
        "relation": relation,
        "metric": metric,
        "pair": pair,
        "n_facts": max((n for _, n in retained), default=0),
        "retained": bool(retained),
        "by_layer": {
            str(layer): None if value is None else tidy(value[0], STATE_DIGITS)
            for layer, value in zip(layers, found, strict=True)
        },
    }


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if len(values) else None
