"""String deletion and modification: apply rewriting rules until none applies."""

from assay.symbench.extraction_normalizers import quote
from assay.symbench.rows import TaskRow
from assay.symbench.verdicts import Profile, Verdict, clipped, unreadable, when


def verify(sample: TaskRow, answer: str, profile: Profile) -> Verdict:
    """Compare the text with the reference; `corrected` allows the quotes that the question asks for.

    `upstream` refuses an empty text and `[]` before it compares. `corrected` accepts an empty string only in
    quotes, so that a response without an answer can never earn a point.
    """
    expected = sample.solution["final_string"]
    if answer in ("", "[]"):
        return unreadable("no answer")
    text = answer if profile == "upstream" else quote(answer)
    return when(text == expected, f"{clipped(text)!r} is not the expected string")
