"""What the scorer knows of a query before it reads an answer."""

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Literal

from assay.fks.choices import Options, letter_options, make_options, parse_options
from assay.fks.dates import Found, Granularity, read_dates
from assay.fks.lexicon import Lexicon, compile_surface
from assay.fks.normalisation import Text, normalise, split_tokens, stems
from assay.fks.numbers import read_numbers, values_of
from assay.fks.polar import polarity
from assay.fks.rows import QueryRow

Kind = Literal["choice", "boolean", "date", "number", "code", "entity"]

_EDGE = " .:?!。？！…;,"
_DATE_TYPES = ("year", "date")


class Gold:
    """The accepted surfaces of one answer, compiled once for all queries of a fact."""

    def __init__(self, surfaces: tuple[str, ...]) -> None:
        self.surfaces = tuple(dict.fromkeys(surfaces))
        self.lexicon = Lexicon({None: self.surfaces})

    @cached_property
    def dates(self) -> list[Found]:
        """The times that surfaces say in full, an exact one each."""
        found = [(text, read_dates(text)) for text in map(Text, self.surfaces)]
        return [
            dates[0]
            for text, dates in found
            if len(dates) == 1 and dates[0].lo == dates[0].hi > 0 and dates[0].end - dates[0].start == len(text.tokens)
        ]

    @cached_property
    def values(self) -> frozenset[str]:
        """The values of the surfaces that are numbers."""
        return frozenset(value for surface in self.surfaces if (value := values_of(surface)) is not None)

    @cached_property
    def words(self) -> Lexicon:
        """The surfaces that are no numbers, such as number words."""
        return Lexicon({None: [surface for surface in self.surfaces if values_of(surface) is None]})

    @cached_property
    def is_yes(self) -> bool | None:
        """True for yes, False for no, None for an answer that is neither."""
        return polarity(self.surfaces)


class Question:
    """A query with its gold, its competitors and the way in which its answer is read.

    Parameters
    ----------
    query : QueryRow
        The query.
    gold : Gold
        Its accepted surfaces.
    competitors : Lexicon
        Surfaces of all answers to queries of this kind, by entity.
    own : str or None
        Key of the gold entity in `competitors`.
    answer_type, granularity : str
        Those of the query or, where it has none, of its fact.
    instructions : frozenset of str
        Further lines that the prompt shows (see `edges_of`); a line that repeats one is no answer.
    topic : callable
        Gives further texts that say what is asked: the fact's anchor query, the names of what it asks about.
    """

    def __init__(
        self,
        query: QueryRow,
        gold: Gold,
        competitors: Lexicon,
        own: str | None,
        answer_type: str,
        granularity: str,
        instructions: frozenset[str] = frozenset(),
        topic: Callable[[], Iterable[str]] = tuple,
    ) -> None:
        self.query = query
        self.gold = gold
        self.competitors = competitors
        self.own = own
        self.german = query.language == "de"
        self._instructions = instructions
        self._topic = topic
        self._asked: Asked | None = None
        self._granularity = granularity
        self.options: Options | None = None
        self.kind: Kind = self._infer_kind(answer_type)

    def _infer_kind(self, answer_type: str) -> Kind:
        recognition = self.query.condition_family == "recognition"
        if recognition or answer_type == "choice":
            texts = letter_options(self.query.choices) if self.query.choices else parse_options(self.query.query)
            if len(texts) > 1:
                self.options = make_options(texts, self.gold.lexicon, self.competitors)
                if self.options is not None:
                    return "choice"
        if (recognition or answer_type == "boolean") and self.gold.is_yes is not None:
            return "boolean"
        if answer_type in _DATE_TYPES and self.gold.dates:
            return "date"
        if answer_type == "number" and self.gold.values:
            return "number"
        return "code" if answer_type == "code" else "entity"

    @property
    def granularity(self) -> Granularity:
        """How fine a date is asked for; that of the gold itself where the row does not say."""
        if self._granularity in ("year", "month", "day"):
            return self._granularity  # type: ignore[return-value]
        month, day = self.gold.dates[0].readings[0]
        return "day" if day else "month" if month else "year"

    @property
    def asked(self) -> "Asked":
        """The query's own text, worked out when an answer may repeat some of it."""
        if self._asked is None:
            self._asked = Asked(self.query.query)
        return self._asked

    def may_repeat(self, text: Text) -> bool:
        """Tell quickly whether all words of a text can be words of the query; true if in doubt."""
        query = self.query.query
        if not query.isascii():
            return True
        lowered = query.lower()
        return all(token in lowered for token in text.tokens)

    @cached_property
    def named(self) -> frozenset[str | None]:
        """Keys of the competitors that the query names."""
        text = Text(self.query.query)
        found = self.competitors.mentions(text, german=self.german, code=False)
        return frozenset(mention.owner for mention in found)

    @cached_property
    def numbers(self) -> frozenset[str]:
        """Values of the numbers that the query contains."""
        return frozenset(number.value for number in read_numbers(Text(self.query.query)))

    def tells(self, token: str) -> bool:
        """Tell whether a word, in some form, is one of the query or of its topic."""
        forms = {*stems(token), token.removesuffix("s")} if self.german else set(stems(token))
        return not forms.isdisjoint(self._told)

    @cached_property
    def _told(self) -> frozenset[str]:
        tokens = (token for text in (self.query.query, *self._topic()) for token in Text(text).tokens)
        return frozenset(form for token in tokens for form in stems(token))

    def is_prompt_line(self, text: Text) -> bool:
        """Tell whether a line only repeats a line of the prompt; a gold surface or an option never does."""
        if not text.tokens:
            return False
        edge = text.norm.strip(_EDGE)
        if edge in self._instructions:
            return True
        if not self.may_repeat(text) or edge not in self.asked.lines or self._is_option(text):
            return False
        return not self.gold.lexicon.equals(tuple(text.tokens))

    def _is_option(self, text: Text) -> bool:
        """Tell whether a line is an option, with its letter or without, whatever its case and punctuation."""
        options = {} if self.options is None else self.options.texts
        line = tuple(text.tokens)
        return any(
            line in (words, (letter.lower(), *words))
            for letter, words in ((letter, compile_surface(option).tokens) for letter, option in options.items())
        )


class Asked:
    """The text of a query as the echo rules need it.

    Attributes
    ----------
    lines : frozenset of str
        Its lines, normalised, without punctuation at either end.
    tokens, token_set
        All its tokens.
    token_text : str
        Its tokens, each between spaces.
    """

    __slots__ = ("lines", "token_set", "token_text", "tokens")

    def __init__(self, query: str) -> None:
        lines = [normalise(line) for line in query.splitlines()]
        self.lines = frozenset(line.strip(_EDGE) for line in lines)
        self.tokens = split_tokens(" ".join(lines))[0]
        self.token_set = frozenset(self.tokens)
        self.token_text = f" {' '.join(self.tokens)} "


def edges_of(lines: Iterable[str]) -> frozenset[str]:
    """Return lines in the form in which they are compared."""
    return frozenset(normalise(line).strip(_EDGE) for line in lines) - {""}
