"""Light puzzles: press buttons that toggle lights; the answer is the final 0/1 grid."""

from assay.symbench.rows import TaskRow
from assay.symbench.verdicts import Profile, Verdict, comma_items, compare_items, integers, loose_items, unreadable


def verify(sample: TaskRow, answer: str, profile: Profile) -> Verdict:
    """Compare the integers with the reference grid, row by row; `corrected` reads every matrix layout."""
    values = integers(comma_items(answer) if profile == "upstream" else loose_items(answer))
    if values is None:
        return unreadable("not a list of integers")
    return compare_items([str(value) for value in values], [str(value) for value in sample.solution["solution"]])
