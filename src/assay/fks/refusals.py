"""Refusals in six languages: the tokens of a segment that say that no answer is given."""

import re
import unicodedata
from bisect import bisect_left, bisect_right

from assay.fks.normalisation import Text
from assay.fks.wordlists import (
    ACCENTED_REFUSALS,
    CHINESE_REFUSALS,
    LATIN_REFUSALS,
    REFUSAL_TRIGGERS,
    RUSSIAN_REFUSALS,
    WHOLE_REFUSALS,
)

_BY_SCRIPT = tuple(
    (triggers, re.compile("|".join(patterns)))
    for triggers, patterns in zip(REFUSAL_TRIGGERS, (LATIN_REFUSALS, RUSSIAN_REFUSALS, CHINESE_REFUSALS), strict=True)
)
_TRIGGERS = frozenset().union(*REFUSAL_TRIGGERS)
_ACCENTED = re.compile(ACCENTED_REFUSALS)
_ACCENTED_TOKENS = frozenset(("no", "lo", "se", "pas", "sur", "sure"))
_NOTHING: frozenset[int] = frozenset()


def refused_tokens(text: Text) -> frozenset[int]:
    """Return the tokens that say that no answer is given; empty if the text is no refusal."""
    if _TRIGGERS.isdisjoint(text.tokens):
        return _NOTHING
    if len(text.tokens) == 1 and text.tokens[0] in WHOLE_REFUSALS:
        return frozenset((0,))
    found: set[int] = set()
    for triggers, pattern in _BY_SCRIPT:
        if not triggers.isdisjoint(text.tokens):
            for match in pattern.finditer(text.norm):
                found.update(_places(text, match.start(), match.end()))
    if not found and not text.raw.isascii():
        folded = unicodedata.normalize("NFC", text.raw.casefold())
        if _ACCENTED.search(folded):
            found.update(place for place, token in enumerate(text.tokens) if token in _ACCENTED_TOKENS)
    return frozenset(found)


def _places(text: Text, start: int, end: int) -> range:
    return range(max(0, bisect_right(text.offsets, start) - 1), bisect_left(text.offsets, end))
