"""Names of entities and codes: which mentions of the gold count, and what other answers do to them.

A mention inside a longer one of another entity is none (Guinea in Guinea-Bissau), nor is the query's own phrase. A
negated gold mention does not count; beside a live one, or joined to another entity, the answer is ambiguous.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

from assay.fks.clauses import is_negated, is_one_of_alternatives, joined
from assay.fks.lexicon import Lexicon, Mention, resolve
from assay.fks.normalisation import Text
from assay.fks.outcome import Outcome
from assay.fks.wordlists import ARTICLES, CONNECTORS, COPULAS, DISJUNCTIONS, LINKS, NEGATORS

_WORDS = NEGATORS | COPULAS | ARTICLES  # "no es .ag" lists no codes, although each word is one


class Names(NamedTuple):
    """What a segment names: the gold (live, negated), other answers that are live, all in order."""

    gold: list[Mention]
    denied: list[Mention]
    others: list[Mention]


def read_names(
    text: Text,
    gold: Lexicon,
    competitors: Lexicon,
    own: str | None,
    query_tokens: Callable[[], list[str]],
    *,
    german: bool,
    code: bool,
) -> Names:
    """Find the mentions that count in a segment.

    Parameters
    ----------
    gold : Lexicon
        The accepted surfaces, under the key None.
    competitors : Lexicon
        Surfaces of all answers of the relation by entity.
    own : str or None
        Key of the gold entity among the competitors, whose surfaces are none.
    query_tokens : callable
        Gives the tokens of the query, for the query's own phrases; called only if there is a gold mention.
    """
    if code:
        text.lists_codes = _lists_codes(text, gold, competitors)
    others = [
        mention
        for mention in competitors.mentions(text, german=german, code=code)
        if mention.owner != own and mention.surface.tokens not in gold.by_tokens
    ]
    mentions = resolve(gold.mentions(text, german=german, code=code) + others)
    named = frozenset(place for mention in mentions for place in range(mention.start, mention.end))
    names = Names([], [], [])
    for mention in mentions:
        if mention.owner is None and is_phrase_of_query(text, mention, query_tokens()):
            continue
        negated = is_negated(text, mention.start, mention.end, named)
        if mention.owner is None:
            (names.denied if negated else names.gold).append(mention)
        elif not negated:
            names.others.append(mention)
    return names


def _lists_codes(text: Text, gold: Lexicon, competitors: Lexicon) -> bool:
    codes = [token for token in text.tokens if token not in CONNECTORS and token not in DISJUNCTIONS]
    return bool(codes) and all(
        code not in _WORDS and ((code,) in gold.by_tokens or (code,) in competitors.by_tokens) for code in codes
    )


def is_phrase_of_query(text: Text, mention: Mention, query: list[str]) -> bool:
    """Tell whether a mention is part of a longer run of tokens that also stands in the query.

    Articles and prepositions alone make no longer run: "of Luxembourg" may well be an answer.
    """
    tokens, size = text.tokens, mention.end - mention.start
    wanted = tokens[mention.start : mention.end]
    for place in range(len(query) - size + 1):
        if query[place] != wanted[0] or query[place : place + size] != wanted:
            continue
        left = 1
        while left <= min(place, mention.start) and query[place - left] == tokens[mention.start - left]:
            if query[place - left] not in LINKS:
                return True
            left += 1
        right = place + size
        at = mention.end
        while right < len(query) and at < len(tokens) and query[right] == tokens[at]:
            if query[right] not in LINKS:
                return True
            right, at = right + 1, at + 1
    return False


def judge_names(text: Text, names: Names, named_by_query: Callable[[], frozenset[str | None]]) -> Outcome:
    """Label a segment whose answer is the name of an entity, or a code.

    Parameters
    ----------
    named_by_query : callable
        Gives the keys of competitors that the query itself names: before the gold they are no second answer.
    """
    if not names.gold:
        if names.denied:
            return Outcome("incorrect", "entity_negated", names.denied[0].surface.raw)
        if names.others:
            return Outcome("incorrect", "entity_other", names.others[0].surface.raw)
        return Outcome("incorrect", "entity_none")
    surface = names.gold[0].surface.raw
    if names.denied:
        return Outcome("ambiguous", "entity_affirmed_and_denied", surface, True)
    if is_one_of_alternatives(text, [(m.start, m.end) for m in names.gold]):
        return Outcome("ambiguous", "entity_alternatives", surface, True)
    if names.others:
        live = sorted(names.gold + names.others)
        for one, other in pairwise(live):
            # A chain of joined answers with both kinds in it has a place where the kinds meet.
            if (one.owner is None) != (other.owner is None) and joined(text, one[:2], other[:2]):
                return Outcome("ambiguous", "entity_joined", surface, True)
        first = names.gold[0].start
        if any(m.start < first and m.owner not in named_by_query() for m in names.others):
            return Outcome("ambiguous", "entity_other_before", surface, True)
    return Outcome("correct", "entity", surface, True)
