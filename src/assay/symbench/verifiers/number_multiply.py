"""Number multiply: the product of several integers."""

import math
import re

from assay.symbench.alternatives import NOT_BARE, NOT_ONE, bare
from assay.symbench.rows import TaskRow
from assay.symbench.statements import INTEGER, integer_of
from assay.symbench.verdicts import RIGHT, Profile, Verdict, unreadable, when, wrong

_CALCULATION = re.compile(r"[-+*/×·⋅−xX()\d\s.,_]*+")


def verify(sample: TaskRow, answer: str, profile: Profile) -> Verdict:
    """Compare one integer with the product.

    `upstream` accepts every text in which the digits of the product occur, with or without thousands commas, so a
    wrong sign or a longer number passes (deviation D16). `corrected` reads one integer, also behind a calculation and
    an equal sign; separators and a fraction of zeros are allowed, a second number and words that may deny the first are
    not (D25).
    """
    product = math.prod(sample.solution["input_value_list"])
    if profile == "upstream":
        return when(str(product) in answer or f"{product:,}" in answer, "the product does not occur")
    *before, result = answer.split("=")
    values = {integer_of(match) for match in INTEGER.finditer(result)}
    if not values:
        return unreadable("no number")
    if len(values) > 1:
        return unreadable(NOT_ONE)
    # Before an equal sign may stand what is multiplied, or a name.
    named = (_CALCULATION.fullmatch(side) if re.search(r"\d", side) else bare(INTEGER, side) for side in before)
    if not (bare(INTEGER, result) and all(named)):
        return unreadable(NOT_BARE)
    (value,) = values
    if value is None:
        return wrong("the number is no integer, or far too long")
    # A side that is a number alone is another result, no calculation.
    sides = [match for side in before if (match := INTEGER.fullmatch(side.strip()))]
    if any(integer_of(side) != value for side in sides):
        return unreadable(NOT_ONE)
    return RIGHT if value == product else wrong(f"{value} is not {product}")
