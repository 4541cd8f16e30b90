"""Choice of facts by filter models; a small word-level model stands for the forward pass."""

import json

import pytest

from assay.errors import ConfigError, DataError
from assay.fks.builder import build
from assay.fks.qualification import (
    Candidate,
    answer_starts,
    candidates,
    cloze_prompt,
    keep_qualified,
    qualify,
    right_prompts,
)
from assay.fks.qualification_report import PromptCount
from assay.fks.rows import QueryRow
from assay.records.jsonl import write_rows
from assay.records.step import Input, Inputs


class WordModel:
    """Knows some facts: continues a prompt with the word that follows it in what it was told."""

    def __init__(self, name, told):
        self.identity = {"name": name}
        self.words = {}
        self.told = told

    def tokens(self, text):
        return [self.words.setdefault(word, len(self.words)) for word in text.split(" ")]

    def is_blank(self, token):
        return False

    def next_tokens(self, prompts):
        return [self.tokens(next((a for p, a in self.told.items() if p in prompt), "unk"))[0] for prompt in prompts]


@pytest.fixture(scope="module")
def dataset():
    out = build({"relations": ["capital", "continent"], "cap_per_relation": 4, "selection": "well_known"}, Inputs(()))
    return list(out["facts.jsonl"]), list(out["queries.jsonl"]), list(out["lexicon.jsonl"])


def stored(folder, dataset):
    for name, rows in zip(("facts.jsonl", "queries.jsonl", "lexicon.jsonl"), dataset, strict=True):
        write_rows(folder / name, rows)
    return Inputs((Input("candidates", "queries", "fks", "k", folder, "bytes"),))


def query(text, family="format", slot="object"):
    flags = dict.fromkeys(
        (
            "is_assisted",
            "is_well_posed",
            "use_for_main_forward",
            "use_for_reverse_analysis",
            "use_for_recognition_analysis",
            "answer_in_subject_surface",
        ),
        False,
    )
    return QueryRow(
        query_id="q",
        fact_id="f",
        relation="r",
        condition_family=family,
        variant_id="v",
        language="en",
        query=text,
        target_slot=slot,
        gold_canonical="g",
        **flags,
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The capital of Austria is ____.", "The capital of Austria is"),
        ("Icelandic is normally written in the ____ script.", "Icelandic is normally written in the"),
        ("Country: Austria\nCapital:", "Country: Austria\nCapital:"),
        ("What is it? Reply with a JSON object.", None),
        ("____ is the capital.", None),
    ],
)
def test_a_cloze_ends_at_its_blank(text, expected):
    assert cloze_prompt(query(text)) == expected


def test_only_forward_format_queries_are_asked():
    assert cloze_prompt(query("The capital is ____.", family="paraphrase")) is None
    assert cloze_prompt(query("The capital is ____.", slot="subject")) is None


def test_the_first_token_comes_after_the_prompts_own():
    words = WordModel("m", {})
    asked = Candidate("f", "r", "a b", ("New York", "Graz"))
    assert list(answer_starts(words, asked)) == [(words.words["New"],), (words.words["Graz"],)]


class Letters:
    """Every letter is a token, a space too; continues a text by what it was told."""

    identity = {}

    def __init__(self, told):
        self.told = told

    def tokens(self, text):
        return [ord(letter) for letter in text]

    def is_blank(self, token):
        return not chr(token).strip()

    def next_tokens(self, prompts):
        return [ord(self.told.get(prompt, "?")) for prompt in prompts]


def test_a_space_of_its_own_is_no_answer():
    """Else every model would know every number: the space before it is easy to guess."""
    asked = [Candidate("f", "r", "in", ("1999",))]
    assert list(answer_starts(Letters({}), asked[0])) == [(ord(" "), ord("1"))]
    assert right_prompts(Letters({"in": " "}), asked) == ([False], 0)
    assert right_prompts(Letters({"in": " ", "in ": "2"}), asked) == ([False], 0)
    assert right_prompts(Letters({"in": " ", "in ": "1"}), asked) == ([True], 0)
    assert right_prompts(Letters({"in": "x", "in ": "1"}), asked) == ([False], 0)


def test_an_answer_follows_a_sign_without_a_space(dataset):
    built = build({"relations": ["calling_code"], "cap_per_relation": 1}, Inputs(()))
    cloze = next(one for one in candidates(built["facts.jsonl"], built["queries.jsonl"]) if one.prompt.endswith("+"))
    assert cloze.gap == ""
    assert (ord(cloze.surfaces[0][0]),) in answer_starts(Letters({}), cloze)


def test_a_surface_that_joins_the_prompt_cannot_be_compared():
    class Pairs(Letters):
        def tokens(self, text):
            return {"a": [1], "a ": [1, 2], "a b": [9]}[text]

    assert list(answer_starts(Pairs({}), Candidate("f", "r", "a", ("b",)))) == [None]


def test_a_fact_stays_if_one_prompt_is_right_for_every_model(dataset):
    facts, queries, _ = dataset
    one = WordModel("one", {"capital of China": "Beijing", "capital of the United States": "Washington,"})
    two = WordModel("two", {"capital of China": "北京", "capital of India": "New"})
    kept, report = qualify(facts, queries, {"one": one, "two": two})
    assert kept == {"fact_capital_CN"}
    assert report.total == PromptCount(prompts=16, prompts_kept=1, facts=8, facts_kept=1)
    assert report.by_model["one"].facts_kept == 2
    assert report.by_relation["continent"].prompts_kept == 0
    assert report.models == {"one": {"name": "one"}, "two": {"name": "two"}}


def test_rows_that_stay_are_unchanged(dataset, tmp_path):
    inputs = stored(tmp_path, dataset)
    models = {"m": WordModel("m", {"capital of China": "Beijing", "capital of India": "New"})}
    out = keep_qualified({"filter_models": ["m"]}, inputs, models)
    assert [row["fact_id"] for row in out["facts.jsonl"]] == ["fact_capital_CN", "fact_capital_IN"]
    kept = {row["query_id"] for row in out["queries.jsonl"]}
    assert kept == {q.query_id for q in dataset[1] if q.fact_id in ("fact_capital_CN", "fact_capital_IN")}
    report = json.loads(out["qualification.json"])
    assert report["total"]["facts"] == 8
    assert report["total"]["facts_kept"] == 2
    assert len(list(out["lexicon.jsonl"])) == len(dataset[2])


def test_no_fact_left_is_an_error(dataset, tmp_path):
    with pytest.raises(DataError, match="none of 8 facts qualifies"):
        keep_qualified({"filter_models": ["m"]}, stored(tmp_path, dataset), {"m": WordModel("m", {})})


def test_models_other_than_the_named_ones_are_refused(dataset, tmp_path):
    with pytest.raises(ConfigError, match="the models are"):
        keep_qualified({"filter_models": ["m", "n"]}, stored(tmp_path, dataset), {"m": WordModel("m", {})})


def test_the_models_code_is_in_the_recipe_of_qualification_alone(root, tmp_path):
    from assay.artifact.code import Source

    source = Source(root / "src", tmp_path / "code.json")
    qualified = source.closure("assay.steps.queries", "assay.fks.qualification")
    assert {"assay.steps.filter_models", "assay.model.packed", "assay.model.prompting"} <= qualified.keys()
    for module in ("assay.fks.builder", "assay.fks.loader"):
        assert not [name for name in source.closure("assay.steps.queries", module) if name.startswith("assay.model")]
