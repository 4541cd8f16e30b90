"""Web of lies (BIG-Bench Hard): say whether the last person tells the truth."""

from assay.symbench.choices import word
from assay.symbench.rows import TaskRow
from assay.symbench.verdicts import Profile, Verdict


def verify(sample: TaskRow, answer: str, profile: Profile) -> Verdict:
    """Compare the word Yes or No; both profiles agree."""
    del profile
    return word(sample, answer)
