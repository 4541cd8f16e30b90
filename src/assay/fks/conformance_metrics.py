"""The suite `fks-metrics`: every value of a metric case file against this installation."""

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from assay.errors import DataError
from assay.fks.answers import Answer, Answers, FactInfo
from assay.fks.behaviour import BEHAVIOURS, behaviour_classes
from assay.fks.chance import coin_floor
from assay.fks.external import Stability, stability
from assay.fks.external_summary import fact_columns, relations_of
from assay.fks.internal import FactSelection, LayerResult, measure_layer
from assay.fks.internal_rows import RowOrder, StateQuery
from assay.fks.iss import REASONS
from assay.fks.joint import within_relations
from assay.fks.metric_selection import select
from assay.fks.metric_settings import InternalSettings, MetricSettings, Whitening
from assay.fks.rows import LABELS, Label
from assay.fks.summary import relation_macro
from assay.fks.window import layer_window
from assay.records.conformance import Case
from assay.stats.bootstrap import group_sums, ratio_intervals, unit_counts
from assay.stats.ranks import spearman

_SETTINGS = MetricSettings(dataset="cases", model="none")
_VARIANTS = dict(zip(("with_anchor", "without_anchor"), (f for _, f in _SETTINGS.anchor_variants), strict=True))


def metrics(files: list[Path], data: Path, limit_s: float | None) -> Iterator[Case]:
    """Yield one case per entry of every part of the files; arrays lie beside them as `<stem>.npz`."""
    for path in files:
        document = json.loads(path.read_text(encoding="utf-8"))
        arrays = data / f"{path.stem}.npz"
        if not arrays.is_file():
            raise DataError("the arrays of the cases are missing", file=arrays, remedy="name their folder with --data")
        with np.load(arrays) as loaded:
            tensors = {name: loaded[name] for name in loaded.files}
        yield from _cases(document, tensors)


def _cases(document: dict[str, Any], tensors: dict[str, np.ndarray]) -> Iterator[Case]:
    external, internal_tolerance = document["tolerance"]["external"], document["tolerance"]["internal"]
    for case in document["external_hand"]:
        yield compare(f"external_hand/{case['name']}", case["expected"], lambda c=case: hand(c), external)
    table = document["external_table"]
    entries = table["expected"]
    yield compare("external_table", entries, lambda: {key: table_entry(table, key) for key in entries}, external)
    for number, case in enumerate(document["chance_floor"]):
        yield compare(f"chance_floor/{number}", case["fair_coin"], lambda c=case: floor(c), external)
    wanted = {name: document["bootstrap"][name] for name in ("expected_fact_ci", "expected_relation_ci")}
    yield compare("bootstrap", wanted, lambda: intervals(document["bootstrap"], tensors), external)
    for case in document["internal"]:
        modes = case["expected"]
        yield compare(
            f"internal/{case['name']}",
            modes,
            lambda c=case, m=modes: {mode: internal(c, tensors, mode) for mode in m},
            internal_tolerance,
        )
    depths = document["layer_window"]
    yield compare("layer_window", depths, lambda: window(depths), 0.0)
    yield compare("joint", document["joint"]["expected"], lambda: joint(document["joint"]), external)


def compare(name: str, expected: Any, make: Any, tolerance: float) -> Case:
    """Compute a case and compare it field by field; an exception is a failure, never a crash of the suite."""
    try:
        difference = first_difference(expected, make(), tolerance)
    except Exception as error:  # noqa: BLE001 - a case that cannot be computed has failed
        return Case(name, "failed", str(expected)[:200], f"{type(error).__name__}: {error}", "the case raised an error")
    if difference is None:
        return Case(name, "passed")
    where, want, got = difference
    return Case(name, "failed", f"{want!r}", f"{got!r}", f"at {where or 'the top'}, tolerance {tolerance:g}")


def first_difference(expected: Any, got: Any, tolerance: float, where: str = "") -> tuple[str, Any, Any] | None:
    """Return place and values of the first difference, or None. Both sides must have the same keys."""
    if isinstance(expected, dict):
        if not isinstance(got, dict) or expected.keys() != got.keys():
            return where, sorted(expected), sorted(got) if isinstance(got, dict) else got
        pairs = [(f"{where}/{key}", expected[key], got[key]) for key in expected]
    elif isinstance(expected, list):
        if not isinstance(got, list) or len(expected) != len(got):
            return where, expected, got
        pairs = [(f"{where}/{place}", *pair) for place, pair in enumerate(zip(expected, got, strict=True))]
    else:
        return None if same(expected, got, tolerance) else (where, expected, got)
    found = (first_difference(want, have, tolerance, place) for place, want, have in pairs)
    return next((difference for difference in found if difference is not None), None)


def same(expected: Any, got: Any, tolerance: float) -> bool:
    """Return whether two leaves agree: numbers within the tolerance, everything else exactly (None is no number)."""
    numeric = all(isinstance(value, int | float) and not isinstance(value, bool) for value in (expected, got))
    return bool(abs(expected - got) <= tolerance) if numeric else bool(expected == got and type(expected) is type(got))


def case_answers(rows: list[dict[str, Any]], facts: list[dict[str, Any]] | None = None) -> Answers:
    """Return the rows of a case that enter the main average; facts without flags are those of the rows."""
    known = facts or [
        {"fact_id": fact, "relation": relation, "spec_6_2_flag": False, "answer_in_subject_surface": False}
        for fact, relation in sorted({(row["fact_id"], row["relation"]) for row in rows})
    ]
    fields = ("fact_id", "relation", "spec_6_2_flag", "answer_in_subject_surface")
    return Answers.build(
        [FactInfo(*(fact[name] for name in fields)) for fact in known],
        [
            Answer(
                row["query_id"],
                row["fact_id"],
                row["condition_family"],
                "en",
                row["label"],
                _cluster(row["label"], row["answer_cluster"], row["query_id"]),
            )
            for row in rows
            if row["use_for_main_forward"]
        ],
    )


def _cluster(label: Label, key: str, row_id: str) -> str:
    # As `answer_keys.cluster_key` names them; the case files give label and bare key.
    named = {"correct": "gold", "abstain": "abstain", "incorrect": f"ans:{key}", "ambiguous": f"amb:{key}"}
    return named.get(label, f"unparseable:{row_id}")


def hand(case: dict[str, Any]) -> dict[str, Any]:
    """Return everything that is expected of one fact, with and without the anchor."""
    answers = case_answers(case["rows"])
    return {name: _one_fact(answers, stability(answers, families)) for name, families in _VARIANTS.items()}


def _one_fact(answers: Answers, measured: Stability) -> dict[str, Any] | None:
    if not len(measured.fact):
        return None
    present = [place for place, size in enumerate(measured.n_family[0]) if size]
    return {
        "bcs": float(measured.bcs[0]),
        "bes": float(measured.bes[0]),
        "n_clusters": int(measured.n_clusters[0]),
        "families": sorted(measured.families[place] for place in present),
        "n_queries": int(measured.n_family[0].sum()),
        "dist": {
            answers.clusters[cluster]: float(share)
            for cluster, share in zip(measured.entry_cluster, measured.entry_share, strict=True)
        },
        "within_family_max": {measured.families[place]: float(measured.family_max[0, place]) for place in present},
        "label_share": {
            label: float(share) for label, share in zip(LABELS, measured.label_share[0], strict=True) if share > 0
        },
        "behaviour": {str(tau): BEHAVIOURS[behaviour_classes(answers, measured, tau)[0]] for tau in _SETTINGS.taus},
        "complete_family": bool(measured.complete[0]),
    }


def table_entry(table: dict[str, Any], key: str) -> dict[str, Any]:
    """Return the expected summary of one selection of the table."""
    variant, coverage, subset = key.split("/")
    answers = case_answers(table["rows"], table["facts"])
    measured = stability(answers, _VARIANTS[variant])
    chosen = select(answers, measured, _SETTINGS, variant == "with_anchor", coverage, subset)  # type: ignore[arg-type]
    columns, values = fact_columns(answers, chosen, _SETTINGS)
    means = {(name, extra.get("tau")): float(mean) for (name, extra), mean in zip(columns, values.mean(0), strict=True)}
    relations = relations_of(answers, chosen)
    names, sums, sizes = group_sums(values[:, 0], relations)
    result: dict[str, Any] = {
        "n_facts": len(chosen.rows),
        "bcs": means["bcs", None],
        "bes": means["bes", None],
        "label_share": {label: means[f"{label}_share", None] for label in LABELS},
        "bcs_by_relation": {name: float(total / size) for name, total, size in zip(names, sums, sizes, strict=True)},
        "bcs_relation_macro": relation_macro(values[:, :1], relations, _SETTINGS.bootstrap)[0][0],
    }
    for tau in _SETTINGS.taus:
        result[f"behaviour@{tau}"] = {name: means[f"{name}_share", tau] for name in BEHAVIOURS}
    if subset == "all":
        classes = {tau: behaviour_classes(answers, measured, tau) for tau in _SETTINGS.taus}
        result["per_fact"] = {
            answers.facts[measured.fact[row]].fact_id: {
                "bcs": float(measured.bcs[row]),
                "bes": float(measured.bes[row]),
                "behaviour": {str(tau): BEHAVIOURS[codes[row]] for tau, codes in classes.items()},
                "n_clusters": int(measured.n_clusters[row]),
            }
            for row in chosen.rows
        }
    return result


def floor(case: dict[str, Any]) -> dict[str, Any]:
    """Return the exact floor of a fact with the given family sizes."""
    sizes = case["queries_per_family"]
    floors = {name: coin_floor(tuple(sizes[family] for family in families)) for name, families in _VARIANTS.items()}
    return {name: {"bcs": bcs, "bes": bes} for name, (bcs, bes) in floors.items()}


def intervals(case: dict[str, Any], tensors: dict[str, np.ndarray]) -> dict[str, Any]:
    """Return both bootstrap intervals from the given resamples."""
    names, sums, sizes = group_sums(case["values"], case["relations"])
    order = [names.index(name) for name in case["relation_order"]]
    facts = unit_counts(tensors[case["index_array"]], len(case["values"]))
    relations = unit_counts(tensors[case["relation_index_array"]], len(order))
    (by_fact,) = ratio_intervals(case["values"], None, facts, case["level"])
    (by_relation,) = ratio_intervals(sums[order], sizes[order], relations, case["level"])
    return {
        "expected_fact_ci": [by_fact.low, by_fact.high],
        "expected_relation_ci": [by_relation.low, by_relation.high],
    }


def internal(case: dict[str, Any], tensors: dict[str, np.ndarray], mode: Whitening) -> list[dict[str, Any]]:
    """Return the expected entry of every layer, all metrics on the states whitened by `mode`."""
    families = tuple(case["families"])
    metas = case["meta"]
    facts = sorted({row["fact_id"] for row in metas})
    queries = [StateQuery(r["query_id"], r["fact_id"], r["relation"], r["condition_family"]) for r in metas]
    order = RowOrder.of(queries, families, facts)
    place = {query.query_id: number for number, query in enumerate(queries)}
    index = [place[query.query_id] for query in order.queries]
    settings = InternalSettings(
        iss_whitening=(mode,),
        kts_geo_whitening=mode,
        kts_id_whitening=mode,
        kts_id_metrics=("cosine", "euclidean"),
        shrinkage=case["shrinkage"],
        kts_geo_min_facts=case["kts_geo_min_facts"],
        kts_id_min_facts=case["kts_id_min_facts"],
    )
    everything = FactSelection(tuple(range(len(families))), np.ones(len(facts), dtype=np.bool_))
    states = tensors[case["raw_array"] if "jacobian_array" in case else case["array"]]
    entries = []
    for layer, layer_states in enumerate(states):
        rows = layer_states[index].astype(np.float64)
        jacobian = tensors[case["jacobian_array"]][layer].astype(np.float64) if "jacobian_array" in case else None
        take = partial(_rows, rows)
        (result,) = measure_layer(take, order, rows.shape[1], [everything], settings, jacobian)
        entries.append(
            {"layer": layer, **_layer_entry(result, mode, facts, families, {r.name for r in order.relations})}
        )
    return entries


def _rows(rows: np.ndarray, start: int, stop: int) -> np.ndarray:
    return rows[start:stop]


def _layer_entry(
    result: LayerResult, mode: Whitening, facts: list[str], families: tuple[str, ...], relations: set[str]
) -> dict[str, Any]:
    defined = [value for value in result.iss[mode] if not np.isnan(value)]
    entry: dict[str, Any] = {
        "iss_mean": _mean(defined),
        "n_iss": len(defined),
        "iss_per_fact": {
            fact: {
                "s_plus": _none(result.s_plus[mode][place]),
                "s_minus": _none(result.s_minus[mode][place]),
                "iss": _none(result.iss[mode][place]),
                "reason": REASONS[result.reason[mode][place]] or None,
            }
            for place, fact in enumerate(facts)
        },
        "kts_geo": {
            relation: {
                "pairs": {
                    f"{families[f]}|{families[g]}": rho for (f, g), (rho, _) in result.geo_pairs[relation].items()
                },
                "raw": result.geo.get(relation),
                "geo": None if relation not in result.geo else (result.geo[relation] + 1) / 2,
            }
            for relation in relations
        },
        "kts_geo_raw_macro": _mean(list(result.geo.values())),
        "kts_id": {},
        "kts_id_macro": {},
        "kts_id_per_fact": {},
    }
    raw = entry["kts_geo_raw_macro"]
    entry["kts_geo_macro"] = None if raw is None else (raw + 1) / 2
    for metric, by_relation in result.retrieval.items():
        entry["kts_id"][metric] = {
            relation: {
                "pairs": {
                    f"{families[f]}>{families[g]}": value
                    for (f, g), (value, _) in result.retrieval_pairs[metric][relation].items()
                },
                "id": by_relation.get(relation),
            }
            for relation in relations
        }
        entry["kts_id_macro"][metric] = _mean(list(by_relation.values()))
        per_fact = result.fact_retrieval[metric]
        entry["kts_id_per_fact"][metric] = {
            fact: float(per_fact[place]) for place, fact in enumerate(facts) if not np.isnan(per_fact[place])
        }
    return entry


def _none(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None


def window(expected: dict[str, Any]) -> dict[str, Any]:
    """Return the layer window of every depth of the case."""
    percent = round(100 * expected["threshold"])
    windows = {depth: list(layer_window(int(depth), percent)) for depth in expected["by_n_layers"]}
    return {"threshold": percent / 100, "by_n_layers": windows}


def joint(case: dict[str, Any]) -> dict[str, Any]:
    """Return pooled and within-relation rank correlations."""
    found = within_relations(np.array(case["iss"]), np.array(case["bcs"]), case["relation"], 5)
    return {
        "pooled_spearman": spearman(case["iss"], case["bcs"]),
        "within_relation": found,
        "within_relation_mean": _mean(list(found.values())),
    }
