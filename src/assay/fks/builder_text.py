"""Text rules of the builder: whole-token containment, and English names inside sentences.

These decide what is asked. The scorer has its own normalisation, which decides how answers are judged; they are
kept apart so that a change of the scorer asks nothing anew.
"""

import re
import unicodedata
from collections.abc import Iterable

_TOKEN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]|[^\W_\u3400-\u9fff\uf900-\ufaff]+")
SLOT = re.compile(r"\{(\w+)\}")


def tokens(text: str) -> tuple[str, ...]:
    """Return the tokens of a text: one Han character, or a maximal run of letters and digits.

    Compatibility forms are unified, case goes, and so do the accents of Latin letters.

    Examples
    --------
    >>> tokens("São Tomé, 东京!")
    ('sao', 'tome', '东', '京')
    """
    plain = unicodedata.normalize("NFKC", text).casefold().replace("ё", "е")
    letters, latin = [], False
    for char in unicodedata.normalize("NFD", plain):
        if unicodedata.combining(char):
            if not latin:
                letters.append(char)
        else:
            latin = "a" <= char <= "z"
            letters.append(char)
    return tuple(_TOKEN.findall(unicodedata.normalize("NFC", "".join(letters))))


def contains(text: tuple[str, ...], part: tuple[str, ...]) -> bool:
    """Return whether `part` stands in `text` as consecutive tokens; Han characters make that a plain substring."""
    width = len(part)
    return width > 0 and any(text[i : i + width] == part for i in range(len(text) - width + 1))


def names_any(text: str, surfaces: Iterable[str]) -> bool:
    """Return whether a text contains any of the surfaces."""
    found = tokens(text)
    return any(contains(found, tokens(surface)) for surface in surfaces)


def fill(template: str, **values: str) -> str:
    """Put names into a template; a name at the start of the sentence gets a capital.

    Plain replacement: braces inside a name stay what they are.

    Examples
    --------
    >>> fill("{s} has which capital?", s="the Netherlands")
    'The Netherlands has which capital?'
    >>> fill("Name the capital of {s}.", s="the Netherlands")
    'Name the capital of the Netherlands.'
    """
    pieces = SLOT.split(template)
    text = "".join(values[piece] if index % 2 else piece for index, piece in enumerate(pieces))
    starts_with_name = template.startswith("{")
    return text[:1].upper() + text[1:] if starts_with_name and text.startswith("the ") else text
