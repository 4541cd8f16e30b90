"""Yes and no in six languages (specification section 5.6, booleans)."""

from collections.abc import Iterable
from typing import NamedTuple

from assay.fks.clauses import is_negator
from assay.fks.normalisation import Text
from assay.fks.outcome import Outcome
from assay.fks.wordlists import CHINESE_NO, CHINESE_YES, DISJUNCTION_PAIR, DISJUNCTIONS, NO_WORDS, YES_WORDS

_CHINESE = sorted([(word, True) for word in CHINESE_YES] + [(word, False) for word in CHINESE_NO],
                  key=lambda pair: -len(pair[0]))  # fmt: skip
_CHINESE_STARTS = frozenset(word[0] for word, _ in _CHINESE)
_COPULA, _NEGATED_COPULA = "是", "不是"


class Polar(NamedTuple):
    """A yes or a no at tokens start..end-1."""

    start: int
    end: int
    yes: bool


def polarity(surfaces: Iterable[str]) -> bool | None:
    """Return what a gold says if one of its surfaces is a yes/no word, else None."""
    for surface in surfaces:
        text = Text(surface)
        word = _word_at(text, 0) if text.tokens else None
        if word is not None and word.end == len(text.tokens):
            return word.yes
    return None


def read_polar(text: Text, start: int = 0) -> Polar | None:
    """Return the first polar word at or after a token; a negator right before a polar word reverses it."""
    for place in range(start, len(text.tokens)):
        if place not in text.masked and (word := _reversed_at(text, place) or _word_at(text, place)):
            return word
    return None


def _reversed_at(text: Text, place: int) -> Polar | None:
    if not is_negator(text.tokens, place) or text.gaps[place + 1] != " ":
        return None
    word = _word_at(text, place + 1)
    return Polar(place, word.end, not word.yes) if word else None


def _word_at(text: Text, place: int, *, copula: bool = True) -> Polar | None:
    if place >= len(text.tokens) or place in text.masked:
        return None
    token = text.tokens[place]
    if token in YES_WORDS or token in NO_WORDS:
        return Polar(place, place + 1, token in YES_WORDS)
    if token not in _CHINESE_STARTS:
        return None
    for word, yes in _CHINESE:
        end = place + len(word)
        if "".join(text.tokens[place:end]) != word or any(text.gaps[place + 1 : end]):
            continue
        # "是" before another polar word is the copula ("是错的"), and "不是" then a negator.
        if word in (_COPULA, _NEGATED_COPULA):
            if not copula:
                return None
            following = _word_at(text, end, copula=False) if not text.gaps[end] else None
            if following is not None:
                return Polar(place, following.end, following.yes == (word == _COPULA))
        return Polar(place, end, yes)
    return None


def judge_polar(text: Text, gold_is_yes: bool) -> Outcome:
    """Label a segment whose answer is yes or no."""
    word = read_polar(text)
    if word is None:
        return Outcome("incorrect", "boolean_none")
    surface = " ".join(text.tokens[word.start : word.end])
    other = _alternative(text, word)
    if other is not None and other.yes != word.yes:
        return Outcome("ambiguous", "boolean_alternatives", surface, True)
    if word.yes == gold_is_yes:
        return Outcome("correct", "boolean", surface, True)
    return Outcome("incorrect", "boolean_wrong", surface)


def _alternative(text: Text, word: Polar) -> Polar | None:
    """Return the polar word that an "or" joins to this one."""
    place = word.end
    if place >= len(text.tokens):
        return None
    if "/" in text.gaps[place] or "|" in text.gaps[place]:
        return _word_at(text, place)
    if text.tokens[place] in DISJUNCTIONS:
        return _word_at(text, place + 1)
    if tuple(text.tokens[place : place + 2]) == DISJUNCTION_PAIR:
        return _word_at(text, place + 2)
    return None
