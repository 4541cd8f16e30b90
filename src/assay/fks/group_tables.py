"""Tables by relation, family and language, and of the rows outside the main average. Nothing is computed here."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from urllib.parse import unquote

from assay.fks.metric_document import CAVEATS, Document, Line, Measured
from assay.fks.rows import LABELS
from assay.records.tables import csv_text

KINDS = ("relation", "family", "language")
_NUMBER = ("value", "n", "n_failed", "interval", "low", "high")
_SIDE = {"reverse": "accuracy", "recognition": "accuracy", "illposed": "noticed_share"}
_INTRODUCTION = {
    "reverse": "The fact is asked backwards: which subject has this object. No part of the main average.",
    "recognition": "The answer is shown among others (assisted). No part of the main average.",
    "illposed": "Several subjects would be right, and the question asks for one: `noticed` is the share of answers "
    "that abstain or name several. No part of the main average, and no accuracy.",
}


def group_csv(documents: Sequence[Document], kind: str) -> str:
    """Return every number of every group of a kind, one a row and interval; floats round-trip."""
    keys = ("dataset", "model", "transport", "coverage", "subset", "anchor", kind, "metric", "setting")
    rows = (
        ((document.dataset, document.model, transport, *_selection(line), group, *_parts(name)), found)
        for document in documents
        for line in document.lines
        for transport, group, name, found in _groups(line, kind)
    )
    return _csv(keys, rows)


def side_csv(documents: Sequence[Document]) -> str:
    """Return every number of the reverse, recognition and ill-posed rows, one a row and interval."""
    rows = (
        ((document.dataset, document.model, name.partition("_")[0], *_parts(name)), found)
        for document in documents
        for name, found in document.side.items()
    )
    return _csv(("dataset", "model", "table", "metric", "setting"), rows)


def _selection(line: Line) -> tuple[str, str, str]:
    return line.coverage_mode, line.subset, str(line.anchor).lower()


def _parts(name: str) -> tuple[str, str]:
    metric, _, setting = name.partition("@")
    return metric, setting.replace(",", ";")


def _groups(line: Line, kind: str) -> Iterator[tuple[str, str, str, Measured]]:
    """Yield (transport or empty, group, name, number)."""
    tables: dict[str, Mapping[str, Mapping[str, Measured]]] = {
        "relation": line.by_relation,
        "family": line.by_family,
        "language": line.by_language,
    }
    for group, numbers in tables[kind].items():
        for name, found in numbers.items():
            yield "", group, name, found
    for transport, inner in line.internal.items():
        for name, found in inner.items():
            metric, _, setting = name.partition("@")
            pairs = [pair.partition("=") for pair in setting.split(",")]
            for group in [unquote(value) for key, _, value in pairs if key == kind]:
                rest = ",".join(f"{key}={value}" for key, _, value in pairs if key != kind)
                yield transport, group, f"{metric}@{rest}", found


def _csv(keys: Sequence[str], rows: Iterable[tuple[tuple[str, ...], Measured]]) -> str:
    lines = (
        (*names, found.value, found.n, found.n_failed, unit, low, high)
        for names, found in rows
        for unit, (low, high) in found.ci.items() or [("", (None, None))]
    )
    return csv_text([*keys, *_NUMBER], lines)


def groups_markdown(documents: Sequence[tuple[Document, str]]) -> str:
    """Return the tables of the first selection of each model for readers, with floors, versions and caveats."""
    lines = ["# FKS by relation, family and language, and the rows outside the main average"]
    for document, determinism in documents:
        lines += ["", f"## {document.model}{'*' if document.filter_model else ''} on {document.dataset}"]
        lines += _headline(document, determinism)
        if document.lines:
            lines += _by_relation(document, document.lines[0])
            lines += _by_labels("family", document.lines[0].by_family, "within_family_max")
            lines += _by_labels("language", document.lines[0].by_language, None)
        for table in _SIDE:
            lines += _side_table(document, table)
    lines += ["", "Caveats:", "", *(f"- {caveat}" for caveat in CAVEATS)]
    return "\n".join(lines) + "\n"


def _headline(document: Document, determinism: str) -> Iterator[str]:
    rows = document.rows
    yield ""
    yield (
        f"{rows.get('main', 0):,} rows of the main average, {rows.get('failed', 0)} failed and "
        f"{rows.get('truncated', 0)} cut prompts among all; scorer {document.scorer_version}, clusterer "
        f"{document.clusterer_version}; determinism {determinism}."
    )
    for line in document.lines[:1]:
        floors = [
            f"{baseline} {metric} {_text(found)}"
            for baseline, numbers in line.baselines.items()
            for metric, found in numbers.items()
        ]
        yield ""
        yield (
            f"Selection: {line.coverage_mode}, {line.subset}, {'with' if line.anchor else 'without'} the anchor, "
            f"{line.n_facts} facts. Floors: {'; '.join(floors) or 'none'}; KTS-Geo 0.5, ISS and KTS-ID 0."
        )


def _by_relation(document: Document, line: Line) -> Iterator[str]:
    tau = document.config["primary_tau"]
    shown = {
        "correct": "correct_share",
        "BCS": "bcs",
        "BES": "bes",
        "SC": f"stable_correct_share@tau={tau}",
        "SW": f"stable_wrong_share@tau={tau}",
    }
    inner: dict[tuple[str, str], dict[str, Measured]] = {}
    for transport, relation, name, found in _groups(line, "relation"):
        if transport:
            inner.setdefault((transport, relation), {}).setdefault(name.partition("@")[0], found)
    transports = sorted({transport for transport, _ in inner})
    inside = {"ISS": "iss", "KTS-Geo": "kts_geo", "KTS-ID": "kts_id"}
    head = ["relation", "facts", *shown, *(f"{label} {t}" for t in transports for label in inside)]
    yield from _table_head(head)
    for relation, numbers in line.by_relation.items():
        cells = [relation, _count(numbers.get("bcs")), *(_text(numbers.get(name)) for name in shown.values())]
        cells += [_text(inner.get((t, relation), {}).get(name)) for t in transports for name in inside.values()]
        yield _row(cells)


def _by_labels(kind: str, groups: Mapping[str, Mapping[str, Measured]], more: str | None) -> Iterator[str]:
    if not groups:
        return
    yield from _table_head([kind, "facts", *LABELS, *([more] if more else [])])
    for group, numbers in groups.items():
        cells = [group, _count(numbers.get("correct_share"))]
        cells += [_text(numbers.get(f"{label}_share")) for label in LABELS]
        yield _row(cells + ([_text(numbers.get(more))] if more else []))


def _side_table(document: Document, table: str) -> Iterator[str]:
    headline = f"{table}_{_SIDE[table]}"
    groups = [name.partition("@")[2] for name in document.side if name.partition("@")[0] == headline]
    groups = [group for group in dict.fromkeys(groups) if "baseline=" not in group]
    if not groups:
        return
    yield from ("", f"{table}: {_INTRODUCTION[table]}")
    yield from _table_head(["group", "rows", "facts", _SIDE[table].removesuffix("_share"), "guessing", *LABELS])
    for group in groups:
        place = f"@{group}" if group else ""
        guess = "baseline=guessing" if not group else f"{group},baseline=guessing"
        names = [f"{headline}{place}", f"{headline}@{guess}", *(f"{table}_{label}_share{place}" for label in LABELS)]
        found = [document.side.get(name) for name in names]
        facts = document.side.get(f"{table}_facts{place}")
        n_facts = "–" if facts is None or facts.value is None else f"{facts.value:.0f}"
        yield _row([unquote(group) or "all", _count(found[0]), n_facts, *(_text(one) for one in found)])


def _table_head(head: Sequence[str]) -> Iterator[str]:
    yield from ("", _row(head), "|" + " --- |" * len(head))


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"


def _count(found: Measured | None) -> str:
    return "–" if found is None else str(found.n)


def _text(found: Measured | None) -> str:
    if found is None or found.value is None:
        return "–"
    low, high = next(iter(found.ci.values()), (None, None))
    return f"{found.value:.3f}" + (f" [{low:.3f}, {high:.3f}]" if low is not None and high is not None else "")
