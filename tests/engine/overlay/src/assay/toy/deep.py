"""Two imports below the judge."""


def weigh(text: str) -> int:
    """Return a number that depends on the whole text."""
    return sum(text.encode("utf-8", "replace"))
