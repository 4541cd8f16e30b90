"""From a whole response to one verdict: the two routes, the extraction, the verifier.

A response is scored twice and accepted when either route is right: route E reads what its first code block
printed (or the response itself where there is no code), route T reads the response. Every verdict names its
profile and its way of extraction:

- `upstream`, `echo`: the second language model that upstream asks to extract an answer is replaced by one that
  returns the response as it is, or wraps it into the marker;
- `upstream`, `normalized`: the replacement also repairs the format (`extraction_normalizers`);
- `corrected`, `marker`: the last marker that is not blank, or the whole text; source code is no answer text. Of a text
  without a marker three tasks, two of which ask for none, take the last thing that can be their answer.
"""

from typing import Literal

import msgspec

from assay.symbench.alternatives import last_run
from assay.symbench.execution_rows import ExecutionRow
from assay.symbench.extraction import (
    CLOSE,
    OPEN,
    code_blocks,
    first_bracket_marker,
    last_line_marker,
    last_marker,
    last_written_marker,
    without_code_blocks,
)
from assay.symbench.extraction_normalizers import NORMALIZERS, unchanged
from assay.symbench.rows import TaskRow
from assay.symbench.statements import INTEGER, POSITIONS, TRAJECTORY
from assay.symbench.verdicts import Outcome, Profile, Verdict, failed, unreadable
from assay.symbench.verifiers.registry import VERIFIERS

Extraction = Literal["echo", "normalized", "marker"]
MODES: tuple[tuple[Profile, Extraction], ...] = (
    ("upstream", "echo"),
    ("upstream", "normalized"),
    ("corrected", "marker"),
)

# A longer answer is none: the longest reference has 3,000 characters.
MAX_ANSWER = 100_000

_CHOICES = frozenset({"date_understanding", "web_of_lies", "logical_deduction", "navigate"})
_NUMERIC = frozenset({"gsm_hard", "math_geometry", "math_counting_and_probability"})
_RAW = frozenset({"letters", "number_multiply", "path_plan"})
_SEARCHED = {"letters": POSITIONS, "number_multiply": INTEGER, "path_plan": TRAJECTORY}
_MARKER_FIRST = frozenset({"blocksworld", "boxnet", "boxlift"})
# On a time-out the scorer of these tasks goes on with an empty text, that of the others with the response.
_EMPTY_AFTER_TIMEOUT = frozenset({"blocksworld", "boxlift", "game24"})


class CodeOutput(msgspec.Struct, frozen=True):
    """What the first code block of a response gave: its standard output, or a time-out."""

    stdout: str
    timed_out: bool = False


def code_output(execution: ExecutionRow) -> CodeOutput | None:
    """Return what the judge reads of an execution row."""
    if execution.code_sha256 is None:
        return None
    return CodeOutput(execution.stdout, timed_out=execution.kind == "timeout")


class Judgement(msgspec.Struct, frozen=True):
    """One verdict on one response.

    `route` is the route that the verdict comes from: "execution", "text", or "both" where both are wrong;
    `answer_execution` and `answer_text` are the extracted texts (None where a route was not read).
    """

    outcome: Outcome
    reason: str
    route: Literal["execution", "text", "both"]
    answer_execution: str | None = None
    answer_text: str | None = None

    @property
    def correct(self) -> bool:
        """Whether the sample counts as solved."""
        return self.outcome == "right"


def judge(
    sample: TaskRow, response: str, code: CodeOutput | None, profile: Profile, extraction: Extraction
) -> Judgement:
    """Judge a response.

    Parameters
    ----------
    code : CodeOutput or None
        What the first code block gave; None exactly when the response has none.
    """
    if sample.task not in VERIFIERS:
        verdict = failed(f"there is no task {sample.task!r}")
        return Judgement(verdict.outcome, verdict.reason, "both")
    if profile == "corrected":
        return _corrected(sample, response, code)
    if sample.task == "game24":
        return _game24(sample, response, code, extraction)
    sample = _with_upstream_instruction(sample, response)
    execution_text = _execution_text(sample.task, response, code)
    if sample.task == "boxlift":
        answer = _answer(sample.task, execution_text, extraction)
        verdict = _verify(sample, answer, "upstream")
        return Judgement(verdict.outcome, verdict.reason, "execution", answer, None)
    if sample.task == "reversi":
        execution_text = execution_text.replace("\n", "")
    answers = [_answer(sample.task, text, extraction) for text in (execution_text, response)]
    return _either([_verify(sample, answer, "upstream") for answer in answers], answers)


def _execution_text(task: str, response: str, code: CodeOutput | None) -> str:
    if code is None:
        return response
    if code.timed_out:
        return "" if task in _EMPTY_AFTER_TIMEOUT else response
    return code.stdout


def _with_upstream_instruction(sample: TaskRow, response: str) -> TaskRow:
    """Repeat deviation D15: k code blocks make upstream judge by instruction k - 1."""
    blocks = len(code_blocks(response)) if sample.task == "path_plan" else 0
    if not blocks or not isinstance(sample.solution, dict):
        return sample
    return msgspec.structs.replace(sample, solution=sample.solution | {"instruction_index": blocks - 1})


def _answer(task: str, text: str, extraction: Extraction) -> str:
    """Return the text that upstream's verifier gets, with the extracting model replaced."""
    if task in _CHOICES:
        marker = last_marker(text)
        return text.strip() if marker is None else marker
    if task in _MARKER_FIRST:
        # The reply is verified as it stands, brackets included (deviation D8).
        return last_marker(text) or _reply(task, text, extraction)
    reply = _reply(task, text, extraction)
    if task == "combinatorial_calculation":
        return (first_bracket_marker(reply) or "").strip()
    if task in _NUMERIC:
        return (last_line_marker(reply) or "").strip()
    answer = last_marker(reply) or ""
    return answer if task in _RAW else answer.strip()


def _reply(task: str, text: str, extraction: Extraction) -> str:
    """Return what the replaced language model answers to the request for the final answer."""
    marker = last_marker(text)
    if extraction == "echo":
        return text if marker is not None else OPEN + text.strip() + CLOSE
    found = text.strip() if marker is None else marker
    # What is too long to be judged need not be repaired.
    return OPEN + (found if len(found) > MAX_ANSWER else NORMALIZERS.get(task, unchanged)(found)) + CLOSE


def _game24(sample: TaskRow, response: str, code: CodeOutput | None, extraction: Extraction) -> Judgement:
    """Read the output's marker first, and the whole response where that is missing, short or wrong."""
    answer = last_marker(_execution_text("game24", response, code)) or ""
    if len(answer) >= 5:
        verdict = _verify(sample, answer, "upstream")
        if verdict.correct:
            return Judgement("right", "", "execution", answer)
    answer = last_marker(_reply("game24", response, extraction)) or ""
    verdict = _verify(sample, answer, "upstream")
    return Judgement(verdict.outcome, verdict.reason, "text" if verdict.correct else "both", answer)


def _corrected(sample: TaskRow, response: str, code: CodeOutput | None) -> Judgement:
    """Judge what was printed, and what was written outside of code; a time-out prints nothing."""
    text = without_code_blocks(response)
    execution = None if code is None or code.timed_out else code.stdout
    answers = [None if part is None else _written(sample.task, part) for part in (execution, text)]
    verdicts = [
        unreadable("the code exceeded its time limit" if code and code.timed_out else "no code")
        if answer is None
        else _verify(sample, answer, "corrected")
        for answer in answers
    ]
    return _either(verdicts, answers)


def _written(task: str, text: str) -> str:
    marker = last_written_marker(text)
    if marker is not None:
        return marker.strip()
    pattern = _SEARCHED.get(task)
    found = None if pattern is None or len(text) > MAX_ANSWER else last_run(pattern, text)
    return (text if found is None else found).strip()


def _either(verdicts: list[Verdict], answers: list[str | None] | list[str]) -> Judgement:
    """Accept if a route is right; a crash of either ends the authors' run, even beside a right route."""
    execution, text = verdicts
    ending = ("crash", "failed")
    if execution.outcome in ending or text.outcome in ending:
        verdict, route = (execution, "execution") if execution.outcome in ending else (text, "text")
    elif execution.correct or text.correct:
        verdict, route = (execution, "execution") if execution.correct else (text, "text")
    else:
        # Of two refusals the readable answer's says more.
        verdict, route = (text if text.outcome == "wrong" or answers[0] is None else execution), "both"
    return Judgement(verdict.outcome, verdict.reason, route, *answers)  # type: ignore[arg-type]


def _verify(sample: TaskRow, answer: str, profile: Profile) -> Verdict:
    if len(answer) > MAX_ANSWER:
        return unreadable(f"the answer has {len(answer)} characters, more than {MAX_ANSWER}")
    if profile == "corrected" and not answer:
        return unreadable("no answer")
    try:
        return VERIFIERS[sample.task](sample, answer, profile)
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError) as error:
        # A sample without a field must not end a batch; it is counted under its own outcome.
        return failed(f"the sample cannot be judged: {type(error).__name__}: {error}")
