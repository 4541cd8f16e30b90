"""What tells one answer to a fact from another, without a judge (specification section 6)."""

import re

from assay.canonical import text_digest
from assay.fks.choices import selected
from assay.fks.clauses import is_negated
from assay.fks.dates import read_dates
from assay.fks.entities import read_names
from assay.fks.normalisation import HAN, Text
from assay.fks.numbers import read_numbers
from assay.fks.polar import read_polar
from assay.fks.questions import Question
from assay.fks.refusals import refused_tokens
from assay.fks.rows import Label
from assay.fks.wordlists import ARTICLES, COPULAS

_LONGEST_KEY = 120
_CUT = re.compile(r"[,，、(（\[{]")
_STOP = re.compile(r"[!?;。｡…]|\.(?=\s|$)")
_SHORT_WORD = re.compile(r"(?:^|[^\w])[a-z]{1,2}\Z")
_DASH = re.compile(r"(?:^|\s)-+\s")
_HAN_SPACE = re.compile(rf"(?<=[{HAN}]) (?=[{HAN}])")


def cluster_key(question: Question, label: Label, segment: str, row_id: str) -> str:
    """Return the cluster of a scored answer among the answers to one fact."""
    if label == "correct":
        return "gold"
    if label == "abstain":
        return "abstain"
    if label == "unparseable":
        return f"unparseable:{row_id}"
    return f"{'ans' if label == 'incorrect' else 'amb'}:{answer_key(question, segment)}"


def answer_key(question: Question, segment: str) -> str:
    """Return what tells a wrong or ambiguous answer from others: values, entities, or else the words."""
    text = Text(segment)
    text.masked = refused_tokens(text)
    key = _key_by_kind(question, text) or f"txt:{answer_span(text)}"
    return key if len(key) <= _LONGEST_KEY else f"{key[:_LONGEST_KEY]}#{text_digest(key)[:16]}"


def _key_by_kind(question: Question, text: Text) -> str:
    kind = question.kind
    if kind == "date":
        values = {
            found.value(question.granularity)
            for found in read_dates(text)
            if (found.lo or question.granularity != "year") and not is_negated(text, found.start, found.end)
        }
        return _set_key("date", values)
    if kind == "number":
        live = {number.value for number in read_numbers(text) if not is_negated(text, number.start, number.end)}
        return _set_key("num", (live - question.numbers) or live)
    if kind == "boolean":
        word = read_polar(text)
        return f"bool:{'yes' if word.yes else 'no'}" if word else ""
    if kind == "choice" and question.options is not None:
        chosen, _ = selected(text, question.options, german=question.german)
        return _set_key("opt", {" ".join(Text(question.options.texts[letter]).tokens) for letter in chosen})
    names = read_names(
        text,
        question.gold.lexicon,
        question.competitors,
        question.own,
        lambda: question.asked.tokens,
        german=question.german,
        code=kind == "code",
    )
    return _set_key("ent", {str(mention.owner) for mention in names.others})


def _set_key(kind: str, values: set[str]) -> str:
    return f"{kind}:{'|'.join(sorted(values))}" if values else ""


def answer_span(text: Text) -> str:
    """Return the words of an answer that names nothing known.

    First sentence, what follows its last copula, up to a comma or bracket, without leading articles. A step
    that would leave nothing is left out.
    """
    part = _first_sentence(text.norm)
    for step in (_after_copula, _before_cut):
        shorter = step(part)
        if Text(shorter).tokens:
            part = shorter
    tokens = Text(part).tokens or text.tokens
    while len(tokens) > 1 and tokens[0] in ARTICLES:
        tokens = tokens[1:]
    return _HAN_SPACE.sub("", " ".join(tokens))


def _first_sentence(norm: str) -> str:
    for match in _STOP.finditer(norm):
        part = norm[: match.start()]
        # "St. Louis" and "U.S. dollar": a stop behind one or two letters ends no sentence.
        abbreviated = match.group() == "." and _SHORT_WORD.search(part, max(0, match.start() - 3))
        if not abbreviated and any(character.isalnum() for character in part):
            return part
    return norm


def _after_copula(part: str) -> str:
    text = Text(part)
    dash = max((match.end() for match in _DASH.finditer(part)), default=0)
    words = [offset + len(token) for offset, token in zip(text.offsets, text.tokens, strict=True) if token in COPULAS]
    places = sorted({0, dash, *words}, reverse=True)
    # A copula that ends the text ("... the capital is") introduces nothing.
    return next((part[place:] for place in places if Text(part[place:]).tokens), part)


def _before_cut(part: str) -> str:
    match = _CUT.search(part)
    while match and not Text(part[: match.start()]).tokens:
        match = _CUT.search(part, match.end())
    return part[: match.start()] if match else part
