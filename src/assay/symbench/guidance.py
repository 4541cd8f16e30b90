"""What a guide's reply means."""

from typing import Literal

from assay.symbench.extraction import last_marker

CODE_TAG, TEXT_TAG = "<<<Code>>>", "<<<Text>>>"
STOPS = {"Return Answer": "returned", "Terminate": "gave_up"}
Choice = Literal["code", "text"]


def choice(reply: str) -> Choice | None:
    """Return what the last marker of a reply names; white space and case around the word do not matter.

    Examples
    --------
    >>> choice("Many cases to search. <<<Code>>>")
    'code'
    >>> choice("I would use code.") is None
    True
    """
    word = (last_marker(reply) or "").strip().lower()
    if word == "code":
        return "code"
    return "text" if word == "text" else None


def tagged(reply: str) -> Choice | None:
    """Return the first of the two tags, in the order code, text, that occurs anywhere in a tuned guide's reply."""
    if CODE_TAG in reply:
        return "code"
    return "text" if TEXT_TAG in reply else None


def stop(guidance: str) -> str | None:
    """Return how the conversation ends if the guidance contains one of the stopping words."""
    return next((ending for words, ending in STOPS.items() if words in guidance), None)
