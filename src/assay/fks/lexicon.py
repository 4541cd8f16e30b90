"""Surfaces of answers, and where a text mentions them."""

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from assay.fks.normalisation import Text, is_han, is_russian, normalise, split_tokens, stems
from assay.fks.wordlists import ARTICLES

_BETWEEN_TOKENS = " -.,/&"
_SHORT_TEXT = 8
_QUOTES = "\"'“”„‟«»‹›‘’`*_「」『』"
_CLOSING_QUOTES = frozenset(_QUOTES)


def without_articles(tokens: tuple[str, ...]) -> tuple[str, ...]:
    """Return tokens without leading articles, but never nothing."""
    start = 0
    while start < len(tokens) - 1 and tokens[start] in ARTICLES:
        start += 1
    return tokens[start:]


class Surface:
    """One way to write an answer, compiled."""

    __slots__ = ("distinctive", "gaps", "plain", "raw", "short", "size", "spelling", "tokens")

    def __init__(self, raw: str) -> None:
        tokens, gaps = split_tokens(normalise(raw))
        self.raw = raw
        self.tokens = tuple(tokens)
        self.gaps = [gap.strip() for gap in gaps]
        self.size = len(tokens)
        joined = "".join(tokens)
        self.short = len(joined) <= 2 and joined.isascii()
        # Without Russian words, equal tokens are equal strings.
        self.plain = not any(is_russian(token) for token in tokens)
        self.spelling = raw.strip()
        # Capitals or dots of its own tell a short name from a word: "US", ".at".
        self.distinctive = self.spelling != self.spelling.lower() or not self.spelling.isalnum()


@lru_cache(maxsize=1 << 16)
def compile_surface(raw: str) -> Surface:
    """Return the compiled form of a surface."""
    return Surface(raw)


class Mention(NamedTuple):
    """Tokens start..end-1 of a text name an entity by one of its surfaces.

    `owner` is the key of the entity, None for the gold; `exact` tells a mention letter by letter from one by a
    form of a word.
    """

    start: int
    end: int
    owner: str | None
    surface: Surface
    exact: bool


Entry = tuple[str | None, Surface]


class Lexicon:
    """Surfaces with an index by first token.

    Parameters
    ----------
    entities : mapping of str or None to strings
        Key of each entity (None for the gold) -> its surfaces.
    """

    def __init__(self, entities: Mapping[str, Iterable[str]] | Mapping[None, Iterable[str]]) -> None:
        self.by_tokens: dict[tuple[str, ...], list[Entry]] = {}
        self.by_owner: dict[str | None, list[Surface]] = {}
        self._index: dict[str, list[Entry]] = {}
        self._bare: dict[tuple[str, ...], Surface] = {}
        for owner, names in entities.items():
            for name in names:
                self._add(owner, compile_surface(name))

    def _add(self, owner: str | None, surface: Surface) -> None:
        if not surface.tokens:
            return
        own = self.by_owner.setdefault(owner, [])
        # "US" and "U.S." are two spellings; "Berlin" and "Berlin" of two languages are one surface.
        if surface in own:
            return
        own.append(surface)
        entry = (owner, surface)
        self.by_tokens.setdefault(surface.tokens, []).append(entry)
        if surface.tokens[0] in ARTICLES:
            self._bare.setdefault(without_articles(surface.tokens), surface)
        for key in stems(surface.tokens[0]):
            self._index.setdefault(key, []).append(entry)

    def equals(self, tokens: tuple[str, ...]) -> Surface | None:
        """Return a surface that these tokens are, leading articles of either side apart."""
        found = self.by_tokens.get(tokens)
        if found is None and tokens and tokens[0] in ARTICLES:
            tokens = without_articles(tokens)
            found = self.by_tokens.get(tokens)
        return found[0][1] if found else self._bare.get(tokens)

    def mentions(self, text: Text, *, german: bool, code: bool) -> list[Mention]:
        """Return every mention in a text, in order of its start; overlaps are not yet resolved.

        Parameters
        ----------
        german : bool
            Accept a genitive or plural s on words (queries in German).
        code : bool
            Accept a short surface as the last token of a short text (answers of type code).
        """
        index, keys = self._index, text.keys(german=german)
        if index.keys().isdisjoint(keys):
            return []
        # A token may reach a surface by several of its forms; the copies end in `resolve`.
        return [
            mention
            for place, key in zip(text.key_places, keys, strict=True)
            if key in index
            for owner, surface in index[key]
            if (mention := _match(text, place, owner, surface, german, code)) is not None
        ]


def _match(text: Text, start: int, owner: str | None, surface: Surface, german: bool, code: bool) -> Mention | None:
    end = start + surface.size
    tokens = text.tokens
    if end > len(tokens):
        return None
    exact = True
    # Most surfaces are one word, and it is this one.
    if surface.size > 1 or tokens[start] != surface.tokens[0]:
        for place, wanted in enumerate(surface.tokens, start):
            if tokens[place] != wanted:
                exact = False
                if (surface.plain and not german) or not _same_word(tokens[place], wanted, surface.plain, german):
                    return None
        for place in range(1, surface.size):
            gap = text.gaps[start + place]
            if gap not in ("", " ") and gap.strip(_BETWEEN_TOKENS) and gap.strip() != surface.gaps[place]:
                return None
    if surface.short and not _short_is_meant(text, start, end, surface, code):
        return None
    if text.masked and not text.masked.isdisjoint(range(start, end)):
        return None
    return Mention(start, end, owner, surface, exact)


def _same_word(token: str, wanted: str, plain: bool, german: bool) -> bool:
    if german and len(wanted) > 2 and token in (wanted + "s", wanted + "es"):
        return True
    return not plain and not set(stems(token)).isdisjoint(stems(wanted))


def _short_is_meant(text: Text, start: int, end: int, surface: Surface, code: bool) -> bool:
    size = len(text.tokens)
    if end - start == size or text.lists_codes or (code and end == size and size <= _SHORT_TEXT):
        return True
    return _stands_in(text.raw, surface)


def _stands_in(raw: str, surface: Surface) -> bool:
    """Tell whether a text has a short surface in its own distinctive spelling, or in quotes."""
    # A full stop at the end of "U.S." is often swallowed by the sentence.
    spelling = surface.spelling.rstrip(".")
    if surface.distinctive and any(
        not (at and continues_word(raw[at - 1])) and not continues_word(raw[end : end + 1])
        for at, end in _places(raw, spelling)
    ):
        return True
    folded, wanted = raw.casefold(), surface.spelling.casefold()
    return any(
        at and folded[at - 1] in _QUOTES and folded[end : end + 1] in _CLOSING_QUOTES
        for at, end in _places(folded, wanted)
    )


def continues_word(character: str) -> bool:
    """Tell whether a name would be part of a longer word beside this character; Han characters may touch it."""
    return character.isalnum() and not is_han(character)


def _places(text: str, piece: str) -> Iterator[tuple[int, int]]:
    at = text.find(piece) if piece else -1
    while at >= 0:
        yield at, at + len(piece)
        at = text.find(piece, at + 1)


def resolve(mentions: list[Mention]) -> list[Mention]:
    """Return mentions that do not overlap.

    One inside a longer one goes first; of two that overlap in part, the earlier stays. Of two on the same
    tokens the exact one stays, then the gold.
    """
    if len(mentions) < 2:
        return mentions
    ordered = sorted(mentions, key=lambda m: (m.start, -m.end, not m.exact, m.owner is not None))
    outer: list[Mention] = []
    reach = -1
    for mention in ordered:
        if mention.end > reach:
            outer.append(mention)
            reach = mention.end
    kept: list[Mention] = []
    reach = -1
    for mention in outer:
        if mention.start >= reach:
            kept.append(mention)
            reach = mention.end
    return kept
