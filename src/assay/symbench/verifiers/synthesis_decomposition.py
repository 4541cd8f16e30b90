"""Synthesis and decomposition: exchange crops for products by a cycle of methods."""

from assay.symbench.rows import TaskRow
from assay.symbench.verdicts import Profile, Verdict, comma_items, compare_items, loose_items

# Complexity -> positions in the reference [A, B, C, X, Y] that the question asks for.
_ASKED = {1: (0, 1, 3), 2: (0, 1, 3), 3: (0, 1, 2, 3), 4: (0, 1, 2, 3)}


def verify(sample: TaskRow, answer: str, profile: Profile) -> Verdict:
    """Compare the remaining crops and obtained products with the reference, as texts.

    `upstream` splits at commas alone, so the bracketed list that the question demands is refused.
    """
    reference = sample.solution["solution"]["answer"]
    expected = [reference[index] for index in _ASKED.get(sample.solution["complexity"], range(5))]
    return compare_items(comma_items(answer) if profile == "upstream" else loose_items(answer), expected)
