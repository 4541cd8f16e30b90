"""What three tasks look for in running text: an integer, a list of points, a count with positions."""

import re

# A whole word: sign, digits with or without thousands separators, and a fraction.
_SIGN = r"[-+−]\s?"
INTEGER = re.compile(rf"(?<![\w.,])({_SIGN})?(\d{{1,3}}(?:[,_ ]\d{{3}})++(?!\d)|\d++)(\.\d*+)?(?![\w])", re.ASCII)
MAX_DIGITS = 400

_NUMBER = r"[-+]?(?:\d++(?:\.\d*+)?+|\.\d++)(?:[eE][-+]?\d++)?+"
_PAIR = rf"[\[(]\s*+{_NUMBER}\s*+,\s*+{_NUMBER}\s*+[\])]"
TRAJECTORY = re.compile(rf"\[\s*+{_PAIR}(?:\s*+,\s*+{_PAIR})*+\s*+,?\s*+\]", re.ASCII)

POSITIONS = re.compile(r"Count: (\d+), Positions: \[([\d, ]+)\]")


def integer_of(match: re.Match[str]) -> int | None:
    """Return the value of a match of `INTEGER`, or None if its fraction is not zero or it has more digits than any."""
    sign, digits, fraction = match.groups()
    digits = re.sub("[,_ ]", "", digits)
    if len(digits) > MAX_DIGITS or (fraction and fraction.strip(".0")):
        return None
    return -int(digits) if sign and sign[0] in "-−" else int(digits)
