"""Questions for the scorer, made from what a test is about and nothing else."""

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from assay.fks.lexicon import Lexicon
from assay.fks.questions import Gold, Question, edges_of
from assay.fks.rows import QueryRow

sys.path.insert(0, str(Path(__file__).parent))  # card_rows

Ask = Callable[..., Question]


def make_question(
    query: str,
    gold: Sequence[str],
    others: Mapping[str, Sequence[str]] | Sequence[str] = (),
    *,
    answer_type: str = "entity",
    granularity: str = "exact",
    language: str = "en",
    family: str = "anchor",
    instructions: Sequence[str] = (),
    **fields: Any,
) -> Question:
    row = QueryRow(
        query_id="q",
        fact_id="f",
        relation="r",
        condition_family=family,
        variant_id="v",
        language=language,
        query=query,
        target_slot=fields.pop("target_slot", "object"),
        gold_canonical=gold[0],
        gold_aliases=tuple(gold[1:]),
        is_assisted=False,
        is_well_posed=True,
        use_for_main_forward=True,
        use_for_reverse_analysis=False,
        use_for_recognition_analysis=False,
        answer_in_subject_surface=False,
        answer_type=answer_type,
        answer_granularity=granularity,
        **fields,
    )
    entities = others if isinstance(others, Mapping) else {name.lower(): [name] for name in others}
    return Question(
        row, Gold(row.gold_surfaces), Lexicon(entities), None, answer_type, granularity, edges_of(instructions)
    )


@pytest.fixture(scope="session")
def ask() -> Ask:
    return make_question
