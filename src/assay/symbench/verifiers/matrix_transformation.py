"""Matrix transformation: rotate a matrix of characters by 90 degrees clockwise."""

from assay.symbench.rows import TaskRow
from assay.symbench.verdicts import Profile, Verdict, comma_items, compare_items, flatten, loose_items


def verify(sample: TaskRow, answer: str, profile: Profile) -> Verdict:
    """Compare the cells with the reference, row by row; the shape itself is not checked.

    `corrected` also accepts line ends, blanks, brackets and quotes between the cells.
    """
    expected = [str(cell) for cell in flatten(sample.solution["solution"])]
    return compare_items(comma_items(answer) if profile == "upstream" else loose_items(answer), expected)
