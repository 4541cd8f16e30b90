"""GSM-Hard: word problems with large numbers."""

from assay.symbench.quantities import equal
from assay.symbench.rows import TaskRow
from assay.symbench.verdicts import Profile, Verdict, clipped, when


def verify(sample: TaskRow, answer: str, profile: Profile) -> Verdict:
    """Compare the number with the target, 0.1 percent apart at most; both profiles agree."""
    del profile
    target = repr(float(sample.solution["target"]))
    return when(equal(target, answer), f"{clipped(answer)!r} is not {target}")
