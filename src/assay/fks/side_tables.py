"""Reverse, recognition and ill-posed queries: tables of their own, in no mean of the main table.

A row belongs to a table by its own flags. Shares are over rows; as a fact has several rows, facts are resampled
whole, and with fewer than ten facts a Wilson interval over facts stands instead, named as such.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from assay.fks.metric_settings import BootstrapSettings
from assay.fks.rows import LABELS, Label, QueryRow, ScoredRow
from assay.fks.summary import Number, interval_columns
from assay.stats.bootstrap import Interval, group_sums
from assay.stats.intervals import wilson

TABLES = ("reverse", "recognition", "illposed")
HEADLINE: Mapping[str, tuple[str, tuple[Label, ...]]] = {
    "reverse": ("reverse_accuracy", ("correct",)),
    "recognition": ("recognition_accuracy", ("correct",)),
    "illposed": ("illposed_noticed_share", ("abstain", "ambiguous")),
}
WILSON_BELOW = 10
_OPTION = re.compile(r"(?:^|[\s(（])([A-Z])[).、．）]")


class SideRow(NamedTuple):
    """One scored row of a side table; `n_options` is 0 for anything but a multiple-choice question."""

    row_id: str
    table: str
    fact_id: str
    relation: str
    language: str
    label: Label
    failed: bool
    n_options: int


def side_rows(scored: Iterable[ScoredRow], queries: Mapping[str, QueryRow]) -> list[SideRow]:
    """Return the rows of the three tables, sorted by fact and row id."""
    rows = []
    for row in scored:
        table = table_of(row)
        if table is None:
            continue
        options = count_options(queries[row.query_id]) if table == "recognition" else 0
        failed = row.finish_reason == "error"
        rows.append(SideRow(row.row_id, table, row.fact_id, row.relation, row.language, row.label, failed, options))
    return sorted(rows, key=lambda row: (row.fact_id, row.row_id))


def table_of(row: ScoredRow) -> str | None:
    """Return the side table of a row by its flags, or None (main rows, and well-posed rows without any flag)."""
    if row.use_for_main_forward:
        return None
    if row.use_for_reverse_analysis:
        return "reverse"
    if row.use_for_recognition_analysis:
        return "recognition"
    return None if row.is_well_posed else "illposed"


def count_options(query: QueryRow) -> int:
    """Return the number of options of a multiple-choice query, 0 if it is none.

    Options are the `choices` of the row, else the letters A, B, C ... that mark them in the text, in this order.
    """
    if query.choices:
        return len(query.choices)
    found = 0
    for letter in _OPTION.findall(query.query):
        if letter == chr(ord("A") + found):
            found += 1
    return found if found >= 2 else 0


def side_numbers(rows: Sequence[SideRow], settings: BootstrapSettings) -> Iterator[Number]:
    """Yield shares of the labels, the headline number and its guessing baseline for every table and breakdown."""
    for table in TABLES:
        here = [row for row in rows if row.table == table]
        if not here:
            continue
        mark: dict[str, object] = {"assisted": True} if table == "recognition" else {}
        yield from _group(table, here, mark, settings)
        languages = sorted({row.language for row in here})
        if len(languages) > 1:
            for language in languages:
                group = [row for row in here if row.language == language]
                yield from _group(table, group, {**mark, "language": language}, settings)
        for relation in sorted({row.relation for row in here}):
            group = [row for row in here if row.relation == relation]
            yield from _group(table, group, {**mark, "relation": relation}, settings)
        if table == "recognition":
            for kind in ("multiple_choice", "true_false"):
                group = [row for row in here if (row.n_options > 0) == (kind == "multiple_choice")]
                if group:
                    yield from _group(table, group, {**mark, "kind": kind}, settings)


def _group(
    table: str, rows: Sequence[SideRow], setting: Mapping[str, object], settings: BootstrapSettings
) -> Iterator[Number]:
    headline, counted = HEADLINE[table]
    names = [headline, *(f"{table}_{label}_share" for label in LABELS)]
    hits = [[float(row.label in counted), *(float(row.label == label) for label in LABELS)] for row in rows]
    facts, values, intervals = _fact_shares([row.fact_id for row in rows], hits, settings)
    failed = sum(row.failed for row in rows)
    for name, value, interval in zip(names, values, intervals, strict=True):
        unit = "wilson_facts" if interval.method == "wilson" else "fact"
        yield Number(name, value, len(rows), failed, setting, {unit: interval})
    yield Number(f"{table}_facts", facts, len(rows), failed, setting, unit="facts")
    if table == "recognition":
        guess = sum(1 / row.n_options if row.n_options else 0.5 for row in rows) / len(rows)
        yield Number(headline, guess, len(rows), 0, setting, baseline="guessing")


def _fact_shares(
    facts: Sequence[str], hits: Sequence[Sequence[float]], settings: BootstrapSettings
) -> tuple[int, list[float], list[Interval]]:
    """Return the number of facts, and per column the share of rows that hit and its interval over facts."""
    names, sums, rows = group_sums(hits, facts)
    shares = [float(share) for share in np.mean(hits, axis=0)]
    if len(names) < WILSON_BELOW:
        return len(names), shares, [wilson(share * len(names), len(names), settings.level) for share in shares]
    return len(names), shares, interval_columns(sums, rows, settings)
