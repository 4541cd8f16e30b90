"""One import below the judge."""

from assay.toy.deep import weigh


def score(text: str, thing: str) -> int:
    """Return a number between 0 and 9."""
    return (weigh(text) + len(thing)) % 10
