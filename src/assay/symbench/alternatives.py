"""Answers that name several alternatives, so that one of them may be right: no answer (deviation D25).

Most answers are read as a whole, and a second one makes them unreadable or wrong. What is here serves the answers that
are searched for in a text.
"""

import re

NOT_ONE = "the text names more than one answer"

# What stands between two alternatives, as against between a remark and a result.
_JOINT = re.compile(
    r"[ \t,;/|&().]*(?:\s*(?:either|or|and|else|maybe|perhaps|possibly|alternatively)\b[\s,;/|&().]*)*+", re.IGNORECASE
)
# A gap of more characters is a remark.
_LONGEST_JOINT = 40


def last_run(pattern: re.Pattern[str], text: str) -> str | None:
    """Return the last match in a text with the matches before it that are alternatives to it, in whole words.

    Examples
    --------
    >>> number = re.compile(r"[0-9]+")
    >>> last_run(number, "2 * 3 = 6"), last_run(number, "It is 5 or 6, I think.")
    ('6', '5 or 6,')
    """
    start = end = -1
    for match in pattern.finditer(text):
        gap = match.start() - end
        if end < 0 or gap > _LONGEST_JOINT or not _JOINT.fullmatch(text, end, match.start()):
            start = match.start()
        end = match.end()
    if end < 0:
        return None
    while start > 0 and not text[start - 1].isspace():
        start -= 1
    while end < len(text) and not text[end].isspace():
        end += 1
    return text[start:end]


def stray_digits(pattern: re.Pattern[str], text: str) -> bool:
    """Say whether digits stand outside the matches of a pattern."""
    return any(character.isdigit() for character in pattern.sub("", text))
