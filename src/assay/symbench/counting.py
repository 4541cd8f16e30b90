"""Outcomes of one model and method: counts per task and level, and which samples they are about."""

from collections import Counter
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

import msgspec

from assay.canonical import canonical_text, digest
from assay.symbench.label_rows import LabelRow

# A task whose samples all differ in their parameters (a rank, an instruction) has no levels. Blocksworld has the most.
MAX_LEVELS = 24


class Counts(msgspec.Struct, frozen=True, kw_only=True):
    """How many of n responses ended how.

    Attributes
    ----------
    n : int
        Responses that were evaluated: the denominator of every rate.
    right, wrong, unreadable, crash, failed : int
        Verdicts; they add up to n. See `assay.symbench.label_rows.ModeVerdict`.
    errors : int
        Responses that the model failed to give; a part of `failed`.
    timeouts, truncated, truncated_prompts, nondeterministic : int
        Responses whose code ran out of time; that the token limit cut off; whose prompt (any of a conversation) was too
        long and lost its beginning; of whose executions one was repeated and gave something else. They may be of any
        verdict.
    """

    n: int
    right: int = 0
    wrong: int = 0
    unreadable: int = 0
    crash: int = 0
    failed: int = 0
    errors: int = 0
    timeouts: int = 0
    truncated: int = 0
    truncated_prompts: int = 0
    nondeterministic: int = 0

    @property
    def rate(self) -> Fraction:
        """Share of the evaluated responses that are right."""
        return Fraction(self.right, self.n)


def counted(rows: Iterable[LabelRow], profile: str, extraction: str) -> Counts:
    """Count the verdicts of one mode."""
    found = list(rows)
    outcomes: Counter[str] = Counter(row.verdict(profile, extraction).outcome for row in found)
    return Counts(
        n=len(found),
        **outcomes,
        errors=sum(row.generation_error is not None for row in found),
        timeouts=sum(row.execution == "timeout" for row in found),
        truncated=sum(row.truncated for row in found),
        truncated_prompts=sum(row.truncated_prompt for row in found),
        nondeterministic=sum(row.nondeterministic for row in found),
    )


def samples_digest(rows: Iterable[LabelRow]) -> str:
    """Return what two methods must share on a task to be compared: the samples, in order, and whose words they are."""
    return digest("symbench-samples", [[row.query_id, row.sample_index, row.question_source] for row in rows])


def level_names(complexities: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Return the complexity level of each sample of one task; nothing if there is one level, or too many.

    The level is the generator's own number where it has one, with the kind of problem where a task has several
    (`game_type`, `pooling_type`); else all its parameters.
    """
    names = {query: _level(values) for query, values in complexities.items()}
    return names if 1 < len(set(names.values())) <= MAX_LEVELS else {}


def _level(values: Mapping[str, Any]) -> str:
    if "complexity" in values:
        return " ".join([str(values["complexity"]), *(value for value in values.values() if isinstance(value, str))])
    text = ",".join(
        f"{key}:{value if isinstance(value, str) else canonical_text(value)}" for key, value in values.items()
    )
    return text.replace(";", " ").replace("=", " ")
