"""The stage `clusters`: which answers to one fact are the same."""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from assay.errors import DataError
from assay.fks.answer_keys import cluster_key
from assay.fks.catalogue import Catalogue, read_catalogue
from assay.fks.judge import JudgementRow, merged_keys
from assay.fks.rows import ClusterRow, QueryRow, ScoredRow
from assay.records.step import Inputs, Outputs

CLUSTERER_VERSION = "assay-fks-clusters-3"
"""Raise it whenever a rule of this module or of `answer_keys` changes."""


class ClusterSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Settings of the clusterer.

    Attributes
    ----------
    judge : str
        Name of the model behind the role "judgements"; it becomes part of `clusterer_version`.
    """

    judge: str = ""


def cluster_rows(config: dict[str, Any], inputs: Inputs) -> Outputs:
    """Make `clusters.jsonl` (rows of ClusterRow, in the order of the labels).

    Roles: "queries" (facts and queries), "labels", and at most one "judgements", whose yes merges clusters.
    """
    settings = msgspec.convert(config, ClusterSettings)
    catalogue, queries = read_catalogue(inputs.one("queries"))
    labels = inputs.one("labels").rows("labels.jsonl", ScoredRow)
    judgements = [row for found in inputs.all("judgements") for row in found.rows("judgements.jsonl", JudgementRow)]
    version = f"{CLUSTERER_VERSION}+judge:{settings.judge}" if inputs.all("judgements") else CLUSTERER_VERSION
    return {"clusters.jsonl": cluster_all(catalogue, queries, labels, judgements, version)}


def cluster_all(
    catalogue: Catalogue,
    queries: Iterable[QueryRow],
    labels: Iterable[ScoredRow],
    judgements: Iterable[JudgementRow] = (),
    version: str = CLUSTERER_VERSION,
) -> Iterator[ClusterRow]:
    """Yield the cluster of every scored row.

    Raises
    ------
    DataError
        If a label belongs to no query.
    """
    by_id = {query.query_id: query for query in queries}
    merged = merged_keys(judgements)
    for row in labels:
        query = by_id.get(row.query_id)
        if query is None:
            raise DataError(f"the label of {row.query_id!r} belongs to no query", row=row.row_id, key="query_id")
        key = cluster_key(catalogue.question(query), row.label, row.segment, row.row_id)
        yield ClusterRow(
            row_id=row.row_id,
            query_id=row.query_id,
            fact_id=row.fact_id,
            label=row.label,
            cluster=merged.get((row.fact_id, key), key),
            clusterer_version=version,
        )
