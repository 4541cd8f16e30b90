"""Names of countries, capitals, cities, regions, languages, scripts and currencies in six languages.

CLDR (through babel) gives the names; `names.json` holds what reads better or is also said, `capitals.json` the
capitals that CLDR does not name. In both, the first name of a list is shown and the others are accepted.
"""

import functools
import json
import unicodedata
from collections import Counter
from pathlib import Path
from typing import Any

from assay.fks.sources import LANGUAGES, Named

_DATA = Path(__file__).parent / "data"
_NAMES_FILE = "names.json"
_CAPITALS_FILE = "capitals.json"
# Adjectives that stand where a currency's noun is looked for.
_NO_NOUN = {"nouveau", "nuevo", "neuer", "новый", "new", "cfa", "oro"}


@functools.cache
def _locales() -> dict[str, Any]:
    from babel import Locale

    return {language: Locale.parse("zh_Hans" if language == "zh" else language) for language in LANGUAGES}


@functools.cache
def _read(name: str) -> dict[str, Any]:
    return dict(json.loads((_DATA / name).read_text(encoding="utf-8")))


def _overrides(kind: str) -> dict[str, dict[str, list[str]]]:
    return dict(_read(_NAMES_FILE)[kind])


def fold(text: str) -> str:
    """Return a text without case, accents and outer spaces, for comparing names of two sources."""
    decomposed = unicodedata.normalize("NFD", text.strip())
    return "".join(c for c in decomposed if not unicodedata.combining(c)).casefold()


def _clean(name: str) -> str:
    return name.replace("\u00ad", "")  # CLDR's hints for line breaks


def _named(
    kind: str, key: str, names: dict[str, str], aliases: tuple[str, ...] = (), prefix: str = "", identity: str = ""
) -> Named:
    shown = {language: _clean(name) for language, name in names.items()}
    others: list[str] = []
    for language, listed in _overrides(kind).get(key, {}).items():
        shown[language] = listed[0]
        others += listed[1:]
    running = f"the {shown['en']}" if kind == "countries" and key in _read(_NAMES_FILE)["the"] else ""
    return Named(key=prefix + (identity or key), names=shown, aliases=(*others, *aliases), running=running)


@functools.cache
def country(code: str) -> Named:
    """Return a country by its ISO 3166 code; official English names are aliases."""
    names = {language: locale.territories[code] for language, locale in _locales().items()}
    return _named("countries", code, names, _official_names(code))


def _official_names(code: str) -> tuple[str, ...]:
    import pycountry

    entry = pycountry.countries.get(alpha_2=code)
    if entry is None:
        return ()
    found = [getattr(entry, field, None) for field in ("official_name", "common_name", "name")]
    names = [name.removeprefix("the ") for name in found if name and "," not in name and "(" not in name]
    return tuple(dict.fromkeys(names))


@functools.cache
def city_name(zone: str, language: str) -> str:
    """Return CLDR's name of a time zone's city; where it has none, the zone's id says it."""
    named = (_locales()[language].time_zones.get(zone) or {}).get("city")
    return str(named or zone.rpartition("/")[2].replace("_", " "))


@functools.cache
def city(zone: str) -> Named:
    """Return the city of a time zone."""
    return _named("cities", zone, {language: city_name(zone, language) for language in LANGUAGES})


@functools.cache
def capital(code: str, english: str) -> Named | None:
    """Return the capital of a country, or None where neither CLDR nor our own list names it.

    Parameters
    ----------
    code : str
        ISO 3166 code of the country.
    english : str
        The capital's name in GeoNames, by which CLDR's time-zone city is found.
    """
    from babel.core import get_global

    names = _read(_CAPITALS_FILE).get(code)
    if names is None:
        zones = [
            zone
            for zone, territory in sorted(get_global("zone_territories").items())
            if territory == code and fold(city_name(zone, "en")) == fold(english)
        ]
        if len(zones) != 1:
            return None
        names = {language: city_name(zones[0], language) for language in LANGUAGES}
    return _named("capitals", code, names, prefix="cap:")


@functools.cache
def region(code: str) -> Named:
    """Return a continent or subregion by its UN M49 code."""
    names = {language: locale.territories[code] for language, locale in _locales().items()}
    return _named("regions", code, names)


@functools.cache
def language_named(code: str) -> Named | None:
    """Return a language by its ISO 639 code, or None where CLDR does not name it in all six languages."""
    names = {language: locale.languages.get(code) for language, locale in _locales().items()}
    if not all(names.values()):
        return None
    return _named("languages", code, {language: str(name) for language, name in names.items()})


@functools.cache
def script(code: str) -> Named:
    """Return a writing system by its ISO 15924 code."""
    names = {language: locale.scripts[code] for language, locale in _locales().items()}
    return _named("scripts", code, names)


def literal(key: str, *aliases: str) -> Named:
    """Return an answer that is written alike in every language: a code, a number, a year."""
    return Named(key=key, names=dict.fromkeys(LANGUAGES, key), aliases=aliases)


def _currency_names(code: str) -> dict[str, str]:
    from babel.numbers import get_currency_name

    # The counted form is the one of running text: "Swedish krona", where the title form is "Swedish Krona".
    names = {"en": get_currency_name(code, count=1, locale=_locales()["en"])}
    return names | {lang: loc.currencies[code] for lang, loc in _locales().items() if lang != "en"}


@functools.cache
def _chinese_countries() -> tuple[str, ...]:
    """Return the Chinese names of all countries, longest first."""
    names = {str(name) for code, name in _locales()["zh"].territories.items() if len(code) == 2}
    names.update(name for listed in _overrides("countries").values() for name in listed.get("zh", ()))
    return tuple(sorted(names, key=lambda name: (-len(name), name)))


def _noun(language: str, name: str) -> str | None:
    """Return the bare noun of a currency's name ("yen" of "Japanese yen"), or None where it has none."""
    if language == "zh":
        countries = (c for c in _chinese_countries() if name.startswith(c) and len(name) >= len(c) + 2)
        return next((name.removeprefix(c) for c in countries), None)
    words = name.split()
    # English puts the noun last however long the name is; elsewhere only two-word names are safe to cut.
    if len(words) < 2 or (language != "en" and len(words) != 2):
        return None
    noun = words[0] if language in ("fr", "es") else words[-1]
    if language == "ru" and not noun.islower():
        noun = words[0]  # a country in the genitive stands last: "вату Вануату"
    return noun if noun.isalpha() and fold(noun) not in _NO_NOUN else None


@functools.cache
def currencies(codes: tuple[str, ...]) -> dict[str, Named]:
    """Return the currencies of a table by their ISO 4217 codes.

    The bare noun is an alias where only one currency of the table has it (yen, baht, zloty); peso or dollar are
    shared and no full answer.
    """
    plain = {code: _named("currencies", code, _currency_names(code)) for code in codes}
    nouns = {code: [_noun(lang, name) for lang, name in named.names.items()] for code, named in plain.items()}
    owners = Counter(noun for found in nouns.values() for noun in {fold(noun) for noun in found if noun})
    result = {}
    for code, named in plain.items():
        own = tuple(noun for noun in nouns[code] if noun and owners[fold(noun)] == 1)
        result[code] = Named(key=code, names=named.names, aliases=(*named.aliases, *own))
    return result
