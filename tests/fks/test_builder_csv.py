"""Facts from a user's table."""

import json

import pytest

from assay.canonical import bytes_digest
from assay.errors import ConfigError, DataError
from assay.fks.builder import build
from assay.records.step import Inputs

HEADER = "relation,subject,object,subject_aliases,object_aliases,subject_fr,subject_running,inverse_unique,weight"
ROWS = [
    "capital,France,Paris,,Paname|Ville lumière,France,,,67",
    "capital,Netherlands,Amsterdam,Holland,,Pays-Bas,the Netherlands,false,17",
    "capital,Japan,Tokyo,,Tokio,Japon,,,125",
    "capital,Chile,Santiago,,,,,,19",
    "continent,Chile,South America,,,,,,19",
]
INVENTOR = {
    "inventor": {
        "label": {"en": "Invention", "de": "Erfindung"},
        "kv": "Inventor",
        "anchor": "Who invented {s}?",
        "paras": ["Name the inventor of {s}."],
        "cloze": "The inventor of {s} was ____.",
        "stmt": "{o} invented {s}.",
        "q": {"de": "Wer hat sie gemacht?"},
        "rev": ["What did {o} invent?"],
        "at": "entity",
    }
}


def table(path, rows=ROWS, header=HEADER):
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return {"csv": {"file": str(path)}}


def run(config):
    return build(config, Inputs(()))


def test_rows_become_facts_and_queries(tmp_path):
    out = run(table(tmp_path / "my.csv"))
    facts = {fact.fact_id: fact for fact in out["facts.jsonl"]}
    france = facts["fact_capital_France"]
    assert france.object.aliases == ("Paname", "Ville lumière")
    assert france.sources == ["my.csv"]
    assert france.source_records == ["row 2"]
    texts = {query.query_id: query for query in out["queries.jsonl"]}
    assert texts["fact_capital_Netherlands.anchor_0"].query == "What is the capital of the Netherlands?"
    assert "fact_capital_France.reverse_0" in texts
    assert "fact_capital_Netherlands.reverse_illposed_0" in texts


def test_languages_without_a_name_are_left_out_and_counted(tmp_path):
    out = run(table(tmp_path / "my.csv"))
    languages = {query.language for query in out["queries.jsonl"] if query.condition_family == "multilingual"}
    assert languages == {"fr"}
    assert json.loads(out["build.json"])["languages_without_name"] == 3 * 4 + 2 * 5


def test_equal_rows_are_absorbed_and_counted(tmp_path):
    out = run(table(tmp_path / "my.csv", [*ROWS, ROWS[2]]))
    assert json.loads(out["build.json"])["duplicates_absorbed"] == 1
    japan = next(fact for fact in out["facts.jsonl"] if fact.fact_id == "fact_capital_Japan")
    assert japan.source_records == ["row 4", "row 7"]


def test_an_absorbed_row_leaves_the_inverse_unique_and_adds_its_names(tmp_path):
    rows = ["capital,Japan,Tokyo,,Tokio,,,,", "capital,Japan,Tokyo,,Edo,Japon,,,"]
    out = run(table(tmp_path / "my.csv", rows))
    (japan,) = out["facts.jsonl"]
    assert japan.object.aliases == ("Tokio", "Edo")
    families = {query.condition_family for query in out["queries.jsonl"]}
    assert "reverse" in families
    assert "reverse_illposed" not in families
    assert [query.language for query in out["queries.jsonl"] if query.condition_family == "multilingual"] == ["fr"]


def test_own_relations_bring_their_texts(tmp_path):
    templates = tmp_path / "texts.json"
    templates.write_text(json.dumps(INVENTOR))
    config = table(tmp_path / "my.csv", ["inventor,the telephone,Bell,,,,,,"])
    config["csv"]["templates"] = str(templates)
    out = run(config)
    texts = {query.query_id: query.query for query in out["queries.jsonl"]}
    assert texts["fact_inventor_" + "the-telephone-" + bytes_digest(b"the telephone")[:8] + ".anchor_0"] == (
        "Who invented the telephone?"
    )
    assert not [query for query in out["queries.jsonl"] if query.variant_id == "multiple_choice"]  # no wrong objects


@pytest.mark.parametrize(
    ("rows", "header", "row", "key", "words"),
    [
        (["capital,France,,,,,,,"], HEADER, 2, "object", "empty"),
        (["capital,France,Paris"], HEADER, 2, None, "3 values"),
        (["capital,France,Paris,,,,,maybe,"], HEADER, 2, "inverse_unique", "true or false"),
        (["capital,France,Paris,,,,,,many"], HEADER, 2, "weight", "number"),
        (["capital,France,Paris,,,,,,nan"], HEADER, 2, "weight", "number"),
        (["France,Paris"], "subject,object", 1, "relation", "missing"),
        (["capital,France,Paris,x"], "relation,subject,object,objekt", 1, "objekt", "not known"),
        (["capital,France,Paris,x"], "relation,subject,object,object", 1, "object", "twice"),
        ([], HEADER, None, None, "no facts"),
        (['capital,"France,Paris,,,,,,'], HEADER, None, None, "no CSV"),
        (["capital,France,Paris,,,,,,", "capital,France,Lyon,,,,,,"], HEADER, 3, "capital", "two objects"),
        (["capital,France,???,,,,,,"], HEADER, 2, "object", "is no name"),
        (["calling_code,France,abc,,,,,,"], HEADER, 2, "object", "is no number"),
        (["calling_code,France,33 or 34,,,,,,"], HEADER, 2, "object", "is no number"),
        (["calling_code,France,33 m,,,,,,"], HEADER, 2, "object", "is no number"),
        (["capital,France,Paris,,,,,,", "capital,france,Lyon,,,,,,"], HEADER, 3, "subject", "reads like"),
        (["euro_year,France,soon,,,,,,"], HEADER, 2, "object", "is no year"),
    ],
)
def test_mistakes_name_file_row_and_column(tmp_path, rows, header, row, key, words):
    with pytest.raises(DataError) as caught:
        run(table(tmp_path / "my.csv", rows, header))
    assert words in str(caught.value)
    assert key is None or caught.value.key == key
    assert str(caught.value).startswith(str(tmp_path / "my.csv"))
    if row is not None:
        assert caught.value.row == row


def test_a_relation_without_texts_lists_those_that_have_some(tmp_path):
    with pytest.raises(ConfigError, match=r"'invented' has no question texts.*capital"):
        run(table(tmp_path / "my.csv", ["invented,x,y,,,,,,"]))


def test_a_file_that_is_not_utf8_is_named(tmp_path):
    path = tmp_path / "my.csv"
    path.write_bytes("relation,subject,object\ncapital,Österreich,Wien\n".encode("latin-1"))
    with pytest.raises(DataError, match="not UTF-8"):
        run({"csv": {"file": str(path)}})


def test_another_file_than_the_locked_one_is_an_error(tmp_path):
    config = table(tmp_path / "my.csv")
    config["csv"]["sha256"] = bytes_digest(b"other")
    with pytest.raises(DataError, match="assay data lock fks"):
        run(config)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(DataError, match="does not exist"):
        run({"csv": {"file": str(tmp_path / "none.csv")}})


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("cloze", "The inventor was ____.", "subject"),
        ("anchor", "Who invented {s} in {year}?", "has the slot {year}, expected {s}"),
        ("rev", ["What did {s} and {o} invent?"], "has the slot {s}, expected {o}"),
        ("q", {"it": "Chi l'ha inventata?"}, "q has the language 'it', expected some of zh, fr, es, de, ru"),
    ],
)
def test_wrong_texts_name_the_relation(tmp_path, key, value, words):
    templates = tmp_path / "texts.json"
    templates.write_text(json.dumps({"inventor": INVENTOR["inventor"] | {key: value}}))
    config = table(tmp_path / "my.csv", ["inventor,the telephone,Bell,,,,,,"])
    config["csv"]["templates"] = str(templates)
    with pytest.raises(DataError, match="key 'inventor'") as caught:
        run(config)
    assert words in str(caught.value)


def test_a_fact_more_leaves_the_ids_and_anchors_of_others_alone(tmp_path):
    before = run(table(tmp_path / "a.csv"))
    after = run(table(tmp_path / "b.csv", ["capital,Italy,Rome,,,Italie,,,59", *ROWS]))
    old = {query.query_id: query.query for query in before["queries.jsonl"]}
    new = {query.query_id: query.query for query in after["queries.jsonl"]}
    assert old.keys() <= new.keys()
    stable = {name for name in old if ".context_" not in name and ".recognition_" not in name}
    assert {name: new[name] for name in stable} == {name: old[name] for name in stable}


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (["capital,A-B,Foo", "capital,A/B,Bar"], "'A/B' (capital) and 'A-B' (capital, row 2) would both be the fact"),
        (["capital,of_X,Foo", "capital_of,X,Bar"], "'X' (capital_of) and 'of_X' (capital, row 2) would both be"),
    ],
)
def test_two_subjects_with_one_fact_id_are_named_with_their_rows(tmp_path, rows, said):
    with pytest.raises(DataError) as caught:
        run(table(tmp_path / "my.csv", rows, "relation,subject,object"))
    assert said in str(caught.value)
    assert "row 3, key 'subject'" in str(caught.value)
    assert "subject_id" in str(caught.value)
    own = [f"{row},{number}" for number, row in enumerate(rows)]
    ids = [
        fact.fact_id
        for fact in run(table(tmp_path / "own.csv", own, "relation,subject,object,subject_id"))["facts.jsonl"]
    ]
    assert len(set(ids)) == 2


def test_an_inverse_that_the_table_shows_to_be_no_unique_one_is_refused(tmp_path):
    rows = ["capital,A,Foo,true", "capital,B,Foo,"]
    with pytest.raises(DataError, match="2 subjects of 'capital' have the object 'Foo'") as caught:
        run(table(tmp_path / "my.csv", rows, "relation,subject,object,inverse_unique"))
    assert "row 2, key 'inverse_unique'" in str(caught.value)
