"""2048: slide one tile over the board; the answer is the final matrix."""

from assay.symbench.rows import TaskRow
from assay.symbench.verdicts import Profile, Verdict, comma_items, compare_items, loose_items


def verify(sample: TaskRow, answer: str, profile: Profile) -> Verdict:
    """Compare the cells, as texts, with the reference matrix.

    `upstream` splits at commas alone, so the row layout that the question demands is refused; `corrected` reads
    every layout.
    """
    expected = loose_items(sample.solution["solution"])
    return compare_items(comma_items(answer) if profile == "upstream" else loose_items(answer), expected)
