"""Multi-turn methods with scripted models and the real sandbox."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from scripted import Services, artifact, prompts, rows_of, settings

from assay.config.executions import Executions
from assay.errors import SandboxError
from assay.records.jsonl import read_rows
from assay.records.rows import Message
from assay.records.step import Inputs
from assay.sandbox.executor import Executor
from assay.sandbox.records import Captured, Envelope, Limits, Payload, Record, Result
from assay.symbench.conversing import GROWING, TOO_LONG, seen
from assay.symbench.execution_rows import RolloutAnswer
from assay.symbench.guidance import choice, stop, tagged
from assay.symbench.labels import label
from assay.symbench.methods import choice as choice_method
from assay.symbench.methods import codesteer, interpreter, summary
from assay.symbench.prompts import build
from assay.symbench.rows import TaskRow
from assay.symbench.symbolic_check import complexity
from assay.symbench.templates import BUILT_IN, CODE, TEXT

PRINTS_6 = "I compute.\n```python\nprint('<<<6>>>')\n```"
SAYS_CORRECT = "```python\nprint('Correct')\n```"


@pytest.fixture(scope="module")
def executor() -> Iterator[Executor]:
    try:
        started = Executor(Executions(backend="fresh", distributions=(), preload=()), workers=1)
    except SandboxError as error:
        pytest.skip(f"no isolation here: {error}")
    with started as running:
        yield running


def said(answers: Sequence[str]) -> Any:
    """Return a script that gives the answers in turn, by the number of its own earlier answers in the chat."""
    return lambda chat: answers[min(sum(message.role == "assistant" for message in chat), len(answers) - 1)]


def test_the_loop_runs_checks_and_returns(tmp_path: Path, executor: Executor) -> None:
    services = Services(
        executor, solver=said([PRINTS_6]), guide=said(["Use a program.", "Return Answer"]), checker=said([SAYS_CORRECT])
    )
    made = codesteer.rollouts(settings("codesteer"), prompts(tmp_path, reversi__a="2 * 3?"), services)
    row = rows_of(tmp_path, made)[0]
    assert (row.ending, row.rounds, row.error, row.response) == ("returned", 0, None, PRINTS_6)
    # The scorer's own attempt ends by printing a variable that this program lacks; its output counts all the same.
    assert (row.execution.kind, row.execution.stdout.strip()) == ("error", "<<<6>>>")
    assert [turn.actor for turn in row.turns] == ["guide", "solver", "sandbox", "checker", "sandbox", "guide"]
    # A tuned guide's words stand in front of the question; the last review shows output, check and complexity.
    assert services.models["solver"].chats[0][1].content == "Use a program.\n\n2 * 3?"
    review = services.models["guide"].chats[1][-1].content or ""
    assert all(part in review for part in ("<<<6>>>", "Correct", "Complexity score"))


def test_the_loop_has_at_most_six_answers_six_guidances_and_five_checks(tmp_path: Path, executor: Executor) -> None:
    services = Services(
        executor, solver=said(["no"]), guide=said(["Try harder."]), checker=said(["I cannot write code."])
    )
    config = settings("codesteer", check_tries=2)
    row = rows_of(tmp_path, codesteer.rollouts(config, prompts(tmp_path, reversi__a="?"), services))[0]
    assert (row.ending, row.rounds) == ("rounds", 5)
    counts = {role: sum(turn.actor == role for turn in row.turns) for role in ("solver", "guide", "checker")}
    assert counts == {"solver": 6, "guide": 6, "checker": 10}
    assert [message.content for message in services.models["solver"].chats[-1][3::2]] == ["Try harder."] * 5


def test_a_plain_guide_answers_with_tags_and_sees_the_question_every_time(tmp_path: Path, executor: Executor) -> None:
    replies = ["<<<Text>>>", "Better: <<<Code>>>", "<<<Loop over the squares>>>", "<<<Terminate>>>"]
    services = Services(executor, solver=said(["five"]), guide=said(replies), checker=said([SAYS_CORRECT]))
    inputs = prompts(tmp_path, reversi__a="the question")
    row = rows_of(tmp_path, codesteer.rollouts(settings("symbolic_agent"), inputs, services))[0]
    assert (row.ending, row.rounds) == ("gave_up", 2)
    users = [message.content for message in services.models["solver"].chats[-1] if message.role == "user"]
    assert users == [f"{TEXT}\n\nthe question", CODE, "Loop over the squares"]
    assert all("the question" in (m.content or "") for m in services.models["guide"].chats[-1] if m.role == "user")


def test_a_guide_without_a_tag_fails_the_sample_or_asks_the_plain_question(tmp_path: Path, executor: Executor) -> None:
    inputs = prompts(tmp_path, reversi__a="q")
    for module, kind in ((codesteer, "symbolic_agent"), (choice_method, "code_text_choice")):
        services = Services(executor, solver=said(["six"]), guide=said(["Code, I think."]), checker=said([""]))
        row = rows_of(tmp_path, module.rollouts(settings(kind), inputs, services))[0]
        assert (row.ending, row.response, row.error) == ("no_choice", "", "the guide chose neither code nor text")
        asked = settings(kind, without_choice="question", max_rounds=0)
        row = rows_of(tmp_path, module.rollouts(asked, inputs, services))[0]
        assert (row.response, row.error) == ("six", None)
        assert services.models["solver"].chats[-1][1].content == "q"


def test_the_chosen_instruction_is_used(tmp_path: Path, executor: Executor) -> None:
    services = Services(executor, solver=said(["six"]), guide=said(["<<< code >>>"]))
    row = rows_of(
        tmp_path, choice_method.rollouts(settings("code_text_choice"), prompts(tmp_path, reversi__a="q"), services)
    )[0]
    assert row.ending == "answered"
    assert services.models["solver"].chats[0][1].content == f"{CODE}\n\nq"


def test_the_turn_after_a_time_out_sees_its_text(tmp_path: Path, executor: Executor) -> None:
    loops = "```python\nprint('so far', flush=True)\nwhile True: pass\n```"
    services = Services(executor, solver=said([loops, "<<<6>>>"]))
    config = settings("code_interpreter", loop_limit_s=1.0)
    row = rows_of(tmp_path, interpreter.rollouts(config, prompts(tmp_path, reversi__a="q"), services))[0]
    told = services.models["solver"].chats[1][-1].content or ""
    assert "so far" in told
    assert "longer than 1 seconds" in told
    assert [turn.kind for turn in row.turns if turn.actor == "sandbox"] == ["timeout"]
    # Code of an earlier turn is not run for an answer without code (deviation D17).
    assert (row.response, row.execution.kind, row.rounds) == ("<<<6>>>", "none", 1)


@pytest.mark.parametrize(
    ("code", "shown"),
    [
        ("print('so far', flush=True)\nwhile True: pass", "Output:\nso far\n"),
        ("while True: pass", "Output: none\n"),
        # More than is shown before a quarter of the time: the rest does not matter.
        ("import sys\nwhile True: sys.stdout.write('many ' * 1000)", "Output:\n" + ("many " * 400).rstrip() + "\n"),
        # Still printing when it is stopped: how far it came depends on the machine.
        ("import time\nwhile True:\n    print('tick', flush=True)\n    time.sleep(0.05)", f"{GROWING}\n"),
    ],
)
def test_what_is_shown_of_a_stopped_program_does_not_depend_on_when_it_was_stopped(
    tmp_path: Path, executor: Executor, code: str, shown: str
) -> None:
    """Two time limits, as two machines of different speed: the same text, apart from the number of seconds."""
    told = []
    for limit in (1.0, 1.6):
        services = Services(executor, solver=said([f"```python\n{code}\n```", "<<<6>>>"]))
        config = settings("code_interpreter", loop_limit_s=limit)
        row = rows_of(tmp_path, interpreter.rollouts(config, prompts(tmp_path, reversi__a="q"), services))[0]
        (turn,) = [turn for turn in row.turns if turn.actor == "sandbox"]
        assert turn.text in (services.models["solver"].chats[1][-1].content or "")
        told.append(turn.text.replace(f"{limit:g} seconds", "SOME seconds"))
    assert told[0] == told[1]
    assert told[0].startswith(shown)


def test_nothing_of_an_execution_that_is_not_reproducible_reaches_a_model() -> None:
    """Output that only the envelope holds, as of a program that was stopped for its memory."""
    envelope = dict.fromkeys(Envelope.__struct_fields__, 0)
    envelope |= {"partial": {"stdout": Captured.of(b"from this run"), "stderr": Captured.of(b"errors of it")}}
    for kind, words in (("memory", "too much memory"), ("timeout", "longer than"), ("output_limit", "too much")):
        payload = Payload(code_sha256="c", mode="file", runtime_id="r", limits=Limits(), world="closed", kind=kind)
        shown = seen(Result((Record(payload, Envelope(**envelope)),)))
        assert "this run" not in shown.text + shown.output
        assert "of it" not in shown.text
        assert words in shown.text
        assert "none" not in shown.text


def test_errors_are_shown_and_the_last_program_is_judged_when_no_call_is_left(
    tmp_path: Path, executor: Executor
) -> None:
    services = Services(executor, solver=said(["```python\nprint(1 / 0)\n```", PRINTS_6]))
    config = settings("code_interpreter", max_rounds=1)
    row = rows_of(tmp_path, interpreter.rollouts(config, prompts(tmp_path, reversi__a="q"), services))[0]
    assert "ZeroDivisionError" in (services.models["solver"].chats[1][-1].content or "")
    assert (row.ending, row.execution.kind, row.execution.stdout.strip()) == ("rounds", "error", "<<<6>>>")


def test_long_output_is_replaced_by_a_notice(tmp_path: Path, executor: Executor) -> None:
    services = Services(executor, solver=said(["```python\nprint('x' * 9000)\n```", "done"]))
    interpreter.rollouts(settings("code_interpreter"), prompts(tmp_path, reversi__a="q"), services)
    told = services.models["solver"].chats[1][-1].content or ""
    assert TOO_LONG in told
    assert "xxxx" not in told


def test_the_checker_gets_its_errors_back(tmp_path: Path, executor: Executor) -> None:
    broken = "```python\nimport nothing_of_this_name\n```"
    services = Services(
        executor, solver=said(["six"]), guide=said(["go", "Terminate"]), checker=said(["hm", broken, SAYS_CORRECT])
    )
    codesteer.rollouts(settings("codesteer"), prompts(tmp_path, reversi__a="q"), services)
    chat = services.models["checker"].chats[-1]
    assert chat[3].content == BUILT_IN["codesteer"]["check_missing"]
    assert "ModuleNotFoundError" in (chat[5].content or "")
    assert "Correct" in (services.models["guide"].chats[-1][-1].content or "")


def test_the_summary_asks_as_the_single_turn_methods_do(tmp_path: Path, executor: Executor) -> None:
    sample = TaskRow(task="reversi", sample_id="a", question="2 * 3?", solution={})

    tasks = Inputs((artifact(tmp_path, "tasks", {"tasks.jsonl": [sample]}),))
    single = [next(iter(build({"instruction": text}, tasks)["prompts.jsonl"])) for text in (TEXT, CODE)]
    solver = lambda chat: PRINTS_6 if (chat[1].content or "").startswith(CODE) else "It is six."  # noqa: E731
    services = Services(executor, solver=solver, guide=said(["CUT <<<6>>>"]))
    row = rows_of(
        tmp_path, summary.rollouts(settings("code_text_sum1"), prompts(tmp_path, reversi__a="2 * 3?"), services)
    )[0]
    digests = [turn.prompt_sha256 for turn in row.turns if turn.actor == "solver"]
    assert digests == [prompt.prompt_sha256 for prompt in single]  # type: ignore[attr-defined]
    shown = services.models["guide"].chats[0][-1].content or ""
    assert all(part in shown for part in ("2 * 3?", "It is six.", PRINTS_6, "<<<6>>>"))
    assert (row.response, row.truncated) == ("CUT <<<6>>>", True)


def test_programs_that_vary_mark_the_conversation_and_its_label(tmp_path: Path) -> None:
    varying = "```python\nimport os\nprint(os.urandom(8))\n```"
    inputs = prompts(tmp_path, statistical_counting__a="a", statistical_counting__b="b")
    script = lambda chat: [varying, PRINTS_6][chat[1].content == "b"] if len(chat) == 2 else "<<<6>>>"  # noqa: E731
    checked = Executions(backend="fresh", distributions=(), preload=(), repeat_check_fraction=1.0)
    with Executor(checked, workers=1) as running:
        made = interpreter.rollouts(settings("code_interpreter"), inputs, Services(running, solver=script))
    rows = rows_of(tmp_path, made)
    assert [row.nondeterministic for row in rows] == [True, False]
    assert [turn.nondeterministic for turn in rows[0].turns if turn.actor == "sandbox"] == [True]
    sample = TaskRow(task="statistical_counting", sample_id="x", question="", solution={"solution": 6})
    answers = read_rows(tmp_path / "rollouts-x/rollouts.jsonl", RolloutAnswer)
    assert [label(sample, answer).nondeterministic for answer in answers] == [True, False]


def test_a_model_that_fails_counts_and_stops_no_other_sample(tmp_path: Path, executor: Executor) -> None:
    script = lambda chat: "FAIL" if "first" in (chat[1].content or "") else "<<<6>>>"  # noqa: E731
    services = Services(executor, solver=script)
    inputs = prompts(tmp_path, statistical_counting__a="first", statistical_counting__b="second")
    rows = rows_of(tmp_path, interpreter.rollouts(settings("code_interpreter"), inputs, services))
    assert [(row.ending, row.error) for row in rows] == [
        ("error", "the solver failed: out of luck"),
        ("answered", None),
    ]
    sample = TaskRow(task="statistical_counting", sample_id="x", question="", solution={"solution": 6})
    verdicts = [
        label(
            sample,
            RolloutAnswer(
                row_id=r.row_id, query_id=r.query_id, response=r.response, execution=r.execution, error=r.error
            ),
        ).verdicts[0]
        for r in rows
    ]
    assert [verdict.outcome for verdict in verdicts] == ["failed", "right"]


def test_samples_are_asked_side_by_side_and_keep_their_order(tmp_path: Path, executor: Executor) -> None:
    def solver(chat: Sequence[Message]) -> str:
        return PRINTS_6 if chat[1].content == "b" and len(chat) == 2 else f"<<<{chat[1].content}>>>"

    services = Services(executor, solver=solver)
    inputs = prompts(tmp_path, reversi__c="c", reversi__b="b", reversi__a="a")
    rows = rows_of(tmp_path, interpreter.rollouts(settings("code_interpreter"), inputs, services))
    assert [row.query_id for row in rows] == ["reversi/c", "reversi/b", "reversi/a"]
    assert [row.response for row in rows] == ["<<<c>>>", "<<<b>>>", "<<<a>>>"]
    assert services.models["solver"].batches == [3, 1]


@pytest.mark.parametrize(
    ("reply", "chosen"),
    [("<<<Code>>>", "code"), ("<<<Text>>> no, <<< CODE >>>", "code"), ("<<<text>>>", "text"), ("Code", None)],
)
def test_a_plain_choice_is_the_last_marker(reply: str, chosen: str | None) -> None:
    assert choice(reply) == chosen


def test_a_tuned_reply_is_read_as_a_whole() -> None:
    assert [tagged(text) for text in ("a <<<Code>>> b <<<Text>>>", "<<<Text>>>", "Code")] == ["code", "text", None]
    assert [stop(text) for text in ("I say: Return Answer.", "Terminate", "return answer")] == [
        "returned",
        "gave_up",
        None,
    ]


@pytest.mark.parametrize(
    ("code", "flags", "score"),
    [
        ("print(6)", (False, False, False), 0.0),
        ("for i in range(3):\n    print(i + 1)", (True, False, True), 1.25),
        ("perform = 1", (False, False, False), 1.0),  # "for" inside a name counts
        ("from itertools import product", (False, False, False), 0.0),  # the first imported name is product
        ("import itertools", (True, False, False), 0.0),
        ("import os, itertools", (False, False, False), 0.0),  # only the first name is looked at
        ("if a:\n    1\nelif b:\n    2\nelse:\n    3", (False, False, False), 3.0),
        ("try:\n    eval('1')\nexcept E:\n    pass", (False, True, False), 2.0),
        ("print(f'{x}')", (False, True, False), 0.0),
        ("while 1: x = 1 + 2 * 3", (True, False, True), 1.5),
    ],
)
def test_the_symbolic_checker(code: str, flags: tuple[bool, bool, bool], score: float) -> None:
    found = complexity(code)
    assert (found.searching, found.symbolic, found.numerical) == flags
    assert found.score == score
    assert ("too simple" in found.summary()) == (score <= 2)


def test_code_that_cannot_be_parsed_scores_zero() -> None:
    for code in ("for for", "x = '\0'", "(" * 5000):
        found = complexity(code)
        assert found.score == 0
        assert "cannot be parsed" in found.summary()
