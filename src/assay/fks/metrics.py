"""The metrics job of FKS: from scored, clustered answers (and hidden states, where given) to numbers."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from assay.canonical import file_digest
from assay.errors import DataError
from assay.fks.answers import Answers, FactInfo, join_clusters, main_answers
from assay.fks.external import Stability, stability
from assay.fks.external_summary import baseline_numbers, breakdown_numbers, selection_numbers
from assay.fks.internal_rows import StateQuery
from assay.fks.internal_run import run_internal
from assay.fks.internal_summary import WindowResult, fact_selections, internal_numbers, joint_numbers, window_results
from assay.fks.lens_file import LENS, read_lens
from assay.fks.metric_document import SCHEMA, Document, Line, Measured, grouped, measured, named
from assay.fks.metric_files import files_of
from assay.fks.metric_selection import Selection, select
from assay.fks.metric_settings import MetricSettings
from assay.fks.qualification_report import qualification_numbers, read_report
from assay.fks.rows import ClusterRow, FactRow, QueryRow, ScoredRow
from assay.fks.side_tables import side_numbers, side_rows, table_of
from assay.fks.summary import Number
from assay.records.step import Input, Inputs, Outputs

_SELECTION_KEYS = ("anchor", "coverage", "subset")


def compute(config: dict[str, Any], inputs: Inputs) -> Outputs:
    """Measure one model on one dataset.

    Parameters
    ----------
    config : dict
        `MetricSettings` as plain data; keys that are left out take their defaults.
    inputs : Inputs
        Roles `queries` (facts.jsonl, queries.jsonl), `labels` (labels.jsonl), `clusters` (clusters.jsonl);
        optional: `hidden` (index.jsonl and shards) and `lens` (lens.safetensors).

    Returns
    -------
    mapping
        `metrics.jsonl` rows of the tidy table; `per_fact.jsonl` every per-fact value; `metrics.json` the document
        that the main table is made from.

    Raises
    ------
    DataError
        If a query has no scored answer, an answer has no query, or files contradict each other.
    """
    settings = msgspec.convert(config, MetricSettings)
    facts, queries = read_queries(inputs.one("queries"))
    scored = list(inputs.one("labels").rows("labels.jsonl", ScoredRow))
    clusters = list(inputs.one("clusters").rows("clusters.jsonl", ClusterRow))
    check_complete(queries, facts, scored)
    answers = main_answers([fact_info(fact) for fact in facts.values()], join_clusters(scored, clusters))
    gold = {fact.fact_id: fact.object.key for fact in facts.values()}

    tables = {anchor: stability(answers, families) for anchor, families in settings.anchor_variants}
    chosen = list(selections(answers, tables, settings))
    inside = measure_states(inputs, queries.values(), answers, chosen, settings)
    side = list(side_numbers(side_rows(scored, queries), settings.bootstrap))
    report = read_report(inputs.one("queries"))
    numbers = [*side, *(qualification_numbers(report) if report else ())]
    lines = []
    for selection in chosen:
        line, made = selection_line(answers, selection, inside, settings, gold)
        lines.append(line)
        numbers += made
    document = Document(
        schema=SCHEMA,
        dataset=settings.dataset,
        model=settings.model,
        method=settings.method,
        profile=settings.profile,
        filter_model=settings.filter_model,
        scorer_version=_only("scorer_version", (row.scorer_version for row in scored)),
        clusterer_version=_only("clusterer_version", (row.clusterer_version for row in clusters)),
        inputs=_digests(inputs),
        config=msgspec.to_builtins(settings),
        rows=count_rows(scored),
        lines=tuple(lines),
        side=named(side, ("assisted",)),
        states=inside.report,
        qualification=report,
    )
    return files_of(document, numbers, answers, tables, (inside.windows, inside.layers), settings)


def selection_line(
    answers: Answers, chosen: Selection, inside: "Inside", settings: MetricSettings, gold: Mapping[str, str]
) -> tuple[Line, list[Number]]:
    """Return everything that was measured of a selection, as a line of the document and as a list."""
    line, outer = external_line(answers, chosen, settings, gold)
    windows = [window for window in inside.windows if window.chosen is chosen]
    line, inner = internal_line(answers, line, windows, settings)
    return line, outer + inner


def fact_info(fact: FactRow) -> FactInfo:
    """Return what the external metrics need of a fact."""
    return FactInfo(fact.fact_id, fact.relation.relation_id, fact.spec_6_2_flag, fact.answer_in_subject_surface)


@dataclass(frozen=True)
class Inside:
    """What the hidden states gave; empty where the job has none."""

    windows: tuple[WindowResult, ...] = ()
    layers: tuple[int, ...] = ()
    report: dict[str, object] = field(default_factory=dict)


def measure_states(
    inputs: Inputs,
    queries: Iterable[QueryRow],
    answers: Answers,
    chosen: Sequence[Selection],
    settings: MetricSettings,
) -> Inside:
    """Return the internal metrics of every selection, if the job has hidden states."""
    if not inputs.all("hidden"):
        return Inside()
    hidden = inputs.one("hidden")
    lens = read_lens(inputs.one("lens").path(LENS)) if inputs.all("lens") else None
    rows = [
        StateQuery(query.query_id, query.fact_id, query.relation, query.condition_family)
        for query in queries
        if query.use_for_main_forward
    ]
    run = run_internal(
        hidden.folder,
        rows,
        settings.main_families,
        [fact.fact_id for fact in answers.facts],
        fact_selections(chosen, settings.main_families, len(answers.facts)),
        settings.internal,
        lens,
    )
    prompts = None if lens is None else int(lens.header["n_prompts"])
    report: dict[str, object] = {
        "rows": run.report.n_rows,
        "excluded": {"nonfinite_state": run.report.n_nonfinite},
        "zero_vectors": run.report.n_zero,
        "outside_main_families": run.report.n_outside,
        "layers": list(run.report.layers),
        "header": run.report.header,
        "lens": None if lens is None else lens.header,
    }
    return Inside(tuple(window_results(run, chosen, prompts)), run.report.layers, report)


def internal_line(
    answers: Answers, line: Line, windows: Sequence[WindowResult], settings: MetricSettings
) -> tuple[Line, list[Number]]:
    """Return the line with the internal and joint numbers of every transport, and those numbers as a list."""
    internal: dict[str, dict[str, Measured]] = {}
    joint: dict[str, dict[str, Measured]] = {}
    numbers: list[Number] = []
    for window in windows:
        drop = window.setting.keys()
        inner = list(internal_numbers(answers, window, settings))
        both = list(joint_numbers(answers, window, settings))
        internal[window.transport], joint[window.transport] = named(inner, drop), named(both, drop)
        numbers += inner + both
    return msgspec.structs.replace(line, internal=internal, joint=joint), numbers


def read_queries(artifact: Input) -> tuple[dict[str, FactRow], dict[str, QueryRow]]:
    """Return facts and queries by id; doubles are errors."""
    facts: dict[str, FactRow] = {}
    for fact in artifact.rows("facts.jsonl", FactRow):
        if fact.fact_id in facts:
            raise DataError("the fact stands twice", file=artifact.path("facts.jsonl"), row=fact.fact_id)
        facts[fact.fact_id] = fact
    queries: dict[str, QueryRow] = {}
    for query in artifact.rows("queries.jsonl", QueryRow):
        if query.query_id in queries:
            raise DataError("the query stands twice", file=artifact.path("queries.jsonl"), row=query.query_id)
        queries[query.query_id] = query
    return facts, queries


def check_complete(queries: Mapping[str, QueryRow], facts: Mapping[str, FactRow], scored: Sequence[ScoredRow]) -> None:
    """Refuse missing and left-over answers, and answers that contradict their query or fact."""
    missing = queries.keys() - {row.query_id for row in scored}
    if missing:
        raise DataError(
            f"{len(missing)} of {len(queries)} queries have no scored answer",
            file="labels.jsonl",
            row=min(missing),
            key="query_id",
            expected="one row or more for every query",
            remedy="score generations of these queries",
        )
    for row in scored:
        query = queries.get(row.query_id)
        if query is None:
            raise DataError("the answer belongs to no query", file="labels.jsonl", row=row.row_id, key="query_id")
        fact = facts.get(row.fact_id)
        if fact is None or query.fact_id != row.fact_id:
            raise DataError(
                f"the query asks about {query.fact_id!r}", file="labels.jsonl", row=row.row_id, key="fact_id"
            )
        for key in _COPIED:
            if getattr(query, key) != getattr(row, key):
                raise DataError(
                    f"the query says {getattr(query, key)!r}, the answer {getattr(row, key)!r}",
                    file="labels.jsonl",
                    row=row.row_id,
                    key=key,
                    remedy="score against the queries that are measured",
                )
        if row.spec_6_2_flag != fact.spec_6_2_flag or row.relation != fact.relation.relation_id:
            raise DataError(
                "relation or flag differ from the fact's", file="labels.jsonl", row=row.row_id, key="spec_6_2_flag"
            )


_COPIED = (
    "condition_family",
    "language",
    "is_well_posed",
    "use_for_main_forward",
    "use_for_reverse_analysis",
    "use_for_recognition_analysis",
)


def selections(answers: Answers, tables: Mapping[bool, Stability], settings: MetricSettings) -> Iterator[Selection]:
    """Yield the selections of the main table: anchor in and out, coverage modes, subsets."""
    for anchor, measured_table in tables.items():
        for coverage in settings.coverage_modes:
            for subset in settings.subsets:
                yield select(answers, measured_table, settings, anchor, coverage, subset)


def external_line(
    answers: Answers, chosen: Selection, settings: MetricSettings, gold: Mapping[str, str]
) -> tuple[Line, list[Number]]:
    """Return the external numbers of a selection, as a line of the document and as a list.

    Breakdowns are given for the subset of all facts; the other subsets have their main numbers and baselines.
    """
    main = list(selection_numbers(answers, chosen, settings))
    broken = list(breakdown_numbers(answers, chosen, settings)) if chosen.subset == "all" else []
    floors = list(baseline_numbers(answers, chosen, gold))
    line = Line(
        coverage_mode=chosen.coverage,
        subset=chosen.subset,
        anchor=chosen.anchor,
        main_families=chosen.families,
        n_facts=len(chosen.rows),
        n_excluded={reason: count for reason, count in chosen.excluded.items() if count},
        values=named((number for number in main if number.metric != "excluded_facts"), _SELECTION_KEYS),
        baselines={
            name: {number.metric: measured(number) for number in floors if number.baseline == name and _whole(number)}
            for name in sorted({number.baseline for number in floors})
        },
        by_relation=grouped(broken, "relation", _SELECTION_KEYS),
        by_family=grouped(broken, "family", _SELECTION_KEYS),
        by_language=grouped(broken, "language", _SELECTION_KEYS),
    )
    return line, [*main, *broken, *floors]


def _whole(number: Number) -> bool:
    return "relation" not in number.setting


def count_rows(scored: Iterable[ScoredRow]) -> dict[str, int]:
    """Return how many rows stand in each part; `unused` are well-posed rows without any flag."""
    tally = {"main": 0, "reverse": 0, "recognition": 0, "illposed": 0, "unused": 0, "failed": 0, "truncated": 0}
    for row in scored:
        part = "main" if row.use_for_main_forward else table_of(row) or "unused"
        tally[part] += 1
        tally["failed"] += row.finish_reason == "error"
        tally["truncated"] += row.truncated
    return tally


def _only(key: str, values: Iterable[str]) -> str:
    found = sorted(set(values))
    if len(found) != 1:
        raise DataError(f"the rows name {found}", key=key, expected="one version in all rows", remedy="score them anew")
    return found[0]


def _digests(inputs: Inputs) -> dict[str, str]:
    files = {"queries": ("facts.jsonl", "queries.jsonl"), "labels": ("labels.jsonl",), "clusters": ("clusters.jsonl",)}
    return {name: file_digest(inputs.one(role).path(name)) for role, names in files.items() for name in names}
