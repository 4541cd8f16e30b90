"""Logical deduction (BIG-Bench Hard): choose the true statement about an order of seven objects."""

from assay.symbench.choices import option
from assay.symbench.rows import TaskRow
from assay.symbench.verdicts import Profile, Verdict


def verify(sample: TaskRow, answer: str, profile: Profile) -> Verdict:
    """Compare the option; `corrected` wants one and nothing else, by its letter or its words (deviation D25)."""
    return option(sample, answer, profile)
