"""Reversi: place pieces and flip; the answer is the final board."""

from assay.symbench.rows import TaskRow
from assay.symbench.verdicts import Profile, Verdict, comma_items, compare_items, loose_items


def verify(sample: TaskRow, answer: str, profile: Profile) -> Verdict:
    """Compare the cells (`*`, `0`, `1`) with the reference board.

    `upstream` splits at commas alone; `corrected` also reads rows that are written without commas, as the
    question itself writes boards.
    """
    expected = comma_items(sample.solution["solution"])
    items = comma_items(answer) if profile == "upstream" else list("".join(loose_items(answer)))
    return compare_items(items, expected)
