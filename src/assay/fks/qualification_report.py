"""What qualification tried and kept, and the numbers and sentences that report it."""

from collections.abc import Iterator

import msgspec

from assay.errors import DataError
from assay.fks.summary import Number
from assay.records.step import Input

REPORT = "qualification.json"


class PromptCount(msgspec.Struct, frozen=True):
    """Prompts and facts, and how many of them every filter model (or one of them) got right."""

    prompts: int
    prompts_kept: int
    facts: int
    facts_kept: int


class QualificationReport(msgspec.Struct, frozen=True, kw_only=True):
    """What was tried and what stayed (`qualification.json`), as the card reports 10,601 of 1,783,541 prompts.

    `by_model` counts what each model alone would keep. `surfaces_not_comparable` are those whose tokens do not
    continue the prompt's own, by model: the tokenizer joins them with its end.
    """

    models: dict[str, dict[str, object]]
    total: PromptCount
    by_relation: dict[str, PromptCount]
    by_model: dict[str, PromptCount]
    facts_without_prompt: int
    surfaces_not_comparable: dict[str, int]


def read_report(queries: Input) -> QualificationReport | None:
    """Return the report of a queries artifact, or None where its facts were not chosen by filter models."""
    path = queries.path(REPORT)
    if not path.is_file():
        return None
    try:
        return msgspec.json.decode(path.read_bytes(), type=QualificationReport)
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise DataError(str(error), file=path, expected="the report of a qualification") from error


def qualification_numbers(report: QualificationReport) -> Iterator[Number]:
    """Yield the share of prompts and of facts that were kept, over all, by relation, and by each filter model alone.

    `n` is the number that was tried.
    """
    yield from _shares(report.total, {})
    for relation, count in report.by_relation.items():
        yield from _shares(count, {"relation": relation})
    for model, count in report.by_model.items():
        yield from _shares(count, {"filter_model": model})


def _shares(count: PromptCount, setting: dict[str, object]) -> Iterator[Number]:
    for what, kept, tried in (
        ("prompts", count.prompts_kept, count.prompts),
        ("facts", count.facts_kept, count.facts),
    ):
        share = kept / tried if tried else None
        yield Number(metric=f"qualified_{what}_share", value=share, n=tried, setting=setting)


def sentence(dataset: str, report: QualificationReport) -> str:
    """Return what a reader of the table must know about the choice of its facts."""
    total = report.total
    share = f" ({total.prompts_kept / total.prompts:.2%})" if total.prompts else ""
    return (
        f"{dataset}: {total.prompts_kept:,} of {total.prompts:,} cloze prompts{share} and {total.facts_kept:,} of "
        f"{total.facts + report.facts_without_prompt:,} facts were kept because every filter model "
        f"({', '.join(report.models)}) continued them with the first token of an answer."
    )
