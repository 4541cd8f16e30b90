"""What must hold for any facts and queries, ours or published ones (specification section 2.3)."""

from collections.abc import Iterable, Sequence

from assay.errors import DataError
from assay.fks.conditions import FLAGS
from assay.fks.rows import FactRow, QueryRow


def check_all(
    facts: Sequence[FactRow], queries: Iterable[QueryRow], *, facts_file: object, queries_file: object
) -> None:
    """Check facts and queries against each other; rows are numbered from one.

    Raises
    ------
    DataError
        For the first violation, naming file, row and key: an id that occurs twice, an unknown `fact_id`, a fact
        without exactly one anchor, an anchor that is not the fact's `qualification_question`, more than one
        `use_for_*` flag, a copy flag unlike the fact's, another relation than the fact's, `inverse_of` without an
        inverse direction or the other way round, an empty text.
    """
    by_id = _check_facts(facts, facts_file)
    rows: dict[str, int] = {}
    anchors: dict[str, int] = {}
    for number, query in enumerate(queries, 1):
        if query.query_id in rows:
            raise DataError(
                f"the id {query.query_id!r} is also that of row {rows[query.query_id]}",
                file=queries_file,
                row=number,
                key="query_id",
                expected="each id once",
            )
        rows[query.query_id] = number
        fact = by_id.get(query.fact_id)
        if fact is None:
            raise DataError(
                f"the fact {query.fact_id!r} of query {query.query_id!r} does not exist",
                file=queries_file,
                row=number,
                key="fact_id",
                expected=f"a fact_id of {facts_file}",
            )
        _check_query(query, fact, number, queries_file)
        if query.condition_family == "anchor":
            _check_anchor(query, fact, number, anchors, queries_file)
    _require_anchors(facts, anchors, facts_file)


def _check_facts(facts: Sequence[FactRow], file: object) -> dict[str, FactRow]:
    rows: dict[str, int] = {}
    by_id: dict[str, FactRow] = {}
    for number, fact in enumerate(facts, 1):
        if fact.fact_id in rows:
            raise DataError(
                f"the id {fact.fact_id!r} is also that of row {rows[fact.fact_id]}",
                file=file,
                row=number,
                key="fact_id",
                expected="each id once",
            )
        rows[fact.fact_id] = number
        by_id[fact.fact_id] = fact
        is_inverse = fact.relation.direction == "inverse"
        if is_inverse != (fact.relation.inverse_of is not None):
            raise DataError(
                f"direction is {fact.relation.direction!r} and inverse_of {fact.relation.inverse_of!r}",
                file=file,
                row=number,
                key="relation.inverse_of",
                expected="a relation exactly when direction is 'inverse'",
            )
        for key, text in (("subject", fact.subject.canonical), ("object", fact.object.canonical)):
            if not text.strip():
                raise DataError("the name is empty", file=file, row=number, key=f"{key}.canonical")
    return by_id


def _check_query(query: QueryRow, fact: FactRow, number: int, file: object) -> None:
    flags = [flag for flag in FLAGS if getattr(query, flag)]
    if len(flags) > 1:
        raise DataError(
            f"{' and '.join(flags)} are both true in query {query.query_id!r}",
            file=file,
            row=number,
            key=flags[1],
            expected="at most one use_for_* flag",
        )
    if query.answer_in_subject_surface != fact.answer_in_subject_surface:
        raise DataError(
            f"query {query.query_id!r} has {query.answer_in_subject_surface}",
            file=file,
            row=number,
            key="answer_in_subject_surface",
            expected=f"{fact.answer_in_subject_surface}, as in fact {fact.fact_id!r}",
        )
    if query.relation != fact.relation.relation_id:
        raise DataError(
            f"query {query.query_id!r} has the relation {query.relation!r}",
            file=file,
            row=number,
            key="relation",
            expected=f"{fact.relation.relation_id!r}, as in fact {fact.fact_id!r}",
        )
    if not query.query.strip():
        raise DataError(f"query {query.query_id!r} is empty", file=file, row=number, key="query")


def _check_anchor(query: QueryRow, fact: FactRow, number: int, anchors: dict[str, int], file: object) -> None:
    if fact.fact_id in anchors:
        raise DataError(
            f"fact {fact.fact_id!r} has a second anchor; the first is row {anchors[fact.fact_id]}",
            file=file,
            row=number,
            key="condition_family",
            expected="exactly one anchor for each fact",
        )
    anchors[fact.fact_id] = number
    if query.query != fact.qualification_question:
        raise DataError(
            f"the anchor of fact {fact.fact_id!r} reads {query.query!r}",
            file=file,
            row=number,
            key="query",
            expected=f"its qualification_question {fact.qualification_question!r}",
        )


def _require_anchors(facts: Sequence[FactRow], anchors: dict[str, int], file: object) -> None:
    for number, fact in enumerate(facts, 1):
        if fact.fact_id not in anchors:
            raise DataError(
                f"fact {fact.fact_id!r} has no anchor query",
                file=file,
                row=number,
                key="fact_id",
                expected="exactly one anchor for each fact",
            )
