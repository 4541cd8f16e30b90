"""What tells one answer to a fact from another, without a judge."""

import html
import re

from assay.canonical import text_digest
from assay.fks.choices import selected
from assay.fks.clauses import is_negated
from assay.fks.dates import read_dates
from assay.fks.entities import read_names
from assay.fks.normalisation import HAN, Text, normalise
from assay.fks.numbers import read_numbers, starts_list
from assay.fks.polar import read_polar
from assay.fks.questions import Question
from assay.fks.refusals import refused_tokens
from assay.fks.rows import Label
from assay.fks.wordlists import ARTICLES, CLASSIFIERS, COPULAS, LEAD_INS, LINKS, NEGATORS, POLAR_PARTICLES, RELATIVES

_LONGEST_KEY = 120
_CUT = re.compile(r"[,，、(（\[{]")
_STOP = re.compile(r"[!?;。｡…]|\.(?=\s|$)")
_SHORT_WORD = re.compile(r"(?:^|[^\w])[a-z]{1,2}\Z")
_DASH = re.compile(r"(?:^|\s)-+\s")
# Normalised, "it's" would be a possessive that has lost its copula.
_CONTRACTED = re.compile(r"(?i)\b(it|that|this|there|here|what)['’]s\b")
# "<b>", "\boxed{", and the number of a list's first item.
_MARKUP = re.compile(r"</?[A-Za-z][^<>]{0,40}>|\\[a-zA-Z]{1,12}\s?(?=\{)")
_ITEM = re.compile(r"\A\s*\(?(?:\d{1,2}[.)]|[a-z]\))\s+(?=\S)")
_NO_ANSWER = LEAD_INS | NEGATORS
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
    key = _key_by_kind(question, text) or f"txt:{answer_span(question, text)}"
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
        ignored = question.numbers | {"1"} if starts_list(text) else question.numbers
        return _set_key("num", (live - ignored) or live)
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


def answer_span(question: Question, text: Text) -> str:
    """Return the words of an answer that names nothing known.

    First sentence; what follows its last copula, or stands before one that only says what was asked ("Lyon is the
    capital of France"); up to a comma or bracket; without leading articles. A step that would leave nothing is left
    out.
    """
    raw = _CONTRACTED.sub(r"\1 is", _MARKUP.sub(" ", html.unescape(text.raw)))
    part = _beside_copula(question, _first_sentence(normalise(_ITEM.sub("", raw))))
    shorter = _before_cut(part)
    tokens = Text(shorter).tokens or Text(part).tokens or text.tokens
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


def _beside_copula(question: Question, part: str, *, both_sides: bool = True) -> str:
    text = Text(part)
    copulas = [(match.start(), match.end()) for match in _DASH.finditer(part)]
    words = zip(text.offsets, text.tokens, strict=True)
    copulas += [(offset, offset + len(token)) for offset, token in words if token in COPULAS]
    for start, end in sorted(copulas, reverse=True):
        # A copula that ends the text ("... the capital is") introduces nothing.
        if Text(part[end:]).tokens:
            if both_sides:
                before = _without_relative(_beside_copula(question, part[:start], both_sides=False))
                if _says_what_was_asked(question, before, part[end:]):
                    return before
            return part[end:]
    return part


def _without_relative(part: str) -> str:
    text = Text(part)
    return part[: text.offsets[-1]] if text.tokens and text.tokens[-1] in RELATIVES else part


def _says_what_was_asked(question: Question, before: str, after: str) -> bool:
    """Tell whether the answer stands before a copula, and behind it only the query's own words, or "a city in ...".

    The fewer words are the answer: "France is the capital of France", but "the capital of France is France".
    """
    named, said = _content(before), _content(after)
    if not named or len(named) > len(said) or not _NO_ANSWER.isdisjoint(named):
        return False
    is_news = not all(map(question.tells, named))
    if said and all(map(question.tells, said)):
        return is_news or len(named) < len(said)
    return is_news and len(named) < len(said) and Text(after).tokens[0] in CLASSIFIERS


def _content(part: str) -> list[str]:
    return [token for token in Text(_before_cut(part)).tokens if token not in LINKS]


def _before_cut(part: str) -> str:
    start = 0
    for match in _CUT.finditer(part):
        tokens = Text(part[start : match.start()]).tokens
        if not POLAR_PARTICLES.issuperset(tokens):
            return part[start : match.start()]
        if tokens:
            start = match.end()  # "No, Lyon"
    return part[start:] if Text(part[start:]).tokens else part
