"""The files of a metrics artifact: the tidy rows, the document, and a row for every fact, layer and pair."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from assay.canonical import canonical_bytes
from assay.fks.answers import Answers
from assay.fks.behaviour import BEHAVIOURS, behaviour_classes
from assay.fks.external import Stability
from assay.fks.internal_files import fact_values, layer_rows, pair_rows
from assay.fks.internal_summary import WindowResult
from assay.fks.metric_document import Document
from assay.fks.metric_settings import MetricSettings
from assay.fks.rows import LABELS
from assay.fks.summary import Number, metric_rows, tidy
from assay.records.step import Outputs


def files_of(
    document: Document,
    numbers: Sequence[Number],
    answers: Answers,
    tables: Mapping[bool, Stability],
    inside: tuple[Sequence[WindowResult], Sequence[int]],
    settings: MetricSettings,
) -> Outputs:
    """Return the files of the artifact; those of the layers only where there are states (windows, layers)."""
    windows, layers = inside
    outputs: dict[str, Iterable[object] | bytes] = {
        "metrics.jsonl": list(metric_rows(numbers, settings)),
        "per_fact.jsonl": list(per_fact_rows(answers, tables, windows, settings)),
        "metrics.json": msgspec.json.format(canonical_bytes(msgspec.to_builtins(document)), indent=2) + b"\n",
    }
    if windows:
        outputs["internal_layers.jsonl"] = list(layer_rows(windows, layers))
        outputs["internal_pairs.jsonl"] = list(pair_rows(windows, settings.main_families, layers))
    return outputs


def per_fact_rows(
    answers: Answers, tables: Mapping[bool, Stability], windows: Sequence[WindowResult], settings: MetricSettings
) -> Iterator[dict[str, object]]:
    """Yield one row per fact with every per-fact value, with and without the anchor.

    Internal values are those of the selection of all facts with all the families that they have.
    """
    rows: list[dict[str, object]] = [
        {
            "fact_id": fact.fact_id,
            "relation": fact.relation,
            "spec_6_2_flag": fact.spec_6_2_flag,
            "answer_in_subject_surface": fact.answer_in_subject_surface,
        }
        for fact in answers.facts
    ]
    inner: dict[bool, dict[str, dict[str, dict[str, object]]]] = {anchor: {} for anchor in tables}
    for window in windows:
        if (window.chosen.coverage, window.chosen.subset) == (settings.coverage_modes[0], settings.subsets[0]):
            inner[window.chosen.anchor][window.transport] = fact_values(answers, window, settings)
    for anchor, table in tables.items():
        classes = {tau: behaviour_classes(answers, table, tau) for tau in settings.taus}
        complete = table.complete
        for row, fact in enumerate(table.fact):
            rows[fact]["with_anchor" if anchor else "without_anchor"] = {
                "bcs": tidy(table.bcs[row]),
                "bes": tidy(table.bes[row]),
                "behaviour": {str(tau): BEHAVIOURS[codes[row]] for tau, codes in classes.items()},
                "n_clusters": int(table.n_clusters[row]),
                "top_cluster": answers.clusters[table.top[row]],
                "top_is_unique": bool(table.top_unique[row]),
                "complete_family": bool(complete[row]),
                "n_queries": {
                    family: int(n) for family, n in zip(table.families, table.n_family[row], strict=True) if n
                },
                "within_family_max": {
                    family: tidy(value)
                    for family, value in zip(table.families, table.family_max[row], strict=True)
                    if value == value
                },
                "label_share": {
                    label: tidy(value) for label, value in zip(LABELS, table.label_share[row], strict=True) if value
                },
                "n_failed": int(table.n_failed[row]),
                "internal": {
                    transport: values[answers.facts[fact].fact_id]
                    for transport, values in inner[anchor].items()
                    if answers.facts[fact].fact_id in values
                },
            }
    yield from rows
