"""Scored answers as columns: the one join of queries, labels and clusters that all metrics read."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.errors import DataError
from assay.fks.rows import LABELS, ClusterRow, Label, ScoredRow

Index = NDArray[np.int64]
Bool = NDArray[np.bool_]


class FactInfo(NamedTuple):
    """What the metrics need to know of a fact."""

    fact_id: str
    relation: str
    spec_6_2_flag: bool
    answer_in_subject_surface: bool


class Answer(NamedTuple):
    """One scored answer of a fact, already selected by its own flags."""

    row_id: str
    fact_id: str
    family: str
    language: str
    label: Label
    cluster: str
    failed: bool = False


@dataclass(frozen=True)
class Answers:
    """Answers sorted by fact, family and row id, so that no number depends on the order of files.

    Attributes
    ----------
    facts : tuple of FactInfo
        Sorted by `fact_id`.
    families, languages, clusters : tuple of str
        Names behind the codes.
    fact, family, language, cluster, label : array of int, shape [n_rows]
        Codes; `label` counts in `assay.fks.rows.LABELS`.
    failed : array of bool, shape [n_rows]
        Generations that failed; they carry the label `unparseable`.
    """

    facts: tuple[FactInfo, ...]
    families: tuple[str, ...]
    languages: tuple[str, ...]
    clusters: tuple[str, ...]
    fact: Index
    family: Index
    language: Index
    cluster: Index
    label: Index
    failed: Bool

    @classmethod
    def build(cls, facts: Iterable[FactInfo], rows: Iterable[Answer]) -> "Answers":
        """Sort and encode.

        Raises
        ------
        DataError
            For a row whose fact is not among the facts, and for a `row_id` that occurs twice.
        """
        known = tuple(sorted(facts))
        position = {fact.fact_id: number for number, fact in enumerate(known)}
        ordered = sorted(rows, key=lambda row: (row.fact_id, row.family, row.row_id))
        seen: set[str] = set()
        for row in ordered:
            if row.fact_id not in position:
                raise DataError(f"the fact {row.fact_id!r} is not in the facts", row=row.row_id, key="fact_id")
            if row.row_id in seen:
                raise DataError("the answer stands twice", row=row.row_id, expected="each row id once")
            seen.add(row.row_id)
        families, family = _encode([row.family for row in ordered])
        languages, language = _encode([row.language for row in ordered])
        clusters, cluster = _encode([row.cluster for row in ordered])
        label_code: Mapping[str, int] = {label: code for code, label in enumerate(LABELS)}
        return cls(
            facts=known,
            families=families,
            languages=languages,
            clusters=clusters,
            fact=np.array([position[row.fact_id] for row in ordered], dtype=np.int64),
            family=family,
            language=language,
            cluster=cluster,
            label=np.array([label_code[row.label] for row in ordered], dtype=np.int64),
            failed=np.array([row.failed for row in ordered], dtype=np.bool_),
        )

    @property
    def relations(self) -> tuple[str, ...]:
        """The relation of each fact."""
        return tuple(fact.relation for fact in self.facts)


def _encode(names: list[str]) -> tuple[tuple[str, ...], Index]:
    distinct = tuple(sorted(set(names)))
    code = {name: number for number, name in enumerate(distinct)}
    return distinct, np.array([code[name] for name in names], dtype=np.int64)


def join_clusters(scored: Iterable[ScoredRow], clusters: Iterable[ClusterRow]) -> list[tuple[ScoredRow, str]]:
    """Return every scored row with the name of its cluster.

    Raises
    ------
    DataError
        If a scored row has no cluster, a cluster has no scored row, a row stands twice, or the two files disagree
        about the label (they would come from different runs of the scorer).
    """
    by_row: dict[str, ClusterRow] = {}
    for row in clusters:
        if row.row_id in by_row:
            raise DataError("the row stands twice", file="clusters.jsonl", row=row.row_id)
        by_row[row.row_id] = row
    joined = []
    for answer in scored:
        found = by_row.pop(answer.row_id, None)
        if found is None:
            raise DataError(
                "the scored row has no cluster (or stands twice)",
                file="labels.jsonl",
                row=answer.row_id,
                remedy="cluster exactly the labels that are measured",
            )
        if (found.label, found.fact_id) != (answer.label, answer.fact_id):
            raise DataError(
                f"labels say {answer.label} of {answer.fact_id}, clusters {found.label} of {found.fact_id}",
                file="clusters.jsonl",
                row=answer.row_id,
                remedy="cluster these labels again",
            )
        joined.append((answer, found.cluster))
    if by_row:
        raise DataError("the row has no label", file="clusters.jsonl", row=min(by_row))
    return joined


def main_answers(facts: Iterable[FactInfo], joined: Iterable[tuple[ScoredRow, str]]) -> Answers:
    """Return the rows that enter the main average: those flagged so, whatever their family is called."""
    return Answers.build(
        facts,
        (
            Answer(
                row.row_id,
                row.fact_id,
                row.condition_family,
                row.language,
                row.label,
                cluster,
                row.finish_reason == "error",
            )
            for row, cluster in joined
            if row.use_for_main_forward
        ),
    )
