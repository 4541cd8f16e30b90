"""The row of a `labels` artifact: every verdict on one response."""

from typing import Literal

import msgspec

Outcome = Literal["right", "wrong", "unreadable", "crash", "failed"]


class ModeVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict of one profile and one way of extraction.

    Attributes
    ----------
    outcome : str
        "right"; "wrong" for a readable wrong answer; "unreadable" for no answer of the expected kind; "crash" where the
        authors' scorer would have ended its run; "failed" where there was nothing to judge.
    reason : str
        One sentence; empty for a right answer.
    route : str
        "execution" or "text", whichever decided; "both" where both routes are wrong.
    answer : str or None
        Beginning of the extracted answer that decided.
    """

    profile: Literal["upstream", "corrected"]
    extraction: Literal["echo", "normalized", "marker"]
    outcome: Outcome
    reason: str = ""
    route: str = "both"
    answer: str | None = None

    @property
    def correct(self) -> bool:
        """Whether the sample counts as solved; every other outcome stays in the denominator."""
        return self.outcome == "right"


class LabelRow(msgspec.Struct, frozen=True, kw_only=True):
    """All verdicts on one response, and what a metric needs to group and to count failures.

    `execution` is "none" for a response without code, else how its execution ended; `truncated` tells that the token
    limit cut the response off, `truncated_prompt` that its prompt was too long and lost its beginning;
    `nondeterministic` tells that an execution behind it was repeated and gave something else; `generation_error` is set
    where the model failed to answer.
    """

    row_id: str
    query_id: str
    task: str
    sample_id: str
    sample_index: int = 0
    question_source: str = "published"
    execution: str = "none"
    truncated: bool = False
    truncated_prompt: bool = False
    nondeterministic: bool = False
    generation_error: str | None = None
    verdicts: tuple[ModeVerdict, ...] = ()

    def verdict(self, profile: str, extraction: str) -> ModeVerdict:
        """Return the verdict of one mode."""
        return next(v for v in self.verdicts if (v.profile, v.extraction) == (profile, extraction))
