"""Surfaces of answers, and where a text mentions them (specification section 5.4, mentions)."""

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from assay.fks.normalisation import Text, is_russian, normalise, split_tokens, stems
from assay.fks.wordlists import ARTICLES

_BETWEEN_TOKENS = " -.,/&"
_QUOTES = "\"'“”„‟«»‹›‘’`*_「」『』"


def without_articles(tokens: tuple[str, ...]) -> tuple[str, ...]:
    """Return tokens without leading articles, but never nothing."""
    start = 0
    while start < len(tokens) - 1 and tokens[start] in ARTICLES:
        start += 1
    return tokens[start:]


class Surface:
    """One way to write one answer; `owner` is the key of the entity, or None for the gold."""

    __slots__ = ("distinctive", "gaps", "owner", "plain", "quoted", "raw", "short", "size", "tokens")

    def __init__(self, raw: str, owner: str | None) -> None:
        tokens, gaps = split_tokens(normalise(raw))
        self.raw = raw
        self.owner = owner
        self.tokens = tuple(tokens)
        self.gaps = [gap.strip() for gap in gaps]
        self.size = len(tokens)
        joined = "".join(tokens)
        self.short = len(joined) <= 2 and joined.isascii()
        # Without Russian words, equal tokens are equal strings.
        self.plain = not any(is_russian(token) for token in tokens)
        self.distinctive: re.Pattern[str] | None = None
        self.quoted: re.Pattern[str] | None = None
        if self.short and tokens:
            spelling = raw.strip()
            if spelling != spelling.lower() or not spelling.isalnum():
                # A full stop at the end of "U.S." is often swallowed by the sentence.
                core = re.escape(spelling.rstrip("."))
                self.distinctive = re.compile(rf"(?<![^\W_]){core}(?![^\W_])")
            self.quoted = re.compile(rf"[{_QUOTES}]{re.escape(spelling)}[{_QUOTES}]", re.IGNORECASE)


class Mention(NamedTuple):
    """Tokens start..end-1 of a text name `surface.owner`; `exact` if letter by letter, not as a form of a word."""

    start: int
    end: int
    surface: Surface
    exact: bool

    @property
    def owner(self) -> str | None:
        """Key of the entity that is named; None is the gold."""
        return self.surface.owner


class Lexicon:
    """Surfaces with an index by first token.

    Parameters
    ----------
    entities : mapping of str or None to strings
        Key of each entity (None for the gold) -> its surfaces.
    """

    def __init__(self, entities: Mapping[str, Iterable[str]] | Mapping[None, Iterable[str]]) -> None:
        self.surfaces: list[Surface] = []
        self.by_tokens: dict[tuple[str, ...], list[Surface]] = {}
        self._index: dict[str, list[Surface]] = {}
        for owner, names in entities.items():
            for name in names:
                self._add(Surface(name, owner))

    def _add(self, surface: Surface) -> None:
        if not surface.tokens:
            return
        same = self.by_tokens.setdefault(surface.tokens, [])
        # "US" and "U.S." are spelt alike in tokens of one entity only if they are split alike; "yen" twice is one.
        if any(other.owner == surface.owner and other.raw == surface.raw for other in same):
            return
        same.append(surface)
        self.surfaces.append(surface)
        for key in stems(surface.tokens[0]):
            self._index.setdefault(key, []).append(surface)

    def equals(self, tokens: tuple[str, ...]) -> Surface | None:
        """Return a surface that these tokens are, leading articles of either side apart."""
        found = self.by_tokens.get(tokens)
        if found is None and tokens and tokens[0] in ARTICLES:
            found = self.by_tokens.get(without_articles(tokens))
        if found is None:
            found = self._without_articles.get(without_articles(tokens))
        return found[0] if found else None

    @property
    def _without_articles(self) -> dict[tuple[str, ...], list[Surface]]:
        table = self.__dict__.get("_bare")
        if table is None:
            table = {}
            for surface in self.surfaces:
                if surface.tokens[0] in ARTICLES:
                    table.setdefault(without_articles(surface.tokens), []).append(surface)
            self.__dict__["_bare"] = table
        return table

    def mentions(self, text: Text, *, german: bool, code: bool) -> list[Mention]:
        """Return every mention in a text, in order of its start; overlaps are not yet resolved.

        Parameters
        ----------
        german : bool
            Accept a genitive or plural s on words (queries in German).
        code : bool
            Accept a short surface as the last token of a short text (answers of type code).
        """
        found: list[Mention] = []
        index = self._index
        if not german and index.keys().isdisjoint(text.tokens) and text.norm.isascii():
            return found
        for start, token in enumerate(text.tokens):
            candidates = index.get(token)
            if token.isascii():
                if german and token[-1] == "s":
                    candidates = _merged(candidates, index.get(token[:-1]), index.get(token[:-2]))
            elif len(token) > 3 and is_russian(token):
                candidates = _merged(candidates, *(index.get(stem) for stem in stems(token)[1:]))
            elif german and token[-1] == "s":
                candidates = _merged(candidates, index.get(token[:-1]))
            if candidates:
                for surface in candidates:
                    mention = _match(text, start, surface, german, code)
                    if mention is not None:
                        found.append(mention)
        return found


def _merged(*lists: list[Surface] | None) -> list[Surface]:
    return list(dict.fromkeys(surface for part in lists if part for surface in part))


def _match(text: Text, start: int, surface: Surface, german: bool, code: bool) -> Mention | None:
    end = start + surface.size
    tokens = text.tokens
    if end > len(tokens):
        return None
    exact = True
    for token, wanted in zip(tokens[start:end] if surface.size > 1 else (tokens[start],), surface.tokens, strict=True):
        if token != wanted:
            exact = False
            if not _same_word(token, wanted, surface.plain, german):
                return None
    for place in range(1, surface.size):
        gap = text.gaps[start + place]
        if gap not in ("", " ") and gap.strip(_BETWEEN_TOKENS) and gap.strip() != surface.gaps[place]:
            return None
    if surface.short and not _short_is_meant(text, start, end, surface, code):
        return None
    if text.masked and not text.masked.isdisjoint(range(start, end)):
        return None
    return Mention(start, end, surface, exact)


def _same_word(token: str, wanted: str, plain: bool, german: bool) -> bool:
    if german and len(wanted) > 2 and token in (wanted + "s", wanted + "es"):
        return True
    return not plain and not set(stems(token)).isdisjoint(stems(wanted))


def _short_is_meant(text: Text, start: int, end: int, surface: Surface, code: bool) -> bool:
    size = len(text.tokens)
    if end - start == size:
        return True
    if code and end == size and size <= 8:
        return True
    if surface.distinctive is not None and surface.distinctive.search(text.raw):
        return True
    return surface.quoted is not None and surface.quoted.search(text.raw) is not None


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
