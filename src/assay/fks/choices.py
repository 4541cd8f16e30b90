"""Multiple choice: the options that a segment selects, by letter or by text, and whether they are right."""

import re
from collections.abc import Sequence
from functools import cached_property

from assay.fks.clauses import is_negated
from assay.fks.lexicon import Lexicon, compile_surface, resolve
from assay.fks.normalisation import HAN, Text
from assay.fks.outcome import Outcome

_OPTION_LINE = re.compile(r"^[ \t]*[(（]?([A-Z])[)）.、．:：][ \t]*(\S.*?)[ \t]*$", re.MULTILINE)
_OPTION_INLINE = re.compile(
    r"(?<![^\s(（,;；，。])[(（]?([A-Z])[)）.、．][ \t]*(\S.*?)(?=\s+[(（]?[A-Z][)）.、．]|\s*$)", re.DOTALL
)
# A capital letter by itself; Han characters may touch it.
_LETTER = re.compile(rf"(?<![^\W{HAN}])(?<!['’.&-])([A-Z])(?![^\W{HAN}])(?!['’&-]\w)(?!\.[A-Z])")
_ARTICLE = re.compile(r"\s+(?!(?:or|and)\b)[a-z]")
_LETTERS_LIKE_WORDS = "AI"


class Options:
    """The options of a query: letter -> text, the right letters, and every surface of what they name."""

    def __init__(self, texts: dict[str, str], right: frozenset[str], gold: Lexicon, competitors: Lexicon) -> None:
        self.texts = texts
        self.right = right
        self._gold = gold
        self._competitors = competitors

    @cached_property
    def lexicon(self) -> Lexicon:
        """Surfaces under the letters: those of the gold, and of a competitor that an option names."""
        return Lexicon({letter: self._names(letter, text) for letter, text in self.texts.items()})

    def _names(self, letter: str, text: str) -> list[str]:
        if letter in self.right:
            return [text, *(surface.raw for surface in self._gold.by_owner[None])]
        tokens = compile_surface(text).tokens
        owners = {owner for owner, _ in self._competitors.by_tokens.get(tokens, ())}
        found = self._competitors.by_owner[owners.pop()] if len(owners) == 1 else []
        return [text, *(surface.raw for surface in found if surface.tokens not in self._gold.by_tokens)]


def parse_options(query: str) -> dict[str, str]:
    """Return the options that a query lists, by letter; empty unless they run A, B, ... without a gap."""
    for pattern in (_OPTION_LINE, _OPTION_INLINE):
        found = pattern.findall(query)
        if len(found) > 1 and [letter for letter, _ in found] == [chr(65 + n) for n in range(len(found))]:
            return dict(found)
    return {}


def letter_options(choices: Sequence[str]) -> dict[str, str]:
    """Return options given as a list, by letter; a text that already carries its letter loses it."""
    parsed = parse_options("\n".join(choices))
    return parsed if len(parsed) == len(choices) else {chr(65 + n): text for n, text in enumerate(choices[:26])}


def make_options(texts: dict[str, str], gold: Lexicon, competitors: Lexicon) -> Options | None:
    """Return the options of a query; None if the gold is not among them."""
    right = frozenset(letter for letter, text in texts.items() if gold.equals(compile_surface(text).tokens))
    return Options(texts, right, gold, competitors) if right else None


def selected(text: Text, options: Options, *, german: bool) -> tuple[dict[str, str], dict[str, str]]:
    """Return the letters that a segment selects and those that it denies, each with what it wrote."""
    chosen: dict[str, str] = {}
    denied: dict[str, str] = {}
    if len(text.tokens) == 1 and text.tokens[0].upper() in options.texts:
        return {text.tokens[0].upper(): text.tokens[0]}, denied
    mentions = resolve(options.lexicon.mentions(text, german=german, code=True))
    for mention in mentions:
        where = denied if is_negated(text, mention.start, mention.end) else chosen
        where.setdefault(str(mention.owner), mention.surface.raw)
    for letter, place in _letters(text, options):
        if not any(mention.start <= place < mention.end for mention in mentions):
            (denied if is_negated(text, place, place + 1) else chosen).setdefault(letter, letter)
    return chosen, denied


def _letters(text: Text, options: Options) -> list[tuple[str, int]]:
    """Return the option letters of the raw text with the token that each is."""
    matches = [match for match in _LETTER.finditer(text.raw) if match[1] in options.texts]
    found, place = [], 0
    for match in matches:
        letter, after = match[1], match.end()
        try:
            place = text.tokens.index(letter.lower(), place)
        except ValueError:
            break
        if not (letter in _LETTERS_LIKE_WORDS and _ARTICLE.match(text.raw, after)) and place not in text.masked:
            found.append((letter, place))
        place += 1
    return found


def judge_choice(text: Text, options: Options, *, german: bool) -> Outcome:
    """Label a segment that selects among options."""
    chosen, denied = selected(text, options, german=german)
    right = [written for letter, written in chosen.items() if letter in options.right]
    if not chosen:
        return Outcome("incorrect", "choice_negated" if denied else "choice_none")
    if not right:
        return Outcome("incorrect", "choice_wrong", next(iter(chosen.values())))
    if len(right) < len(chosen):
        return Outcome("ambiguous", "choice_mixed", right[0], True)
    return Outcome("correct", "choice", right[0], True)
