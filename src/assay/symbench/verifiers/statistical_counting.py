"""Statistical counting: score runs of equal letters."""

from assay.symbench.rows import TaskRow
from assay.symbench.verdicts import Profile, Verdict, clipped, crash, unreadable, when


def verify(sample: TaskRow, answer: str, profile: Profile) -> Verdict:
    """Compare one integer with the reference; where it is none, upstream's verifier raises (deviation D21)."""
    if answer == "":
        return unreadable("no answer")
    try:
        value = int(answer)
    except ValueError:
        reason = f"{clipped(answer)!r} is not an integer"
        return crash(reason) if profile == "upstream" else unreadable(reason)
    return when(value == sample.solution["solution"], f"{value} is not {sample.solution['solution']}")
