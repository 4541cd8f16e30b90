"""The `labels` job: judge every response in every mode. Nothing of prompts, methods or metrics is imported."""

from collections.abc import Iterator

import msgspec

from assay.errors import DataError
from assay.records.rows import GenerationRow
from assay.records.step import Inputs, Outputs
from assay.symbench.execution_rows import ExecutionRow, RolloutAnswer
from assay.symbench.judging import MODES, Extraction, code_output, judge
from assay.symbench.label_rows import LabelRow, ModeVerdict
from assay.symbench.rows import TaskRow
from assay.symbench.verdicts import Profile

_SHOWN = 200


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Config of the job: the modes to judge in, as (profile, extraction)."""

    modes: tuple[tuple[Profile, Extraction], ...] = MODES


def label_rows(config: dict[str, object], inputs: Inputs) -> Outputs:
    """Return labels.jsonl: one row for each response, in the order of the responses.

    Inputs: `tasks`, and either `rollouts` or `generations` with the `executions` of the same rows.
    """
    settings = msgspec.convert(config, Settings)
    return {"labels.jsonl": _rows(settings, inputs)}


def _rows(settings: Settings, inputs: Inputs) -> Iterator[LabelRow]:
    samples = {sample.query_id: sample for sample in inputs.one("tasks").rows("tasks.jsonl", TaskRow)}
    for answer in _answers(inputs):
        sample = samples.get(answer.query_id)
        if sample is None:
            raise DataError(
                f"the response to {answer.query_id!r} belongs to no task",
                row=answer.row_id,
                key="query_id",
                expected="a query of tasks.jsonl",
            )
        yield label(sample, answer, settings.modes)


def _answers(inputs: Inputs) -> Iterator[RolloutAnswer]:
    """Yield the judged part of every response."""
    if inputs.all("rollouts"):
        yield from inputs.one("rollouts").rows("rollouts.jsonl", RolloutAnswer)
        return
    executions = inputs.one("executions").rows("executions.jsonl", ExecutionRow)
    for generation in inputs.one("generations").rows("generations.jsonl", GenerationRow):
        execution = next(executions, None)
        if execution is None or execution.row_id != generation.row_id:
            raise DataError(
                "executions and generations do not hold the same rows",
                row=generation.row_id,
                expected=generation.row_id,
                remedy="make the executions of these generations",
            )
        yield RolloutAnswer(
            row_id=generation.row_id,
            query_id=generation.query_id,
            sample_index=generation.sample_index,
            response=generation.text,
            execution=execution,
            error=generation.error,
            truncated=generation.finish_reason == "length",
            truncated_prompt=generation.truncated,
        )
    if (left := next(executions, None)) is not None:
        raise DataError(
            "the execution belongs to no generation",
            file="executions.jsonl",
            row=left.row_id,
            expected="one execution for each row of generations.jsonl",
        )


def label(sample: TaskRow, answer: RolloutAnswer, modes: tuple[tuple[Profile, Extraction], ...] = MODES) -> LabelRow:
    """Judge one response in several modes; never raises for what a model wrote."""
    return LabelRow(
        row_id=answer.row_id,
        query_id=answer.query_id,
        task=sample.task,
        sample_id=sample.sample_id,
        sample_index=answer.sample_index,
        question_source=sample.question_source,
        execution=answer.execution.kind,
        truncated=answer.truncated,
        truncated_prompt=answer.truncated_prompt,
        nondeterministic=answer.nondeterministic or answer.execution.nondeterministic,
        generation_error=answer.error,
        verdicts=tuple(_verdict(sample, answer, profile, extraction) for profile, extraction in modes),
    )


def _verdict(sample: TaskRow, answer: RolloutAnswer, profile: Profile, extraction: Extraction) -> ModeVerdict:
    if answer.error is not None:
        return ModeVerdict(
            profile=profile, extraction=extraction, outcome="failed", reason=f"no response: {answer.error}"[:_SHOWN]
        )
    judgement = judge(sample, answer.response, code_output(answer.execution), profile, extraction)
    shown = judgement.answer_text if judgement.route == "text" else judgement.answer_execution
    if shown is None:
        shown = judgement.answer_text if judgement.answer_execution is None else judgement.answer_execution
    return ModeVerdict(
        profile=profile,
        extraction=extraction,
        outcome=judgement.outcome,
        reason=judgement.reason,
        route=judgement.route,
        answer=None if shown is None else shown[:_SHOWN],
    )
