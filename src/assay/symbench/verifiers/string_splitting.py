"""String splitting: dismantle machines by a cycle of methods; six counts remain."""

from assay.symbench.extraction_normalizers import join
from assay.symbench.rows import TaskRow
from assay.symbench.verdicts import Profile, Verdict, clipped, compare_items, loose_items, when


def verify(sample: TaskRow, answer: str, profile: Profile) -> Verdict:
    """Compare the counts of A, B, C, X, Y, Z with the reference.

    `upstream` compares one word of all digits, which is ambiguous where a count has two digits (deviation D9).
    `corrected` compares six integers where the text separates them, and the word otherwise.
    """
    expected = [str(count) for count in sample.solution["expected_answer"]]
    if profile == "corrected" and len(items := loose_items(answer)) > 1:
        return compare_items([_plain(item) for item in items], expected)
    text = answer if profile == "upstream" else join(answer)
    return when(text == "".join(expected), f"{clipped(text)!r} is not the expected word of counts")


def _plain(item: str) -> str:
    return str(int(item)) if item.isdecimal() and len(item) < 20 else item
