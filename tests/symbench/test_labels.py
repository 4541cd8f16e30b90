"""The labels job, the executions job, scoring of foreign responses, and what their recipes contain."""

import json

import pytest
from examples import EXAMPLES

from assay.artifact.code import Source
from assay.cli.main import main
from assay.config.executions import ExecutionLimits, Executions
from assay.errors import DataError
from assay.records.jsonl import read_rows, write_rows
from assay.records.rows import GenerationRow
from assay.records.step import Input, Inputs
from assay.sandbox.executor import Executor
from assay.symbench.catalogue import TASKS
from assay.symbench.execution_rows import ExecutionRow
from assay.symbench.executions import execute_rows
from assay.symbench.external import score_file
from assay.symbench.label_rows import LabelRow
from assay.symbench.labels import label_rows


def _generation(number, task, text, **changes):
    fields = {
        "row_id": f"{number:032x}",
        "query_id": EXAMPLES[task].sample.query_id,
        "sample_index": 0,
        "row_key": "k",
        "prompt_sha256": "p",
        "prompt_ids_sha256": "i",
        "n_prompt_tokens": 1,
        "truncated": False,
        "text": text,
        "n_new_tokens": 1,
        "finish_reason": "eos",
    }
    return GenerationRow(**(fields | changes))


def _artifact(tmp_path, role, name, rows):
    folder = tmp_path / role
    folder.mkdir(exist_ok=True)
    write_rows(folder / name, rows)
    return Input(role, role, "item", "key", folder, "bytes")


def _inputs(tmp_path, generations, executions=None):
    parts = [
        _artifact(tmp_path, "tasks", "tasks.jsonl", [example.sample for example in EXAMPLES.values()]),
        _artifact(tmp_path, "generations", "generations.jsonl", generations),
    ]
    if executions is not None:
        parts.append(_artifact(tmp_path, "executions", "executions.jsonl", executions))
    return Inputs(tuple(parts))


def _no_code(generations):
    return [ExecutionRow(row_id=row.row_id, query_id=row.query_id) for row in generations]


def test_one_label_a_response_in_order(tmp_path):
    generations = [_generation(n, task, f"<<<{EXAMPLES[task].right}>>>") for n, task in enumerate(TASKS)]
    generations.append(_generation(40, "navigate", "<<<No>>>", finish_reason="length"))
    generations.append(_generation(41, "navigate", "", finish_reason="error", error="gone", truncated=True))
    labels = list(label_rows({}, _inputs(tmp_path, generations, _no_code(generations)))["labels.jsonl"])
    assert [row.row_id for row in labels] == [row.row_id for row in generations]
    assert all(row.verdict("corrected", "marker").correct for row in labels[:37])
    assert [row.task for row in labels if not row.verdict("upstream", "normalized").correct][:-2] == []
    assert (labels[37].truncated, labels[37].verdict("upstream", "echo").outcome) == (True, "wrong")
    assert {verdict.outcome for verdict in labels[38].verdicts} == {"failed"}
    assert [row.truncated_prompt for row in labels[-2:]] == [False, True]


def test_modes_are_config(tmp_path):
    generations = [_generation(0, "navigate", "<<<Yes>>>")]
    inputs = _inputs(tmp_path, generations, _no_code(generations))
    (row,) = label_rows({"modes": [["corrected", "marker"]]}, inputs)["labels.jsonl"]
    assert [(verdict.profile, verdict.extraction) for verdict in row.verdicts] == [("corrected", "marker")]


@pytest.mark.parametrize(
    ("case", "words"),
    [
        ("missing execution", "do not hold the same rows"),
        ("swapped executions", "do not hold the same rows"),
        ("extra execution", "row ff: the execution belongs to no generation"),
        ("unknown query", "key 'query_id': the response to 'letters/two' belongs to no task"),
    ],
)
def test_rows_that_do_not_belong_together_are_refused(tmp_path, case, words):
    generations = [_generation(0, "navigate", "<<<Yes>>>"), _generation(1, "letters", "<<<>>>")]
    executions = _no_code(generations)
    if case == "missing execution":
        executions.pop()
    elif case == "swapped executions":
        executions.reverse()
    elif case == "extra execution":
        executions.append(ExecutionRow(row_id="ff", query_id="navigate/one"))
    else:
        generations[1] = _generation(1, "letters", "<<<>>>", query_id="letters/two")
    with pytest.raises(DataError, match=words):
        list(label_rows({}, _inputs(tmp_path, generations, executions))["labels.jsonl"])


def test_rollouts_are_judged_by_their_final_response(tmp_path):
    sample = EXAMPLES["navigate"].sample
    execution = {"row_id": "r", "query_id": sample.query_id, "code_sha256": "c", "kind": "ok", "stdout": "<<<Yes>>>\n"}
    rollout = {"row_id": "r", "query_id": sample.query_id, "response": "```python\npass\n```", "execution": execution}
    inputs = Inputs(
        (
            _artifact(tmp_path, "tasks", "tasks.jsonl", [sample]),
            _artifact(tmp_path, "rollouts", "rollouts.jsonl", [rollout | {"transcript": []}]),
        )
    )
    (row,) = label_rows({}, inputs)["labels.jsonl"]
    assert row.verdict("corrected", "marker").correct
    assert row.execution == "ok"


@pytest.fixture(scope="module")
def executor():
    with Executor(Executions(limits=ExecutionLimits(time_s=2.0), repeat_check_fraction=0.0), workers=1) as running:
        yield running


def test_labels_that_rest_on_varying_output_are_marked(tmp_path):
    texts = ["import os\nprint(os.urandom(8))", "print(1)", "result = 1", "import os\nresult = os.urandom(8)"]
    generations = [_generation(n, "letters", f"```python\n{text}\n```") for n, text in enumerate(texts)]
    settings = Executions(limits=ExecutionLimits(time_s=2.0), repeat_check_fraction=1.0)
    with Executor(settings, workers=1) as running:
        outputs = execute_rows({"executions": {}}, _inputs(tmp_path, generations), running)
        executions = list(outputs["executions.jsonl"])
    labels = label_rows({}, _inputs(tmp_path, generations, executions))["labels.jsonl"]
    assert [row.nondeterministic for row in labels] == [True, False, False, True]


def test_executions_and_their_labels(tmp_path, executor):
    right = EXAMPLES["letters"].right
    texts = {
        "printed": f"```python\nprint('<<<{right}>>>')\n```",
        "variable": f"```python\ntrajectory = '<<<{right}>>>'\n```",
        "no code": f"<<<{right}>>>",
        "loops": "```python\nprint('<<<" + right + ">>>', flush=True)\nwhile True: pass\n```",
        "raises": f"```python\nprint('<<<{right}>>>')\n1/0\n```",
        "hidden": "```python\nprint('<<<' + 'Count: 3, ' + 'Positions: [2, 4, 6]' + '>>>')\n```",
    }
    generations = [_generation(n, "letters", text) for n, text in enumerate(texts.values())]
    outputs = execute_rows({"executions": {}}, _inputs(tmp_path, generations), executor)
    rows = dict(zip(texts, outputs["executions.jsonl"], strict=True))
    assert [row.row_id for row in rows.values()] == [row.row_id for row in generations]
    kinds = {name: (row.kind, row.attempts) for name, row in rows.items()}
    assert kinds == {
        "printed": ("error", 1),
        "variable": ("ok", 4),
        "no code": ("none", 0),
        "loops": ("timeout", 1),
        "raises": ("error", 1),
        "hidden": ("error", 1),
    }
    inputs = _inputs(tmp_path, generations, rows.values())
    labels = dict(zip(texts, label_rows({}, inputs)["labels.jsonl"], strict=True))
    upstream = {name: row.verdict("upstream", "echo").correct for name, row in labels.items()}
    corrected = {name: row.verdict("corrected", "marker").correct for name, row in labels.items()}
    assert upstream == dict.fromkeys(texts, True)
    assert corrected == dict.fromkeys(texts, True) | {"loops": False}


def test_every_line_of_a_foreign_file_gets_a_label(tmp_path, capsys):
    data = tmp_path / "data"
    for task in ("letters", "navigate"):
        write_rows(data / f"{task}.jsonl", [EXAMPLES[task].sample])
    right = EXAMPLES["letters"].right
    lines = [
        {"task": "letters", "sample_id": "one", "response": f"<<<{right}>>>"},
        {"task": "letters", "sample_id": "one", "response": None},
        {"task": "letters", "sample_id": "one", "response": 12},
        {"task": "letters", "sample_id": "one"},
        {"task": "letters", "sample_id": "nine", "response": "x"},
        {"task": "chess", "sample_id": "one", "response": "x"},
        {"sample_id": "one"},
        ["a list"],
        {"task": "navigate", "sample_id": "one", "response": "<<<" + "y" * 10_000_000},
        {"task": "navigate", "sample_id": "one", "response_text": "```python\nprint('<<<Y' + 'es>>>')\n```"},
    ]
    path = tmp_path / "responses.jsonl"
    with path.open("wb") as file:
        file.writelines(json.dumps(line).encode() + b"\n" for line in lines)
        file.write(b"\xff\xfe\x00 binary\n{broken\n")
    labels = score_file(path, data, 5.0)
    assert len(labels) == 12
    outcomes = [row.verdict("corrected", "marker").outcome for row in labels]
    assert outcomes == ["right"] + ["failed"] * 7 + ["unreadable", "right"] + ["failed"] * 2
    assert all(row.verdict("corrected", "marker").reason for row in labels[1:9])
    assert len({row.row_id for row in labels}) == 12

    out = tmp_path / "labels.jsonl"
    assert main(["symbench", "score", str(path), "--data", str(data), "--out", str(out), "--no-code"]) == 0
    assert len(list(read_rows(out, LabelRow))) == 12
    printed = capsys.readouterr().err
    assert "letters" in printed
    assert "1 of     5 right" in printed


def test_half_characters_cost_a_line_neither_task_nor_label(tmp_path):
    """Python writes lone surrogates into JSON; they are no text, but the rest of the line is."""
    write_rows(tmp_path / "navigate.jsonl", [EXAMPLES["navigate"].sample])
    path = tmp_path / "responses.jsonl"
    texts = ["\ud800 <<<Yes>>>", "\ud83d\ude00\udcff", "```python\nprint('<<<Yes>>>')  # \udfff\n```"]
    lines = [json.dumps({"task": "navigate", "sample_id": "one", "response": text}) + "\n" for text in texts]
    path.write_text("".join(lines))
    labels = score_file(path, tmp_path, 5.0)
    assert [row.verdict("corrected", "marker").outcome for row in labels] == ["right", "wrong", "right"]
    write_rows(tmp_path / "labels.jsonl", labels)


def test_an_empty_file_is_refused_and_bad_lines_keep_apart(tmp_path):
    path = tmp_path / "responses.jsonl"
    path.write_text("\n")
    with pytest.raises(DataError, match="no response"):
        score_file(path, tmp_path, 5.0)
    path.write_text("5\n[]\n5\n")
    assert len({row.row_id for row in score_file(path, tmp_path, 5.0)}) == 3


@pytest.mark.parametrize("limit", ["0", "-1", "nan", "inf", "soon"])
def test_a_limit_that_is_none_is_refused(tmp_path, capsys, limit):
    for command in (["symbench", "score"], ["conformance", "symbench"]):
        with pytest.raises(SystemExit) as caught:
            main([*command, str(tmp_path / "file"), f"--limit={limit}"])
        assert caught.value.code == 2
        assert "no number of seconds" in capsys.readouterr().err


def test_samples_that_are_absent_are_named(tmp_path, capsys):
    path = tmp_path / "responses.jsonl"
    path.write_text('{"task": "letters", "sample_id": "one", "response": "x"}\n')
    assert main(["symbench", "score", str(path), "--data", str(tmp_path)]) == 4
    assert "assay data fetch symbench" in capsys.readouterr().err


def test_recipes_hold_what_decides_and_nothing_else(root):
    source = Source(root / "src")
    labels = set(source.closure("assay.symbench.labels"))
    assert {f"assay.symbench.verifiers.{module}" for module in ("game24", "task_2048", "reversi")} <= labels
    assert sum(name.startswith("assay.symbench.verifiers.") for name in labels) == 38
    for unwanted in ("assay.symbench.tasks", "assay.symbench.avenorm", "assay.symbench.datasets", "assay.sandbox"):
        assert not [name for name in labels if name.startswith(unwanted)]
    executions = set(source.closure("assay.symbench.executions"))
    for unwanted in (
        "assay.symbench.verifiers",
        "assay.symbench.judging",
        "assay.symbench.tasks",
        "assay.symbench.labels",
    ):
        assert not [name for name in executions if name.startswith(unwanted)]
