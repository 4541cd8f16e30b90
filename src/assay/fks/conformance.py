"""The FKS suites of `assay conformance`."""

import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from assay.config.fks import Prompt
from assay.fks.answer_keys import cluster_key
from assay.fks.conformance_metrics import metrics
from assay.fks.lexicon import Lexicon
from assay.fks.prompts import PromptSettings, prompt_text
from assay.fks.questions import Gold, Question
from assay.fks.rows import QueryRow
from assay.fks.scorer import score
from assay.records.conformance import Case
from assay.records.jsonl import read_rows

__all__ = ["clusters", "metrics", "prompts", "scorer"]

_DEFAULTS: dict[str, Any] = {
    "query_id": "case", "fact_id": "case", "relation": "case", "is_assisted": False, "is_well_posed": True,
    "use_for_main_forward": True, "use_for_reverse_analysis": False, "use_for_recognition_analysis": False,
    "answer_in_subject_surface": False,
}  # fmt: skip


class _Competitor(msgspec.Struct, frozen=True):
    key: str
    surfaces: tuple[str, ...]


class _ScorerCase(msgspec.Struct, frozen=True):
    id: str
    query: dict[str, Any]
    competitors: tuple[_Competitor, ...]
    generation: str
    expected_label: str
    why: str = ""


class _ClusterCase(msgspec.Struct, frozen=True):
    id: str
    query: dict[str, Any]
    competitors: tuple[_Competitor, ...]
    generations: tuple[str, ...]
    expected_partition: tuple[tuple[int, ...], ...]


class _PromptCase(msgspec.Struct, frozen=True):
    query_id: str
    condition_family: str
    query: str
    expected_prompt: str


def _question(row: dict[str, Any], competitors: Sequence[_Competitor]) -> Question:
    query = msgspec.convert(_DEFAULTS | row, QueryRow)
    lexicon = Lexicon({competitor.key: competitor.surfaces for competitor in competitors})
    return Question(
        query, Gold(query.gold_surfaces), lexicon, None, query.answer_type or "entity", query.answer_granularity or ""
    )


def _compare(case_id: str, why: str, expected: str, compute: Callable[[], str]) -> Case:
    try:
        got = compute()
    except Exception as error:  # noqa: BLE001 - a case that raises has failed; the others still count
        place = traceback.extract_tb(error.__traceback__)[-1]
        got = f"{type(error).__name__}: {error} ({Path(place.filename).name}:{place.lineno})"
    return Case(case_id, "passed" if got == expected else "failed", expected, got, why)


def scorer(files: Sequence[Path], data: Path, limit_s: float | None) -> Iterator[Case]:
    """Compare labels: one case a row of `{id, query, competitors, generation, expected_label, why}`."""
    for path in files:
        for case in read_rows(path, _ScorerCase):
            yield _compare(
                case.id,
                f"{case.generation!r}: {case.why}",
                case.expected_label,
                lambda case=case: score(_question(case.query, case.competitors), case.generation).label,  # type: ignore[misc]
            )


def clusters(files: Sequence[Path], data: Path, limit_s: float | None) -> Iterator[Case]:
    """Compare partitions: names of clusters are free, who stands together is not."""
    for path in files:
        for case in read_rows(path, _ClusterCase):
            expected = sorted(sorted(part) for part in case.expected_partition)
            yield _compare(case.id, "", str(expected), lambda case=case: str(_partition(case)))  # type: ignore[misc]


def _partition(case: _ClusterCase) -> list[list[int]]:
    question = _question(case.query, case.competitors)
    parts: dict[str, list[int]] = {}
    for number, generation in enumerate(case.generations):
        verdict = score(question, generation)
        parts.setdefault(cluster_key(question, verdict.label, verdict.segment, str(number)), []).append(number)
    return sorted(parts.values())


def prompts(files: Sequence[Path], data: Path, limit_s: float | None) -> Iterator[Case]:
    """Compare prompt texts, character by character."""
    settings = PromptSettings(**Prompt().model_dump())
    for path in files:
        for case in read_rows(path, _PromptCase):
            yield _compare(
                case.query_id,
                "",
                repr(case.expected_prompt),
                lambda case=case: repr(prompt_text(settings, case.condition_family, case.query)),  # type: ignore[misc]
            )
