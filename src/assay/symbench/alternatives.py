"""Answers that name several alternatives, or deny what they name: no answer (deviation D25).

Most answers are read as a whole, and another word makes them unreadable or wrong. What is here serves the answers that
are searched for in a text.
"""

import re

NOT_ONE = "the text names more than one answer"
NOT_BARE = "words or signs beside the answer, which may deny or change it"

# What takes an answer back, or makes it a guess or a bound.
DENYING_WORDS = (
    r"\b(?:not|never|neither|nor|none|cannot|wrong|incorrect|false|invalid|impossible|unlikely|excluded|rejected|fails?|"
    r"failed|maybe|perhaps|possibly|probably|than|anything but|at (?:least|most))\b"
    r"|n['’]t\b|≠|!=|\\n(?:eq?|ot)(?![A-Za-z])"
)
_DENIAL = re.compile(rf"{DENYING_WORDS}|[≤≥¬~]", re.IGNORECASE)
_CLAUSE_END = re.compile(r"[,;:?\n]|!(?!=)|\.(?!\d)")

# Words that introduce an answer or say what it is.
_NAMES = frozenset(
    re.findall(
        r"\w+",
        """
    a an the final correct my our answer result product value number numbers total count position positions path
    trajectory waypoint waypoints route point points list coordinates solution i e we have get it its this that is are
    was equals equal to of be in as follows gives yields so thus therefore hence here then done
    python boxed text textbf mathbf mathrm
    """,
    )
)
# Brackets of a marker with one too few or too many.
_TORN = re.compile(r"\A<++(?=\S)|(?<=[^\s>])>++\Z")
_WORD = re.compile(r"[^\W\d_]+")
_MARKS = re.compile(r"[\s.,;:=*_`$\\(){}\[\]\"'#|&→⇒–—-]*+")

# What stands between two alternatives, as against between a remark and a result.
_JOINT = re.compile(
    r"[ \t,;/|&().]*(?:\s*(?:either|or|and|else|maybe|perhaps|possibly|alternatively)\b[\s,;/|&().]*)*+", re.IGNORECASE
)
# A gap of more characters is a remark.
_LONGEST_JOINT = 40


def last_run(pattern: re.Pattern[str], text: str) -> str | None:
    """Return the last match in a text with the matches before it that are alternatives to it, in whole words.

    Where the words around it, in the same clause, deny it, they are returned with it.

    Examples
    --------
    >>> number = re.compile(r"[0-9]+")
    >>> last_run(number, "2 * 3 = 6"), last_run(number, "It is 5 or 6, I think.")
    ('6', '5 or 6,')
    >>> last_run(number, "So it is not 6!"), last_run(number, "It is not 5 but 6!")
    ('So it is not 6', '6')
    """
    start = end = clause = -1
    for match in pattern.finditer(text):
        gap = match.start() - end
        if end < 0 or gap > _LONGEST_JOINT or not _JOINT.fullmatch(text, end, match.start()):
            start, clause = match.start(), max(end, 0)
        end = match.end()
    if end < 0:
        return None
    before, after = last_clause(text[clause:start]), _CLAUSE_END.split(text[end:], maxsplit=1)[0]
    if denied(before) or denied(after):
        return before + text[start:end] + after
    while start > 0 and not text[start - 1].isspace():
        start -= 1
    while end < len(text) and not text[end].isspace():
        end += 1
    return text[start:end].rstrip("!")


def last_clause(text: str) -> str:
    """Return what stands behind the last end of a clause."""
    return _CLAUSE_END.split(text)[-1]


def denied(text: str) -> bool:
    """Say whether words beside an answer take it back, or make it a guess or a bound."""
    return _DENIAL.search(text) is not None


def bare(pattern: re.Pattern[str], text: str) -> bool:
    """Say whether a text is matches of a pattern and nothing else but words and marks that introduce an answer.

    Examples
    --------
    >>> number = re.compile(r"[0-9]+")
    >>> bare(number, "The result is **6**."), bare(number, "six, not 7"), bare(number, "≠ 6"), bare(number, "6!")
    (True, False, False, False)
    """
    rest = pattern.sub(" ", _TORN.sub("", text))
    named = all(word.lower() in _NAMES for word in _WORD.findall(rest))
    return named and _MARKS.fullmatch(_WORD.sub("", rest)) is not None
