"""Pattern recognition: find the uniform square; the answer is its bottom-right corner."""

from assay.symbench.rows import TaskRow
from assay.symbench.verdicts import Profile, Verdict, comma_items, integers, loose_items, unreadable, when


def verify(sample: TaskRow, answer: str, profile: Profile) -> Verdict:
    """Compare row and column (0-based) with the reference.

    `upstream` reads the first two comma items and ignores what follows; brackets make an answer unreadable.
    `corrected` reads exactly two integers in any brackets.
    """
    items = comma_items(answer)[:2] if profile == "upstream" else loose_items(answer)
    values = integers(items)
    if values is None or len(values) != 2:
        return unreadable("not two integers")
    expected = [sample.solution["row"], sample.solution["column"]]
    return when(values == expected, f"{values} is not {expected}")
