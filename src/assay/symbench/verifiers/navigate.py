"""Navigation (BIG-Bench Hard): say whether the steps lead back to the start."""

from assay.symbench.choices import word
from assay.symbench.rows import TaskRow
from assay.symbench.verdicts import Profile, Verdict


def verify(sample: TaskRow, answer: str, profile: Profile) -> Verdict:
    """Compare the word Yes or No; both profiles agree."""
    del profile
    return word(sample, answer)
