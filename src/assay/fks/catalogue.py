"""The questions of a dataset: each query joined with its fact and with its competitors."""

from collections.abc import Iterable, Iterator

from assay.errors import DataError
from assay.fks.lexicon import Lexicon
from assay.fks.questions import Gold, Question, edges_of
from assay.fks.rows import FactRow, LexiconRow, QueryRow
from assay.records.step import Input

_LEXICON = "lexicon.jsonl"


class Catalogue:
    """Facts, with what is compiled from them once: a lexicon per relation and slot, a gold per answer.

    Parameters
    ----------
    facts : iterable of FactRow
        All facts of the dataset: the other answers of a relation are the competitors of one.
    prompt_lines : iterable of str
        Lines that the prompts show besides the query.
    others : iterable of LexiconRow
        Entities that no fact asks for: a sample of a relation keeps the competitors of its full table.
    """

    def __init__(
        self, facts: Iterable[FactRow], prompt_lines: Iterable[str] = (), others: Iterable[LexiconRow] = ()
    ) -> None:
        self.facts: dict[str, FactRow] = {}
        self._instructions = edges_of(prompt_lines)
        self._golds: dict[tuple[str, ...], Gold] = {}
        self._lexicons: dict[tuple[str, str], Lexicon] = {}
        names: dict[tuple[str, str], dict[str, dict[str, None]]] = {}
        for fact in facts:
            if fact.fact_id in self.facts:
                raise DataError("this fact occurs twice", row=fact.fact_id, key="fact_id")
            self.facts[fact.fact_id] = fact
            for slot, entity in (("object", fact.object), ("subject", fact.subject)):
                entities = names.setdefault((fact.relation.relation_id, slot), {})
                entities.setdefault(entity.key, {}).update(dict.fromkeys(entity.surfaces))
        for row in others:
            entities = names.setdefault((row.relation, row.slot), {})
            entities.setdefault(row.key, {}).update(dict.fromkeys(row.surfaces))
        self._names = names

    def fact(self, query: QueryRow) -> FactRow:
        """Return the fact of a query.

        Raises
        ------
        DataError
            If there is none, or if query and fact name different relations.
        """
        fact = self.facts.get(query.fact_id)
        if fact is None:
            raise DataError(
                f"query {query.query_id!r} asks about the unknown fact {query.fact_id!r}",
                row=query.query_id,
                key="fact_id",
                expected="the id of a row of the facts file",
            )
        if fact.relation.relation_id != query.relation:
            raise DataError(
                f"query {query.query_id!r} names the relation {query.relation!r}",
                row=query.query_id,
                key="relation",
                expected=repr(fact.relation.relation_id),
            )
        return fact

    def question(self, query: QueryRow) -> Question:
        """Return a query ready for scoring."""
        fact = self.fact(query)
        entity, about = (fact.subject, fact.object) if query.target_slot == "subject" else (fact.object, fact.subject)
        surfaces = (query.gold_canonical, *query.gold_aliases)
        gold = self._golds.get(surfaces)
        if gold is None:
            gold = self._golds[surfaces] = Gold(surfaces)
        # A subject is an entity, whatever the type of the object.
        inherited = "entity" if query.target_slot == "subject" else fact.answer_type
        return Question(
            query,
            gold,
            self._lexicon(query.relation, query.target_slot),
            entity.key,
            query.answer_type or inherited,
            query.answer_granularity or fact.answer_granularity,
            self._instructions,
            lambda: (fact.qualification_question, *about.surfaces),
        )

    def _lexicon(self, relation: str, slot: str) -> Lexicon:
        lexicon = self._lexicons.get((relation, slot))
        if lexicon is None:
            lexicon = self._lexicons[relation, slot] = Lexicon(self._names[relation, slot])
        return lexicon


def read_catalogue(queries: Input, prompt_lines: Iterable[str] = ()) -> tuple[Catalogue, Iterator[QueryRow]]:
    """Return the facts and the queries of a queries artifact; its lexicon, where it has one, adds competitors."""
    others = queries.rows(_LEXICON, LexiconRow) if queries.path(_LEXICON).is_file() else ()
    catalogue = Catalogue(queries.rows("facts.jsonl", FactRow), prompt_lines, others)
    return catalogue, queries.rows("queries.jsonl", QueryRow)
