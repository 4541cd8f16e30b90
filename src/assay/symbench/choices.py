"""Compare a short answer with an option letter or with Yes or No (the four BIG-Bench Hard tasks).

The authors let a second language model compare. The comparison here is deterministic: the marker's content must
begin with the option's letter, or be the word.
"""

import re

from assay.symbench.rows import TaskRow
from assay.symbench.verdicts import Profile, Verdict, clipped, unreadable, when

_LETTER = re.compile(r"\(?([A-Z])\)?(?![A-Za-z])", re.ASCII)
_ANY_LETTER = re.compile(r"\(?([A-Za-z])\)?\.?\Z", re.ASCII)
_OPTION = re.compile(r"^\(([A-Z])\) (.+?)\s*$", re.MULTILINE)


def option(sample: TaskRow, answer: str, profile: Profile) -> Verdict:
    """Accept the letter of the target option, with or without brackets and followed by anything but a letter.

    `corrected` also accepts a lone lower-case letter and the full text of the option.
    """
    text = answer.strip()
    target = sample.solution["target"].strip("()")
    match = _LETTER.match(text)
    if match is None and profile == "corrected":
        texts = [
            letter for letter, words in _OPTION.findall(sample.question) if words.lower() == text.lower().rstrip(".")
        ]
        if len(texts) == 1:
            return when(texts[0] == target, f"{clipped(text)!r} is option ({texts[0]}), expected ({target})")
        match = _ANY_LETTER.match(text)
    if match is None:
        return unreadable(f"{clipped(text)!r} names no option")
    letter = match.group(1).upper() if profile == "corrected" else match.group(1)
    return when(letter == target, f"({letter}) is not ({target})")


def word(sample: TaskRow, answer: str) -> Verdict:
    """Accept the target word in any case, with or without one final full stop."""
    text = answer.strip().removesuffix(".").lower()
    return when(text == sample.solution["target"].lower(), f"{clipped(text)!r} is not {sample.solution['target']!r}")
