"""MATH, counting and probability: competition problems."""

from assay.symbench.mathematics import same_answer
from assay.symbench.rows import TaskRow
from assay.symbench.verdicts import Profile, Verdict, clipped, when


def verify(sample: TaskRow, answer: str, profile: Profile) -> Verdict:
    """Compare with the boxed target; see `mathematics.same_answer` for what `corrected` reads."""
    target = sample.solution["boxed_target"]
    return when(same_answer(target, answer, profile), f"{clipped(answer)!r} is not {clipped(target)!r}")
