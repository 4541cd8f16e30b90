"""`assay fks score` on files made elsewhere."""

import json

import pytest

from assay.cli.main import main

FACT = {
    "fact_id": "f1",
    "subject": {"canonical": "Norway", "entity_id": "Q20", "aliases": []},
    "object": {"canonical": "Oslo", "entity_id": "Q585", "aliases": ["Осло"]},
    "relation": {"relation_id": "capital", "source_relations": ["P36"], "direction": "forward"},
    "qualification_question": "What is the capital of Norway?",
    "sources": ["test"],
    "source_records": ["1"],
    "is_functional": True,
    "answer_type": "entity",
    "answer_granularity": "exact",
    "answer_in_subject_surface": False,
    "spec_6_2_flag": False,
    "unknown_extra": 1,
}
OTHER = FACT | {
    "fact_id": "f2",
    "subject": {"canonical": "Italy", "entity_id": "Q38", "aliases": []},
    "object": {"canonical": "Rome", "entity_id": "Q220", "aliases": ["Roma", "Рим"]},
    "qualification_question": "What is the capital of Italy?",
}
QUERY = {
    "query_id": "q1",
    "fact_id": "f1",
    "relation": "capital",
    "condition_family": "anchor",
    "variant_id": "anchor_0",
    "language": "en",
    "query": "What is the capital of Norway?",
    "target_slot": "object",
    "gold_canonical": "Oslo",
    "gold_aliases": ["Осло"],
    "is_assisted": False,
    "is_well_posed": True,
    "use_for_main_forward": True,
    "use_for_reverse_analysis": False,
    "use_for_recognition_analysis": False,
    "answer_in_subject_surface": False,
}
QUERIES = [QUERY, QUERY | {"query_id": "q2", "variant_id": "paraphrase_0", "condition_family": "paraphrase"}]


@pytest.fixture
def files(tmp_path):
    def write(generations, queries=QUERIES, facts=(FACT, OTHER)):
        paths = {}
        for name, rows in (("g", generations), ("q", queries), ("f", facts)):
            paths[name] = tmp_path / f"{name}.jsonl"
            paths[name].write_text("".join(json.dumps(row) + "\n" for row in rows))
        return [str(paths["g"]), "--queries", str(paths["q"]), "--facts", str(paths["f"])]

    return write


GENERATIONS = [{"query_id": "q1", "text": " Oslo"}, {"query_id": "q2", "text": " в Риме"}]


def test_rows_and_counts(files, capsys):
    assert main(["fks", "score", *files(GENERATIONS)]) == 0
    captured = capsys.readouterr()
    rows = [json.loads(line) for line in captured.out.splitlines()]
    assert [row["label"] for row in rows] == ["correct", "incorrect"]
    assert rows[1]["matched_surface"] == "Рим"
    assert rows[0]["scorer_version"] in captured.err
    assert "2 generations for 2 of 2 queries" in captured.err
    assert "correct            1   50.0%" in captured.err


def test_out_and_clusters_are_files(files, tmp_path, capsys):
    out, clusters = tmp_path / "scored.jsonl", tmp_path / "clusters.jsonl"
    assert main(["fks", "score", *files(GENERATIONS), "--out", str(out), "--clusters", str(clusters)]) == 0
    assert capsys.readouterr().out == ""
    assert [json.loads(line)["cluster"] for line in clusters.read_text().splitlines()] == ["gold", "ans:ent:Q220"]
    assert len(out.read_text().splitlines()) == 2


@pytest.mark.parametrize(
    ("generations", "message"),
    [
        ([{"query_id": "q1", "answer": "x"}], "required fields are missing: text (the row has answer, query_id)"),
        ([[]], "row 1: this row is no object"),
        ([{}], "required fields are missing: query_id, text (the row has nothing)"),
        ([{"query_id": "q1", "text": None}], "Expected `str`, got `null` - at `$.text`"),
        (GENERATIONS[:1], "1 of 2 queries have no generation: q2"),
        ([*GENERATIONS, {"query_id": "q3", "text": ""}], "1 generations belong to no query: q3"),
        ([*GENERATIONS, GENERATIONS[0]], "query 'q1' has sample 0 twice"),
        ([*GENERATIONS, GENERATIONS[0] | {"sample_index": 1}], "queries have different samples"),
        ([GENERATIONS[0] | {"finish_reason": "tired"}], "Invalid enum value 'tired'"),
    ],
)
def test_bad_generations_are_named(files, capsys, generations, message):
    assert main(["fks", "score", *files(generations)]) == 4
    assert message in capsys.readouterr().err


def test_a_text_may_be_called_generation(files, capsys):
    rows = [{"query_id": row["query_id"], "generation": row["text"], "finish_reason": "eos"} for row in GENERATIONS]
    assert main(["fks", "score", *files(rows)]) == 0
    assert [json.loads(line)["label"] for line in capsys.readouterr().out.splitlines()] == ["correct", "incorrect"]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({"query_id": "q1"}, "row 2, key 'query_id': the id 'q1' is also that of row 1"),
        ({"condition_family": "anchor"}, "row 2, key 'condition_family': fact 'f1' has a second anchor"),
        ({"use_for_reverse_analysis": True}, "are both true in query 'q2'"),
        ({"answer_in_subject_surface": True}, "row 2, key 'answer_in_subject_surface': query 'q2' has True"),
    ],
)
def test_queries_that_contradict_themselves_are_refused(files, capsys, query, message):
    assert main(["fks", "score", *files(GENERATIONS, [QUERIES[0], QUERIES[1] | query])]) == 4
    assert message in capsys.readouterr().err


def test_nothing_to_score_is_an_error(files, tmp_path, capsys):
    arguments = files([])
    assert main(["fks", "score", *arguments, "--subset"]) == 4
    assert "the file has no generations" in capsys.readouterr().err
    assert main(["fks", "score", str(tmp_path), *arguments[1:]]) == 4
    assert "this is a folder" in capsys.readouterr().err


def test_unknown_fact_and_wrong_relation_are_named(files, capsys):
    assert main(["fks", "score", *files(GENERATIONS, [QUERY | {"fact_id": "f9"}, QUERIES[1]])]) == 4
    assert "q.jsonl, row 1, key 'fact_id': the fact 'f9' of query 'q1' does not exist" in capsys.readouterr().err
    assert main(["fks", "score", *files(GENERATIONS, [QUERY | {"relation": "x"}, QUERIES[1]])]) == 4
    assert "relation 'x'" in capsys.readouterr().err


def test_repeated_ids_are_errors(files, capsys):
    assert main(["fks", "score", *files(GENERATIONS, [*QUERIES, QUERY])]) == 4
    assert "q.jsonl, row 3, key 'query_id': the id 'q1' is also that of row 1" in capsys.readouterr().err
    assert main(["fks", "score", *files(GENERATIONS, QUERIES, [FACT, FACT])]) == 4
    assert "f.jsonl, row 2, key 'fact_id': the id 'f1' is also that of row 1" in capsys.readouterr().err


def test_subset_scores_what_is_there(files, capsys):
    assert main(["fks", "score", *files(GENERATIONS[:1]), "--subset"]) == 0
    assert "1 generations for 1 of 2 queries" in capsys.readouterr().err


def test_failed_calls_are_counted_and_unparseable(files, capsys):
    generations = [{"query_id": "q1", "text": "", "error": "timeout"}, GENERATIONS[1] | {"finish_reason": "length"}]
    assert main(["fks", "score", *files(generations)]) == 0
    captured = capsys.readouterr()
    row = json.loads(captured.out.splitlines()[0])
    assert (row["label"], row["rule_id"], row["error"]) == ("unparseable", "generation_error", "timeout")
    assert "failed calls 1 (counted as unparseable), cut at the token limit 1" in captured.err


@pytest.mark.parametrize("place", ["--out", "--clusters"])
@pytest.mark.parametrize("name", ["g", "q", "f"])
def test_an_input_is_never_written_over(files, tmp_path, capsys, place, name):
    arguments = files([{"query_id": "q1", "text": "Oslo"}, {"query_id": "q2", "text": "Rome"}])
    path = tmp_path / f"{name}.jsonl"
    before = path.read_bytes()
    assert main(["fks", "score", *arguments, place, str(path)]) != 0
    assert "the input would be written over" in capsys.readouterr().err
    assert path.read_bytes() == before


def test_a_lexicon_names_answers_that_no_fact_asks_for(files, tmp_path, capsys):
    arguments = files([{"query_id": "q1", "text": "Bergen or Oslo, Graz"}, {"query_id": "q2", "text": "Грац"}])
    lexicon = tmp_path / "lexicon.jsonl"
    row = {"relation": "capital", "slot": "object", "key": "Q13298", "surfaces": ["Graz", "Грац"]}
    lexicon.write_text(json.dumps(row) + "\n")
    clusters = tmp_path / "c.jsonl"
    for more, expected in (([], "ans:txt:грац"), (["--lexicon", str(lexicon)], "ans:ent:Q13298")):
        assert main(["fks", "score", *arguments, *more, "--clusters", str(clusters)]) == 0
        assert json.loads(clusters.read_text().splitlines()[1])["cluster"] == expected
    lexicon.write_text("{}\n")
    assert main(["fks", "score", *arguments, "--lexicon", str(lexicon)]) != 0
    assert "lexicon.jsonl, row 1" in capsys.readouterr().err
