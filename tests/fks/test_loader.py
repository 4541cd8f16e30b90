"""The loader on folders in the card's layout: small ones by default, one of the published size."""

import json
from copy import deepcopy
from pathlib import Path

import pytest
from card_rows import published_size, query, small, write

from assay.errors import ConfigError, DataError
from assay.fks.loader import dataset_files, load, lock_entry
from assay.records.step import Inputs


def settings(folder, **changes):
    return {"folder": str(folder), "files": lock_entry(folder)["files"], "expect_published_counts": False, **changes}


def run(folder, **changes):
    return load(settings(folder, **changes), Inputs(()))


def violate(folder, change):
    facts, queries = deepcopy(small())
    change(facts, queries)
    return write(folder, facts, queries)


def test_rows_pass_unchanged_with_their_further_fields(tmp_path):
    facts, queries = small()
    facts[0]["popularity"] = 7
    queries[3]["note"] = {"kept": True}
    out = run(write(tmp_path / "data", facts, queries))
    assert out["facts.jsonl"] == facts
    assert out["queries.jsonl"] == queries


def test_report_counts_what_the_files_hold(tmp_path):
    report = json.loads(run(write(tmp_path / "data", *small()))["load.json"])
    assert report["facts"] == 6
    assert report["families"]["multilingual"] == {"queries": 30, "facts": 6}
    assert report["flags"] == {
        "use_for_main_forward": 72,
        "use_for_reverse_analysis": 0,
        "use_for_recognition_analysis": 6,
        "none": 0,
    }


VIOLATIONS = {
    "a query id twice": (
        lambda f, q: q[5].update(query_id=q[2]["query_id"]),
        ("evaluation_queries.jsonl", 6, "query_id", "row 3"),
    ),
    "a fact id twice": (
        lambda f, q: f[4].update(fact_id="fact_000001"),
        ("benchmark_facts.jsonl", 5, "fact_id", "row 2"),
    ),
    "an unknown fact": (
        lambda f, q: q[7].update(fact_id="fact_999999"),
        ("evaluation_queries.jsonl", 8, "fact_id", "fact_999999"),
    ),
    "no anchor": (
        lambda f, q: q.pop(next(i for i, row in enumerate(q) if row["query_id"] == "fact_000002_anchor_0")),
        ("benchmark_facts.jsonl", 3, "fact_id", "no anchor"),
    ),
    "two anchors": (
        lambda f, q: q.append(query(f[3], "anchor", 1, f[3]["qualification_question"])),
        ("evaluation_queries.jsonl", 79, "condition_family", "second anchor"),
    ),
    "another anchor text": (
        lambda f, q: q[0].update(query="What is the capital of Subject 0"),
        ("evaluation_queries.jsonl", 1, "query", "Subject 0?"),
    ),
    "two flags": (
        lambda f, q: q[4].update(use_for_recognition_analysis=True),
        ("evaluation_queries.jsonl", 5, "use_for_recognition_analysis", "at most one"),
    ),
    "another copy flag": (
        lambda f, q: q[9].update(answer_in_subject_surface=not q[9]["answer_in_subject_surface"]),
        ("evaluation_queries.jsonl", 10, "answer_in_subject_surface", "fact_000000"),
    ),
    "another relation": (
        lambda f, q: q[9].update(relation="continent"),
        ("evaluation_queries.jsonl", 10, "relation", "'capital'"),
    ),
    "an inverse without inverse_of": (
        lambda f, q: f[2]["relation"].update(direction="inverse"),
        ("benchmark_facts.jsonl", 3, "relation.inverse_of", "None"),
    ),
    "inverse_of without an inverse": (
        lambda f, q: f[2]["relation"].update(inverse_of="capital"),
        ("benchmark_facts.jsonl", 3, "relation.inverse_of", "'forward'"),
    ),
    "an empty query": (
        lambda f, q: q[6].update(query=" "),
        ("evaluation_queries.jsonl", 7, "query", "empty"),
    ),
    "no right answer": (
        lambda f, q: q[6].update(gold_canonical=""),
        ("evaluation_queries.jsonl", 7, "gold_canonical", "no right answer"),
    ),
    "a missing field": (
        lambda f, q: q[6].pop("is_well_posed"),
        ("evaluation_queries.jsonl", 7, "is_well_posed", "missing"),
    ),
    "a field of another type": (
        lambda f, q: f[1]["object"].update(aliases="one"),
        ("benchmark_facts.jsonl", 2, "object.aliases", "array"),
    ),
}


@pytest.mark.parametrize("name", VIOLATIONS)
def test_each_violation_is_named_by_file_row_and_key(tmp_path, name):
    change, (file, row, key, words) = VIOLATIONS[name]
    folder = violate(tmp_path / "data", change)
    with pytest.raises(DataError) as caught:
        run(folder)
    assert Path(caught.value.file).name == file
    assert caught.value.row == row
    assert caught.value.key == key
    assert words in str(caught.value)


def test_a_line_that_is_no_json_is_named(tmp_path):
    folder = write(tmp_path / "data", *small())
    path = folder / "evaluation_queries.jsonl"
    lines = path.read_text().splitlines()
    lines[10] = lines[10][:40]
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(DataError, match=r"evaluation_queries.jsonl, row 11: .*not JSON"):
        run(folder)


def test_the_head_of_the_readme_says_where_configs_are(tmp_path):
    names = ("data/f-0.jsonl.gz", "data/q-0.jsonl")
    folder = write(tmp_path / "data", *small(), names=names)
    (folder / "README.md").write_text(
        "---\nlicense: cc-by-4.0\nconfigs:\n- config_name: facts\n  data_files: data/f-*.jsonl.gz\n"
        "- config_name: queries\n  data_files:\n  - split: test\n    path: data/q-*.jsonl\n---\n# Card\n"
    )
    assert {name: [str(p) for p in found] for name, found in dataset_files(folder).items()} == {
        "facts": [names[0]],
        "queries": [names[1]],
    }
    assert len(run(folder)["queries.jsonl"]) == len(small()[1])


@pytest.mark.parametrize(
    ("head", "words"),
    [
        (b"---\nconfigs:\n- config_name: facts\n  data_files: /facts.jsonl\n---\n", "'/facts.jsonl' lies outside"),
        (b"---\nconfigs:\n- config_name: facts\n  data_files: ../facts.jsonl\n---\n", "'../facts.jsonl' lies outside"),
        (b"---\n\xff\n---\n", "cannot be read"),
        (b"---\nconfigs: null\n---\n", "cannot be read"),
    ],
)
def test_a_readme_that_cannot_be_followed_is_named(tmp_path, head, words):
    folder = write(tmp_path / "data", *small())
    (folder / "README.md").write_bytes(head)
    with pytest.raises(DataError, match=r"README\.md") as caught:
        dataset_files(folder)
    assert words in str(caught.value)


def test_rows_of_several_files_are_numbered_in_their_own_file(tmp_path):
    facts, queries = deepcopy(small())
    queries[60]["fact_id"] = "nobody"
    folder = write(tmp_path / "data", facts, queries[:50], names=("facts.jsonl", "queries/part-0.jsonl"))
    write(folder, facts, queries[50:], names=("facts.jsonl", "queries/part-1.jsonl"))
    with pytest.raises(DataError) as caught:
        run(folder)
    assert Path(caught.value.file).name == "part-1.jsonl"
    assert caught.value.row == 11


@pytest.mark.parametrize("config", ["facts", "queries"])
def test_a_config_without_files_is_an_error(tmp_path, config):
    folder = write(tmp_path / "data", *small(), names=("facts.jsonl", "queries.jsonl"))
    (folder / f"{config}.jsonl").unlink()
    with pytest.raises(DataError, match=f"no file holds the config '{config}'"):
        dataset_files(folder)


def test_a_missing_folder_says_what_to_do(tmp_path):
    with pytest.raises(DataError, match="make a link"):
        dataset_files(tmp_path / "nothing")


def test_another_file_than_the_locked_one_is_an_error(tmp_path):
    folder = write(tmp_path / "data", *small())
    locked = settings(folder)
    path = folder / "benchmark_facts.jsonl"
    path.write_text(path.read_text().replace("Object 3", "Object 4"))
    with pytest.raises(DataError, match="assay data lock fks"):
        load(locked, Inputs(()))


def test_a_file_that_the_lock_does_not_name_is_an_error(tmp_path):
    folder = write(tmp_path / "data", *small(), names=("facts.jsonl", "queries/part-0.jsonl"))
    locked = settings(folder)
    (folder / "queries/part-1.jsonl").write_text(json.dumps(small()[1][0]) + "\n")
    with pytest.raises(DataError, match=r"part-1.jsonl: the lock does not name"):
        load(locked, Inputs(()))


def test_a_deviation_that_is_not_accepted_stops(tmp_path):
    def capital_of(facts, queries):
        facts[0]["relation"].update(direction="inverse", inverse_of="capital")

    folder = violate(tmp_path / "data", capital_of)
    assert json.loads(run(folder)["load.json"])["deviations"] == {"N2": 1}
    with pytest.raises(ConfigError, match="N2"):
        run(folder, accepted_deviations=["D1", "C1", "F1"])


def test_relations_and_caps_keep_whole_facts(tmp_path):
    folder = write(tmp_path / "data", *small())
    out = run(folder, relations=["capital"], cap_per_relation=2)
    kept = {row["fact_id"] for row in out["facts.jsonl"]}
    assert len(kept) == 2
    assert {row["fact_id"] for row in out["queries.jsonl"]} == kept
    assert len({row.key for row in out["lexicon.jsonl"] if row.slot == "subject"}) == 6  # what is not asked, too


def test_rows_read_elsewhere_for_the_published_files_are_refused(tmp_path):
    folder = write(tmp_path / "data", *small())
    with pytest.raises(DataError, match=r"'facts': the number is 6; expected 2592"):
        run(folder, expect_published_counts=True)


@pytest.fixture(scope="module")
def big(tmp_path_factory):
    return write(tmp_path_factory.mktemp("card") / "data", *published_size())


def test_files_of_the_published_size_pass(big):
    out = run(big, expect_published_counts=True)
    assert len(out["queries.jsonl"]) == 44416
    assert json.loads(out["load.json"])["deviations"] == {"C1": 846, "F1": 750}


def test_two_more_context_queries_are_the_state_before_the_guard(big, tmp_path):
    facts, queries = published_size()
    extra = [query(facts[i], "context", 9) for i in (1, 2)]
    out = run(write(tmp_path / "data", facts, queries + extra), expect_published_counts=True)
    assert json.loads(out["load.json"])["notes"] == ["D1: the state before the guard, 44,418 queries"]
    with pytest.raises(ConfigError, match="D1"):
        run(tmp_path / "data", expect_published_counts=True, accepted_deviations=["C1", "F1"])


def _drop(queries, family):
    queries.pop(next(i for i, row in enumerate(queries) if row["condition_family"] == family))


PUBLISHED_VIOLATIONS = {
    "a query less": (lambda f, q: _drop(q, "paraphrase"), "queries"),
    "a family renamed": (
        lambda f, q: next(r for r in q if r["condition_family"] == "context").update(condition_family="format"),
        "queries of family context",
    ),
    "a flag off": (
        lambda f, q: next(r for r in q if r["condition_family"] == "format").update(use_for_main_forward=False),
        "use_for_main_forward",
    ),
    "another relation": (
        lambda f, q: (
            [row["relation"].update(relation_id="new") for row in f[-1:]]
            and [r.update(relation="new") for r in q if r["fact_id"] == f[-1]["fact_id"]]
        ),
        "relations",
    ),
    "a copy flag": (
        lambda f, q: (
            f[-1].update(answer_in_subject_surface=True)
            or [r.update(answer_in_subject_surface=True) for r in q if r["fact_id"] == f[-1]["fact_id"]]
        ),
        "answer_in_subject_surface",
    ),
    "a flagged fact": (lambda f, q: f[-1].update(spec_6_2_flag=True), "spec_6_2_flag"),
    "a language": (lambda f, q: q[3].update(language="it"), "languages"),
    "four multilingual queries": (
        lambda f, q: (
            next(r for r in q if r["condition_family"] == "multilingual").update(
                fact_id="fact_000001", query_id="moved"
            )
            or [r.update(relation="flagged 1") for r in q if r["query_id"] == "moved"]
        ),
        "condition_family",
    ),
}


@pytest.mark.long
@pytest.mark.parametrize("name", PUBLISHED_VIOLATIONS)
def test_each_number_of_the_card_is_checked(tmp_path, name):
    change, key = PUBLISHED_VIOLATIONS[name]
    facts, queries = published_size()
    change(facts, queries)
    with pytest.raises(DataError) as caught:
        run(write(tmp_path / "data", facts, queries), expect_published_counts=True)
    assert caught.value.key == key


@pytest.mark.long
@pytest.mark.parametrize("name", VIOLATIONS)
def test_each_violation_is_named_among_44416_rows(tmp_path, name):
    change, (file, _, key, _) = VIOLATIONS[name]
    facts, queries = published_size()
    change(facts, queries)
    with pytest.raises(DataError) as caught:
        run(write(tmp_path / "data", facts, queries), expect_published_counts=True)
    assert (Path(caught.value.file).name, caught.value.key) == (file, key)
    assert caught.value.row is not None
