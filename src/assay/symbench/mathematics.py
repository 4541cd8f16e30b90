"""Compare competition answers: numbers, tuples, named values and expressions."""

import re

from assay.symbench.quantities import equal, equal_strictly, parts, read_number, several, unboxed
from assay.symbench.verdicts import Profile

_INEQUALITY = re.compile(r"[<>!]\s*=|=\s*[<>/]")
_NAMED = re.compile(r"\\(?:text|mbox|mathrm)\s*\{([^{}]*)\}")


def same_answer(target: str, answer: str, profile: Profile) -> bool:
    r"""Say whether an answer names the target.

    `upstream` compares as one number or text. `corrected` also compares tuples part by part, reads `k=3` and
    `0.56 = 56\%` as any of their sides, and ignores how LaTeX spaces and sizes an expression. An answer that gives
    several numbers where one is asked for is none (deviation D25).

    Examples
    --------
    >>> same_answer("(-2,3)", "(-2, 3.0)", "corrected"), same_answer("k=3", "3", "corrected")
    (True, True)
    """
    if profile == "upstream":
        return equal(target, answer)
    answer = unboxed(answer)
    if not answer.strip():
        return False
    if equal_strictly(target, answer):
        return True
    if several(answer):
        return False
    targets, answers = parts(target), parts(answer)
    if len(targets) > 1:
        if target.lstrip().startswith("\\{"):  # a set
            # Both ways: of two targets that are close, one answer may be close to both.
            same = all(any(_same_part(one, other) for other in answers) for one in targets)
            same = same and all(any(_same_part(one, other) for one in targets) for other in answers)
        else:
            same = all(map(_same_part, targets, answers))
        return same and len(targets) == len(answers)
    return _same_part(target, answer)


def _same_part(target: str, answer: str) -> bool:
    """Compare with the target or any value that it is said to equal; all values of an answer must be right."""
    if any(equal_strictly(_plain(left), _plain(answer)) for left in (target, *_values(target))):
        return True
    values = _values(answer)
    return bool(values) and all(
        any(equal_strictly(_plain(left), _plain(value)) for left in (target, *_values(target))) for value in values
    )


def _values(text: str) -> list[str]:
    """Return the sides of an equation that are numbers; a name such as `k` is no value, and `>= 3` no equation."""
    if _INEQUALITY.search(text):
        return []
    sides = text.replace("\\approx", "=").split("=")
    return [side for side in sides if len(sides) > 1 and read_number(side) is not None]


def _plain(text: str) -> str:
    for command in ("\\left", "\\right", "\\!", "\\,", "\\;", "\\ ", "$"):
        text = text.replace(command, "")
    text = _NAMED.sub(r"\1", text)
    return text.replace("dfrac", "frac").replace("tfrac", "frac").strip().removesuffix(".")
