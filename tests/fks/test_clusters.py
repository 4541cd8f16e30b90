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
def test_span_is_never_empty(text, span):
    assert answer_span(Text(text)) == span


def test_long_keys_stay_short_and_distinct(ask):
    question = ask("Capital?", ["Oslo"])
    keys = {answer_key(question, "word " * 100 + end) for end in ("a", "b")}
    assert len(keys) == 2
    assert all(len(key) < 150 for key in keys)
