"""Letters: count a letter in a word and list its positions."""

import re

from assay.symbench.rows import TaskRow
from assay.symbench.verdicts import Profile, Verdict, crash, unreadable, when, wrong

_ANSWER = re.compile(r"Count: (\d+), Positions: \[([\d, ]+)\]")


def verify(sample: TaskRow, answer: str, profile: Profile) -> Verdict:
    """Check the count and the set of positions (1-based; order and repeats do not matter).

    The first `Count: N, Positions: [...]` counts, in exactly this spelling. An empty item between commas makes
    upstream's verifier raise.
    """
    match = _ANSWER.search(answer)
    if match is None:
        return unreadable("no 'Count: N, Positions: [...]'")
    try:
        count, positions = int(match.group(1)), [int(item) for item in match.group(2).split(",")]
    except ValueError:
        reason = "an item of the list is not one integer"
        return crash(reason) if profile == "upstream" else unreadable(reason)
    if count != sample.solution["count"]:
        return wrong(f"count {count}, expected {sample.solution['count']}")
    return when(set(positions) == set(sample.solution["positions"]), "the positions differ")
