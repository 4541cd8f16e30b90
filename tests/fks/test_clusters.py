"""Which wrong answers to one fact are the same."""

import pytest

from assay.fks.answer_keys import answer_key, answer_span, cluster_key
from assay.fks.normalisation import Text
from assay.fks.scorer import score

OTHERS = {
    "rome": ["Rome", "Roma", "罗马", "Рим"],
    "lima": ["Lima", "利马", "Лима"],
    "sd": ["Sudan"],
    "ss": ["South Sudan"],
}


def cluster(question, text, row="r"):
    verdict = score(question, text)
    return cluster_key(question, verdict.label, verdict.segment, row)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Rome", "Roma"),
        ("Rome", "罗马"),
        ("Rome", "в Риме"),
        ("It is Rome.", '{"answer": "Rome"}'),
        ("Rome and Lima", "Lima, Rome"),
        ("a small town", "The answer is: a small town."),
        ("the town", "Town!"),
        ("The capital is Bergen", "Bergen"),
        ("C'est Bergen", "bergen"),
        ("Es Bergen", "Bergen, Norway"),
        ("It's Bergen.", "Bergen"),
        ("That’s Bergen", "it is Bergen"),
        ("Столица — Берген", "Берген"),
        ("首都是卑尔根", "卑尔根。"),
        ("Bergen (a city)", "Bergen"),
        ("I don't know", "Keine Ahnung"),
        ("Oslo", "Осло"),
    ],
)
def test_same(ask, one, other):
    question = ask("Capital of Norway?", ["Oslo", "Осло"], OTHERS)
    assert cluster(question, one) == cluster(question, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Rome", "Lima"),
        ("Rome", "Rome and Lima"),
        ("Rome", "Rome or Oslo"),
        ("South Sudan", "Sudan"),
        ("St. Louis", "St. Petersburg"),
        ("U.S. dollar", "U.S. army"),
        ("Bergen", "Berlin"),
        ("Bergen", "I don't know"),
        ("...", "..."),
    ],
)
def test_different(ask, one, other):
    question = ask("Capital of Norway?", ["Oslo"], OTHERS)
    assert cluster(question, one, "1") != cluster(question, other, "2")


def test_wrong_and_ambiguous_never_merge(ask):
    question = ask("Capital?", ["Oslo"], OTHERS)
    assert cluster(question, "Rome") == "ans:ent:rome"
    assert cluster(question, "Rome or Oslo") == "amb:ent:rome"


def test_dates_and_numbers_are_keyed_by_value(ask):
    year = ask("Which year?", ["1999"], answer_type="year", granularity="year")
    assert cluster(year, "in 2002") == cluster(year, "1 January 2002") == cluster(year, "2002年")
    assert cluster(year, "2002 or 2001") == cluster(year, "2001, 2002")
    assert cluster(year, "1990s").startswith("amb:")
    number = ask("How many of the 32?", ["206"], answer_type="number")
    assert cluster(number, "8,848 m") == cluster(number, "8 848") == cluster(number, "8848 of 32")
    assert cluster(number, "32") != cluster(number, "33")


def test_yes_no_and_choices_are_keyed_by_what_is_said(ask):
    boolean = ask("Right?", ["yes"], answer_type="boolean")
    assert cluster(boolean, "No") == cluster(boolean, "That is false") == "ans:bool:no"
    choice = ask("Which?\nA) Rome\nB) Oslo", ["Oslo"], OTHERS, family="recognition")
    assert cluster(choice, "A") == cluster(choice, "罗马") == "ans:opt:rome"


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("The capital of Norway is", "capital of norway is"),
        ("(perhaps) Bergen", "perhaps bergen"),
        ("is Bergen", "bergen"),
        ("Bergen is", "bergen is"),
        ("the", "the"),
    ],
)
def test_span_is_never_empty(ask, text, span):
    assert answer_span(ask("Capital of Norway?", ["Oslo"]), Text(text)) == span


@pytest.mark.parametrize(
    ("language", "query", "text", "span"),
    [
        ("en", "What is the capital of France?", "Lyon is the capital of France.", "lyon"),
        ("en", "What is the capital of France?", "Lyon, which is the capital of France", "lyon"),
        ("en", "What is the capital of France?", "It is Lyon which is the capital of France", "lyon"),
        ("en", "What is the capital of France?", "Lyon is a city in the south of France", "lyon"),
        ("en", "Official currency of Indonesia?", "Indonesia is the official currency of Indonesia.", "indonesia"),
        ("fr", "Pays : France. Quelle est la capitale ?", "C'est Lyon qui est la capitale de la France.", "lyon"),
        ("fr", "Pays : France. Quelle est la capitale ?", "Lyon est la capitale de la France.", "lyon"),
        ("es", "País: Francia. ¿Qué ciudad es su capital?", "Lyon es la capital de Francia", "lyon"),
        ("de", "Land: Frankreich. Was ist die Hauptstadt?", "Lyon ist die Hauptstadt Frankreichs.", "lyon"),
        ("ru", "Страна: Франция. Какой город является столицей?", "Лион — это столица Франции.", "лион"),
        ("ru", "Страна: Франция. Какой город является столицей?", "Лион — столица Франции.", "лион"),
        ("zh", "国家：法国。这个国家的首都是哪座城市？", "里昂是法国的首都。", "里昂"),
        ("en", "What is the capital of France?", "Lyon is the capital.", "lyon"),
        ("en", "What is the capital of France?", "Lyon — the capital", "lyon"),
        ("ru", "Страна: Франция. Назовите столицу.", "Лион - столица", "лион"),
        # The copula leads to the answer, also to one that the query names.
        ("en", "What is the capital of France?", "I think it is France", "france"),
        ("ru", "Страна: Франция. Назовите столицу.", "Думаю, это Франция", "франция"),
        ("ru", "Страна: Франция. Назовите столицу.", "Столица — Франция", "франция"),
        ("en", "What is the capital of France?", "The capital of France is France.", "france"),
        ("en", "What is the capital of France?", "My guess is France.", "france"),
        ("en", "What is the capital of France?", "The capital is a city in Spain", "city in spain"),
        ("en", "What is the capital of France?", "It is the capital of France", "capital of france"),
        ("en", "What is the capital of India?", "The city is Pune, India", "pune"),
        (
            "fr",
            "Pays : Inde. Quelle est la capitale ?",
            "Ce n'est pas Goa, c'est une ville de l'Inde",
            "ville de l inde",
        ),
        ("de", "Land: Frankreich. Was ist die Hauptstadt?", "Die Hauptstadt Frankreichs ist Lyon.", "lyon"),
        ("zh", "国家：法国。这个国家的首都是哪座城市？", "法国的首都是里昂", "里昂"),
    ],
)
def test_the_answer_stands_on_the_side_of_the_copula_that_says_more_than_was_asked(ask, language, query, text, span):
    assert answer_span(ask(query, ["Paris"], language=language), Text(text)) == span


@pytest.mark.parametrize(
    "text",
    ["1. Lyon", "1) Lyon", "(1) Lyon", "a) Lyon", "No, Lyon", "Nein, Lyon.", "\\boxed{Lyon}", "$\\text{Lyon}$",
     "<answer>Lyon</answer>", "Lyon<br>", "&quot;Lyon&quot;", "Lyon&nbsp;", "Lyon (1. division)",
     "<b>Lyon</b>, France"],
)  # fmt: skip
def test_what_stands_around_an_answer_is_no_part_of_it(ask, text):
    assert answer_span(ask("What is the capital of France?", ["Paris"]), Text(text)) == "lyon"


def test_a_chain_of_copulas_is_read_in_time(ask):
    assert answer_span(ask("What is it?", ["Paris"]), Text("x is a " * 600)) == "a"


def test_long_keys_stay_short_and_distinct(ask):
    question = ask("Capital?", ["Oslo"])
    keys = {answer_key(question, "word " * 100 + end) for end in ("a", "b")}
    assert len(keys) == 2
    assert all(len(key) < 150 for key in keys)
