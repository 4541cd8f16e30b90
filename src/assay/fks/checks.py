"""What must hold for any facts and queries, ours or published ones."""

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from assay.errors import DataError
from assay.fks.conditions import FLAGS
from assay.fks.rows import FactRow, QueryRow


class Origin(msgspec.Struct, frozen=True):
    """Where rows were read: files with their numbers of rows, in order."""

    files: tuple[tuple[object, int], ...]

    def place(self, number: int) -> dict[str, Any]:
        """Return file and row, for an error, of the row with this number among all; both count from one."""
        for file, rows in self.files:
            if number <= rows:
                return {"file": file, "row": number}
            number -= rows
        return {"file": self.files[-1][0], "row": None}

    @property
    def name(self) -> str:
        """The first file."""
        return str(self.files[0][0])


def check_all(facts: Sequence[FactRow], queries: Iterable[QueryRow], facts_at: Origin, queries_at: Origin) -> None:
    """Check facts and queries against each other.

    Raises
    ------
    DataError
        For the first violation, as `check_rows` names it; also for a fact without an anchor.
    """
    anchors = check_rows(facts, queries, facts_at, queries_at)
    _require_anchors(facts, anchors, facts_at)


def check_rows(
    facts: Sequence[FactRow], queries: Iterable[QueryRow], facts_at: Origin, queries_at: Origin
) -> dict[str, int]:
    """Check what must also hold for a part of the queries; return the row of each fact's anchor.

    Raises
    ------
    DataError
        For the first violation, naming file, row and key: an id that occurs twice, an unknown `fact_id`, a fact
        with two anchors, an anchor that is not the fact's `qualification_question`, more than one `use_for_*` flag, a
        copy flag unlike the fact's, another relation than the fact's, `inverse_of` without an inverse direction or
        the other way round, an empty text.
    """
    by_id = _check_facts(facts, facts_at)
    rows: dict[str, int] = {}
    anchors: dict[str, int] = {}
    for number, query in enumerate(queries, 1):
        if query.query_id in rows:
            raise DataError(
                f"the id {query.query_id!r} is also that of row {rows[query.query_id]}",
                **queries_at.place(number),
                key="query_id",
                expected="each id once",
            )
        rows[query.query_id] = number
        fact = by_id.get(query.fact_id)
        if fact is None:
            raise DataError(
                f"the fact {query.fact_id!r} of query {query.query_id!r} does not exist",
                **queries_at.place(number),
                key="fact_id",
                expected=f"a fact_id of {facts_at.name}",
            )
        _check_query(query, fact, number, queries_at)
        if query.condition_family == "anchor":
            _check_anchor(query, fact, number, anchors, queries_at)
    return anchors


def _check_facts(facts: Sequence[FactRow], at: Origin) -> dict[str, FactRow]:
    rows: dict[str, int] = {}
    by_id: dict[str, FactRow] = {}
    for number, fact in enumerate(facts, 1):
        if fact.fact_id in rows:
            raise DataError(
                f"the id {fact.fact_id!r} is also that of row {rows[fact.fact_id]}",
                **at.place(number),
                key="fact_id",
                expected="each id once",
            )
        rows[fact.fact_id] = number
        by_id[fact.fact_id] = fact
        is_inverse = fact.relation.direction == "inverse"
        if is_inverse != (fact.relation.inverse_of is not None):
            raise DataError(
                f"direction is {fact.relation.direction!r} and inverse_of {fact.relation.inverse_of!r}",
                **at.place(number),
                key="relation.inverse_of",
                expected="a relation exactly when direction is 'inverse'",
            )
        for key, text in (("subject", fact.subject.canonical), ("object", fact.object.canonical)):
            if not text.strip():
                raise DataError("the name is empty", **at.place(number), key=f"{key}.canonical")
    return by_id


def _check_query(query: QueryRow, fact: FactRow, number: int, at: Origin) -> None:
    flags = [flag for flag in FLAGS if getattr(query, flag)]
    if len(flags) > 1:
        raise DataError(
            f"{' and '.join(flags)} are both true in query {query.query_id!r}",
            **at.place(number),
            key=flags[1],
            expected="at most one use_for_* flag",
        )
    if query.answer_in_subject_surface != fact.answer_in_subject_surface:
        raise DataError(
            f"query {query.query_id!r} has {query.answer_in_subject_surface}",
            **at.place(number),
            key="answer_in_subject_surface",
            expected=f"{fact.answer_in_subject_surface}, as in fact {fact.fact_id!r}",
        )
    if query.relation != fact.relation.relation_id:
        raise DataError(
            f"query {query.query_id!r} has the relation {query.relation!r}",
            **at.place(number),
            key="relation",
            expected=f"{fact.relation.relation_id!r}, as in fact {fact.fact_id!r}",
        )
    if not query.query.strip():
        raise DataError(f"query {query.query_id!r} is empty", **at.place(number), key="query")
    if not query.gold_canonical.strip():
        raise DataError(f"query {query.query_id!r} has no right answer", **at.place(number), key="gold_canonical")


def _check_anchor(query: QueryRow, fact: FactRow, number: int, anchors: dict[str, int], at: Origin) -> None:
    if fact.fact_id in anchors:
        raise DataError(
            f"fact {fact.fact_id!r} has a second anchor; the first is row {anchors[fact.fact_id]}",
            **at.place(number),
            key="condition_family",
            expected="exactly one anchor for each fact",
        )
    anchors[fact.fact_id] = number
    if query.query != fact.qualification_question:
        raise DataError(
            f"the anchor of fact {fact.fact_id!r} reads {query.query!r}",
            **at.place(number),
            key="query",
            expected=f"its qualification_question {fact.qualification_question!r}",
        )


def _require_anchors(facts: Sequence[FactRow], anchors: dict[str, int], at: Origin) -> None:
    for number, fact in enumerate(facts, 1):
        if fact.fact_id not in anchors:
            raise DataError(
                f"fact {fact.fact_id!r} has no anchor query",
                **at.place(number),
                key="fact_id",
                expected="exactly one anchor for each fact",
            )
