"""The piece of a generation that is judged: the answer of a JSON text, or else the first line that is no cue.

Only one line is read on purpose: what a model writes after it is often an invented next question, and an answer found
there would be luck.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from assay.fks.normalisation import visible
from assay.fks.wordlists import ANSWER_KEYS

LONGEST_SEGMENT = 4_000
"""Characters of a line that are judged. Far above any answer; it bounds the time that a hostile text can take."""

Problem = Literal["empty", "next_question", "json_no_value", "json_nested", "json_empty_string", "json_null",
                  "json_empty_list"]  # fmt: skip


@dataclass(frozen=True)
class Answer:
    """What a generation gives as its answer: pieces of text (one, or a list's elements), or a problem."""

    pieces: tuple[str | None, ...] = ()  # None stands for a JSON null
    problem: Problem | None = None

    @property
    def text(self) -> str:
        """The pieces as one text."""
        return ", ".join("null" if piece is None else piece for piece in self.pieces)


_MARKUP = r"[\s*_#>\"'`]*"
_COLON = r"[ \t\xa0\u202f]*[:：]"
# Cue words need a colon (or a full-width one); sentence cues a colon or the end of the line.
_LEAD_IN = r"(?:(?:sure|certainly|of\ course|okay|ok|yes)\s*[,.!:]?\ )?"
_CUES = re.compile(
    rf"""{_MARKUP}(?:
        (?: (?:the\ )?(?:(?:final|correct|right|short)\ )?answer | r[ée]ponse | respuesta | antwort | ответ | 答案 | 答
        ) {_MARKUP} (?: {_COLON} | $ )
      | a {_COLON}
      | (?: {_LEAD_IN} (?:the|my|your)?\ ?(?:(?:final|correct|right|short)\ )?answer
            (?:\ (?:to|for)\ (?:this|the|that|your)\ (?:question|query))? \ is
          | {_LEAD_IN} here(?:\ is|['’]s) \ (?:the|your|my|an|a)
            \ (?:(?:final|correct|short|json)\ )?(?:answer|response|json(?:\ object)?)
            (?:\ (?:for|to)\ (?:you|(?:this|the|that|your)\ (?:question|query)))? \.?
          | la\ (?:bonne\ )?r[ée]ponse (?:\ à\ (?:cette|la)\ question)? \ est
          | voici\ (?:la|votre|ma)\ r[ée]ponse
          | la\ respuesta (?:\ correcta)? (?:\ a\ (?:esta|la)\ pregunta)? \ es
          | aqu[íi]\ (?:est[áa]|tienes)\ (?:la|tu)\ respuesta
          | die\ (?:richtige\ )?antwort (?:\ auf\ (?:diese|die)\ frage)? \ (?:ist|lautet)
          | hier\ ist\ (?:die|deine|ihre|meine)\ antwort
          | (?:правильный\ )?ответ (?:\ на\ (?:этот\ )?вопрос)?
          | вот\ (?:ваш\ )?ответ
          | (?:正确)?答案[是为] | 以下是答案
        ) {_MARKUP} (?: {_COLON} | $ )
      | (?: [-*+–—>] \s+ | [•‣▪◦·●] \s* )
    ) [\s*_#>]*""",
    re.IGNORECASE | re.VERBOSE,
)
_CUE_STARTS = frozenset("aAtTfFcCrRsSlLdDhHmMyYoOvVоОпПвВ答正以-*+–—>•‣▪◦·●_#\"'`")
# In capitals only: "the answer to the question: ..." invents nothing.
_NEXT_QUESTION = re.compile(
    r"(?:(?<![^\W_])(?:Question|QUESTION|Q|Context|CONTEXT|Contexte|Contexto|Kontext|Контекст|Pregunta|PREGUNTA|Frage|FRAGE|"
    rf"Вопрос|ВОПРОС)|问题){_COLON}"
)
_END_MARKERS = re.compile(
    r"<\|(?:end[\w-]*|im_end|eot_id|eom_id|eos|user|system|assistant)\|>|</s>|<(?:eos|end_of_turn|pad|unk)>|\[/?INST\]"
)
_START_MARKERS = re.compile(r"(?:\s*(?:<(?:s|bos|pad)>|<\|(?:begin_of_text|startoftext|im_start)\|>))+")
_FENCE = re.compile(r"```(?:[\w+-]*[ \t]*\r?\n|json\s*(?=[{\[]))?", re.IGNORECASE)

_FENCE_LINE = re.compile(r"^```(?:[\w+-]*$)?")

_DECODER = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str)
_STRING = r"""(?:[^"\\]|\\.)*"""
# A double-quoted text (perhaps cut), a single-quoted one (an apostrophe inside a word does not end it), a list,
# an object, or a bare word.
_VALUE = (
    rf"""\s*:\s*(?:"({_STRING})"?|'((?:[^'\\]|\\.|'(?=\w))*)'?|(\[[^\]]*\]?)|(\{{)|([^\s,}}\]"'\[{{][^,}}\]\n]*))"""
)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_KEYED = re.compile(rf"""["']?(?<!\w)({"|".join(ANSWER_KEYS)})["']?{_VALUE}""", re.IGNORECASE | re.DOTALL)
_ANY_KEY = re.compile(rf"""["'](?:[^"'\\]|\\.)*["']{_VALUE}""", re.DOTALL)
_ELEMENT = re.compile(r""""((?:[^"\\]|\\.)*)"?|'((?:[^'\\]|\\.)*)'?|([^\s,\[\]"']+)""", re.DOTALL)
_TYPOGRAPHIC = str.maketrans({**dict.fromkeys("“”„‟", '"'), **dict.fromkeys("‘’‚‛", "'"), "：": ":"})
_LONGEST_JSON = 20_000  # characters
_JSON_LINES = 50


def read_answer(text: str, is_prompt_line: Callable[[str], bool]) -> Answer:
    """Find the answer in a generation.

    Parameters
    ----------
    text : str
        The continuation as the model gave it.
    is_prompt_line : callable
        Tells of a line whether it only repeats a line of the query.
    """
    text = visible(text).strip()
    if "<" in text or "[" in text:
        if match := _START_MARKERS.match(text):
            text = text[match.end() :]
        if match := _END_MARKERS.search(text):
            text = text[: match.start()]
        text = text.strip()
    if text[:1] in ("{", "[", "`"):
        answer, text = _read_json(text)
        if answer is not None:
            return answer
    return _read_line(text, is_prompt_line)


def _read_line(text: str, is_prompt_line: Callable[[str], bool]) -> Answer:
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        line = line[:LONGEST_SEGMENT].strip()
        if line[:1] in _CUE_STARTS:
            line = _without_cues(line)
        if line[:1] in ("{", "[") or line.startswith("```"):
            answer, _ = _read_json("\n".join([line, *lines[number : number + _JSON_LINES]])[:_LONGEST_JSON])
            if answer is not None:
                return answer
            line = _FENCE_LINE.sub("", line)
        if not line:
            continue
        if (":" in line or "：" in line) and (match := _NEXT_QUESTION.search(line)):
            if match.start() == 0:
                if is_prompt_line(line[match.end() :].strip()):
                    continue  # "Question: ..." with the query's own question
                return Answer(problem="next_question")
            line = line[: match.start()].strip()
        if not is_prompt_line(line):
            return Answer((line,))
    return Answer(problem="empty")


def _without_cues(line: str) -> str:
    place = 0
    while place < len(line) and (match := _CUES.match(line, place)):
        place = match.end()
    return line[place:].strip() if place else line


def _read_json(text: str) -> tuple[Answer | None, str]:
    """Return the answer of a JSON text, or None and the text to read as plain lines."""
    if match := _FENCE.match(text):
        text = text[match.end() :].partition("```")[0].strip()
    if text[:1] == "{":
        return _read_object(text[:_LONGEST_JSON]), text
    if text[:1] == "[":
        try:
            value, end = _DECODER.raw_decode(text[:_LONGEST_JSON])
        except (ValueError, RecursionError):
            return None, text[1:]
        # "[1] Vienna" is a footnote, not a list.
        if not text[end:].partition("\n")[0].strip(" \t\r.;`"):
            return _from_value(value), text
        return None, text
    return None, text.lstrip("`")


def _read_object(text: str) -> Answer:
    try:
        value, _ = _DECODER.raw_decode(text)
    except (ValueError, RecursionError):
        return _read_broken_object(text)
    if not value:
        return Answer(problem="json_no_value")
    lowered = {key.strip().lower().replace(" ", "_"): item for key, item in reversed(value.items())}
    for key in ANSWER_KEYS:
        if key in lowered:
            return _from_value(lowered[key])
    return _from_value(next(iter(value.values())))


def _read_broken_object(text: str) -> Answer:
    """Read an object that is cut or in other quotes: the value of an answer-like key, else the first value."""
    text = text.translate(_TYPOGRAPHIC)
    match = _KEYED.search(text)
    groups = match.groups()[1:] if match else ()
    if not match and (match := _ANY_KEY.search(text)):
        groups = match.groups()
    if not match:
        return Answer(problem="json_no_value")
    double, single, items, nested, bare = groups
    if nested:
        return Answer(problem="json_nested")
    if items:
        found = [_element(element.groups()) for element in _ELEMENT.finditer(items)]
        return _from_value([item for item in found if item != ""])
    if bare is not None:
        return _from_value(_bare(bare.strip()))
    return _from_value(_unescape(double if double is not None else single or ""))


def _element(groups: tuple[str | None, ...]) -> str | None:
    double, single, bare = groups
    if bare is not None:
        return _bare(bare)
    return _unescape(double if double is not None else single or "")


def _bare(word: str) -> str | None:
    return None if word.lower() in ("null", "none", "nil") else word


def _unescape(text: str) -> str:
    return _ESCAPE.sub(_escaped, text) if "\\" in text else text


def _escaped(match: re.Match[str]) -> str:
    code = match[1]
    return chr(int(code[1:], 16)) if len(code) > 1 else " " if code in "nrtbf" else code


def _from_value(value: Any) -> Answer:
    if value is None:
        return Answer(problem="json_null")
    if isinstance(value, dict):
        return Answer(problem="json_nested")
    if isinstance(value, list):
        if not value:
            return Answer(problem="json_empty_list")
        if len(value) == 1:
            return Answer(problem="json_nested") if isinstance(value[0], list) else _from_value(value[0])
        if any(isinstance(item, dict | list) for item in value):
            return Answer(problem="json_nested")
        return Answer(tuple(None if item is None else _word(item) for item in value[:200]))
    text = _word(value)
    return Answer((text,)) if text.strip() else Answer(problem="json_empty_string")


def _word(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)[:LONGEST_SEGMENT]
