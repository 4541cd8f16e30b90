"""GSM-Hard: word problems with large numbers."""

from assay.symbench.quantities import equal, equal_strictly
from assay.symbench.rows import TaskRow
from assay.symbench.verdicts import Profile, Verdict, clipped, when


def verify(sample: TaskRow, answer: str, profile: Profile) -> Verdict:
    """Compare the number with the target, 0.1 percent apart at most; `corrected` reads one number only (D25)."""
    target = repr(float(sample.solution["target"]))
    same = equal(target, answer) if profile == "upstream" else equal_strictly(target, answer)
    return when(same, f"{clipped(answer)!r} is not {target}")
