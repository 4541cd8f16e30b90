"""Compare a short answer with an option letter or with Yes or No (the four BIG-Bench Hard tasks).

The authors let a second language model compare. The comparison here is deterministic: the marker's content must
begin with the option's letter, or be the word.
"""

import re

from assay.symbench.rows import TaskRow
from assay.symbench.verdicts import Profile, Verdict, clipped, unreadable, when

_LETTER = re.compile(r"\(?([A-Z])\)?(?![A-Za-z])", re.ASCII)
_ONE_OPTION = re.compile(r"[(\[]?([A-Za-z])(?:[\s.,:)\]-]+(.*))?", re.ASCII | re.DOTALL)
_OPTION = re.compile(r"^\(([A-Z])\) (.+?)\s*$", re.MULTILINE)


def option(sample: TaskRow, answer: str, profile: Profile) -> Verdict:
    """Accept the target option.

    `upstream` reads the letter that the text begins with, with or without brackets and followed by anything but a
    letter, so "(A) or (B)" passes for A (deviation D25). `corrected` wants one option and nothing else: its letter in
    either case, its words, or the letter and its words.
    """
    text = answer.strip()
    target = sample.solution["target"].strip("()")
    if profile == "corrected":
        letter = _one_option(text, dict(_OPTION.findall(sample.question)))
    else:
        match = _LETTER.match(text)
        letter = match.group(1) if match else None
    if letter is None:
        return unreadable(f"{clipped(text)!r} does not name one option")
    return when(letter == target, f"({letter}) is not ({target})")


def _one_option(text: str, options: dict[str, str]) -> str | None:
    named = [letter for letter, words in options.items() if _plain(words) == _plain(text)]
    if len(named) == 1:
        return named[0]
    match = _ONE_OPTION.fullmatch(text)
    if match is None:
        return None
    letter, rest = match.group(1).upper(), _plain(match.group(2) or "")
    return letter if rest in ("", _plain(options.get(letter, ""))) else None


def _plain(words: str) -> str:
    return " ".join(words.lower().split()).rstrip(".")


def word(sample: TaskRow, answer: str) -> Verdict:
    """Accept the target word in any case, with or without one final full stop."""
    text = answer.strip().removesuffix(".").lower()
    return when(text == sample.solution["target"].lower(), f"{clipped(text)!r} is not {sample.solution['target']!r}")
