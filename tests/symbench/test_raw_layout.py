"""The loader of the authors' repository: the raw layout is written from the samples, then read back."""

import csv
import io
import json

import msgspec
import pytest

from assay.cli.main import main
from assay.errors import DataError
from assay.symbench.catalogue import TASKS
from assay.symbench.datasets import load_published
from assay.symbench.datasets_build import build, check_digest, published_digests, published_line
from assay.symbench.datasets_raw import READERS, path_plan
from assay.symbench.datasets_selection import select
from assay.symbench.rows import TaskRow


@pytest.fixture(scope="module")
def folder(shared):
    return shared / "data" / "symbench"


@pytest.fixture(scope="module")
def samples(folder):
    return {task: load_published(folder, task) for task in TASKS}


def _write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        text if isinstance(text, str) else json.dumps(text, ensure_ascii=False), encoding="utf-8", newline=""
    )


def _game24(root, rows):
    out = io.StringIO()
    names = ["Rank", "Puzzles", "AMT (s)", "Solved rate", "1-sigma Mean (s)", "1-sigma STD (s)"]
    writer = csv.DictWriter(out, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(row.solution["csv_row"] for row in rows)
    _write(root / "game24_dataset/24/24.csv", out.getvalue())


def write_raw(root, task, rows):
    """Write the authors' files of one task."""
    for row in rows:
        solution, name = row.solution, row.sample_id
        match task:
            case "boxlift":
                boxes, lifters, number = name.split("_")
                path = root / f"BoxLift_dataset/BoxLift_{boxes}_{lifters}/BoxLift{number}/BoxLift.json"
                _write(path, {"boxes": solution["boxes"], "lifters": solution["lifters"]})
            case "boxnet":
                r, c, k = name.split("_")
                _write(root / f"BoxNet1_dataset/env_pg_state_{r}_{c}/pg_state{k}/pg_state{k}.json", solution["state"])
            case "blocksworld":
                _write(root / f"Blocksworld_dataset/{name}/blocksworld_task.txt", solution["task_file"])
            case "letters":
                low, high, rest = name.split("_", 2)
                path = root / f"Letters/Letters_dataset_min_length_{low}_max_length_{high}/{rest}/test_words.json"
                _write(path, json.dumps(solution["word"]))
            case "number_multiply":
                for file, key in (("input_value_list", "input_value_list"), ("target_answer", "target_answer")):
                    _write(root / f"number_multiply/{name}/{file}.txt", json.dumps(solution[key]))
                _write(root / f"number_multiply/{name}/input_prompt_1.txt", row.question)
            case "math_geometry" | "math_counting_and_probability":
                record = {key: value for key, value in solution.items() if key != "boxed_target"}
                _write(root / f"MATH/train/{task.removeprefix('math_')}/{name.removeprefix('Sample_')}.json", record)
            case "logical_equation":
                _write(root / f"logical_equation/{name}/question.txt", row.question)
                _write(root / f"logical_equation/{name}/solution.json", solution)
            case "game24" | "gsm_hard" | "date_understanding" | "web_of_lies" | "navigate" | "logical_deduction":
                pass
            case _:
                base = root / (task if READERS[task].__closure__[0].cell_contents == task else f"{task}_dataset")
                _write(base / name / "question.txt", f"\n{row.question}\n")
                _write(base / name / "solution.json", solution)
    if task == "game24":
        _game24(root, rows)
    elif task == "gsm_hard":
        lines = "".join(json.dumps(row.solution, ensure_ascii=False) + "\n" for row in rows)
        _write(root / "gsmhardv2.jsonl", lines)
    elif "bbh_subset" in rows[0].complexity:
        stem = rows[0].complexity["bbh_subset"]
        _write(root / f"BIG-Bench-Hard/bbh/{stem}.json", {"canary": "x", "examples": [row.solution for row in rows]})


def _fields(raw):
    return (
        raw.sample_id,
        raw.solution,
        raw.complexity,
        raw.upstream_pool,
        getattr(raw, "baseline", None) if hasattr(raw, "baseline") else raw.runner.baseline,
        getattr(raw, "codesteer", None) if hasattr(raw, "codesteer") else raw.runner.codesteer,
    )


@pytest.mark.parametrize("task", [task for task in TASKS if task != "path_plan"])
def test_every_layout_is_read_back(tmp_path, samples, task):
    write_raw(tmp_path, task, samples[task])
    _write(tmp_path / f"{task}_dataset" / "test_results.txt", "a stray file")
    found = list(READERS[task](tmp_path))
    assert [_fields(raw) for raw in found] == [_fields(row) for row in samples[task]]
    if found[0].question is not None:
        assert [raw.question for raw in found] == [row.question for row in samples[task]]


def test_path_plan_comes_from_the_environments_file(folder, samples):
    found = list(path_plan(folder / "path_plan_environments.json"))
    expected = []
    for row in samples["path_plan"]:
        solution = {key: value for key, value in row.solution.items() if key != "instruction"}
        expected.append((row.sample_id, solution, row.complexity))
    assert [(raw.sample_id, raw.solution, raw.complexity) for raw in found] == expected


@pytest.mark.parametrize("task", list(TASKS))
def test_published_content_has_the_recorded_digest(samples, task):
    check_digest(task, samples[task])
    own = [msgspec.structs.replace(row, question="own words", question_source="own") for row in samples[task]]
    if (task, "without_question") in published_digests():
        check_digest(task, own)


def test_changed_content_is_refused(samples):
    rows = list(samples["reversi"])
    rows[3] = msgspec.structs.replace(rows[3], question=rows[3].question + " ")
    with pytest.raises(DataError, match="not the published ones"):
        check_digest("reversi", rows)


def test_an_own_question_is_not_in_the_compared_line():
    row = TaskRow(task="navigate", sample_id="1", question="mine", solution={"a": "ä"}, question_source="own")
    assert "mine" not in published_line(row)
    assert "ä" in published_line(row)


def test_fetch_from_a_folder(tmp_path, samples, capsys, monkeypatch):
    """A folder that lacks files: the tasks before it are written, then the missing file is named."""
    monkeypatch.chdir(tmp_path)
    clone = tmp_path / "clone" / "dataset_gather"
    write_raw(clone, "reversi", samples["reversi"])
    status = main(["data", "fetch", "symbench", "--from", str(tmp_path / "clone"), "--out", str(tmp_path / "out")])
    error = capsys.readouterr().err
    assert status == 4
    assert "24.csv" in error
    assert "dataset_gather" in error


BOXLIFT = "BoxLift_dataset/BoxLift_10_3/BoxLift3/BoxLift.json"
REVERSI = "reversi_dataset/sample_3"


@pytest.mark.parametrize(
    ("task", "file", "text", "message"),
    [
        ("boxlift", BOXLIFT, "{}", "a key is missing"),
        ("boxlift", BOXLIFT, "[]", "holds a list"),
        ("boxlift", BOXLIFT, '{"boxes": ["x"], "lifters": [1]}', "samples of boxlift cannot be read"),
        ("boxlift", BOXLIFT, '{"boxes": [9], "lifters": [1]}', "too heavy"),
        ("letters", "Letters/Letters_dataset_min_length_10_max_length_15/a_1_0/test_words.json", "5", "cannot be read"),
        ("reversi", f"{REVERSI}/solution.json", "[" * 100_000, "is not JSON"),
        ("reversi", f"{REVERSI}/question.txt/folder", "", "cannot be read"),
        ("game24", "game24_dataset/24/24.csv", "Rank,Puzzles\n1\n", "unreadable puzzle"),
        ("gsm_hard", "gsmhardv2.jsonl", "5\n", "cannot be read"),
        ("gsm_hard", "gsmhardv2.jsonl", "", "not the published ones"),
        ("navigate", "BIG-Bench-Hard/bbh/navigate.json", '{"examples": [{"input": "x"}]}', "cannot be read"),
    ],
)
def test_a_damaged_clone_is_named_in_one_sentence(tmp_path, samples, task, file, text, message):
    write_raw(tmp_path, task, samples[task])
    if file.endswith("/folder"):
        (tmp_path / file).parent.unlink()
    _write(tmp_path / file, text)
    with pytest.raises(DataError, match=message) as caught:
        list(build(tmp_path, None, tmp_path / "out", [task]))
    assert "unmodified clone" in caught.value.remedy


@pytest.mark.parametrize("text", ["{}", "[]", '{"environments": [5], "instructions": [1], "walls": []}'])
def test_another_environments_file(tmp_path, text):
    path = tmp_path / "path_plan_environments.json"
    path.write_text(text)
    with pytest.raises(DataError) as caught:
        list(build(tmp_path, path, tmp_path / "out", ["path_plan"]))
    assert caught.value.file == str(path)


def test_the_cause_that_git_names_is_told(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["data", "fetch", "symbench", "--from", f"file://{tmp_path}/none", "--out", str(tmp_path)]) == 4
    assert "does not appear to be a git repository" in capsys.readouterr().err


def test_fetch_from_what_is_neither_folder_nor_url(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["data", "fetch", "symbench", "--from", str(tmp_path / "none"), "--out", str(tmp_path)]) == 4
    assert "neither a folder nor a URL" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("task", "selection", "count"),
    [
        ("game24", "runner-baseline", 46),
        ("game24", "runner-codesteer", 28),
        ("path_plan", "runner-baseline", 140),
        ("boxlift", "runner-baseline", 20),
        ("boxnet", "runner-codesteer", 30),
        ("blocksworld", "runner-baseline", 48),
        ("navigate", "runner-baseline", 63),
        ("gsm_hard", "runner-baseline", 53),
        ("math_geometry", "runner-baseline", 50),
        ("letters", "runner-baseline", 75),
        ("number_multiply", "runner-baseline", 60),
        ("combinatorial_calculation", "runner-baseline", 50),
        ("reversi", "runner-baseline", 50),
        ("boxlift", "paper100", 40),
        ("boxnet", "paper100", 30),
        ("boxnet", "full", 50),
        ("letters", "paper100", 100),
        ("letters", "full", 1170),
    ],
)
def test_selections(samples, task, selection, count):
    chosen = select(samples[task], selection)
    assert len(chosen) == count
    assert len({row.sample_id for row in chosen}) == count
    assert chosen == select(samples[task], selection)


def test_published_files_are_checked(tmp_path):
    path = tmp_path / "reversi.jsonl"
    row = {"task": "reversi", "sample_id": "a", "question": "", "solution": {}}
    for rows, message in (
        ([{**row, "task": "2048"}], "a sample of '2048'"),
        ([row, row], "occurs twice"),
        ([{"task": "reversi"}], "sample_id"),
    ):
        path.write_text("".join(json.dumps(one) + "\n" for one in rows))
        with pytest.raises(DataError, match=message):
            load_published(tmp_path, "reversi")
    (tmp_path / "2048.jsonl.gz").write_bytes(b"\x1f\x8b broken")
    with pytest.raises(DataError, match="decompressed"):
        load_published(tmp_path, "2048")
    with pytest.raises(DataError, match="no task 'chess'"):
        load_published(tmp_path, "chess")


@pytest.mark.long
def test_fetch_everything(tmp_path, samples, folder, capsys, monkeypatch):
    """The whole repository: files published, questions in our own words where the authors compose theirs in code."""
    monkeypatch.chdir(tmp_path)  # the lock of the project is not this test's
    for task in TASKS:
        if task != "path_plan":
            write_raw(tmp_path / "clone" / "dataset_gather", task, samples[task])
    arguments = ["data", "fetch", "symbench", "--from", str(tmp_path / "clone"), "--out", str(tmp_path / "out")]
    assert main(arguments) == 0
    assert "path_plan: left out" in capsys.readouterr().out
    assert main([*arguments, "--with", str(folder / "path_plan_environments.json")]) == 0
    for task in TASKS:
        rows = load_published(tmp_path / "out", task)
        own = (task, "without_question") in published_digests()
        assert {row.question_source for row in rows} == {"own" if own else "published"}
        assert all(row.question.strip() for row in rows)
        assert len(rows) == len(samples[task])
        if own:
            assert not {row.question for row in rows} & {row.question for row in samples[task]}
