"""Date understanding (BIG-Bench Hard): choose the option that names the date."""

from assay.symbench.choices import option
from assay.symbench.rows import TaskRow
from assay.symbench.verdicts import Profile, Verdict


def verify(sample: TaskRow, answer: str, profile: Profile) -> Verdict:
    """Compare the option; `corrected` wants one and nothing else, by its letter or its words (deviation D25)."""
    return option(sample, answer, profile)
