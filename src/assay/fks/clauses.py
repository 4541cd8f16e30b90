"""What a mention is worth where it stands: negated, joined to another, one of alternatives."""

import re
from collections.abc import Container

from assay.fks.normalisation import Text, is_han
from assay.fks.wordlists import (
    ARTICLES,
    CHINESE_CONTRASTS,
    CHINESE_NEGATORS,
    CONNECTOR_MARKS,
    CONNECTORS,
    CONTRAST_PHRASES,
    CONTRAST_WORDS,
    DISJUNCTION_FILLERS,
    DISJUNCTION_PAIR,
    DISJUNCTIONS,
    NEGATED_COPULAS,
    NEGATORS,
    NT_STEMS,
    ONLY,
    RELATIVES,
)

Span = tuple[int, int]

_WINDOW = 4
_CHINESE_REACH = 2
_LONGEST_CHINESE = max(len(word) for word in CHINESE_NEGATORS)
_LONGEST_SIDE = 24
_ITEM = 3  # a list item between commas has at most this many tokens
# A full stop right before a word ends nothing: ".uk", "U.S.".
_STOP = r"\.(?!\Z)"
_CLAUSE_END = re.compile(rf"{_STOP}|[;,:!?。｡¿¡…()\[\]{{}}]|(?:^| )-+ ")
_SENTENCE_END = re.compile(rf"{_STOP}|[;!?。｡…]")
_CONTRASTS_BY_LAST: dict[str, list[tuple[str, ...]]] = {}
for _phrase in CONTRAST_PHRASES:
    _CONTRASTS_BY_LAST.setdefault(_phrase[-1], []).append(_phrase)
_COPULAS_BY_FIRST: dict[str, list[tuple[str, ...]]] = {}
for _phrase in NEGATED_COPULAS:
    _COPULAS_BY_FIRST.setdefault(_phrase[0], []).append(_phrase)


def ends_clause(gap: str) -> bool:
    """Tell whether what stands between two tokens ends a clause."""
    return gap not in ("", " ") and _CLAUSE_END.search(gap) is not None


def ends_sentence(gap: str) -> bool:
    """Tell whether what stands between two tokens ends a sentence, or something as strong."""
    return gap not in ("", " ") and _SENTENCE_END.search(gap) is not None


def is_negator(tokens: list[str], place: int) -> bool:
    """Tell whether token `place` negates what follows; "not only" does not."""
    token = tokens[place]
    if token not in NEGATORS and not (token == "t" and place and tokens[place - 1] in NT_STEMS):
        return False
    return place + 1 >= len(tokens) or tokens[place + 1] not in ONLY.get(token, ())


def is_negated(text: Text, start: int, end: int, names: Container[int] = ()) -> bool:
    """Tell whether a negation, a contrast phrase or a negated copula makes the mention start..end-1 dead.

    `names` holds tokens that are names and so negate nothing: the domain of Norway is "no".
    """
    tokens, gaps = text.tokens, text.gaps
    if start and not ends_clause(gaps[start]):
        place, left = start - 1, _WINDOW
        while place >= 0 and left:
            if tokens[place] in CONTRAST_WORDS:
                break
            if place not in names and is_negator(tokens, place) and not _is_number_sign(text, place):
                return True
            if ends_clause(gaps[place]):
                break
            place, left = place - 1, left - 1
        if _after_contrast(tokens, start) or _after_chinese_negator(text, start):
            return True
    return end < len(tokens) and _before_negated_copula(text, end)


def _is_number_sign(text: Text, place: int) -> bool:
    """Tell whether a "no" is that of "No.43"."""
    tokens = text.tokens
    return tokens[place] == "no" and text.gaps[place + 1] == "." and tokens[place + 1][0] in "0123456789"


def _after_contrast(tokens: list[str], start: int) -> bool:
    for stop in (start, start - 1):
        if stop <= 0 or (stop < start and tokens[stop] not in ARTICLES):
            return False
        for phrase in _CONTRASTS_BY_LAST.get(tokens[stop - 1], ()):
            if tuple(tokens[max(0, stop - len(phrase)) : stop]) == phrase:
                return True
    return False


def _after_chinese_negator(text: Text, start: int) -> bool:
    place, before = start - 1, ""
    while place >= 0 and len(before) < _CHINESE_REACH + _LONGEST_CHINESE:
        if ends_clause(text.gaps[place + 1]) or len(text.tokens[place]) > 1:
            break
        before = text.tokens[place] + before
        place -= 1
    if not before:
        return False
    for word in CHINESE_CONTRASTS:
        before = before.rpartition(word)[2]
    return any(
        (place := before.rfind(word)) >= 0 and len(before) - place - len(word) <= _CHINESE_REACH
        for word in CHINESE_NEGATORS
    )


def _before_negated_copula(text: Text, end: int) -> bool:
    tokens = text.tokens
    for phrase in _COPULAS_BY_FIRST.get(tokens[end], ()):
        stop = end + len(phrase)
        # The closing bracket of a name that ends in one parts nothing: "franc CFA (BEAC) is not".
        # So does the last full stop of "U.S.A.".
        gaps = [_after_abbreviation(text, end).lstrip(")]}"), *text.gaps[end + 1 : stop]]
        if tuple(tokens[end:stop]) == phrase and not any(ends_clause(gap) for gap in gaps):
            return stop >= len(tokens) or tokens[stop] not in ONLY.get(phrase[-1], ())
    return False


def _after_abbreviation(text: Text, place: int) -> str:
    """Return the gap before a token, without a full stop that belongs to an abbreviation: "U.S.", "EE. UU."."""
    gap = text.gaps[place]
    if place and gap[:1] == ".":
        before = text.tokens[place - 1]
        # One letter, or a doubled one, which is how Spanish writes plurals.
        if len(before) == before.count(before[0]) <= 2 and before.isalpha() and not is_han(before):
            return gap[1:]
    return gap


def joined(text: Text, first: Span, second: Span) -> bool:
    """Tell whether only connectors (or nothing) and articles stand between two mentions, the first one first."""
    between = range(first[1], second[0])
    if any(text.tokens[place] not in CONNECTORS and text.tokens[place] not in ARTICLES for place in between):
        return False
    gaps = [_after_abbreviation(text, first[1]).lstrip(")]}"), *text.gaps[first[1] + 1 : second[0] + 1]]
    return all(gap in ("-", " .") or CONNECTOR_MARKS.issuperset(gap) for gap in gaps)


def is_one_of_alternatives(text: Text, wanted: list[Span]) -> bool:
    """Tell whether a disjunction has a wanted mention on one side and other content on the other."""
    inside = {place for start, end in wanted for place in range(start + 1, end)}
    return any(_sides_differ(text, wanted, inside, left, right) for left, right in _disjunctions(text, inside))


def _disjunctions(text: Text, inside: set[int]) -> list[Span]:
    """Return (end of the left side, start of the right side) of every disjunction."""
    tokens, found = text.tokens, []
    accents = _where_words(text)
    for place, token in enumerate(tokens):
        if token in DISJUNCTIONS and place not in accents:
            found.append((place, place + 1))
        elif token == DISJUNCTION_PAIR[0] and tokens[place + 1 : place + 2] == [DISJUNCTION_PAIR[1]]:
            found.append((place, place + 2))
        gap = text.gaps[place]
        # A tag that closes ("Vienna</b>") and a link part nothing.
        if place and ("/" in gap or "|" in gap) and "</" not in gap and "://" not in gap and place not in inside:
            found.append((place, place))
    return found


def _where_words(text: Text) -> set[int]:
    """Return the tokens "ou" that were written "où" (where): no disjunction."""
    if "ù" not in text.raw and "Ù" not in text.raw and "\u0300" not in text.raw:
        return set()
    written = [word.group() for word in re.finditer(r"(?i)\bo(?:u\u0300?|ù)(?!\w)", text.raw)]
    places = [place for place, token in enumerate(text.tokens) if token == "ou"]
    if len(written) != len(places):
        return set()
    return {place for place, word in zip(places, written, strict=True) if word.lower() != "ou"}


def _sides_differ(text: Text, wanted: list[Span], inside: set[int], left_end: int, right_start: int) -> bool:
    left = _side(text, inside, left_end, -1)
    right = _side(text, inside, right_start, 1)
    named = [any(side[0] <= start and end <= side[1] for start, end in wanted) for side in (left, right)]
    if named[0] == named[1]:
        return False
    other = right if named[0] else left
    return any(token not in DISJUNCTION_FILLERS for token in text.tokens[other[0] : other[1]])


def _side(text: Text, inside: set[int], place: int, step: int) -> Span:
    """Return the tokens on one side of a disjunction: its clause, and list items before it ("X, Y or Z").

    `inside` holds the gaps within names, which end nothing ("St. Louis").
    """
    tokens, edge, size = text.tokens, place, 0
    while (edge > 0 if step < 0 else edge < len(tokens)) and abs(edge - place) < _LONGEST_SIDE:
        gap = "" if edge in inside else _after_abbreviation(text, edge)
        if ends_sentence(gap):
            break
        if ends_clause(gap):
            # With nothing passed yet, the mark stands right at the disjunction: ", or X" and "(or X)".
            if size and (step > 0 or size > _ITEM or tokens[edge] in RELATIVES):
                break
            size = 0
        if tokens[edge - 1 if step < 0 else edge] in DISJUNCTIONS:
            break
        edge, size = edge + step, size + 1
    return (edge, place) if step < 0 else (place, edge)
