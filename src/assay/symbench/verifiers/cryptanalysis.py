"""Cryptanalysis: find the password of two digits and two letters."""

from assay.symbench.extraction_normalizers import join
from assay.symbench.rows import TaskRow
from assay.symbench.verdicts import Profile, Verdict, clipped, when


def verify(sample: TaskRow, answer: str, profile: Profile) -> Verdict:
    """Compare the four characters with the password.

    `upstream` wants them as one word and refuses the list that the question demands; `corrected` reads both.
    """
    text = answer if profile == "upstream" else join(answer)
    return when(text == "".join(sample.solution["answer"]), f"{clipped(text)!r} is not the password")
