"""Find markers and code blocks in a response, in linear time, as the authors' regular expressions do.

A lazy regular expression over a text of many opening and no closing brackets takes quadratic time; a response
may have ten megabytes. Plain searches give the same matches.
"""

import re

OPEN, CLOSE = "<<<", ">>>"
_FENCE_OPEN, _FENCE_CLOSE = "```python\n", "\n```"
# What upstream does not execute is source text all the same.
_ANY_FENCE_OPEN = re.compile(r"```[ \t]*(?:python[\d.]*|py3?)[ \t]*\r?\n", re.IGNORECASE)


def between(text: str, opening: str, closing: str) -> list[str]:
    """Return the texts between each opening and the next closing, left to right, without overlap.

    Examples
    --------
    >>> between("a <<<1>>> b <<<2>>>", "<<<", ">>>")
    ['1', '2']
    """
    found = []
    start = text.find(opening)
    while start >= 0:
        end = text.find(closing, start + len(opening))
        if end < 0:
            break
        found.append(text[start + len(opening) : end])
        start = text.find(opening, end + len(closing))
    return found


def last_marker(text: str) -> str | None:
    """Return the content of the last marker, newlines included, or None without a marker."""
    found = between(text, OPEN, CLOSE)
    return found[-1] if found else None


def last_line_marker(text: str) -> str | None:
    """Return the content of the last marker that opens and closes on one line."""
    for line in reversed(text.split("\n") if OPEN in text else ()):
        found = between(line, OPEN, CLOSE)
        if found:
            return found[-1]
    return None


def first_bracket_marker(text: str) -> str | None:
    """Return the text inside the first marker of the form <<<[...]>>> that stands on one line."""
    for line in text.split("\n") if OPEN in text else ():
        found = between(line, OPEN + "[", "]" + CLOSE)
        if found:
            return found[0]
    return None


def code_blocks(text: str) -> list[str]:
    """Return the Python blocks of a response; only the exact fence counts (lower case, line feeds alone)."""
    return between(text, _FENCE_OPEN, _FENCE_CLOSE)


def first_code_block(text: str) -> str | None:
    """Return the only block that is ever executed."""
    found = code_blocks(text)
    return found[0] if found else None


def without_code_blocks(text: str) -> str:
    r"""Return a response without its Python blocks, so that source text cannot pass for an answer.

    Blocks that are never executed, because their fence is written in another way, are source text too. A block that is
    not closed, as in a response that was cut off, goes to the end.

    Examples
    --------
    >>> without_code_blocks("So:\n```python\nprint(1)\n```\n<<<1>>>")
    'So:\n\n<<<1>>>'
    >>> without_code_blocks("```python\n```<<<1>>>"), without_code_blocks("<<<1>>>```python\nprint(")
    ('<<<1>>>', '<<<1>>>')
    >>> without_code_blocks("```py\nprint('<<<1>>>')\n```"), without_code_blocks("``` Python3\nprint('<<<1>>>')\n```")
    ('', '')
    """
    kept = []
    position = 0
    while opening := _ANY_FENCE_OPEN.search(text, position):
        kept.append(text[position : opening.start()])
        # From the line end of the opening: a block may be empty.
        end = text.find(_FENCE_CLOSE, opening.end() - 1)
        if end < 0:
            return "".join(kept)
        position = end + len(_FENCE_CLOSE)
    return "".join(kept) + text[position:]


def last_written_marker(text: str) -> str | None:
    """Return the content of the last marker that is not blank, or None.

    Where there is none, the last one whose end lacks a bracket counts: models break `>>>` into tokens and lose one.
    Brackets that a text only speaks of open no marker: the content begins behind the last ones.

    Examples
    --------
    >>> last_written_marker("<<<7>>> <<< >>>"), last_written_marker("It is <<<7>>."), last_written_marker("1 << 2 >> 3")
    ('7', '7', None)
    >>> last_written_marker("What stands behind <<< counts: <<<7>>>")
    '7'
    """
    for closing in (CLOSE, CLOSE[:-1]):
        contents = (content.rpartition(OPEN)[2] for content in between(text, OPEN, closing))
        written = [content for content in contents if content.strip()]
        if written:
            return written[-1]
    return None
