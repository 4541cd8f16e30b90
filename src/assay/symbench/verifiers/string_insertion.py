"""String insertion: insert a character after certain substrings."""

from assay.symbench.extraction_normalizers import quote
from assay.symbench.rows import TaskRow
from assay.symbench.verdicts import Profile, Verdict, clipped, when


def verify(sample: TaskRow, answer: str, profile: Profile) -> Verdict:
    """Compare the text with the reference; `corrected` allows quotes around it."""
    text = answer if profile == "upstream" else quote(answer)
    return when(text == sample.solution["modified_string"], f"{clipped(text)!r} is not the expected string")
