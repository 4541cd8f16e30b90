"""GSM-Hard: word problems with large numbers."""

import re

from assay.symbench.quantities import MAX_CHARS, equal, equal_strictly
from assay.symbench.rows import TaskRow
from assay.symbench.verdicts import Profile, Verdict, clipped, unreadable, when

_OPERATOR = r"(?:[*×⋅·÷]|\\(?:times|cdot|div)(?![A-Za-z]))"
_POWER_OF_TEN = re.compile(rf"\s*{_OPERATOR}\s*10\s*\^\s*(?:\{{\s*[-+]?\d+\s*\}}|[-+]?\d+)", re.ASCII)
_CALCULATION = re.compile(rf"[\d)]\s*(?:{_OPERATOR}|[-+−^(])\s*[-+(]?\$?\{{?[\d.]", re.ASCII)


def verify(sample: TaskRow, answer: str, profile: Profile) -> Verdict:
    """Compare the number with the target, 0.1 percent apart at most.

    `corrected` reads one number only (deviation D25), and no calculation: the large product is what is asked for.
    """
    target = repr(float(sample.solution["target"]))
    if profile == "upstream":
        return when(equal(target, answer), f"{clipped(answer)!r} is not {target}")
    if len(answer) <= MAX_CHARS and _CALCULATION.search(_POWER_OF_TEN.sub("", answer)):
        return unreadable(f"{clipped(answer)!r} is a calculation, not its result")
    return when(equal_strictly(target, answer), f"{clipped(answer)!r} is not {target}")
