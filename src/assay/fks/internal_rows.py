"""The order in which states are read: by relation, fact, family, query, whatever order the files have."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from assay.fks.vectors import RelationRows

Bool = NDArray[np.bool_]


@dataclass(frozen=True)
class StateQuery:
    """A query whose state enters the internal metrics."""

    query_id: str
    fact_id: str
    relation: str
    family: str


@dataclass(frozen=True)
class RowOrder:
    """Queries sorted by relation, fact, family and id; those of families outside the main ones stand last.

    The last ones take part in the covariance ("all main-forward states of the run") and in nothing else.
    """

    queries: tuple[StateQuery, ...]
    n_measured: int
    families: tuple[str, ...]
    facts: tuple[str, ...]

    @classmethod
    def of(cls, queries: Iterable[StateQuery], families: Sequence[str], facts: Sequence[str]) -> "RowOrder":
        """Sort queries; `facts` are all fact ids in the order that results use."""
        place = {family: number for number, family in enumerate(families)}
        inside: list[StateQuery] = []
        outside: list[StateQuery] = []
        for query in queries:
            (inside if query.family in place else outside).append(query)
        inside.sort(key=lambda q: (q.relation, q.fact_id, place[q.family], q.query_id))
        outside.sort(key=lambda q: (q.relation, q.fact_id, q.family, q.query_id))
        return cls((*inside, *outside), len(inside), tuple(families), tuple(facts))

    def only(self, keep: Bool) -> "RowOrder":
        """Return the order without the queries that are not kept; `keep` is of shape [n_queries]."""
        kept = tuple(query for query, stays in zip(self.queries, keep, strict=True) if stays)
        return RowOrder(kept, int(keep[: self.n_measured].sum()), self.families, self.facts)

    @cached_property
    def relations(self) -> tuple[RelationRows, ...]:
        """The rows of each relation, sorted by its name."""
        position = {fact: number for number, fact in enumerate(self.facts)}
        place = {family: number for number, family in enumerate(self.families)}
        result: list[RelationRows] = []
        start = 0
        measured = self.queries[: self.n_measured]
        while start < len(measured):
            name, stop = measured[start].relation, start
            local: dict[str, int] = {}
            group = []
            while stop < len(measured) and measured[stop].relation == name:
                query = measured[stop]
                group.append(local.setdefault(query.fact_id, len(local)) * len(place) + place[query.family])
                stop += 1
            facts = np.array([position[fact] for fact in local], dtype=np.int64)
            result.append(RelationRows(name, start, stop, facts, np.array(group, dtype=np.int64), len(place)))
            start = stop
        return tuple(result)
