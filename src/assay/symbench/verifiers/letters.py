"""Letters: count a letter in a word and list its positions."""

from assay.symbench.alternatives import NOT_BARE, NOT_ONE, bare
from assay.symbench.rows import TaskRow
from assay.symbench.statements import POSITIONS
from assay.symbench.verdicts import Profile, Verdict, crash, unreadable, when, wrong


def verify(sample: TaskRow, answer: str, profile: Profile) -> Verdict:
    """Check the count and the set of positions (1-based; order and repeats do not matter).

    Exactly the spelling `Count: N, Positions: [...]` counts. `upstream` reads the first one and nothing behind it, and
    raises on an empty item between commas; `corrected` refuses an answer with others or with words that may deny it
    (deviation D25).
    """
    match = POSITIONS.search(answer)
    if match is None:
        return unreadable("no 'Count: N, Positions: [...]'")
    if profile == "corrected" and not bare(POSITIONS, answer):
        return unreadable(NOT_BARE)
    if profile == "corrected" and len(set(POSITIONS.findall(answer))) > 1:
        return unreadable(NOT_ONE)
    try:
        count, positions = int(match.group(1)), [int(item) for item in match.group(2).split(",")]
    except ValueError:
        reason = "an item of the list is not one integer"
        return crash(reason) if profile == "upstream" else unreadable(reason)
    if count != sample.solution["count"]:
        return wrong(f"count {count}, expected {sample.solution['count']}")
    return when(set(positions) == set(sample.solution["positions"]), "the positions differ")
