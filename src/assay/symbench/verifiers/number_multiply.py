"""Number multiply: the product of several integers."""

import math
import re

from assay.symbench.rows import TaskRow
from assay.symbench.verdicts import RIGHT, Profile, Verdict, clipped, unreadable, when, wrong

# An integer as a whole word: sign, digits with or without thousands separators, and a fraction of zeros.
_SIGN = r"[-+−]\s?"
_NUMBER = re.compile(rf"(?<![\w.,])({_SIGN})?(\d{{1,3}}(?:[,_ ]\d{{3}})++(?!\d)|\d++)(\.\d*+)?(?![\w])", re.ASCII)
MAX_DIGITS = 400


def verify(sample: TaskRow, answer: str, profile: Profile) -> Verdict:
    """Compare one integer with the product.

    `upstream` accepts every text in which the digits of the product occur, with or without thousands commas, so a
    wrong sign or a longer number passes (deviation D16). The question asks for no marker, so `corrected` reads
    the last number of the text; separators and a fraction of zeros are allowed.
    """
    product = math.prod(sample.solution["input_value_list"])
    if profile == "upstream":
        return when(str(product) in answer or f"{product:,}" in answer, "the product does not occur")
    last = None
    for last in _NUMBER.finditer(answer):  # noqa: B007
        pass
    if last is None:
        return unreadable("no number")
    sign, digits, fraction = last.groups()
    digits = re.sub("[,_ ]", "", digits)
    if len(digits) > MAX_DIGITS:
        return wrong(f"a number of {len(digits)} digits")
    if fraction and fraction.strip(".0"):
        return wrong(f"{clipped(last.group())} is no integer")
    value = -int(digits) if sign and sign[0] in "-−" else int(digits)
    return RIGHT if value == product else wrong(f"{clipped(str(value))} is not {product}")
