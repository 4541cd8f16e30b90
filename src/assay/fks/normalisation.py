"""Normalised text and its tokens: what every comparison of the scorer works on.

NFKC; marks that show nothing dropped; case folded, ß to ss, ё to е; combining marks removed from Latin letters only;
apostrophes and dashes unified; possessive 's, quotes and markup removed; no spaces between Han characters. A token is
one Han character or a maximal run of letters and digits.
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate

from assay.fks.wordlists import RUSSIAN_ENDINGS

HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
LETTER = rf"[^\W_{HAN}]"  # a letter or digit that is no Han character

_TOKEN = re.compile(rf"([{HAN}]|{LETTER}+)")
_ASCII_TOKEN = re.compile(r"([a-z0-9]+)")
_HAN = re.compile(f"[{HAN}]")
_BETWEEN_HAN = re.compile(rf"(?<=[{HAN}])[\s·・‧∙⋅•]+(?=[{HAN}])")
# "№ 43", "nº 43", "n.º 43", "n° 43": normalised, they would be the negators "no" and "n".
_NUMBER_SIGN = re.compile(r"№|(?<!\w)[nN]\.?\s?[º°ᵒ]\.?(?=\s*\d)")
_NUMBER_MARK = re.compile("[№º°ᵒ]")  # most texts have none, and this tells it in a tenth of the time
_POSSESSIVE = re.compile(r"(?<=[^\W\d_])'s\b")
# Anything but characters that stay what they are: most of ASCII, Russian without ё, Han, Chinese stops.
_CHANGES = re.compile("[^ !$%&()+-Z\\[\\\\\\]^a-z{|}~а-я\u4e00-\u9fff、。]")
_MARK = re.compile("[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]")
# Marks go from Latin letters only: the breve of й tells letters apart. A stress mark on a Russian vowel tells
# nothing apart and would split the word, so it goes too.
_LOOSE_MARKS = re.compile(
    "(?<=[a-z\u00df-\u02af\u1e00-\u1eff])[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]+"
    "|(?<=[а-я])[\u0300\u0301]"
)
# Putting marks into canonical order takes quadratic time on a run of them; no language needs thirty in a row.
_LONGEST_MARK_RUN = 30
_SAFE_LENGTH = 2_000  # below it, the worst order takes under a millisecond

_ASCII_TABLE = str.maketrans(dict.fromkeys("'\"*_#`", " "))
_SPACES = '"“”„‟«»‹›*_#`「」『』《》〈〉【】〔〕〖〗｢｣'
_APOSTROPHES = "'’‘ʼʻ′‵´‛ʹ"
_HYPHENS = "‐‑‒–−⁃﹘﹣－"
_LONG_DASHES = "—―⸺⸻"  # these part sentences, with or without spaces around them


class _Table(dict[int, str]):
    """What becomes of one character, worked out when it is first met."""

    def __missing__(self, code: int) -> str:
        self[code] = result = _character(chr(code))
        return result


def _character(character: str) -> str:
    if character in _SPACES:
        return " "
    if character in _APOSTROPHES:
        return "'"
    if character in _HYPHENS:
        return "-"
    if character in _LONG_DASHES:
        return " - "
    if character == "ё":
        return "е"
    if unicodedata.category(character) == "Cf" or "\ufe00" <= character <= "\ufe0f":
        return ""  # zero-width and direction marks, soft hyphens, variation selectors
    if "\u00e0" <= character <= "\u02af" or "\u1e00" <= character <= "\u1eff":
        base = unicodedata.normalize("NFD", character)[0]
        return base if base.isascii() else _MARK.sub("", unicodedata.normalize("NFD", character))
    return character


_TABLE = _Table()


# Blanks other than the plain one, marks that show nothing, and marks that NFC may join to their letters.
_UNSEEN = re.compile(
    "[\u00a0\u00ad\u061c\u1680\u180e\u2000-\u200f\u202a-\u202f\u205f-\u2069\u3000\ufe00-\ufe0f\ufeff\u0300-\u036f]"
)


def visible(text: str) -> str:
    r"""Return a text as its reader sees it: composed, without marks that show nothing, every blank a plain space.

    Examples
    --------
    >>> visible("\ufeffThe\u00a0re\u0301ponse\n")
    'The réponse\n'
    """
    if text.isascii() or not _UNSEEN.search(text):
        return text
    if len(text) > _SAFE_LENGTH:
        text = _shorten_mark_runs(text)
    return _UNSEEN.sub(_seen, unicodedata.normalize("NFC", text))


def _seen(match: re.Match[str]) -> str:
    character = match.group()
    kind = unicodedata.category(character)
    return " " if kind == "Zs" else character if unicodedata.combining(character) else ""


def normalise(text: str) -> str:
    r"""Return the text that every comparison works on; the module says by which steps.

    Examples
    --------
    >>> normalise("  L’« Île »\u200b  de Zoë's ")
    'l ile de zoe'
    >>> normalise("维 也·纳 — Ёлка")
    '维也纳 - елка'
    """
    if text.isascii():
        text = text.lower()
        if "'s" in text:
            text = _POSSESSIVE.sub("", text)
        return " ".join(text.translate(_ASCII_TABLE).split())
    if len(text) > _SAFE_LENGTH:
        text = _shorten_mark_runs(text)
    if _NUMBER_MARK.search(text):
        text = _NUMBER_SIGN.sub(" ", text)
    text = unicodedata.normalize("NFKC", text).casefold()
    if _CHANGES.search(text):
        text = text.translate(_TABLE)
    if _MARK.search(text):
        text = _LOOSE_MARKS.sub("", text)
    if "'" in text:
        text = _POSSESSIVE.sub("", text).replace("'", " ")
    if _HAN.search(text):
        text = _BETWEEN_HAN.sub("", text)
    return " ".join(text.split())


def _shorten_mark_runs(text: str) -> str:
    kept, run = [], 0
    for character in text:
        run = run + 1 if unicodedata.combining(character) else 0
        if run <= _LONGEST_MARK_RUN:
            kept.append(character)
    return "".join(kept)


def is_han(character: str) -> bool:
    """Tell whether a character is a Han one, a token of its own."""
    return _HAN.match(character) is not None


def is_russian(token: str) -> bool:
    """Tell whether a token is in Cyrillic letters."""
    return "а" <= token[0] <= "я"


@lru_cache(maxsize=1 << 16)
def stems(token: str) -> tuple[str, ...]:
    """Return a token and, for a Russian one of four or more letters, what is left without one ending.

    Two tokens are forms of one word if these meet: Франции and Франция share франци.
    """
    if len(token) < 4 or not is_russian(token):
        return (token,)
    short = [token[:-n] for n in (1, 2, 3) if len(token) - n >= 3 and token[-n:] in RUSSIAN_ENDINGS]
    return (token, *short)


def split_tokens(norm: str) -> tuple[list[str], list[str]]:
    """Return the tokens of a normalised text and what stands before, between and after them (one more)."""
    parts = (_ASCII_TOKEN if norm.isascii() else _TOKEN).split(norm)
    return parts[1::2], parts[0::2]


class Text:
    """A piece of text in all the forms that rules look at.

    Attributes
    ----------
    raw, norm : str
        As written, and normalised.
    tokens : list of str
        Its n tokens.
    gaps : list of str
        n + 1 pieces: `gaps[i]` stands before token i, `gaps[n]` after the last.
    masked : frozenset of int
        Tokens that belong to a refusal and can name no answer.
    lists_codes : bool
        Whether it is nothing but codes and connectors, so that a short code needs no other sign.
    """

    __slots__ = ("_keys", "_offsets", "gaps", "key_places", "lists_codes", "masked", "norm", "raw", "tokens")

    def __init__(self, raw: str) -> None:
        self.raw = raw
        self.norm = norm = normalise(raw)
        self.tokens, self.gaps = split_tokens(norm)
        self.masked: frozenset[int] = frozenset()
        self.lists_codes = False
        self.key_places: Sequence[int] = ()
        self._offsets: list[int] | None = None
        self._keys: list[str] | None = None

    def keys(self, *, german: bool) -> list[str]:
        """Return what a lexicon is asked for: the tokens, and the other forms that each may stand for.

        `key_places` tells, for each key, its token.
        """
        if self._keys is not None:
            return self._keys
        if not german and self.norm.isascii():
            self._keys, self.key_places = self.tokens, range(len(self.tokens))
            return self._keys
        keys: list[str] = []
        places: list[int] = []
        for place, token in enumerate(self.tokens):
            keys.append(token)
            if len(token) > 3:
                if is_russian(token):
                    keys += stems(token)[1:]
                elif german and token[-1] == "s":
                    keys += (token[:-1], token[:-2]) if token[-2] == "e" else (token[:-1],)
            places += [place] * (len(keys) - len(places))
        self._keys, self.key_places = keys, places
        return keys

    @property
    def offsets(self) -> list[int]:
        """Where each token starts in `norm`."""
        if self._offsets is None:
            ends = accumulate(len(part) for pair in zip(self.gaps, self.tokens, strict=False) for part in pair)
            self._offsets = [end - len(token) for end, token in zip(list(ends)[1::2], self.tokens, strict=True)]
        return self._offsets
