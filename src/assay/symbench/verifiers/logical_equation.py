"""Logical equation: give letters values from a list so that all constraints hold."""

import operator
import re
from collections.abc import Callable
from typing import Any

from assay.symbench.literals import LiteralError, python_value
from assay.symbench.rows import TaskRow
from assay.symbench.verdicts import RIGHT, Profile, Verdict, crash, unreadable, wrong

_LINE = re.compile(r"^\d+\. (.+)$", re.MULTILINE)
_RELATIONS: dict[str, Callable[[Any, Any], Any]] = {"=": operator.eq, ">": operator.gt, "<": operator.lt}
_TERM = re.compile(r"(\d+(?:\.\d+)?)?([A-Z])\Z", re.ASCII)


def verify(sample: TaskRow, answer: str, profile: Profile) -> Verdict:
    """Check every constraint of the question, in its order; the first violated one decides.

    `upstream` lets a value occur twice and leaves others out (deviation D6) and raises on values that cannot be
    compared or computed with (D21); `corrected` requires a permutation of the given values.
    """
    reference = sample.solution
    constraints = _LINE.findall(sample.question)
    try:
        values = python_value(answer)
    except LiteralError as error:
        return unreadable(str(error))
    if profile == "corrected":
        if isinstance(values, dict) and len(values) != answer.count(":"):
            return unreadable("a letter has several values")
        return _corrected(values, reference, constraints)
    try:
        return _upstream(values, reference, constraints)
    except (TypeError, KeyError, ValueError, IndexError, ArithmeticError) as error:
        return crash(f"{type(error).__name__}: {error}")


def _upstream(values: Any, reference: list[int], constraints: list[str]) -> Verdict:
    if len(values) != len(reference):
        return wrong(f"{len(values)} values, expected {len(reference)}")
    if any(value is None for value in values):
        return wrong("a value is missing")
    for constraint in constraints:
        if not _holds(constraint, lambda letter: values[ord(letter) - ord("A")]):
            return wrong(f"{constraint} does not hold")
    for value in values:
        if int(value) not in reference:
            return wrong(f"{int(value)} is not among the given values")
    return RIGHT


def _corrected(values: Any, reference: list[int], constraints: list[str]) -> Verdict:
    if isinstance(values, dict) and sorted(values, key=str) == [chr(ord("A") + i) for i in range(len(reference))]:
        values = [values[letter] for letter in sorted(values)]
    if not isinstance(values, list | tuple) or not all(type(value) in (int, float) for value in values):
        return unreadable("not a list of numbers")
    if sorted(values) != sorted(reference):
        return wrong("the values are not a permutation of the given ones")
    for constraint in constraints:
        if not _holds(constraint, lambda letter: values[ord(letter) - ord("A")]):
            return wrong(f"{constraint} does not hold")
    return RIGHT


def _holds(constraint: str, value_of: Callable[[str], Any]) -> bool:
    """Evaluate `A = 3.0B`, `A > B`, `A < B`, `A + B = 7` or `A - B = 7`, exactly and in Python's numbers."""
    words = constraint.split()
    if len(words) == 3:
        left, right = _term(words[0], value_of), _term(words[2], value_of)
        return bool(_RELATIONS[words[1]](left, right))
    first, second = value_of(words[0]), value_of(words[2])
    return bool((first + second if words[1] == "+" else first - second) == float(words[4]))


def _term(word: str, value_of: Callable[[str], Any]) -> Any:
    match = _TERM.match(word)
    if match is None:
        raise ValueError(f"unreadable term {word!r}")
    value = value_of(match.group(2))
    return float(match.group(1)) * value if match.group(1) else value
