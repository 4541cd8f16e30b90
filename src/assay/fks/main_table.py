"""The main table of FKS: one JSON over all models, and CSV, Markdown and LaTeX made from it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from assay.canonical import canonical_bytes
from assay.errors import DataError
from assay.fks.group_tables import KINDS, group_csv, groups_markdown, side_csv
from assay.fks.main_table_text import csv_table, latex_table, markdown_table
from assay.fks.metric_document import CAVEATS, Document, Line, Measured
from assay.fks.qualification_report import sentence
from assay.fks.table_rows import FLOORS, SCHEMA, AcrossModels, Cell, MainRow, MainTable
from assay.records.step import Inputs, Outputs
from assay.stats.ranks import spearman

_MIN_MODELS = 3
_LABELS = ("correct", "incorrect", "ambiguous", "abstain", "unparseable")
_CLASSES = ("stable_correct", "stable_wrong", "stable_abstention", "unstable")


def build(config: dict[str, Any], inputs: Inputs) -> Outputs:
    """Make the main table from the metrics artifacts of all models (role `metrics`; none gives headers only).

    Parameters
    ----------
    config : dict
        Not read; the table shows what the artifacts hold.

    Returns
    -------
    mapping
        `main_table.json`, and `main_table.csv`, `main_table.md`, `main_table.tex` made from it; from the same
        documents `by_relation.csv`, `by_family.csv`, `by_language.csv`, `side_tables.csv` (reverse, recognition and
        ill-posed rows) and `groups.md` for readers.
    """
    del config
    documents = [
        (_read(artifact.path("metrics.json").read_bytes(), artifact.path("metrics.json")), artifact.determinism)
        for artifact in inputs.all("metrics")
    ]
    rows = [row for document, determinism in documents for row in main_rows(document, determinism)]
    table = MainTable(
        schema=SCHEMA,
        rows=tuple(rows),
        across_models=tuple(across_models(rows)),
        caveats=CAVEATS,
        choice=tuple(dict.fromkeys(sentence(d.dataset, d.qualification) for d, _ in documents if d.qualification)),
    )
    return {
        "main_table.json": msgspec.json.format(canonical_bytes(msgspec.to_builtins(table)), indent=2) + b"\n",
        "main_table.csv": csv_table(table).encode(),
        "main_table.md": markdown_table(table).encode(),
        "main_table.tex": latex_table(table).encode(),
        **{f"by_{kind}.csv": group_csv([d for d, _ in documents], kind).encode() for kind in KINDS},
        "side_tables.csv": side_csv([d for d, _ in documents]).encode(),
        "groups.md": groups_markdown(documents).encode(),
    }


def _read(data: bytes, path: object) -> Document:
    try:
        return msgspec.json.decode(data, type=Document)
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise DataError(str(error), file=path, expected="the document of a metrics artifact of FKS") from error


def main_rows(document: Document, determinism: str) -> Iterator[MainRow]:
    """Yield the rows of one model: selections times transports (one row each where there are no states)."""
    whitening = _whitening(document)
    setting: Any = document.config["setting"]
    text = how(document)
    for line in document.lines:
        for transport in line.internal or ("",):
            inner = line.internal.get(transport, {})
            yield MainRow(
                dataset=document.dataset,
                model=document.model,
                method=document.method,
                seed=str(setting.get("seed", "")),
                filter_model=document.filter_model,
                transport=transport,
                coverage=line.coverage_mode,
                subset=line.subset,
                anchor=line.anchor,
                n_facts=line.n_facts,
                n_excluded=line.n_excluded,
                n_failed=document.rows.get("failed", 0),
                n_nonfinite=_nonfinite(document),
                cells=_cells(document, line, inner, whitening),
                floors=_floors(line),
                scorer_version=document.scorer_version,
                clusterer_version=document.clusterer_version,
                determinism=determinism,
                how=text,
            )


def how(document: Document) -> str:
    """Return the choices behind the numbers of a document, as its table states them."""
    config: Any = document.config
    boot, inner, states = config["bootstrap"], config["internal"], dict[str, Any](document.states)
    parts = [
        f"classes at τ = {config['primary_tau']}",
        f"intervals: percentile bootstrap, {boot['level']:.4g}, {boot['resamples']} resamples, seed {boot['seed']}",
    ]
    switches = [key for key in ("drop_spec_6_2_flagged", "drop_answer_in_subject") if config[key]]
    parts += [f"without facts: {', '.join(switches)}"] if switches else []
    if states:
        layers, lens = states["layers"], states["lens"]
        parts += [
            f"states of layers {layers[0]} to {layers[-1]}, top {states['header'].get('top_state', 'unknown')}",
            f"whitening: ISS {inner['iss_whitening'][0]}, KTS-Geo {inner['kts_geo_whitening']}, "
            f"KTS-ID {inner['kts_id_whitening']} ({inner['kts_id_metrics'][0]}), shrinkage {inner['shrinkage']}",
            f"least common facts: KTS-Geo {inner['kts_geo_min_facts']}, KTS-ID {inner['kts_id_min_facts']}",
        ]
        parts += [f"lens of {lens['n_prompts']} prompts"] if lens else []
    return "; ".join(parts)


def _nonfinite(document: Document) -> int:
    excluded = document.states.get("excluded", {})
    return int(excluded.get("nonfinite_state", 0)) if isinstance(excluded, dict) else 0


def _whitening(document: Document) -> dict[str, str]:
    """Return the names under which the document holds the internal numbers of the main table."""
    internal: Any = document.config["internal"]
    shown = f"whitening={internal['kts_geo_whitening']}"
    distance = internal["kts_id_metrics"][0]
    return {
        "iss": f"iss@whitening={internal['iss_whitening'][0]}",
        "kts_geo": f"kts_geo@{shown}",
        "kts_geo_raw_spearman": f"kts_geo_raw_spearman@{shown}",
        "kts_id": f"kts_id@distance={distance},whitening={internal['kts_id_whitening']}",
    }


def _cells(
    document: Document, line: Line, inner: Mapping[str, Measured], whitening: Mapping[str, str]
) -> dict[str, Cell]:
    tau = document.config["primary_tau"]
    names = {f"{label}_share": f"{label}_share" for label in _LABELS}
    names |= {"bcs": "bcs", "bes": "bes"}
    names |= {f"{name}_share": f"{name}_share@tau={tau}" for name in _CLASSES}
    cells = {column: _cell(line.values.get(name)) for column, name in names.items()}
    return cells | {column: _cell(inner.get(name)) for column, name in whitening.items()}


def _floors(line: Line) -> dict[str, float | None]:
    found = {name: line.baselines.get(baseline, {}).get(metric) for name, (baseline, metric) in FLOORS.items()}
    return {name: None if one is None else one.value for name, one in found.items()}


def _cell(found: Measured | None) -> Cell:
    if found is None:
        return Cell(value=None, n=0)
    return Cell(value=found.value, n=found.n, ci=found.ci)


def across_models(rows: Sequence[MainRow]) -> Iterator[AcrossModels]:
    """Yield rank correlations of model means; None below three models, where they could only be 1, 0 or -1."""
    groups: dict[tuple[str, ...], list[MainRow]] = {}
    for row in rows:
        if row.transport:
            key = (row.dataset, row.transport, row.coverage, row.subset, str(row.anchor))
            groups.setdefault(key, []).append(row)
    for members in groups.values():
        first = members[0]
        for inside in ("iss", "kts_geo_raw_spearman", "kts_id"):
            for outside in ("bcs", "bes"):
                pairs = _model_means(members, inside, outside)
                a, b = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
                rho = spearman(a, b) if len(pairs) >= _MIN_MODELS else None
                yield AcrossModels(
                    dataset=first.dataset,
                    transport=first.transport,
                    coverage=first.coverage,
                    subset=first.subset,
                    anchor=first.anchor,
                    inside=inside,
                    outside=outside,
                    n_models=len(pairs),
                    spearman=rho,
                )


def _model_means(rows: Sequence[MainRow], inside: str, outside: str) -> list[tuple[float, float]]:
    """Return both numbers of every model that has them, each the mean over its seeds."""
    found: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        first, second = row.cells[inside].value, row.cells[outside].value
        if first is not None and second is not None:
            found.setdefault(row.model, []).append((first, second))
    return [(sum(a for a, _ in one) / len(one), sum(b for _, b in one) / len(one)) for one in found.values()]
