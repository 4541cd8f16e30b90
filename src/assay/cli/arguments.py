"""Types of arguments that several commands share."""

import argparse
import math


def seconds(text: str) -> float:
    """Return a time limit; none, and an endless one, would be another limit than the one that was asked for."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds above 0")
    return value
