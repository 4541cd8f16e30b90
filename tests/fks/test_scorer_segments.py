"""Which piece of a generation is judged: JSON, cues, echoed lines, loops, markers."""

import pytest

from assay.fks.normalisation import normalise, split_tokens, stems
from assay.fks.scorer import score
from assay.fks.segments import LONGEST_SEGMENT, read_answer


def segment(text):
    answer = read_answer(text, lambda line: False)
    return answer.problem or answer.text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"answer": "Oslo"}', "Oslo"),
        ('{"final answer": "Oslo"}', "Oslo"),
        ('{"Answer" : "Oslo", "why": "x"}', "Oslo"),
        ('{"country": "Norway", "answer": "Oslo"}', "Oslo"),
        ('{"capital": "Oslo", "country": "Norway"}', "Oslo"),
        ('{"réponse": "Oslo"}', "Oslo"),
        ('{"ответ": "Осло"}', "Осло"),
        ('{"答案": "奥斯陆"}', "奥斯陆"),
        ('{"answer": "Os', "Os"),
        ('{"capital": "Oslo", "cou', "Oslo"),
        ('{"answer": "C\\u00f4te d\\\'Ivoire", "x', "Côte d'Ivoire"),
        ("{'answer': 'Côte d'Ivoire'}", "Côte d'Ivoire"),
        ("{“answer”: “Oslo”}", "Oslo"),
        ("{‘answer’: ‘Côte d’Ivoire’}", "Côte d'Ivoire"),
        ('{"答案"："奥斯陆"}', "奥斯陆"),
        ("\ufeff{“ответ”: „Осло”}", "Осло"),
        ("{answer: Oslo}", "Oslo"),
        ('{"answer": 1999}', "1999"),
        ('{"answer": 8849.50}', "8849.50"),
        ('{"answer": 19', "19"),
        ('{"answer": true}', "true"),
        ('{"answer": ["Oslo"]}', "Oslo"),
        ('{"answer": ["Oslo", "Ber', "Oslo, Ber"),
        ('["Oslo"]', "Oslo"),
        ("[Oslo]", "Oslo]"),
        ("[1] Oslo", "[1] Oslo"),
        ('```json\n{"answer": "Oslo"}\n```', "Oslo"),
        ('```\n{"answer": "Oslo"}\n```', "Oslo"),
        ('``` json {"answer": "Oslo"}', 'json {"answer": "Oslo"}'),
        ("```\nOslo\n```", "Oslo"),
        ("```Oslo```", "Oslo"),
        ('{"answer": "Oslo"}\nQuestion: next', "Oslo"),
        ('Answer: {"answer": "Oslo"}', "Oslo"),
        ('Answer:\n{\n  "answer": "Oslo"\n}', "Oslo"),
        ('Here is the answer:\n```json\n{"answer": "Oslo"}\n```', "Oslo"),
        ('{"answer": null}', "json_null"),
        ("{'answer': None}", "json_null"),
        ('{"answer": nul', "nul"),
        ('{"answer": []}', "json_empty_list"),
        ('{"answer": ""}', "json_empty_string"),
        ('{"answer": "  "}', "json_empty_string"),
        ('{"answer": "', "json_empty_string"),
        ('{"answer": {"city": "Oslo"}}', "json_nested"),
        ('{"answer": [["Oslo"]]}', "json_nested"),
        ("{}", "json_no_value"),
        ('{"answer":', "json_no_value"),
        ("{", "json_no_value"),
        ('{"answer', "json_no_value"),
    ],
)
def test_json(text, expected):
    assert segment(text) == expected


def test_bare_json_list_of_one_is_its_element_and_a_fence_may_name_json():
    assert segment('```JSON\n["Oslo"]\n```') == "Oslo"
    assert segment("[1]\n\nThe answer is: 1") == "1"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("  \n\n Oslo \nRome", "Oslo"),
        ("Answer: Answer: Oslo", "Oslo"),
        ("**Answer:** Oslo", "Oslo"),
        ("A: Oslo", "Oslo"),
        ("Réponse : Oslo", "Oslo"),
        ("Respuesta: Oslo", "Oslo"),
        ("Antwort: Oslo", "Oslo"),
        ("Ответ: Осло", "Осло"),
        ("答案：奥斯陆", "奥斯陆"),
        ("- * Oslo", "Oslo"),
        ("• Oslo", "Oslo"),
        ("The correct answer is: Oslo", "Oslo"),
        ("The answer is Oslo", "The answer is Oslo"),
        ("The answer is\nOslo", "Oslo"),
        ("Sure, here is the answer for you:\n\nOslo", "Oslo"),
        ("Sure! Here's the answer:\nOslo", "Oslo"),
        ("Sure, the answer is:\nOslo", "Oslo"),
        ("La réponse est :\nOslo", "Oslo"),
        ("La respuesta es:\nOslo", "Oslo"),
        ("Die Antwort lautet:\nOslo", "Oslo"),
        ("Ответ\nОсло", "Осло"),
        ("答案是：\n奥斯陆", "奥斯陆"),
        ("A city", "A city"),
        ('Answer: "de" it is', '"de" it is'),
        ("The answer is:\nThe answer is:\nThe answer is", "empty"),
        ("A:\nA:\n", "empty"),
        ("Oslo Question: What is next?", "Oslo"),
        ("Oslo Q: next", "Oslo"),
        ("Oslo Frage: next", "Oslo"),
        ("奥斯陆问题：下一个", "奥斯陆"),
        ("Question: What is next?\nAnswer: Oslo", "next_question"),
        ("the answer to the question: Oslo", "the answer to the question: Oslo"),
        ("Oslo</s>Rome", "Oslo"),
        ("Oslo<|im_end|>\n<|im_start|>user", "Oslo"),
        ("<s> Oslo", "Oslo"),
        ("<|endoftext|>Oslo", "empty"),
        ("Oslo\u2028Rome", "Oslo"),
        ("Oslo\r\nRome", "Oslo"),
        ("", "empty"),
        (" \t\n", "empty"),
    ],
)
def test_lines(text, expected):
    assert segment(text) == expected


def test_long_line_is_cut():
    assert len(segment("x " * LONGEST_SEGMENT)) <= LONGEST_SEGMENT


@pytest.mark.parametrize(
    ("text", "label", "rule"),
    [
        ("\nCity: Bergen\nCountry: Norway", "correct", "entity"),
        ("\nCity: Bergen\nCountry:\nCity: Bergen\nCountry:", "unparseable", "empty"),
        ("\nCountry:\nNorway", "correct", "exact"),
        ("Question: City: Bergen\nNorway", "correct", "exact"),
        ("City: Oslo\nNorway", "incorrect", "entity_none"),
    ],
)
def test_lines_of_the_query_are_skipped(ask, text, label, rule):
    verdict = score(ask("City: Bergen\nCountry:", ["Norway"]), text)
    assert (verdict.label, verdict.rule_id) == (label, rule)


def test_query_line_that_is_the_gold_counts(ask):
    assert score(ask("Airbus\nManufacturer:", ["Airbus"]), "Airbus").rule_id == "exact"


def test_repeated_instruction_is_no_answer(ask):
    question = ask("Capital of Norway?", ["Oslo"], instructions=["Answer with a short fact only."])
    assert score(question, "Answer with a short fact only.\nOslo").rule_id == "exact"
    assert score(question, "Answer with a short fact only.").rule_id == "empty"


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("Which city is the capital of Norway?", "empty"),
        ("city is the capital of Norway", "echo"),
        ("Which city is the capi", "echo"),
        ("capital of Norway", "echo_of_the_end"),
        ("Which city in Norway is a capital?", "echo_reworded"),
        ("the the the the", "repetition"),
        ("a city a city a city a city a", "repetition"),
        ("a city a city a city and many more words follow here now", "entity_none"),
        ("Norway", "entity_none"),
        ("Is Oslo the capital of Norway?", "entity"),
    ],
)
def test_echo_and_repetition(ask, text, rule):
    assert score(ask("Which city is the capital of Norway?", ["Oslo"]), text).rule_id == rule


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ('{"answer": ["Oslo", "Осло"]}', "correct"),
        ('{"answer": ["Oslo", "Rome"]}', "ambiguous"),
        ('{"answer": ["Rome", "Oslo or Rome"]}', "ambiguous"),
        ('{"answer": ["Rome", "Lima"]}', "incorrect"),
        ('{"answer": [null, "Rome"]}', "incorrect"),
        ('{"answer": [null]}', "abstain"),
        ('{"answer": [""]}', "unparseable"),
        ('{"answer": "I don\'t know"}', "abstain"),
        ('{"answer": "..."}', "unparseable"),
        ('{"answer": "not Oslo"}', "incorrect"),
    ],
)
def test_json_values_are_scored_like_text(ask, text, label):
    assert score(ask("Capital?", ["Oslo", "Осло"], ["Rome"]), text).label == label


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("  Ｏｓｌｏ\u200b\u00ad ", "oslo"),
        ("Zoë’s «Île»", "zoe ile"),
        ("the 1990's", "the 1990 s"),
        ("Straße ЁЛКА й", "strasse елка й"),
        ("Ве́на", "вена"),
        ("a–b—c", "a-b - c"),
        ("维 也·纳", "维也纳"),
        ("維 ok 也", "維 ok 也"),
        ("x\u0302\u0301y", "xy"),
        ("İstanbul", "istanbul"),
        ("‘it’ `is` _so_ #1", "it is so 1"),
    ],
)
def test_normalisation(text, expected):
    assert normalise(text) == expected


def test_tokens_are_words_and_single_han_characters():
    assert split_tokens(normalise("选C 12月 U.S."))[0] == ["选", "c", "12", "月", "u", "s"]


def test_russian_forms_meet_and_other_names_do_not():
    assert set(stems("франции")) & set(stems("франция"))
    assert set(stems("китая")) & set(stems("китай"))
    assert not set(stems("нигер")) & set(stems("нигерия"))
    assert stems("oslo") == ("oslo",)
