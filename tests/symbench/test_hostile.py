"""Whatever a model writes gets a label with a reason, in bounded time, and is never run by the judge."""

import time

import msgspec
import pytest
from examples import EXAMPLES

from assay.symbench.catalogue import TASKS
from assay.symbench.execution_rows import ExecutionRow, RolloutAnswer
from assay.symbench.judging import MODES, CodeOutput, judge
from assay.symbench.labels import label
from assay.symbench.rows import TaskRow

HOSTILE = {
    "empty": "",
    "blank": " \n\t ",
    "binary": "".join(map(chr, range(256))) * 20,
    "nul": "<<<\x00>>>",
    "surrogates": "<<<\udcff\ud800>>>",
    "chinese": "答案是<<<四十二>>>。",
    "unicode digits": "<<<٤٢, ४२ + 𝟒𝟐>>>",
    "unicode operators": "<<<６×４÷１−０>>>",
    "tower": "<<<[9, *, *, 9, *, *, 9, *, *, 9]>>>",
    "tower text": "<<<9**9**9**9 = 24>>>",
    "factorial": "<<<((9!)!)!>>>",
    "huge exponent": "<<<1e999999999>>>",
    "million digits": "<<<" + "9" * 90_000 + ">>>",
    "deep list": "<<<" + "[" * 50_000 + "]" * 50_000 + ">>>",
    "deep braces": "<<<" + '{"a":' * 20_000 + ">>>",
    "steps": "<<<" + "Step 1: " * 10_000 + ">>>",
    "commas": "<<<" + "," * 90_000 + ">>>",
    "quotes": "<<<" + "\"'" * 40_000 + ">>>",
    "points": "<<<[" + "(1.5, 2)," * 10_000 + ">>>",
    "fractions": "<<<" + "\\frac{" * 10_000 + ">>>",
    "numbers": "<<<" + "1 " * 40_000 + ">>>",
    "a gap": "<<<1 2" + " " * 90_000 + "x>>>",
    "import": "<<<__import__('os').system('touch assay-was-here')>>>",
    "format": "<<<{0.__class__.__mro__} %s %n>>>",
}


@pytest.mark.parametrize("name", list(HOSTILE))
def test_every_task_labels_hostile_text_soon(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    started = time.process_time()
    for example in EXAMPLES.values():
        for profile, extraction in MODES:
            found = judge(example.sample, HOSTILE[name], None, profile, extraction)
            assert not found.correct
            assert found.reason
    assert time.process_time() - started < 20
    assert not list(tmp_path.iterdir())


TEN_MEGABYTES = {
    "words": "x" * 10_000_000,
    "an answer": "<<<" + "1," * 5_000_000 + ">>>",
    "open markers": "<<<" * 3_300_000,
    "digits of another script": "<<<" + "٣" * 5_000_000 + ">>>",
    "open fences": "```python\n" * 1_000_000,
}


@pytest.mark.parametrize(
    "name",
    [name if name == "an answer" else pytest.param(name, marks=pytest.mark.long) for name in TEN_MEGABYTES],
)
def test_ten_megabytes_in_every_task(name):
    for task, example in EXAMPLES.items():
        started = time.process_time()
        for profile, extraction in MODES:
            found = judge(example.sample, TEN_MEGABYTES[name], None, profile, extraction)
            assert not found.correct
            assert found.reason
        assert time.process_time() - started < 5, task


def test_ten_megabytes_that_a_program_printed():
    for example in EXAMPLES.values():
        for profile, extraction in MODES:
            output = CodeOutput("7\n" * 500_000)
            assert not judge(example.sample, "```python\npass\n```", output, profile, extraction).correct


@pytest.mark.parametrize("task", list(TASKS))
def test_a_sample_without_fields_is_a_failed_label(task):
    empty = TaskRow(task=task, sample_id="one", question="", solution={})
    execution = ExecutionRow(row_id="r", query_id=empty.query_id)
    answer = RolloutAnswer(
        row_id="r", query_id=empty.query_id, response=f"<<<{EXAMPLES[task].right}>>>", execution=execution
    )
    row = label(empty, answer)
    for verdict in row.verdicts:
        assert verdict.outcome in ("failed", "crash", "unreadable", "wrong")
        assert verdict.reason


@pytest.mark.parametrize("task", list(TASKS))
def test_a_sample_that_lacks_any_one_field_or_holds_something_else_gets_a_label(task):
    """Never an exception, whatever is wrong with a sample; a field that no verdict needs may be missing."""
    example = EXAMPLES[task]
    broken = [None, [], "text", 7, [None], {"solution": None}]
    if isinstance(example.sample.solution, dict):
        for key in example.sample.solution:
            broken.append({other: value for other, value in example.sample.solution.items() if other != key})
            broken += [example.sample.solution | {key: value} for value in (None, "?", 7, [[None]], {})]
    for solution in broken:
        sample = msgspec.structs.replace(example.sample, solution=solution)
        for answer in (example.right, example.wrong, "1, 2"):
            for profile, extraction in MODES:
                found = judge(sample, f"<<<{answer}>>>", None, profile, extraction)
                assert found.outcome == "right" or found.reason
                if not isinstance(solution, dict):
                    assert not found.correct


def test_an_unknown_task_is_a_failed_label():
    found = judge(
        TaskRow(task="chess", sample_id="1", question="", solution={}), "<<<e4>>>", None, "corrected", "marker"
    )
    assert found.outcome == "failed"
    assert "chess" in found.reason


def test_a_failed_generation_is_a_failed_label():
    sample = EXAMPLES["navigate"].sample
    execution = ExecutionRow(row_id="r", query_id=sample.query_id)
    answer = RolloutAnswer(
        row_id="r", query_id=sample.query_id, response="<<<Yes>>>", execution=execution, error="endpoint gone"
    )
    assert {verdict.outcome for verdict in label(sample, answer).verdicts} == {"failed"}


def test_routes_and_time_outs():
    """Route E falls back to the response after a time-out, or to nothing, task by task; `corrected` never does."""
    response = "```python\nprint('x')\n```\n<<<No>>>"
    sample = EXAMPLES["web_of_lies"].sample
    assert judge(sample, response, CodeOutput("<<<Yes>>>"), "upstream", "echo").route == "text"
    assert judge(sample, response, CodeOutput("", timed_out=True), "upstream", "echo").route == "execution"
    late = judge(sample, response, CodeOutput("", timed_out=True), "corrected", "marker")
    assert (late.correct, late.route) == (True, "text")
    only_code = "```python\nprint('<<<No>>>')\nwhile True: pass\n```"
    assert judge(sample, only_code, CodeOutput("", timed_out=True), "upstream", "echo").correct
    late = judge(sample, only_code, CodeOutput("", timed_out=True), "corrected", "marker")
    assert not late.correct
    lifted = EXAMPLES["boxlift"]
    text = f"```python\nwhile True: pass\n```\n<<<{lifted.right}>>>"
    assert not judge(lifted.sample, text, CodeOutput("", timed_out=True), "upstream", "echo").correct


def test_source_text_is_no_answer_in_corrected():
    """D24."""
    response = "```python\nprint('<<<No>>>' if False else '')\n```"
    sample = EXAMPLES["web_of_lies"].sample
    assert judge(sample, response, CodeOutput("\n"), "upstream", "echo").correct
    assert not judge(sample, response, CodeOutput("\n"), "corrected", "marker").correct


def test_a_program_that_was_cut_off_is_no_answer_in_corrected():
    """D24: nothing was run, so what it would have printed was not answered."""
    sample = EXAMPLES["web_of_lies"].sample
    cut = "I compute it.\n```python\nprint('<<<No>>>')\nprint("
    assert judge(sample, cut, None, "upstream", "echo").correct
    assert not judge(sample, cut, None, "corrected", "marker").correct
    assert judge(sample, f"<<<No>>>\n{cut}", None, "corrected", "marker").correct


@pytest.mark.parametrize("fence", ["```py\n", "```Python\n", "```python3\n", "```python\r\n", "```python \n"])
def test_source_text_that_is_never_executed_is_no_answer_in_corrected(fence):
    """D24: upstream executes one spelling of the fence only."""
    sample = EXAMPLES["web_of_lies"].sample
    response = f"{fence}print('<<<No>>>' if False else '')\n```"
    assert judge(sample, response, None, "upstream", "echo").correct
    assert not judge(sample, response, None, "corrected", "marker").correct
    assert judge(sample, f"{response}\n<<<No>>>", None, "corrected", "marker").correct


def test_a_crash_of_one_route_is_an_error_although_the_other_is_right():
    """D21."""
    response = "```python\nprint(1)\n```\n<<<3>>>"
    sample = EXAMPLES["statistical_counting"].sample
    assert judge(sample, response, CodeOutput("about three"), "upstream", "echo").outcome == "crash"
    assert judge(sample, response, CodeOutput("about three"), "corrected", "marker").outcome == "right"


def test_brackets_of_the_extraction_reply_stay():
    """D8: without a marker the reply keeps its brackets and fails upstream."""
    example = EXAMPLES["blocksworld"]
    assert not judge(example.sample, example.right, None, "upstream", "normalized").correct
    assert judge(example.sample, example.right, None, "corrected", "marker").correct


def test_code_blocks_change_the_instruction_upstream():
    """D15: one block, and the sample is judged by instruction 0."""
    example = EXAMPLES["path_plan"]
    sample = msgspec.structs.replace(example.sample, solution=example.sample.solution | {"instruction_index": 6})
    response = "```python\npass\n```"
    output = CodeOutput(example.right)
    assert judge(sample, response, output, "upstream", "echo").correct
    assert not judge(sample, response, output, "corrected", "marker").correct


def test_game24_falls_back_to_the_response():
    sample = EXAMPLES["game24"].sample
    response = "```python\nprint('none')\n```\n<<<4*6*1*1>>>"
    assert judge(sample, response, CodeOutput("<<<1+1+4+6>>>"), "upstream", "echo").route == "text"
    assert judge(sample, response, CodeOutput("<<<4*6*1*1>>>"), "upstream", "echo").route == "execution"
