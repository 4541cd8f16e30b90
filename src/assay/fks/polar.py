"""Yes and no in six languages: the first polar word decides, and a negator right before it reverses it."""

from collections.abc import Iterable
from typing import NamedTuple

from assay.fks.clauses import ends_clause, is_negator
from assay.fks.normalisation import Text
from assay.fks.outcome import Outcome
from assay.fks.wordlists import (
    ANSWER_NOUNS,
    ANSWER_NOUNS_BEFORE,
    CHINESE_NO,
    CHINESE_YES,
    DISJUNCTION_PAIR,
    DISJUNCTIONS,
    INVERTING,
    NEGATED_COPULAS,
    NEGATION_FILLERS,
    NO_WORDS,
    POLAR_PARTICLES,
    PRONOUNS,
    YES_VERBS,
    YES_WORDS,
)

_CHINESE = sorted([(word, True) for word in CHINESE_YES] + [(word, False) for word in CHINESE_NO],
                  key=lambda pair: -len(pair[0]))  # fmt: skip
_CHINESE_STARTS = frozenset(word[0] for word, _ in _CHINESE)
_COPULA, _NEGATED_COPULA = "是", "不是"
_REACH = 4  # tokens from a negator to its polar word, or back


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


def read_polar(text: Text) -> Polar | None:
    """Return the first polar word; its negator reverses it.

    One that only tells which answer follows ("the correct answer is ...") counts if there is no other.
    """
    spare, place = None, 0
    while place < len(text.tokens):
        word = None if place in text.masked else _reversed_at(text, place) or _word_at(text, place)
        if word is None:
            place += 1
        elif not _names_an_answer(text, word):
            return _reversed_behind(text, word)
        else:
            spare, place = spare or word, word.end
    return spare


def _names_an_answer(text: Text, word: Polar) -> bool:
    if word.start and text.tokens[word.start - 1] in ANSWER_NOUNS_BEFORE and text.gaps[word.start] == " ":
        return True
    return any(tuple(text.tokens[word.end : word.end + len(noun)]) == noun for noun in ANSWER_NOUNS)


def _reversed_at(text: Text, place: int) -> Polar | None:
    """Return the polar word that the negator at a token reverses: "not true", "nicht ganz richtig", "no es falso"."""
    if not is_negator(text.tokens, place):
        return None
    fillers = NEGATION_FILLERS.get(text.tokens[place], ())
    for there in range(place + 1, place + 1 + _REACH):
        if there >= len(text.tokens) or text.gaps[there] != " ":
            return None
        if word := _word_at(text, there):
            return Polar(place, word.end, not word.yes)
        if text.tokens[there] not in fillers:
            return None
    return None


def _reversed_behind(text: Text, word: Polar) -> Polar:
    """Return a polar word, reversed if its negator stands behind it: "stimmt leider nicht", "wahr ist das nicht"."""
    last = text.tokens[word.end - 1]
    if last not in YES_VERBS:
        inverted = last not in POLAR_PARTICLES and _is_denied(_rest_of_clause(text, word.end))
        return Polar(word.start, word.end, not word.yes) if inverted else word
    for there in range(word.end, min(word.end + _REACH, len(text.tokens))):
        if ends_clause(text.gaps[there]):
            break
        if is_negator(text.tokens, there):
            return Polar(word.start, there + 1, not word.yes)
    return word


def _rest_of_clause(text: Text, place: int) -> list[str]:
    end = place
    while end < len(text.tokens) and not ends_clause(text.gaps[end]):
        end += 1
    return text.tokens[place:end]


def _is_denied(rest: list[str]) -> bool:
    """Tell whether the rest of a clause denies the adjective that it begins with."""
    rest = rest[1:] if rest and rest[0] in PRONOUNS else rest
    if any(
        tuple(rest[: len(phrase)]) == phrase and PRONOUNS.issuperset(rest[len(phrase) :]) for phrase in NEGATED_COPULAS
    ):
        return True
    if not rest or rest[0] not in INVERTING:
        return False
    while rest[-1] in NEGATION_FILLERS["nicht"]:
        rest = rest[:-1]
    return is_negator(rest, len(rest) - 1)


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
