"""The stage `labels`: every generation of a model gets one of the five labels."""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from assay.errors import DataError
from assay.fks.catalogue import Catalogue, read_catalogue
from assay.fks.rows import QueryRow, ScoredRow
from assay.fks.scorer import SCORER_VERSION, Score, score
from assay.records.rows import GenerationRow
from assay.records.step import Inputs, Outputs

_SHOWN = 3


class LabelSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Settings of the scorer.

    Attributes
    ----------
    prompt_lines : tuple of str
        Lines that a prompt shows besides its query, such as an instruction: a model that only repeats them has
        given no answer.
    """

    prompt_lines: tuple[str, ...] = ()


def label_rows(config: dict[str, Any], inputs: Inputs) -> Outputs:
    """Make `labels.jsonl` (rows of ScoredRow, in the order of the queries) from roles "queries" and "generations".

    Raises
    ------
    DataError
        If a query has no generation, a generation no query, or queries have different samples.
    """
    settings = msgspec.convert(config, LabelSettings)
    catalogue, queries = read_catalogue(inputs.one("queries"), settings.prompt_lines)
    source = inputs.one("generations")
    generations = source.rows("generations.jsonl", GenerationRow)
    return {"labels.jsonl": label_all(catalogue, queries, generations, source.path("generations.jsonl"))}


def label_all(
    catalogue: Catalogue, queries: Iterable[QueryRow], generations: Iterable[GenerationRow], file: object = None
) -> Iterator[ScoredRow]:
    """Yield a scored row per generation: queries in their order, samples of one query in theirs.

    Parameters
    ----------
    file : optional
        Named by complaints about the generations.
    """
    by_query: dict[str, dict[int, GenerationRow]] = {}
    for number, row in enumerate(generations, 1):
        samples = by_query.setdefault(row.query_id, {})
        if row.sample_index in samples:
            raise DataError(
                f"query {row.query_id!r} has sample {row.sample_index} twice", file=file, row=number, key="query_id"
            )
        samples[row.sample_index] = row
    rows = list(queries)
    _check_ids(rows, by_query, file)
    for query in rows:
        question, fact = catalogue.question(query), catalogue.fact(query)
        for _, generation in sorted(by_query[query.query_id].items()):
            verdict = score(question, generation.text)
            if generation.finish_reason == "error":
                verdict = Score("unparseable", "", "", "generation_error")
            yield scored_row(query, fact.spec_6_2_flag, generation, verdict)


def _check_ids(queries: list[QueryRow], by_query: dict[str, dict[int, GenerationRow]], file: object) -> None:
    asked = {query.query_id for query in queries}
    if len(asked) != len(queries):
        raise DataError("query ids are not unique", expected=f"{len(queries)} different ids, got {len(asked)}")
    missing = [query.query_id for query in queries if query.query_id not in by_query]
    if missing:
        raise DataError(
            f"{len(missing)} of {len(queries)} queries have no generation: {_some(missing)}",
            file=file,
            expected="one generation per query and sample",
            remedy="generate them, or score against the queries that were asked",
        )
    extra = [query_id for query_id in by_query if query_id not in asked]
    if extra:
        raise DataError(
            f"{len(extra)} generations belong to no query: {_some(extra)}",
            file=file,
            key="query_id",
            expected="ids of the queries file",
            remedy="use the queries that these generations were made from",
        )
    samples = {tuple(sorted(found)) for found in by_query.values()}
    if len(samples) > 1:
        raise DataError(
            f"queries have different samples: {_some([str(list(found)) for found in sorted(samples)])}",
            file=file,
            key="sample_index",
            expected="the same sample indices for every query",
        )


def _some(ids: list[str]) -> str:
    more = f" and {len(ids) - _SHOWN} more" if len(ids) > _SHOWN else ""
    return ", ".join(ids[:_SHOWN]) + more


def scored_row(query: QueryRow, spec_6_2_flag: bool, generation: GenerationRow, verdict: Score) -> ScoredRow:
    """Join a generation with its query and its verdict."""
    return ScoredRow(
        row_id=generation.row_id,
        query_id=query.query_id,
        sample_index=generation.sample_index,
        fact_id=query.fact_id,
        relation=query.relation,
        condition_family=query.condition_family,
        variant_id=query.variant_id,
        language=query.language,
        is_assisted=query.is_assisted,
        is_well_posed=query.is_well_posed,
        use_for_main_forward=query.use_for_main_forward,
        use_for_reverse_analysis=query.use_for_reverse_analysis,
        use_for_recognition_analysis=query.use_for_recognition_analysis,
        answer_in_subject_surface=query.answer_in_subject_surface,
        spec_6_2_flag=spec_6_2_flag,
        text=generation.text,
        finish_reason=generation.finish_reason,
        truncated=generation.truncated,
        error=generation.error,
        label=verdict.label,
        segment=verdict.segment,
        matched_surface=verdict.matched_surface,
        rule_id=verdict.rule_id,
        scorer_version=SCORER_VERSION,
    )
