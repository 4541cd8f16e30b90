"""Every way in which one fact is asked."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from assay.fks.builder_text import contains, fill, names_any, tokens
from assay.fks.conditions import FAMILIES
from assay.fks.rows import FactRow, QueryRow
from assay.fks.selection import choice_key
from assay.fks.sources import Named, SourceFact
from assay.fks.templates import OTHER_LANGUAGES, Template

_UNRELATED = (
    "The museum closes at six on weekdays.",
    "A new bakery opened across the street last month.",
    "The committee meets on the first Tuesday of each month.",
    "She left her umbrella on the train this morning.",
    "The printer on the second floor is out of paper.",
    "Most of the seats in the front row were taken.",
)
_QUIZ = "You are taking part in a general knowledge quiz."
_JSON_REQUEST = 'Reply with a JSON object that has the single key "answer".'
_OPTIONS = 4
# How a label and a sentence are set in each language; Chinese has full-width marks, French a space before the colon.
_LABELLED = {
    "zh": "{label}：{name}。{question}",
    "fr": "{label} : {name}. {question}",
    "es": "{label}: {name}. {question}",
    "de": "{label}: {name}. {question}",
    "ru": "{label}: {name}. {question}",
}


class Draft(NamedTuple):
    """A query before its ids and flags."""

    variant: str
    text: str
    language: str = "en"
    gold: str | None = None  # a polar word; None asks for the fact's own object or subject
    answer_type: str | None = None
    choices: tuple[str, ...] | None = None


class Drafter:
    """Writes the queries of the facts of one relation.

    Parameters
    ----------
    template : Template
        Texts of the relation.
    table : sequence of SourceFact
        The full table, from which other facts and wrong options are taken.
    """

    def __init__(self, template: Template, table: Sequence[SourceFact]) -> None:
        self.template = template
        self.table = table
        self.objects = {fact.object.key: fact.object for fact in table}
        self.dropped_by_guard = 0
        self._tokens = {key: tuple(map(tokens, named.surfaces)) for key, named in self.objects.items()}

    def drafts(self, fact: SourceFact) -> dict[str, list[Draft]]:
        """Return family -> queries of one fact, in the fixed order of families and variants."""
        makers: dict[str, Callable[[SourceFact], Iterable[Draft]]] = {
            "anchor": self._anchor,
            "paraphrase": self._paraphrase,
            "format": self._format,
            "context": self._context,
            "multilingual": self._multilingual,
            "reverse": self._reverse,
            "reverse_illposed": self._reverse_illposed,
            "recognition": self._recognition,
        }
        return {family: list(makers[family](fact)) for family in FAMILIES}

    def question(self, fact: SourceFact) -> str:
        """Return the fact's anchor."""
        return fill(self.template.anchor, s=fact.subject.in_text)

    def _anchor(self, fact: SourceFact) -> Iterator[Draft]:
        yield Draft("anchor_0", self.question(fact))

    def _paraphrase(self, fact: SourceFact) -> Iterator[Draft]:
        for number, text in enumerate(self.template.paras):
            yield Draft(f"paraphrase_{number}", fill(text, s=fact.subject.in_text))

    def _format(self, fact: SourceFact) -> Iterator[Draft]:
        yield Draft("cloze", fill(self.template.cloze, s=fact.subject.in_text))
        yield Draft("key_value", f"{self.template.label['en']}: {fact.subject.canonical}\n{self.template.kv}:")
        yield Draft("json", f"{self.question(fact)} {_JSON_REQUEST}")

    def _context(self, fact: SourceFact) -> Iterator[Draft]:
        unrelated = min(_UNRELATED, key=lambda text: choice_key("unrelated", *fact.identity, text))
        added = (("distractor", self._distractor(fact)), ("irrelevant", unrelated), ("quiz", _QUIZ))
        for variant, text in added:
            if text is None or names_any(text, fact.object.surfaces):
                self.dropped_by_guard += 1
            else:
                yield Draft(variant, f"{text} {self.question(fact)}")

    def _distractor(self, fact: SourceFact) -> str | None:
        """Return a true sentence on another fact that does not name the gold, or None if there is none."""
        others = (other for other in self.table if other.object.key != fact.object.key)
        for other in sorted(others, key=lambda other: choice_key("distractor", *fact.identity, other.subject.key)):
            text = self._statement(other.subject, other.object)
            if not names_any(text, fact.object.surfaces):
                return text
        return None

    def _statement(self, subject: Named, obj: Named) -> str:
        return fill(self.template.stmt, s=subject.in_text, o=obj.in_text)

    def _multilingual(self, fact: SourceFact) -> Iterator[Draft]:
        for language in OTHER_LANGUAGES:
            if language in self.template.q and language in fact.subject.names:
                text = fill(
                    _LABELLED[language],
                    label=self.template.label[language],
                    name=fact.subject.names[language],
                    question=self.template.q[language],
                )
                yield Draft(language, text, language)

    def _reverse(self, fact: SourceFact) -> Iterator[Draft]:
        if fact.inverse_unique:
            for number, text in enumerate(self.template.rev):
                yield Draft(f"reverse_{number}", fill(text, o=fact.object.in_text))

    def _reverse_illposed(self, fact: SourceFact) -> Iterator[Draft]:
        if not fact.inverse_unique and self.template.rev:
            yield Draft("reverse_illposed_0", fill(self.template.rev[0], o=fact.object.in_text))

    def _recognition(self, fact: SourceFact) -> Iterator[Draft]:
        wrong = list(islice(self._wrong_objects(fact, "option"), _OPTIONS - 1))
        if len(wrong) == _OPTIONS - 1:
            options = [obj.canonical for obj in (fact.object, *wrong)]
            options.sort(key=lambda option: choice_key("place", *fact.identity, option))
            listed = "".join(f"\n{letter}) {option}" for letter, option in zip("ABCD", options, strict=True))
            text = self.question(fact) + listed
            yield Draft("multiple_choice", text, answer_type="choice", choices=tuple(options))
        false = next(self._wrong_objects(fact, "false"), None)
        is_true = false is None or choice_key("truth", *fact.identity)[0] % 2 == 0
        obj = fact.object if is_true or false is None else false
        text = f"True or false: {self._statement(fact.subject, obj)}"
        yield Draft("true_false", text, gold="yes" if is_true else "no", answer_type="boolean")

    def _wrong_objects(self, fact: SourceFact, purpose: str) -> Iterator[Named]:
        """Yield other objects in hashed order, without those that share a whole name's words with the gold."""
        gold = self._tokens[fact.object.key]
        keys = (key for key in self.objects if key != fact.object.key)
        for key in sorted(keys, key=lambda key: choice_key(purpose, *fact.identity, key)):
            if not any(contains(a, b) or contains(b, a) for a in self._tokens[key] for b in gold):
                yield self.objects[key]


def keep(drafts: list[Draft], limit: int | None, fact_id: str) -> list[Draft]:
    """Return at most `limit` queries of a family, chosen by hash, in their own order."""
    if limit is None or len(drafts) <= limit:
        return drafts
    chosen = sorted(drafts, key=lambda draft: choice_key("variant", fact_id, draft.variant))[:limit]
    return [draft for draft in drafts if draft in chosen]


def query_row(fact: FactRow, family: str, draft: Draft) -> QueryRow:
    """Return the finished row of a query; flags are those of its family."""
    rules = FAMILIES[family]
    gold = fact.object if rules.target_slot == "object" else fact.subject
    asks_subject = rules.target_slot == "subject"
    return QueryRow(
        query_id=f"{fact.fact_id}.{draft.variant if draft.variant.startswith(family) else f'{family}_{draft.variant}'}",
        fact_id=fact.fact_id,
        relation=fact.relation.relation_id,
        condition_family=family,
        variant_id=draft.variant,
        language=draft.language,
        query=draft.text,
        target_slot=rules.target_slot,
        gold_canonical=draft.gold or gold.canonical,
        gold_aliases=() if draft.gold else gold.aliases,
        is_assisted=rules.is_assisted,
        is_well_posed=rules.is_well_posed,
        use_for_main_forward=rules.flag == "use_for_main_forward",
        use_for_reverse_analysis=rules.flag == "use_for_reverse_analysis",
        use_for_recognition_analysis=rules.flag == "use_for_recognition_analysis",
        answer_in_subject_surface=fact.answer_in_subject_surface,
        # What a reverse query asks for is a name, whatever the fact's own answer is.
        answer_type=draft.answer_type or ("entity" if asks_subject else fact.answer_type),
        answer_granularity="exact" if asks_subject or draft.answer_type else fact.answer_granularity,
        choices=draft.choices,
    )
