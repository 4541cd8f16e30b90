"""What holds for every text: one label, bounded time, right answers right and denied ones not."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.fks.answer_keys import cluster_key
from assay.fks.normalisation import Text, normalise
from assay.fks.rows import LABELS
from assay.fks.scorer import SCORER_VERSION, score

NAMES = [
    ["Vienna", "Wien", "Вена", "维也纳"],
    ["Côte d’Ivoire", "Ivory Coast", "科特迪瓦", "Кот-д’Ивуар"],
    ["Guinea-Bissau", "几内亚比绍", "Гвинея-Бисау"],
    ["franc CFA (BEAC)", "XAF", "中非法郎"],
    ["U.S. dollar", "US dollar", "доллар США", "美元"],
    ["South America", "Sudamérica", "Südamerika", "Южная Америка"],
    ["São Tomé & Príncipe", "圣多美和普林西比"],
    ["O’Higgins", "奥希金斯"],
]
OTHERS = {str(number): names for number, names in enumerate(NAMES)}
KINDS = {
    "entity": {"gold": NAMES[0]},
    "code": {"gold": [".at", "at"], "answer_type": "code"},
    "year": {"gold": ["1999"], "answer_type": "year", "granularity": "year"},
    "date": {"gold": ["1969-07-20"], "answer_type": "date", "granularity": "day"},
    "number": {"gold": ["8849", "eight thousand"], "answer_type": "number"},
    "boolean": {"gold": ["yes"], "answer_type": "boolean"},
    "choice": {"gold": ["Wien"], "answer_type": "choice", "family": "recognition"},
}
QUERY = "Which city?\nA) Graz\nB) Wien\nC) Linz"
LANGUAGES = ["en", "zh", "fr", "es", "de", "ru"]
PIECES = st.sampled_from(
    ["Vienna", "не", "not ", "不是", "или", " or ", "1999", "1,", "20.", "JULY", "年", "十", "{", '"answer":', "[", "'",
     "\\", "```", "\n", "A:", "Question:", "是", "?", "/", "||", "(", "B)", "\u0301", "\u200d", "İ", "ß", "½", "٣", "፩",
     "①", "²",
     "\ud83d", "\x00", "ﷺ", "世纪", "xx", " siècle", "don't know", "—", "的"]
)  # fmt: skip
HOSTILE = st.lists(PIECES | st.text(max_size=6), max_size=30).map("".join)


def check(question, text):
    verdict = score(question, text)
    assert verdict.label in LABELS
    assert verdict == score(question, text)
    assert verdict.rule_id
    key = cluster_key(question, verdict.label, verdict.segment, "row")
    assert key.partition(":")[0] in ("gold", "abstain", "unparseable", "ans", "amb")
    assert (key == "gold") == (verdict.label == "correct")
    return verdict


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=150, deadline=None)
@given(text=HOSTILE, language=st.sampled_from(LANGUAGES))
def test_every_text_has_one_label(ask, kind, text, language):
    check(ask(QUERY, others=OTHERS, language=language, **KINDS[kind]), text)


@settings(max_examples=150, deadline=None)
@given(query=HOSTILE, gold=st.lists(HOSTILE, min_size=1, max_size=3), text=HOSTILE, data=st.data())
def test_every_query_can_be_scored(ask, query, gold, text, data):
    kind = data.draw(st.sampled_from(["entity", "code", "year", "date", "number", "boolean", "choice", "other"]))
    family = data.draw(st.sampled_from(["anchor", "recognition"]))
    others = {"x": data.draw(st.lists(HOSTILE, max_size=3))}
    check(
        ask(query, gold, others, answer_type=kind, family=family, language=data.draw(st.sampled_from(LANGUAGES))), text
    )


@settings(max_examples=300, deadline=None)
@given(text=HOSTILE)
def test_normalising_gives_tokens_that_rebuild_the_text(text):
    analysed = Text(text)
    rebuilt = "".join(gap + token for gap, token in zip(analysed.gaps, [*analysed.tokens, ""], strict=True))
    assert rebuilt == analysed.norm
    assert all(analysed.norm.startswith(token, at) for at, token in zip(analysed.offsets, analysed.tokens, strict=True))
    assert normalise(text) == normalise(text.replace("\u200b", "") + "\u200b")


SURFACES = [(own, name) for own, names in enumerate(NAMES) for name in names]
WRAPS = [
    "{}", " {}.", "{}!", "“{}”", "**{}**", "Answer: {}", "{}\nQuestion: next", '{{"answer": "{}"}}',
    "The answer is {}.", "It is {}, as everybody knows", "C'est {}.", "Es {}.", "Das ist {}.", "Это {}.",
    "答案是{}。", "- {}", "the {}",
]  # fmt: skip
DENIALS = [
    "not {}", "It is not {}.", "It isn't {}", "{} is not it", "never {}", "instead of {}", "Ce n'est pas {}.",
    "No es {}.", "nicht {}", "Das ist nicht {}", "не {}", "вместо {}", "不是{}", "并非{}", "{}不是首都",
]  # fmt: skip


@pytest.mark.parametrize(("own", "name"), SURFACES)
@pytest.mark.parametrize("wrap", WRAPS)
def test_right_answer_in_any_form_is_correct(ask, own, name, wrap):
    question = ask("Which one?", NAMES[own], OTHERS)
    for form in (name, name.upper(), name.lower(), name.replace("’", "'")):
        assert score(question, wrap.format(form)).label == "correct", score(question, wrap.format(form))


@pytest.mark.parametrize(("own", "name"), SURFACES)
@pytest.mark.parametrize("denial", DENIALS)
def test_denied_answer_is_incorrect(ask, own, name, denial):
    question = ask("Which one?", NAMES[own], OTHERS)
    assert score(question, denial.format(name)).label == "incorrect", score(question, denial.format(name))


@pytest.mark.parametrize(("own", "name"), SURFACES)
def test_every_other_answer_is_incorrect(ask, own, name):
    question = ask("Which one?", NAMES[own - 1], OTHERS)
    for wrap in WRAPS:
        assert score(question, wrap.format(name)).label == "incorrect"


MEGA = 1_000_000
LONG = {
    "words": "vienna or graz and " * (MEGA // 19),
    "one word": "a" * MEGA,
    "spaces": " " * MEGA + "x",
    "empty lines": "\n" * MEGA,
    "cue lines": "A:\n" * (MEGA // 3),
    "cues in a line": "A: " * (MEGA // 3),
    "bullets": "- " * (MEGA // 2),
    "markup": "*_#" * (MEGA // 3) + "!",
    "braces": "{" * MEGA,
    "brackets": "[" * MEGA,
    "open list": "[" + "1," * (MEGA // 2),
    "quotes": '{"a' + '"' * MEGA,
    "keys": '{"answer"' * (MEGA // 9),
    "escapes": '{"answer": "' + "\\" * MEGA,
    "single quotes": "{'answer': '" + "a'b" * (MEGA // 3),
    "spaces in json": '{"answer"' + " " * MEGA,
    "marks": "e" + "\u0315\u0300" * (MEGA // 2),
    "other marks": "\u05b0\u05b8" * (MEGA // 2),
    "ligatures": "ﷺ" * MEGA,
    "han": "维也纳不是" * (MEGA // 5),
    "digits": "1" * MEGA,
    "groups": "1,234." * (MEGA // 6),
    "dates": "1999-" * (MEGA // 5),
    "slashes": "vienna/" * (MEGA // 7),
    "negators": "not " * (MEGA // 4),
    "questions": "Question:" * (MEGA // 9),
    "fences": "```" * (MEGA // 3),
    "markers": "<s>" * (MEGA // 3),
    "options": "A) B) " * (MEGA // 6),
    "copulas": "是" * MEGA,
    "stops": "a. " * (MEGA // 3),
    "refusals": "I don't know " * (MEGA // 13),
    "accents": "où ou " * (MEGA // 6),
    "romans": "xx " * (MEGA // 3),
}


ONE_LINE = ["words", "digits", "groups", "dates", "slashes", "negators", "copulas", "romans", "options"]


@pytest.mark.parametrize(
    ("kind", "name"),
    [("entity", name) for name in LONG] + [(kind, name) for kind in KINDS if kind != "entity" for name in ONE_LINE],
)
def test_a_megabyte_takes_bounded_time(ask, kind, name):
    question = ask(QUERY, others=OTHERS, **KINDS[kind])
    started = time.process_time()
    verdict = score(question, LONG[name])
    assert verdict.label in LABELS
    assert time.process_time() - started < 5
    assert cluster_key(question, verdict.label, verdict.segment, "row")
    assert time.process_time() - started < 10


def test_long_query_and_options_take_bounded_time(ask):
    query = "Which city is it?\n" + "A) Graz B) Wien " * 20_000
    started = time.process_time()
    check(ask(query, NAMES[0], OTHERS, family="recognition"), "Which city is it? " * 20)
    assert time.process_time() - started < 5


def test_version_names_rules_and_lists():
    rules, _, lists = SCORER_VERSION.partition("+")
    assert rules.startswith("assay-fks-")
    assert len(lists) == 8
