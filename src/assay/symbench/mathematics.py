"""Compare competition answers: numbers, tuples, named values and expressions."""

import re

from assay.symbench.quantities import equal, parts, read_number
from assay.symbench.verdicts import Profile

_NAMED = re.compile(r"\\(?:text|mbox|mathrm)\s*\{([^{}]*)\}")


def same_answer(target: str, answer: str, profile: Profile) -> bool:
    r"""Say whether an answer names the target.

    `upstream` compares as one number or text. `corrected` also compares tuples part by part, reads `k=3` and
    `0.56 = 56\%` as any of their sides, and ignores how LaTeX spaces and sizes an expression.

    Examples
    --------
    >>> same_answer("(-2,3)", "(-2, 3.0)", "corrected"), same_answer("k=3", "3", "corrected")
    (True, True)
    """
    if equal(target, answer):
        return True
    if profile == "upstream" or not answer.strip():
        return False
    targets, answers = parts(target), parts(answer)
    if len(targets) > 1:
        return len(targets) == len(answers) and all(map(_same_part, targets, answers))
    return _same_part(target, answer)


def _same_part(target: str, answer: str) -> bool:
    """Compare with the target or any value that it is said to equal; of an answer only the last side counts."""
    answers = [answer, *_values(answer)[-1:]]
    return any(equal(_plain(left), _plain(right)) for left in (target, *_values(target)) for right in answers)


def _values(text: str) -> list[str]:
    """Return the sides of an equation that are numbers; a name such as `k` is no value."""
    sides = text.replace("\\approx", "=").split("=")
    return [side for side in sides if len(sides) > 1 and read_number(side) is not None]


def _plain(text: str) -> str:
    for command in ("\\left", "\\right", "\\!", "\\,", "\\;", "\\ ", "$"):
        text = text.replace(command, "")
    text = _NAMED.sub(r"\1", text)
    return text.replace("dfrac", "frac").replace("tfrac", "frac").strip().removesuffix(".")
