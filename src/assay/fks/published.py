"""What the dataset card says about its files: counts that must hold, and deviations that are documented."""

import functools
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from assay.errors import DataError
from assay.fks.checks import Origin
from assay.fks.conditions import FLAGS
from assay.fks.rows import FactRow, QueryRow

_FILE = Path(__file__).parent / "data" / "published.json"

DEVIATIONS = {
    "D1": "two context queries that contained the gold text were dropped: 44,418 became 44,416",
    "C1": "the relations 'developer of' and 'manufacturer of' are flagged, not dropped",
    "F1": "facts whose answer stands in the subject's name are kept",
    "F2": "duplicated triples were absorbed: a fact may name several source records and relations",
    "N1": "named by the card without a description; nothing is assumed",
    "N2": "capital_of is not normalised: direction inverse, inverse_of capital, a relation of its own",
}


class FamilyCount(msgspec.Struct, frozen=True):
    """Queries of a family, and facts that have any."""

    queries: int
    facts: int


class Published(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Numbers of the card."""

    facts: int
    relations: int
    queries: int
    queries_before_guard: int
    families: dict[str, FamilyCount]
    flags: dict[str, int]
    facts_answer_in_subject_surface: int
    facts_spec_6_2_flag: int
    relations_spec_6_2_flag: int
    languages: list[str]
    queries_per_covered_fact: dict[str, int]


class Counts(msgspec.Struct, frozen=True, kw_only=True):
    """The same numbers, counted in files (`load.json`)."""

    facts: int
    relations: int
    queries: int
    families: dict[str, FamilyCount]
    flags: dict[str, int]
    facts_answer_in_subject_surface: int
    facts_spec_6_2_flag: int
    relations_spec_6_2_flag: int
    languages: list[str]
    deviations: dict[str, int]
    notes: list[str] = []


@functools.cache
def published() -> Published:
    """Return the card's numbers."""
    return msgspec.json.decode(_FILE.read_bytes(), type=Published)


def count(facts: Sequence[FactRow], queries: Sequence[QueryRow]) -> Counts:
    """Count what the card counts; deviations are counted by the rows that show them."""
    per_family = Counter(query.condition_family for query in queries)
    covered = Counter(family for _, family in {(query.fact_id, query.condition_family) for query in queries})
    flags = Counter(next((flag for flag in FLAGS if getattr(query, flag)), "none") for query in queries)
    flagged = [fact for fact in facts if fact.spec_6_2_flag]
    in_subject = sum(fact.answer_in_subject_surface for fact in facts)
    deviations = {
        "C1": len(flagged),
        "F1": in_subject,
        "F2": sum(_several(fact.source_records) or len(fact.relation.source_relations) > 1 for fact in facts),
        "N2": sum(fact.relation.direction == "inverse" for fact in facts),
    }
    return Counts(
        facts=len(facts),
        relations=len({fact.relation.relation_id for fact in facts}),
        queries=len(queries),
        families={family: FamilyCount(n, covered[family]) for family, n in sorted(per_family.items())},
        flags={flag: flags[flag] for flag in (*FLAGS, "none")},
        facts_answer_in_subject_surface=in_subject,
        facts_spec_6_2_flag=len(flagged),
        relations_spec_6_2_flag=len({fact.relation.relation_id for fact in flagged}),
        languages=sorted({query.language for query in queries}),
        deviations={name: n for name, n in deviations.items() if n},
    )


def _several(records: object) -> bool:
    return isinstance(records, list | tuple) and len(records) > 1


def check_published(counts: Counts, queries: Sequence[QueryRow], facts_at: Origin, queries_at: Origin) -> list[str]:
    """Check that files are the published ones, by their numbers; return notes for the report.

    44,418 queries are accepted as the state before the card's guard (D1): two more context queries.

    Raises
    ------
    DataError
        For the first number that differs, naming file and key.
    """
    card = published()
    facts_file, queries_file = facts_at.name, queries_at.name
    extra = card.queries_before_guard - card.queries
    is_before_guard = counts.queries == card.queries_before_guard
    more = extra if is_before_guard else 0
    expected = {family: n.queries + (more if family == "context" else 0) for family, n in card.families.items()}
    found = {family: n.queries for family, n in counts.families.items()}
    flags = card.flags | {"use_for_main_forward": card.flags["use_for_main_forward"] + more}
    pairs: list[tuple[object, str, object, object]] = [
        (facts_file, "facts", counts.facts, card.facts),
        (facts_file, "relations", counts.relations, card.relations),
        (queries_file, "queries", counts.queries, card.queries + more),
        (
            facts_file,
            "answer_in_subject_surface",
            counts.facts_answer_in_subject_surface,
            card.facts_answer_in_subject_surface,
        ),
        (facts_file, "spec_6_2_flag", counts.facts_spec_6_2_flag, card.facts_spec_6_2_flag),
        (facts_file, "relations with spec_6_2_flag", counts.relations_spec_6_2_flag, card.relations_spec_6_2_flag),
        (queries_file, "languages", counts.languages, card.languages),
    ]
    pairs += [
        (queries_file, f"queries of family {family}", found.get(family, 0), expected.get(family, 0))
        for family in sorted(expected.keys() | found.keys())
    ]
    pairs += [(queries_file, flag, n, flags[flag]) for flag, n in counts.flags.items()]
    for family, size in card.families.items():
        # Before the guard, the fact without context queries may still have one.
        allowed = {size.facts, size.facts + 1} if is_before_guard and family == "context" else {size.facts}
        covered = counts.families[family].facts if family in counts.families else 0
        if covered not in allowed:
            pairs.append((queries_file, f"facts with family {family}", covered, size.facts))
    for file, key, got, wanted in pairs:
        if got != wanted:
            raise DataError(
                f"the number is {got}",
                file=file,
                key=key,
                expected=f"{wanted}, as the dataset card says",
                remedy="take the published files, or set expect_published_counts: false for other data",
            )
    for number, family, size_found, wanted in _uneven(queries, card):
        raise DataError(
            f"the fact of this query has {size_found} {family} queries",
            **queries_at.place(number),
            key="condition_family",
            expected=f"{wanted} for each fact that has any",
        )
    return ["D1: the state before the guard, 44,418 queries"] if is_before_guard else []


def _uneven(queries: Sequence[QueryRow], card: Published) -> Iterator[tuple[int, str, int, int]]:
    sizes = Counter((query.fact_id, query.condition_family) for query in queries)
    for number, query in enumerate(queries, 1):
        wanted = card.queries_per_covered_fact.get(query.condition_family)
        n = sizes[query.fact_id, query.condition_family]
        if wanted is not None and n != wanted:
            yield number, query.condition_family, n, wanted
