"""The five-label scorer: the order of decisions.

A segment without a letter or digit is `unparseable`; a name that equals a gold surface is `correct`; a repetition or an
echo of the query is `unparseable`, whatever it holds (choices excepted). Then the rules of the answer's kind decide
(choice, boolean, date, number, name), and a refusal turns the result into `abstain`, or into `ambiguous` beside a live
gold mention. The card's own scorer was not published: this is a documented substitute, and every row has its version.
"""

from typing import NamedTuple

from assay.canonical import text_digest
from assay.fks.choices import judge_choice
from assay.fks.dates import judge_dates
from assay.fks.entities import judge_names, read_names
from assay.fks.normalisation import Text
from assay.fks.numbers import judge_numbers
from assay.fks.outcome import Outcome
from assay.fks.polar import judge_polar
from assay.fks.questions import Question
from assay.fks.refusals import refused_tokens
from assay.fks.rows import Label
from assay.fks.segments import Answer, read_answer
from assay.fks.wordlists import LISTS_OF_THE_VERSION

RULES_VERSION = "3"
"""Raise it whenever a rule changes; a changed word list changes `SCORER_VERSION` by itself."""

_LONGEST_UNIT = 6
_LEAST_REPEATS = 4
_LEAST_COVER = 0.8


def _lists_digest() -> str:
    return text_digest(repr([_ordered(part) for part in LISTS_OF_THE_VERSION]))[:8]


def _ordered(part: object) -> object:
    if isinstance(part, frozenset):
        return sorted(part)
    if isinstance(part, dict):
        return [(key, _ordered(value)) for key, value in sorted(part.items())]
    return [_ordered(item) for item in part] if isinstance(part, tuple) else part


SCORER_VERSION = f"assay-fks-{RULES_VERSION}+{_lists_digest()}"


class Score(NamedTuple):
    """The verdict on one generation: label, judged segment, deciding surface (or empty), deciding rule."""

    label: Label
    segment: str
    matched_surface: str
    rule_id: str


def score(question: Question, generation: str) -> Score:
    """Label one generation. Total: every text gets exactly one label, in time linear in its length."""
    texts: dict[str, Text] = {}

    def is_prompt_line(line: str) -> bool:
        text = texts[line] = Text(line)
        return question.is_prompt_line(text)

    answer = read_answer(generation, is_prompt_line)
    if answer.problem is not None:
        label: Label = "abstain" if answer.problem in ("json_null", "json_empty_list") else "unparseable"
        return Score(label, "", "", answer.problem)
    if len(answer.pieces) == 1:
        piece = answer.pieces[0] or ""
        outcome = judge(question, texts.get(piece) or Text(piece))
        return Score(outcome.label, piece, outcome.surface, outcome.rule_id)
    return _score_list(question, answer)


def _score_list(question: Question, answer: Answer) -> Score:
    outcomes = [
        Outcome("abstain", "json_null") if piece is None else judge(question, Text(piece)) for piece in answer.pieces
    ]
    labels = [outcome.label for outcome in outcomes]
    surface = next((outcome.surface for outcome in outcomes if outcome.surface), "")
    if all(label == "correct" for label in labels):
        return Score("correct", answer.text, surface, "json_list")
    if "correct" in labels or "ambiguous" in labels:
        return Score("ambiguous", answer.text, surface, "json_list_mixed")
    return Score("incorrect", answer.text, surface, "json_list_wrong")


def judge(question: Question, text: Text) -> Outcome:
    """Label one segment."""
    if not text.tokens:
        return Outcome("unparseable", "no_letter_or_digit")
    kind = question.kind
    if kind == "choice":
        return _with_refusal(question, text)
    if kind in ("entity", "code") and (surface := question.gold.lexicon.equals(tuple(text.tokens))):
        return Outcome("correct", "exact", surface.raw, True)
    if is_repetition(text.tokens):
        return Outcome("unparseable", "repetition")
    if rule := echo_rule(text, question):
        return Outcome("unparseable", rule)
    outcome = _with_refusal(question, text)
    if not outcome.names_gold and _is_reworded(text, question):
        return Outcome("unparseable", "echo_reworded")
    return outcome


def _with_refusal(question: Question, text: Text) -> Outcome:
    text.masked = refused_tokens(text)
    outcome = _by_kind(question, text)
    if not text.masked:
        return outcome
    if outcome.names_gold:
        return Outcome("ambiguous", "refusal_and_gold", outcome.surface, True)
    return Outcome("abstain", "refusal")


def _by_kind(question: Question, text: Text) -> Outcome:
    kind, gold = question.kind, question.gold
    if kind == "choice" and question.options is not None:
        return judge_choice(text, question.options, german=question.german)
    if kind == "boolean":
        return judge_polar(text, bool(gold.is_yes))
    if kind == "date":
        return judge_dates(text, gold.dates, question.granularity)
    if kind == "number":
        return judge_numbers(text, gold.values, gold.words, question.numbers, question.german)
    names = read_names(
        text,
        gold.lexicon,
        question.competitors,
        question.own,
        lambda: question.asked.tokens,
        german=question.german,
        code=kind == "code",
    )
    return judge_names(text, names, lambda: question.named)


def is_repetition(tokens: list[str]) -> bool:
    """Tell whether a unit of one to six tokens is repeated from the start, four times or more, over 80 % of all."""
    size = len(tokens)
    for unit in range(1, min(_LONGEST_UNIT, size // _LEAST_REPEATS) + 1):
        if tokens[unit] != tokens[0]:
            continue
        place = unit
        while place < size and tokens[place] == tokens[place - unit]:
            place += 1
        repeats = place // unit
        if repeats >= _LEAST_REPEATS and repeats * unit >= _LEAST_COVER * size:
            return True
    return False


def echo_rule(text: Text, question: Question) -> str:
    """Return the rule by which a segment only repeats the query, or an empty text."""
    size = len(text.tokens)
    if size < 3 or not question.may_repeat(text):
        return ""
    asked = question.asked
    if size > len(asked.tokens):
        return ""
    # The end of the tokens allowed may cut the last word of an echo, so any beginning of that word will do.
    piece = f" {' '.join(text.tokens)}"
    if size >= 4 and 2 * size >= len(asked.tokens) and piece in asked.token_text:
        return "echo"
    return "echo_of_the_end" if asked.token_text.endswith(piece + " ") else ""


def _is_reworded(text: Text, question: Question) -> bool:
    if len(text.tokens) < 4 or not text.norm.rstrip(" )").endswith("?"):
        return False
    return 2 * sum(token in question.asked.token_set for token in text.tokens) >= len(text.tokens)
