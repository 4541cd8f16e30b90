"""Facts and queries built from a fact source: the embedded tables, or a user's CSV file."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from assay.canonical import bytes_digest, canonical_bytes
from assay.errors import ConfigError, DataError
from assay.fks.builder_queries import Drafter, keep, query_row
from assay.fks.builder_text import names_any
from assay.fks.checks import Origin, check_all
from assay.fks.conditions import FAMILIES
from assay.fks.rows import Entity, FactRow, LexiconRow, QueryRow, Relation, TargetSlot
from assay.fks.selection import Selection, choose
from assay.fks.sources import Named, SourceFact, absorb_duplicates
from assay.fks.sources_csv import CsvSource, csv_facts
from assay.fks.sources_embedded import RELATIONS, embedded_facts
from assay.fks.templates import Template, built_in, read_templates, template_of
from assay.records.step import Inputs, Outputs

_UNSAFE = re.compile(r"[^\w.+-]+")
# Answer type -> what it is called, what is expected, and what its canonical form holds.
_ANSWERS = {
    "entity": ("name", "at least one letter or digit", r"[^\W_]"),
    "code": ("code", "at least one letter or digit", r"[^\W_]"),
    "number": ("number", "digits alone; the relation asks for a number", r"^[+\-−]?\d+(?:[ ,.]\d+)*$"),
    "year": ("year", "1000 to 2999; the relation asks for a year", r"(?<!\d)[12]\d{3}(?!\d)"),
}


class BuildSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The builder's part of a job's config.

    Attributes
    ----------
    relations : tuple of str
        Relations in the order of the files; empty takes all that the source has.
    cap_per_relation : int or None
        Facts per relation; None keeps all.
    selection : {"all", "well_known"}
        Which facts stay under the cap.
    queries_per_family : dict
        Family -> queries per fact; a family that is not named keeps all, 0 leaves it out.
    csv : CsvSource or None
        A user's table instead of the embedded ones.
    """

    relations: tuple[str, ...] = ()
    cap_per_relation: int | None = None
    selection: Selection = "all"
    queries_per_family: dict[str, int] = {}
    csv: CsvSource | None = None

    @property
    def file(self) -> str | None:
        """The user's table, where there is one."""
        return None if self.csv is None else self.csv.file

    def check(self) -> None:
        """Refuse values out of range.

        Raises
        ------
        ConfigError
            Naming the key and what was expected.
        """
        if self.cap_per_relation is not None and self.cap_per_relation < 1:
            raise ConfigError("no facts are left", key="cap_per_relation", expected="at least 1, or null for all")
        for family, limit in self.queries_per_family.items():
            key = f"queries_per_family.{family}"
            if family not in FAMILIES:
                raise ConfigError(f"{family!r} is no family", key=key, expected="one of " + ", ".join(FAMILIES))
            if limit < 0 or (family == "anchor" and limit != 1):
                raise ConfigError(f"{limit} queries", key=key, expected="1 for anchor, at least 0 for others")


class BuildCounts(msgspec.Struct, frozen=True, kw_only=True):
    """What was made and what was left out (`build.json`).

    `majority` is, by relation, the object that most of the chosen facts share, and how many share it: the answer of
    a baseline that knows nothing but the relation.
    """

    facts: int
    queries: int
    duplicates_absorbed: int
    context_dropped_by_guard: int
    languages_without_name: int
    facts_answer_in_subject_surface: int
    facts_by_relation: dict[str, int]
    queries_by_family: dict[str, int]
    facts_by_family: dict[str, int]
    queries_by_language: dict[str, int]
    majority: dict[str, tuple[str, int]]


def build(config: dict[str, object], inputs: Inputs) -> Outputs:
    """Build facts and queries.

    Parameters
    ----------
    config : dict
        Fields of `BuildSettings`.
    inputs : Inputs
        Not used: a source is code and packages, or a file whose digest stands in the config.

    Returns
    -------
    Outputs
        `facts.jsonl`, `queries.jsonl`, `lexicon.jsonl` (every entity of the relations' full tables) and `build.json`.
    """
    settings = msgspec.convert(config, BuildSettings)
    settings.check()
    tables, templates = _tables(settings)
    facts: list[FactRow] = []
    queries: list[QueryRow] = []
    dropped = absorbed = nameless = 0
    lexicon: list[LexiconRow] = []
    ids: dict[str, SourceFact] = {}
    for relation, full in tables.items():
        template = templates[relation]
        table = list(absorb_duplicates(full))
        absorbed += len(full) - len(table)
        _require_functional(relation, table, settings.file)
        lexicon += _lexicon(relation, table)
        drafter = Drafter(template, table)
        for source in choose(table, settings.cap_per_relation, settings.selection):
            fact = _fact_row(source, template, drafter.question(source))
            _require_own_id(fact.fact_id, source, ids, settings.file)
            facts.append(fact)
            nameless += sum(language not in source.subject.names for language in template.q)
            for family, drafts in drafter.drafts(source).items():
                kept = keep(drafts, settings.queries_per_family.get(family), fact.fact_id)
                queries += [query_row(fact, family, draft) for draft in kept]
        dropped += drafter.dropped_by_guard
    check_all(facts, queries, Origin((("facts.jsonl", len(facts)),)), Origin((("queries.jsonl", len(queries)),)))
    counts = BuildCounts(
        facts=len(facts),
        queries=len(queries),
        duplicates_absorbed=absorbed,
        context_dropped_by_guard=dropped,
        languages_without_name=nameless,
        facts_answer_in_subject_surface=sum(fact.answer_in_subject_surface for fact in facts),
        facts_by_relation=dict(Counter(fact.relation.relation_id for fact in facts)),
        queries_by_family=dict(Counter(query.condition_family for query in queries)),
        facts_by_family=dict(Counter(family for _, family in {(q.fact_id, q.condition_family) for q in queries})),
        queries_by_language=dict(Counter(query.language for query in queries)),
        majority=majority_objects(facts),
    )
    return {
        "facts.jsonl": facts,
        "queries.jsonl": queries,
        "lexicon.jsonl": lexicon,
        "build.json": canonical_bytes(msgspec.to_builtins(counts)) + b"\n",
    }


def majority_objects(facts: Iterable[FactRow]) -> dict[str, tuple[str, int]]:
    """Return relation -> (canonical name of its most frequent object, how many facts have it).

    Of several with the same count the first by name is taken.
    """
    counts: dict[str, Counter[tuple[str, str]]] = {}
    for fact in facts:
        counts.setdefault(fact.relation.relation_id, Counter())[fact.object.canonical, fact.object.key] += 1
    result = {}
    for relation, objects in counts.items():
        (name, _), count = min(objects.items(), key=lambda item: (-item[1], item[0]))
        result[relation] = name, count
    return result


def _tables(settings: BuildSettings) -> tuple[dict[str, list[SourceFact]], dict[str, Template]]:
    if settings.csv is None:
        unknown = [relation for relation in settings.relations if relation not in RELATIONS]
        if unknown:
            raise ConfigError(
                f"{unknown[0]!r} is no embedded relation", key="relations", expected="one of " + ", ".join(RELATIONS)
            )
        return {relation: embedded_facts(relation) for relation in settings.relations or RELATIONS}, built_in()
    source = settings.csv
    templates = built_in() if source.templates is None else built_in() | read_templates(Path(source.templates))
    tables: dict[str, list[SourceFact]] = {}
    for fact in csv_facts(source):
        _check_object(fact, template_of(fact.relation, templates, source.file), source.file)
        tables.setdefault(fact.relation, []).append(fact)
    missing = [relation for relation in settings.relations if relation not in tables]
    if missing:
        raise ConfigError(
            f"{source.file} has no facts of the relation {missing[0]!r}",
            key="relations",
            expected="some of " + ", ".join(sorted(tables)),
        )
    return {relation: tables[relation] for relation in settings.relations or sorted(tables)}, templates


def _check_object(fact: SourceFact, template: Template, file: str) -> None:
    """Refuse an object that no answer of its relation's type could equal."""
    kind, _, pattern = _ANSWERS[template.at]
    if not re.search(pattern, fact.object.canonical):
        raise DataError(
            f"{fact.object.canonical!r} is no {kind}",
            file=file,
            row=_row(fact),
            key="object",
            expected=_ANSWERS[template.at][1],
        )


def _row(fact: SourceFact) -> str | int:
    number = fact.records[0].removeprefix("row ")
    return int(number) if number.isdecimal() else number


def _require_functional(relation: str, table: Sequence[SourceFact], file: str | None) -> None:
    subjects: dict[str, SourceFact] = {}
    names: dict[str, SourceFact] = {}
    for fact in table:
        twin = names.setdefault(unicodedata.normalize("NFKC", fact.subject.canonical).casefold(), fact)
        if twin.subject.key != fact.subject.key and twin.object.key != fact.object.key:
            raise DataError(
                f"{fact.subject.canonical!r} reads like the subject of {twin.records[0]}, whose object is another one",
                file=file,
                row=_row(fact),
                key="subject",
                expected="subjects that a question can tell apart",
                remedy="give each a name of its own",
            )
        first = subjects.setdefault(fact.subject.key, fact)
        if first is not fact:
            raise DataError(
                f"{fact.subject.canonical!r} has two objects, {first.object.canonical!r} and {fact.object.canonical!r}",
                file=file,
                row=_row(fact),
                key=relation,
                expected="one object for each subject of a relation",
                remedy="remove one, or make it an alias of the other",
            )


def _require_own_id(identity: str, fact: SourceFact, ids: dict[str, SourceFact], file: str | None) -> None:
    first = ids.setdefault(identity, fact)
    if first is not fact:
        raise DataError(
            f"{fact.subject.key!r} ({fact.relation}) and {first.subject.key!r} ({first.relation}, {first.records[0]}) "
            f"would both be the fact {identity!r}",
            file=file,
            row=_row(fact),
            key="subject",
            expected="an id of its own, made of relation and subject ('/' and ':' become '-')",
            remedy="give one of them another subject_id",
        )


def _entity(named: Named) -> Entity:
    return Entity(canonical=named.canonical, entity_id=f"local:{named.key}", aliases=named.other_names)


def _fact_row(fact: SourceFact, template: Template, question: str) -> FactRow:
    gold = fact.object.surfaces
    return FactRow(
        fact_id=fact_id(fact.relation, fact.subject.key),
        subject=_entity(fact.subject),
        object=_entity(fact.object),
        relation=Relation(
            relation_id=fact.relation,
            source_relations=(fact.source_relation,),
            direction=template.direction,
            inverse_of=template.inverse_of,
        ),
        qualification_question=question,
        sources=[fact.source],
        source_records=list(fact.records),
        answer_type=template.at,
        answer_granularity=template.gr,
        answer_in_subject_surface=any(names_any(subject, gold) for subject in fact.subject.surfaces),
        spec_6_2_flag=False,
    )


def fact_id(relation: str, subject_key: str) -> str:
    """Return the id of a fact: what it is about, never a position, so that a fact more or less renames no other.

    Examples
    --------
    >>> fact_id("city_country", "Africa/Abidjan")
    'fact_city_country_Africa-Abidjan'
    """
    slug = _UNSAFE.sub("-", subject_key).strip("-")
    # A key that loses characters could meet another one; its digest keeps them apart.
    exact = (
        "" if slug == subject_key.replace("/", "-").replace(":", "-") else f"-{bytes_digest(subject_key.encode())[:8]}"
    )
    return f"fact_{relation}_{slug}{exact}"


def _lexicon(relation: str, table: Sequence[SourceFact]) -> list[LexiconRow]:
    rows: dict[tuple[TargetSlot, str], LexiconRow] = {}
    for fact in table:
        slots: tuple[tuple[TargetSlot, Named], ...] = (("object", fact.object), ("subject", fact.subject))
        for slot, named in slots:
            row = LexiconRow(relation=relation, slot=slot, key=_entity(named).key, surfaces=named.surfaces)
            rows.setdefault((slot, named.key), row)
    return list(rows.values())
