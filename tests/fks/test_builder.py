"""The embedded facts and the queries built from them."""

import json
import os
import subprocess
import sys
import time
from collections import Counter, defaultdict

import pytest

from assay.errors import ConfigError
from assay.fks.builder import build, fact_id
from assay.fks.builder_text import contains, fill, names_any, tokens
from assay.fks.catalogue import Catalogue
from assay.fks.conditions import FAMILIES, FLAGS
from assay.fks.scorer import score
from assay.fks.sources import LANGUAGES
from assay.fks.sources_embedded import RELATIONS, embedded_facts
from assay.fks.templates import OTHER_LANGUAGES, built_in
from assay.records.jsonl import row_bytes
from assay.records.step import Inputs

# Where our facts differ from the prototype's table, and why.
DIFFERENCES = {
    ("official_language", "ET"): "Ethiopia has had five federal working languages since 2020",
    ("official_language", "IQ"): "Iraq's constitution names Arabic and Kurdish",
    ("official_language", "MK"): "Albanian is official beside Macedonian since 2019",
    ("script", "cr"): "Cree is written in syllabics and in Latin letters",
    ("script", "iu"): "Inuktitut has two official scripts",
    ("script", "oj"): "Ojibwa is written in syllabics and in Latin letters",
    ("script", "pi"): "Pali has no script of its own",
    ("subregion", "ME"): "UN M49 has Montenegro in Southern Europe; countryinfo says Eastern",
    ("subregion", "RS"): "UN M49 has Serbia in Southern Europe; countryinfo says Eastern",
}
COUNTS = {
    "capital": 184,
    "capital_of": 184,
    "continent": 183,
    "subregion": 140,
    "currency": 187,
    "official_language": 115,
    "script": 159,
    "city_country": 86,
    "currency_code": 136,
    "internet_tld": 193,
    "calling_code": 178,
    "euro_year": 21,
    "language_code": 180,
}


@pytest.fixture(scope="module")
def built():
    start = time.process_time()
    out = build({}, Inputs(()))
    facts, queries = list(out["facts.jsonl"]), list(out["queries.jsonl"])
    return facts, queries, json.loads(out["build.json"]), time.process_time() - start


@pytest.fixture(scope="module")
def by_fact(built):
    groups = defaultdict(lambda: defaultdict(list))
    for query in built[1]:
        groups[query.fact_id][query.condition_family].append(query)
    return groups


def test_the_whole_dataset_is_built_in_seconds(built):
    facts, queries, report, seconds = built
    assert Counter(fact.relation.relation_id for fact in facts) == COUNTS
    assert report["facts"] == len(facts) == 1946
    assert report["queries"] == len(queries) == 38470
    assert seconds < 30


def test_keys_agree_with_the_reference_table(shared):
    rows = map(json.loads, (shared / "data/fks/sources/embedded_facts.jsonl").read_text().splitlines())
    theirs = {(row["relation"], row["subject_key"]): row["object_key"] for row in rows}
    ours = {(f.relation, f.subject.key): f.object.key for relation in RELATIONS for f in embedded_facts(relation)}
    assert {key for key in theirs | ours if theirs.get(key) != ours.get(key)} == DIFFERENCES.keys()


def test_every_fact_has_every_main_family_in_full(built, by_fact):
    sizes = {"anchor": 1, "paraphrase": 4, "format": 3, "multilingual": 5}
    for fact in built[0]:
        found = by_fact[fact.fact_id]
        assert {family: len(found[family]) for family in sizes} == sizes
        assert [query.language for query in found["multilingual"]] == list(OTHER_LANGUAGES)


def test_only_the_guard_leaves_context_queries_out(built, by_fact):
    short = [fact for fact in built[0] if len(by_fact[fact.fact_id]["context"]) < 3]
    assert built[2]["context_dropped_by_guard"] == sum(3 - len(by_fact[f.fact_id]["context"]) for f in short) > 0
    # Codes that are English words: no sentence about another fact goes without "is" or "to".
    assert {fact.object.canonical for fact in short} <= {".is", ".to", ".in", "is", "to", "on"}


def test_no_context_query_names_the_gold_before_its_question(built):
    questions = {fact.fact_id: fact.qualification_question for fact in built[0]}
    for query in built[1]:
        if query.condition_family == "context":
            assert query.query.endswith(questions[query.fact_id])
            assert not names_any(query.query.removesuffix(questions[query.fact_id]), query.gold_surfaces)


def test_flags_are_those_of_the_family(built):
    for query in built[1]:
        rules = FAMILIES[query.condition_family]
        assert [flag for flag in FLAGS if getattr(query, flag)] == ([rules.flag] if rules.flag else [])
        assert (query.is_assisted, query.is_well_posed) == (rules.is_assisted, rules.is_well_posed)
        assert query.target_slot == rules.target_slot


def test_a_fact_is_asked_backwards_once_or_ill_posed(built, by_fact):
    for fact in built[0]:
        found = by_fact[fact.fact_id]
        assert bool(found["reverse"]) != bool(found["reverse_illposed"])


def test_an_inverse_counts_holders_that_are_not_asked():
    unique = {fact.subject.key: fact.inverse_unique for fact in embedded_facts("currency")}
    assert not unique["IN"]  # the Indian rupee is legal tender in Bhutan too, which has two currencies
    assert not unique["ZA"]  # the rand: Lesotho and Namibia
    assert unique["JP"]
    assert not any(fact.inverse_unique for fact in embedded_facts("city_country"))
    languages = {fact.subject.key: fact.inverse_unique for fact in embedded_facts("official_language")}
    assert not languages["MY"]  # Malay: Brunei and Singapore have several languages
    assert languages["IS"]


def test_caps_do_not_change_whether_an_inverse_is_unique():
    full = {fact.fact_id for fact in _queries_of("reverse", relations=["currency"])}
    capped = {fact.fact_id for fact in _queries_of("reverse", relations=["currency"], cap_per_relation=20)}
    assert capped <= full
    assert len(_queries_of("reverse_illposed", relations=["currency"], cap_per_relation=20)) > 0


def _queries_of(family, **config):
    return [query for query in build(config, Inputs(()))["queries.jsonl"] if query.condition_family == family]


def test_contested_facts_are_left_out():
    keys = {relation: {fact.subject.key for fact in embedded_facts(relation)} for relation in RELATIONS}
    assert keys["capital"].isdisjoint({"IL", "LK", "BO", "ZA"})
    assert keys["continent"].isdisjoint({"RU", "TR", "EG", "KZ", "AZ", "GE"})
    assert keys["official_language"].isdisjoint({"ML", "NE", "BF", "CH", "BE"})
    assert keys["euro_year"].isdisjoint({"ME", "AD", "MC", "SM"})


def test_well_known_facts_are_right():
    table = {(f.relation, f.subject.canonical): f.object.canonical for r in RELATIONS for f in embedded_facts(r)}
    assert table["capital", "Australia"] == "Canberra"
    assert table["capital_of", "Nairobi"] == "Kenya"
    assert table["continent", "Kenya"] == "Africa"
    assert table["subregion", "Serbia"] == "Southern Europe"
    assert table["currency", "Croatia"] == "euro"
    assert table["official_language", "Brazil"] == "Portuguese"
    assert table["script", "Greek"] == "Greek"
    assert table["city_country", "Casablanca"] == "Morocco"
    assert table["currency_code", "Japanese yen"] == "JPY"
    assert table["internet_tld", "United Kingdom"] == ".uk"
    assert table["calling_code", "Germany"] == "49"
    assert table["euro_year", "Greece"] == "2001"
    assert table["language_code", "Chinese"] == "zh"


def test_people_may_write_regions_in_other_ways():
    regions = {fact.object.canonical: fact.object.surfaces for fact in embedded_facts("subregion")}
    assert {"North Africa", "Afrique du Nord", "África del Norte"} <= set(regions["Northern Africa"])
    assert {"East Asia", "Asie orientale"} <= set(regions["Eastern Asia"])
    continents = {fact.object.canonical: fact.object.surfaces for fact in embedded_facts("continent")}
    assert {"Suramérica", "América del Sur", "南美"} <= set(continents["South America"])


def test_both_levels_of_the_geoscheme_are_right_answers():
    regions = {fact.subject.canonical: fact.object for fact in embedded_facts("subregion")}
    assert regions["Kenya"].key == regions["Angola"].key
    assert {"Sub-Saharan Africa", "Eastern Africa", "East Africa", "Ostafrika"} <= set(regions["Kenya"].surfaces)
    assert "Central Africa" in regions["Angola"].surfaces
    assert "Eastern Africa" not in regions["Angola"].surfaces
    # The short form of the fourth region is a country.
    assert not [name for name, found in regions.items() if "South Africa" in found.surfaces]


def test_a_currency_is_named_by_its_noun_only_where_no_other_has_it():
    surfaces = {fact.object.key: set(fact.object.surfaces) for fact in embedded_facts("currency")}
    assert {"yen", "японская иена", "JPY"} <= surfaces["JPY"]
    assert {"福林", "Forint"} <= surfaces["HUF"]
    assert "США" not in surfaces["USD"]
    shared = {"dollar", "peso", "franc", "won", "迪拉姆", "dinar", "крона", "nouveau"}
    assert all(names.isdisjoint(shared) for names in surfaces.values())


# What a speaker of the language writes for the answer, beside the bare name.
NATURAL = {
    "script_tr": {
        "de": ("In lateinischer Schrift", "das lateinische Alphabet", "mit lateinischen Buchstaben"),
        "fr": ("écriture latine", "l'alphabet romain"),
        "es": ("escritura latina", "el alfabeto romano"),
        "ru": ("латинская", "латинский алфавит", "латинскими буквами"),
        "zh": ("拉丁字母", "罗马字母"),
    },
    "script_bg": {
        "de": ("kyrillische Schrift", "in kyrillischer Schrift"),
        "es": ("escritura cirílica",),
        "ru": ("кириллица", "кириллический алфавит"),
        "zh": ("西里尔字母",),
    },
    "script_el": {"de": ("griechische Schrift",), "fr": ("écriture grecque",), "zh": ("希腊字母",)},
    "official_language_GB": {"zh": ("英语", "英文")},
    "official_language_BR": {"zh": ("葡语", "葡萄牙文")},
    "city_country_America-Chicago": {
        "de": ("In den Vereinigten Staaten",),
        "es": ("EEUU",),
        "ru": ("Соединённые Штаты",),
    },
    "currency_US": {"fr": ("dollar américain",), "es": ("dólar americano",), "ru": ("американский доллар",)},
    "currency_TM": {"ru": ("туркменский манат",)},
    "currency_MW": {"de": ("Malawischer Kwacha",)},
    "capital_of_cap-TT": {"fr": ("Trinidad & Tobago", "Trinité-et-Tobago")},
    "continent_AU": {"ru": ("Океания", "Австралия"), "zh": ("大洋洲", "澳大利亚")},
}


def test_natural_answers_in_every_language_are_right(built):
    facts, queries = built[0], {query.query_id: query for query in built[1]}
    catalogue = Catalogue(facts)
    wrong = [
        (fact, language, answer)
        for fact, answers in NATURAL.items()
        for language, texts in answers.items()
        for answer in texts
        if score(catalogue.question(queries[f"fact_{fact}.multilingual_{language}"]), answer).label != "correct"
    ]
    assert not wrong


def test_a_noun_that_two_currencies_share_names_neither(built):
    surfaces = {fact.object.key: set(fact.object.surfaces) for fact in embedded_facts("currency")}
    for noun in ("Kwacha", "kwacha", "манат", "manat"):
        assert not [code for code, names in surfaces.items() if noun in names]


def test_names_read_well_in_every_language(built):
    for relation in RELATIONS:
        for fact in embedded_facts(relation):
            for named in (fact.subject, fact.object):
                assert set(named.names) == set(LANGUAGES)
                for language, name in named.names.items():
                    assert name == name.strip()
                    assert name
                    assert not set("&\u00ad\u200b/") & set(name), (relation, language, name)
                    assert " - " not in name
                    assert "о-ва" not in name
                    bracket_says_which = "CFA" in name or "Norwegisch" in name
                    assert bracket_says_which or not set("()（）") & set(name), (relation, language, name)


def test_no_two_subjects_of_a_relation_are_asked_by_one_name():
    for relation in RELATIONS:
        for language in LANGUAGES:
            names = Counter(fact.subject.names[language].casefold() for fact in embedded_facts(relation))
            assert [name for name, n in names.items() if n > 1] == []


def test_an_english_article_stands_where_it_belongs(built):
    texts = {query.query_id: query.query for query in built[1]}
    assert texts["fact_capital_NL.anchor_0"] == "What is the capital of the Netherlands?"
    assert texts["fact_capital_NL.paraphrase_1"] == "The Netherlands has which city as its capital?"
    assert texts["fact_capital_NL.format_key_value"] == "Country: Netherlands\nCapital:"


def test_foreign_texts_keep_the_name_apart_from_the_sentence(built):
    texts = {query.query_id: query.query for query in built[1]}
    assert texts["fact_capital_AT.multilingual_ru"] == "Страна: Австрия. Какой город является столицей этой страны?"
    assert texts["fact_capital_AT.multilingual_zh"] == "国家：奥地利。这个国家的首都是哪座城市？"
    assert texts["fact_capital_AT.multilingual_fr"] == "Pays : Autriche. Quelle est la capitale de ce pays ?"


def test_multiple_choice_has_the_gold_once_among_four(built):
    for query in built[1]:
        if query.variant_id == "multiple_choice":
            assert len(set(query.choices)) == 4
            assert query.choices.count(query.gold_canonical) == 1
            gold = tokens(query.gold_canonical)
            others = [tokens(choice) for choice in query.choices if choice != query.gold_canonical]
            assert not any(contains(other, gold) or contains(gold, other) for other in others)
            assert query.query.count("\n") == 4


def test_the_gold_stands_at_every_letter_about_as_often(built):
    places = Counter(
        query.choices.index(query.gold_canonical) for query in built[1] if query.variant_id == "multiple_choice"
    )
    assert set(places) == {0, 1, 2, 3}
    assert max(places.values()) < 1.2 * min(places.values())


def test_true_false_says_what_it_states(built):
    true_statements = {}
    for relation in RELATIONS:
        template = built_in()[relation]
        for fact in embedded_facts(relation):
            statement = fill(template.stmt, s=fact.subject.in_text, o=fact.object.in_text)
            true_statements[fact_id(relation, fact.subject.key)] = f"True or false: {statement}"
    golds = Counter()
    for query in built[1]:
        if query.variant_id == "true_false":
            golds[query.gold_canonical] += 1
            assert (query.gold_canonical == "yes") == (query.query == true_statements[query.fact_id])
    assert max(golds.values()) < 1.2 * min(golds.values())


def test_the_copy_flag_finds_answers_in_any_name_of_the_subject(built):
    facts = {fact.fact_id: fact for fact in built[0]}
    assert facts["fact_capital_SG"].answer_in_subject_surface
    assert facts["fact_capital_DZ"].answer_in_subject_surface  # Алжир is both
    assert facts["fact_script_ar"].answer_in_subject_surface
    assert not facts["fact_capital_GN"].answer_in_subject_surface
    assert not facts["fact_internet_tld_IS"].answer_in_subject_surface


def test_bytes_do_not_depend_on_the_hash_seed():
    code = (
        "import hashlib\n"
        "from assay.fks.builder import build\n"
        "from assay.records.jsonl import row_bytes\n"
        "from assay.records.step import Inputs\n"
        "out = build({'relations': ['capital', 'script'], 'cap_per_relation': 30}, Inputs(()))\n"
        "rows = [row_bytes(row) for name in ('facts.jsonl', 'queries.jsonl', 'lexicon.jsonl') for row in out[name]]\n"
        "print(hashlib.sha256(b''.join(rows) + out['build.json']).hexdigest())\n"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "77")
    }
    assert len(digests) == 1


def test_limits_choose_queries_by_hash_and_keep_the_anchor():
    limits = {"paraphrase": 2, "format": 1, "multilingual": 2, "recognition": 0, "context": 1}
    out = build({"relations": ["continent"], "cap_per_relation": 60, "queries_per_family": limits}, Inputs(()))
    sizes = Counter((query.fact_id, query.condition_family) for query in out["queries.jsonl"])
    assert {n for (_, family), n in sizes.items() if family == "paraphrase"} == {2}
    assert {n for (_, family), n in sizes.items() if family == "anchor"} == {1}
    assert not [family for _, family in sizes if family == "recognition"]
    languages = Counter(query.language for query in out["queries.jsonl"])
    assert set(languages) == set(LANGUAGES)


def test_a_selection_for_a_short_run_has_every_family_and_language():
    config = {
        "relations": [
            "capital",
            "continent",
            "currency",
            "official_language",
            "city_country",
            "currency_code",
            "calling_code",
            "euro_year",
        ],
        "cap_per_relation": 5,
        "selection": "well_known",
        "queries_per_family": {
            "paraphrase": 2,
            "format": 1,
            "context": 1,
            "multilingual": 2,
            "reverse": 1,
            "reverse_illposed": 1,
            "recognition": 1,
        },
    }
    report = json.loads(build(config, Inputs(()))["build.json"])
    assert set(report["queries_by_family"]) == set(FAMILIES)
    assert set(report["queries_by_language"]) == set(LANGUAGES)
    assert all(report["facts_by_family"][family] == 40 for family in ("context", "multilingual", "format"))
    assert report["queries"] == 360
    assert all(n <= 3 for _, n in report["majority"].values())


@pytest.mark.parametrize(
    ("config", "key"),
    [
        ({"relations": ["capitol"]}, "relations"),
        ({"cap_per_relation": 0}, "cap_per_relation"),
        ({"queries_per_family": {"anchor": 0}}, "queries_per_family.anchor"),
        ({"queries_per_family": {"paraphrases": 1}}, "queries_per_family.paraphrases"),
        ({"queries_per_family": {"format": -1}}, "queries_per_family.format"),
    ],
)
def test_wrong_settings_name_their_key(config, key):
    with pytest.raises(ConfigError) as caught:
        build(config, Inputs(()))
    assert caught.value.key == key


def test_the_lexicon_holds_the_full_table_of_the_relations():
    out = build({"relations": ["capital"], "cap_per_relation": 3}, Inputs(()))
    slots = Counter(row.slot for row in out["lexicon.jsonl"])
    assert slots == {"object": 184, "subject": 184}
    keys = {row.key for row in out["lexicon.jsonl"]}
    assert {fact.object.key for fact in out["facts.jsonl"]} <= keys


def test_rows_are_json():
    out = build({"relations": ["euro_year"], "cap_per_relation": 2}, Inputs(()))
    row = json.loads(row_bytes(out["facts.jsonl"][0]))
    assert row["relation"] == {"relation_id": "euro_year", "source_relations": ["embedded:euro_area"]}
    assert row["source_records"] == [row["subject"]["entity_id"].removeprefix("local:")]


def test_an_id_says_what_a_fact_is_about_and_never_where_it_stands():
    assert fact_id("capital", "AT") == "fact_capital_AT"
    assert fact_id("city_country", "Africa/Abidjan") == "fact_city_country_Africa-Abidjan"
    assert fact_id("r", "a b") != fact_id("r", "a-b")
    assert fact_id("r", "a b") != fact_id("r", "a,b")


def test_names_are_put_in_as_they_are():
    assert fill("The capital of {s} is ____.", s="{o}") == "The capital of {o} is ____."
    assert fill("{s} is in {o}.", s="the Gambia", o="Africa") == "The Gambia is in Africa."


@pytest.mark.parametrize(
    ("text", "surface", "expected"),
    [
        ("Guinea-Bissau", "Guinea", True),
        ("Guineafowl", "Guinea", False),
        ("东京都", "东京", True),
        ("SÃO TOMÉ", "Sao Tome", True),
        ("Йемен", "Иемен", False),
        ("Россия", "россия", True),
        ("is", "", False),
    ],
)
def test_containment_is_by_whole_tokens(text, surface, expected):
    assert contains(tokens(text), tokens(surface)) is expected
