"""Years and dates in six languages, compared at the granularity of the gold answer.

A finer date is right where a year is asked; a coarser or vaguer one that fits (decade, century, "before 1990") is
ambiguous, as are a right and a wrong date together.
"""

import re
from typing import Literal, NamedTuple

from assay.fks.clauses import ends_clause, is_negated
from assay.fks.normalisation import Text
from assay.fks.outcome import Outcome
from assay.fks.wordlists import (
    BEFORE_AFTER,
    CENTURY_NOUNS,
    CENTURY_NOUNS_BEFORE,
    CHINESE_BEFORE_AFTER,
    DATE_FILLERS,
    DECADE_NOUNS,
    MONTHS,
    YEAR_FILLERS,
)

Granularity = Literal["year", "month", "day"]

_YEAR = re.compile(r"[12]\d{3}\Z", re.ASCII)
_TWO_DIGITS = re.compile(r"\d{1,2}\Z", re.ASCII)
_DECADE = re.compile(r"([12]\d)?(\d)0(?:s|er|ern|ers)\Z", re.ASCII)
_DAY = re.compile(r"(\d{1,2})(?:st|nd|rd|th|er|o)?\Z", re.ASCII)
_ORDINAL = re.compile(r"(\d{1,2})(?:st|nd|rd|th|e|eme|er)?\Z", re.ASCII)
_ROMAN = re.compile(r"([ivx]{1,6})(?:e|eme)?\Z")
_CHINESE_DIGITS = {character: value for value, character in enumerate("零一二三四五六七八九")} | {"〇": 0, "○": 0}
_ROMAN_VALUES = {"i": 1, "v": 5, "x": 10}


class Found(NamedTuple):
    """A time named by tokens start..end-1: years lo..hi (0 if none is named), and readings (month, day)."""

    start: int
    end: int
    lo: int
    hi: int
    readings: tuple[tuple[int, int], ...] = ((0, 0),)

    def value(self, granularity: Granularity) -> str:
        """Return the time as text, no finer than asked."""
        if self.lo != self.hi:
            return f"{self.lo}-{self.hi}"
        month, day = self.readings[0]
        parts = [f"{self.lo:04}" if self.lo else "????"]
        if month and granularity != "year":
            parts.append(f"{month:02}")
            if day and granularity == "day":
                parts.append(f"{day:02}")
        return "-".join(parts)


def read_dates(text: Text) -> list[Found]:
    """Return the times that a text names, in order; none overlap."""
    found, place = [], 0
    while place < len(text.tokens):
        hit = _read_at(text, place)
        if hit is None:
            place += 1
        else:
            found.append(hit)
            place = hit.end
    return found


def _read_at(text: Text, place: int) -> Found | None:
    token = text.tokens[place]
    if token[0] in "0123456789":
        return (
            _day_first(text, place)
            or _century(text, place)
            or _numeric(text, place)
            or _decade(text, place)
            or _from_year(text, place)
        )
    if token in MONTHS:
        return _month_first(text, place)
    if token in _CHINESE_DIGITS or token == "十":
        return _chinese(text, place)
    if token in CENTURY_NOUNS_BEFORE or _ROMAN.match(token):
        return _century(text, place)
    return None


def _skip(text: Text, place: int, fillers: frozenset[str]) -> int:
    while place < len(text.tokens) and text.tokens[place] in fillers:
        place += 1
    return place


def _token(text: Text, place: int) -> str:
    return text.tokens[place] if 0 <= place < len(text.tokens) else ""


def _small(token: str, most: int) -> int:
    """Return a number of one or two Arabic digits in 1..most, else 0."""
    return int(token) if _TWO_DIGITS.match(token) and 1 <= int(token) <= most else 0


def _year_at(text: Text, place: int) -> int:
    token = _token(text, place)
    return int(token) if _YEAR.match(token) else 0


def _day_at(text: Text, place: int) -> int:
    match = _DAY.match(_token(text, place))
    return int(match[1]) if match and 1 <= int(match[1]) <= 31 else 0


def _dated(start: int, end: int, year: int, *readings: tuple[int, int]) -> Found:
    return Found(start, end, year, year, readings or ((0, 0),))


def _day_first(text: Text, place: int) -> Found | None:
    """20 July 1969, 20th of July 1969, 20 de julio de 1969, am 20. Juli 1969."""
    day = _day_at(text, place)
    month_place = _skip(text, place + 1, DATE_FILLERS)
    month = MONTHS.get(_token(text, month_place), 0)
    if not day or not month:
        return None
    year_place = _skip(text, month_place + 1, YEAR_FILLERS)
    year = _year_at(text, year_place)
    return _dated(place, year_place + 1 if year else month_place + 1, year, (month, day))


def _month_first(text: Text, place: int) -> Found | None:
    """July 20, 1969; July 1969."""
    month = MONTHS[text.tokens[place]]
    day_place = _skip(text, place + 1, DATE_FILLERS)
    day = _day_at(text, day_place)
    if day:
        year_place = _skip(text, day_place + 1, YEAR_FILLERS)
        year = _year_at(text, year_place)
        return _dated(place, year_place + 1 if year else day_place + 1, year, (month, day))
    year_place = _skip(text, place + 1, YEAR_FILLERS)
    year = _year_at(text, year_place)
    return _dated(place, year_place + 1, year, (month, 0)) if year else None


def _numeric(text: Text, place: int) -> Found | None:
    """7/1969, 1969-07-20, 1969/7/20, 20/07/1969, 20.7.1969; day and month of the last two in either order."""
    first, second, third = (_token(text, place + n) for n in range(3))
    marks = [gap.strip() for gap in text.gaps[place + 1 : place + 3]]
    if marks[0] not in ("-", "/", "."):
        return None
    if (month := _small(first, 12)) and (year := _year_at(text, place + 1)):
        return _dated(place, place + 2, year, (month, 0))
    if len(set(marks)) > 1:
        return None
    if year := _year_at(text, place):
        pairs = [(_small(second, 12), _small(third, 31))]
    elif year := _year_at(text, place + 2):
        pairs = [(_small(second, 12), _small(first, 31)), (_small(first, 12), _small(second, 31))]
    else:
        return None
    readings = tuple(dict.fromkeys((month, day) for month, day in pairs if month and day))
    return Found(place, place + 3, year, year, readings) if readings else None


def _decade(text: Text, place: int) -> Found | None:
    """1990s, 1990er, 1990-е, 1990年代, les années 1990, los años 90."""
    token, after = text.tokens[place], _token(text, place + 1)
    if match := _DECADE.match(token):
        year = int((match[1] or "19") + match[2] + "0")
        return Found(place, place + 1, year, year + 9)
    if not token.endswith("0") or len(token) not in (2, 4) or (len(token) == 4 and not _YEAR.match(token)):
        return None
    year = int(token if len(token) == 4 else "19" + token)
    gap = text.gaps[place + 1]
    if (gap.strip() == "-" and after in ("е", "х", "ые", "ых", "er")) or (gap == " " and after == "s"):
        return Found(place, place + 2, year, year + 9)
    if after == "年" and _token(text, place + 2) == "代":
        return Found(place, place + 3, year, year + 9)
    before = place - 1
    while before >= 0 and text.tokens[before] in DATE_FILLERS:
        before -= 1
    if before >= 0 and text.tokens[before] in DECADE_NOUNS:
        return Found(place, place + 1, year, year + 9)
    return None


def _from_year(text: Text, place: int) -> Found | None:
    """1999, 1999年, 1969年7月20日, 1969-07."""
    year = _year_at(text, place)
    if not year:
        return None
    after = _token(text, place + 1)
    if after == "年":
        return _chinese_rest(text, place, place + 2, year)
    if text.gaps[place + 1] == "-" and len(after) == 2 and (month := _small(after, 12)):
        return _dated(place, place + 2, year, (month, 0))
    return _dated(place, place + 1, year)


def _chinese(text: Text, place: int) -> Found | None:
    """一九九九年, 二〇〇一年七月二十日, 二十世纪."""
    digits = [_CHINESE_DIGITS.get(_token(text, place + n)) for n in range(4)]
    if None not in digits and 1 <= (digits[0] or 0) <= 2:
        year = int("".join(str(digit) for digit in digits))
        if _token(text, place + 4) == "年":
            return _chinese_rest(text, place, place + 5, year)
        if len(text.tokens) == 4:
            return _dated(place, place + 4, year)
        return None
    value, end = _chinese_number(text, place)
    if value and (text.tokens[end : end + 2] == ["世", "纪"] or text.tokens[end : end + 2] == ["世", "紀"]):
        return Found(place, end + 2, value * 100 - 100, value * 100)
    return None


def _chinese_rest(text: Text, start: int, place: int, year: int) -> Found:
    month, end = _chinese_number(text, place)
    if not 1 <= month <= 12 or _token(text, end) != "月":
        return _dated(start, place, year)
    day, day_end = _chinese_number(text, end + 1)
    if 1 <= day <= 31 and _token(text, day_end) in ("日", "号"):
        return _dated(start, day_end + 1, year, (month, day))
    return _dated(start, end + 1, year, (month, 0))


def _chinese_number(text: Text, place: int) -> tuple[int, int]:
    """Return a number below 100 in Arabic or Chinese digits, and where it ends; 0 if there is none."""
    token = _token(text, place)
    if _TWO_DIGITS.match(token):
        return int(token), place + 1
    tens, ones = 0, _CHINESE_DIGITS.get(token, 0)
    if ones:
        place += 1
    if _token(text, place) == "十":
        tens, place = ones or 1, place + 1
        ones = _CHINESE_DIGITS.get(_token(text, place), 0)
        place += 1 if ones else 0
    return tens * 10 + ones, place


def _century(text: Text, place: int) -> Found | None:
    """20th century, XXe siècle, siglo XX, 20. Jahrhundert, XX век, 20世纪."""
    tokens = text.tokens
    if tokens[place] in CENTURY_NOUNS_BEFORE:
        number, end = _ordinal(_token(text, place + 1)), place + 2
    else:
        number, end = _ordinal(tokens[place]), place + 2
        if tokens[place + 1 : place + 3] in (["世", "纪"], ["世", "紀"]):
            end = place + 3
        elif _token(text, place + 1) not in CENTURY_NOUNS:
            return None
    return Found(place, end, number * 100 - 100, number * 100) if 1 <= number <= 30 else None


def _ordinal(token: str) -> int:
    if match := _ORDINAL.match(token):
        return int(match[1])
    if match := _ROMAN.match(token):
        values = [_ROMAN_VALUES[letter] for letter in match[1]]
        return sum(-v if v < max(values[n:]) else v for n, v in enumerate(values))
    return 0


Match = Literal["right", "compatible", "wrong"]


def compare(found: Found, gold: Found, granularity: Granularity) -> Match | None:
    """Tell how a time agrees with the gold one at a granularity; None if it says nothing at that granularity."""
    month, day = gold.readings[0]
    if not month:
        granularity = "year"
    elif not day and granularity == "day":
        granularity = "month"
    if found.lo == 0:
        return None if granularity == "year" else ("compatible" if (month, day) in found.readings else "wrong")
    if found.lo != found.hi:
        return "compatible" if found.lo <= gold.lo <= found.hi else "wrong"
    if found.lo != gold.lo:
        return "wrong"
    if granularity == "year":
        return "right"
    results = {_compare_reading(reading, (month, day), granularity) for reading in found.readings}
    return "right" if "right" in results else "compatible" if "compatible" in results else "wrong"


def _compare_reading(reading: tuple[int, int], gold: tuple[int, int], granularity: Granularity) -> Match:
    if not reading[0]:
        return "compatible"
    if reading[0] != gold[0]:
        return "wrong"
    if granularity == "month" or reading[1] == gold[1]:
        return "right"
    return "wrong" if reading[1] else "compatible"


def is_bound(text: Text, found: Found) -> bool:
    """Tell whether before or after stands at a time, which then only bounds the answer."""
    place = found.start - 1
    while place >= 0 and text.tokens[place] in YEAR_FILLERS and not ends_clause(text.gaps[place + 1]):
        place -= 1
    if place >= 0 and text.tokens[place] in BEFORE_AFTER and not ends_clause(text.gaps[place + 1]):
        return True
    behind = "".join(text.tokens[found.end : found.end + 3]).removeprefix("年")
    return behind.startswith(CHINESE_BEFORE_AFTER)


def judge_dates(text: Text, golds: list[Found], granularity: Granularity) -> Outcome:
    """Label a segment whose answer is a time."""
    best: dict[Match, Found] = {}
    denied = False
    for found in read_dates(text):
        results = [match for gold in golds if (match := compare(found, gold, granularity)) is not None]
        if not results:
            continue
        result: Match = min(results, key=("right", "compatible", "wrong").index)
        if result == "right" and is_bound(text, found):
            result = "compatible"
        if is_negated(text, found.start, found.end) or not text.masked.isdisjoint(range(found.start, found.end)):
            denied = denied or result == "right"
        else:
            best.setdefault(result, found)
    right, compatible, wrong = best.get("right"), best.get("compatible"), best.get("wrong")
    named = right or compatible
    if named is None:
        rule = "date_wrong" if wrong else "date_negated" if denied else "date_none"
        return Outcome("incorrect", rule, wrong.value(granularity) if wrong else "")
    surface = named.value("day")
    if wrong is not None:
        return Outcome("ambiguous", "date_several", surface, True)
    if right is None:
        return Outcome("ambiguous", "date_coarse_or_bound", surface, True)
    if denied:
        return Outcome("ambiguous", "date_affirmed_and_denied", surface, True)
    return Outcome("correct", "date", surface, True)
