"""Names of entities: aliases, word forms, negation, alternatives, in six languages."""

import pytest

from assay.fks.scorer import score


def rows(**texts: list[str]) -> list[tuple[str, str]]:
    return [(text, label) for label, found in texts.items() for text in found]


CAPITALS = {
    "tokyo": ["Tokyo", "东京", "Tokio", "Токио"],
    "seoul": ["Seoul", "首尔", "Séoul", "Seúl", "Сеул"],
    "oslo": ["Oslo", "奥斯陆", "Осло"],
    "lisbon": ["Lisbon", "里斯本", "Lisbonne", "Lisboa", "Lissabon", "Лиссабон"],
}
WARSAW = ["Warsaw", "华沙", "Varsovie", "Varsovia", "Warschau", "Варшава"]
QUERIES = {
    "en": "What is the capital of Poland?",
    "zh": "国家：波兰。这个国家的首都是哪座城市？",
    "fr": "Pays : Pologne. Quelle est la capitale de ce pays ?",
    "es": "País: Polonia. ¿Cuál es la capital de este país?",
    "de": "Land: Polen. Wie heißt die Hauptstadt dieses Landes?",
    "ru": "Страна: Польша. Какой город является столицей этой страны?",
}

CASES = {
    "en": {
        "correct": [
            "Warsaw", "It's Warsaw.", "the city of warsaw, in Poland", "WARSAW!!", "Warsaw's", "Not Oslo but Warsaw",
            "Unlike Seoul, Poland's capital is Warsaw", "Warsaw, which is bigger or older than Lublin",
            "Warsaw; Oslo is in Norway", "**Warsaw**\nTokyo", "Varsovie", "Warsaw (Warschau)", "Warsaw or Warschau",
            "It isn't Oslo. It is Warsaw.", "not only Warsaw", "Warsaw, and its largest city is",
            "Warsaw - the capital", "`Warsaw`", "(Warsaw)", "Answer: **Warsaw**", "Final answer: Warsaw",
        ],
        "incorrect": [
            "Oslo", "Varsow", "Warsawa", "It is not Warsaw", "Warsaw is not it", "never Warsaw", "neither Warsaw",
            "rather than Warsaw", "instead of Warsaw", "a large city", "Poland", "anything but Warsaw", "Krakow",
        ],
        "ambiguous": [
            "Warsaw or Krakow", "Krakow or Warsaw", "Oslo, Warsaw", "Warsaw and Oslo", "Warsaw Oslo",
            "Oslo. Warsaw", "Warsaw, Krakow or Lodz", "Warsaw (or Krakow)", "Warsaw | Krakow", "not Warsaw... Warsaw",
            "I'm not sure, Warsaw?", "Either Krakow or Warsaw", "Warsaw + Oslo", "Warsaw and the Oslo",
        ],
        "abstain": [
            "I do not know", "I don't really know that", "no idea", "n/a", "None", "I am unable to answer that",
            "There is not enough information", "That is unknown.", "I'm not certain", "I have no clue",
            "I don't have access to that information", "It cannot be determined",
        ],
        "unparseable": ["", "?!", "____", "Oslo Oslo Oslo Oslo Oslo", "What is the capital of Poland?", "—"],
    },
    "zh": {
        "correct": ["华沙", "答案：华沙", "波兰的首都是华沙。", "华 沙", "《华沙》", "不是东京，而是华沙", "华沙市",
                    "是华沙吧"],
        "incorrect": ["东京", "不是华沙", "并非华沙", "华沙不是首都", "克拉科夫"],
        "ambiguous": ["华沙或克拉科夫", "华沙、东京", "东京和华沙", "华沙还是东京", "不确定，华沙"],
        "abstain": ["不知道", "我不清楚这个问题", "无法回答", "没有相关信息", "未知"],
        "unparseable": ["。", "这个国家的首都是哪座城市？", "东京东京东京东京东京"],
    },
    "fr": {
        "correct": ["Varsovie", "C’est Varsovie.", "La réponse est : Varsovie", "Pas Oslo mais Varsovie",
                    "Varsovie, où se trouve le palais", "l'ancienne Varsovie", "Réponse : Varsovie"],
        "incorrect": ["Oslo", "Ce n'est pas Varsovie", "Varsovie n'est pas la capitale", "jamais Varsovie",
                      "plutôt que Varsovie", "contrairement à Varsovie", "ni Varsovie"],
        "ambiguous": ["Varsovie ou Cracovie", "Varsovie et Séoul", "Séoul, Varsovie", "Je ne sais pas, Varsovie"],
        "abstain": ["Je ne sais pas", "Aucune idée", "je ne le sais pas", "Je ne connais pas", "Je ne suis pas sûr",
                    "J'ignore la réponse", "Impossible de répondre"],
        "unparseable": ["«»", "Quelle est la capitale de ce pays ?", "non non non non non"],
    },
    "es": {
        "correct": ["Varsovia", "¡Es Varsovia!", "La respuesta es: Varsovia", "No Oslo sino Varsovia", "la Varsovia"],
        "incorrect": ["Seúl", "No es Varsovia", "Varsovia no es la capital", "nunca Varsovia", "en lugar de Varsovia",
                      "no se encuentra en Europa"],
        "ambiguous": ["Varsovia o Cracovia", "Varsovia y Seúl", "Seúl, Varsovia", "No sé, Varsovia"],
        "abstain": ["No sé", "no lo sé", "No lo se", "Ni idea", "Desconozco la respuesta", "No hay información",
                    "No estoy segura", "No puedo responder"],
        "unparseable": ["¿?", "¿Cuál es la capital de este país?"],
    },
    "de": {
        "correct": ["Warschau", "Die Antwort lautet: Warschau", "Nicht Oslo, sondern Warschau", "Warschaus",
                    "Das ist Warschau.", "Antwort: Warschau"],
        "incorrect": ["Lissabon", "Nicht Warschau", "Warschau ist nicht die Hauptstadt", "statt Warschau",
                      "im Gegensatz zu Warschau", "kein Warschau"],
        "ambiguous": ["Warschau oder Krakau", "Warschau und Lissabon", "Lissabon, Warschau",
                      "Ich weiß es nicht, Warschau?"],
        "abstain": ["Ich weiß nicht", "Das weiß ich nicht.", "Keine Ahnung", "unbekannt", "Ich bin mir nicht sicher",
                    "Ich kann die Frage nicht beantworten"],
        "unparseable": ["…", "Wie heißt die Hauptstadt dieses Landes?"],
    },
    "ru": {
        "correct": ["Варшава", "в Варшаве", "Столица — Варша́ва", "Ответ: Варшаву", "не Осло, а Варшава",
                    "Столицей является Варшава."],
        "incorrect": ["Сеул", "в Сеуле", "не Варшава", "Варшава не является столицей", "вместо Варшавы",
                      "в отличие от Варшавы", "Варшавянин"],
        "ambiguous": ["Варшава или Краков", "Варшава и Сеул", "Сеул, Варшава", "Не знаю, Варшава"],
        "abstain": ["Не знаю", "Я не уверена", "неизвестно", "Понятия не имею", "Не могу ответить",
                    "Нет информации"],
        "unparseable": ["!!", "Какой город является столицей этой страны?", "нет нет нет нет"],
    },
}  # fmt: skip
ROWS = [
    (language, label, text) for language, labels in CASES.items() for label, texts in labels.items() for text in texts
]


@pytest.mark.parametrize(("language", "label", "text"), ROWS)
def test_label(ask, language, label, text):
    question = ask(QUERIES[language], WARSAW, CAPITALS, language=language)
    verdict = score(question, text)
    assert verdict.label == label, verdict


def test_gold_inside_a_longer_competitor_is_that_competitor(ask):
    question = ask("Which country has Pretoria as a capital?", ["Sudan", "苏丹"], {"ss": ["South Sudan", "南苏丹"]})
    assert score(question, "South Sudan").label == "incorrect"
    assert score(question, "南苏丹").label == "incorrect"
    assert score(question, "Sudan, not South Sudan").label == "correct"


def test_competitor_inside_a_longer_gold_does_not_count(ask):
    question = ask("Where is Juba?", ["South Sudan"], {"sd": ["Sudan"]})
    assert score(question, "It lies in South Sudan").label == "correct"


def test_competitor_named_by_the_query_may_come_first(ask):
    others = {"oslo": ["Oslo", "奥斯陆"], "rome": ["Rome"]}
    question = ask("Oslo is the capital of Norway. What is the capital of Poland?", ["Warsaw"], others)
    assert score(question, "Oslo is Norway's, Poland has Warsaw").label == "correct"
    assert score(question, "奥斯陆 is Norway's, Poland has Warsaw").label == "correct"
    assert score(question, "Rome is Italy's, Poland has Warsaw").label == "ambiguous"


def test_phrase_of_the_query_is_no_answer(ask):
    question = ask("Which country has Kuwait City as its capital?", ["Kuwait"])
    assert score(question, "Kuwait City").label == "incorrect"
    assert score(question, "Kuwait City is in Kuwait").label == "correct"
    assert score(question, "the state of Kuwait").label == "correct"


def test_article_or_preposition_alone_makes_no_phrase(ask):
    question = ask("What is the capital of Luxembourg?", ["Luxembourg"])
    assert score(question, "It is the city of Luxembourg").label == "correct"
    assert score(ask("In which script is Tamil written?", ["Tamil"]), "The answer is Tamil.").label == "correct"
    assert score(question, "the capital of Luxembourg").label == "unparseable"  # tail of the query
    assert score(question, "Well, the capital of Luxembourg").label == "incorrect"


@pytest.mark.parametrize(
    ("text", "label"),
    rows(
        correct=[
            "UK", "uk", "It is in the UK.", "the U.K.", 'It is "uk" there',
        ],
        incorrect=[
            "uk uk", "what uk stands for is unclear to all of us",
        ],
    ),
)  # fmt: skip
def test_short_name_needs_its_own_spelling(ask, text, label):
    assert score(ask("Which country is Leeds in?", ["United Kingdom", "UK", "U.K."]), text).label == label


@pytest.mark.parametrize(
    ("text", "label"),
    rows(
        correct=[
            ".no", "no", "The TLD is no.", "the domain of Norway is .no",
        ],
        abstain=[
            "I have no idea",
        ],
        incorrect=[
            ".se", "there is no such thing as that one here",
        ],
    ),
)  # fmt: skip
def test_code_that_is_a_word(ask, text, label):
    question = ask("What is the TLD of Norway?", [".no", "no"], [".se"], answer_type="code")
    assert score(question, text).label == label


@pytest.mark.parametrize(
    ("text", "label"),
    rows(
        correct=["not .se but .no", "не .se, а .no", "不是.se，而是.no", "unlike .se, it is .no"],
        incorrect=["It is not .no.", "not .no but .se", "nicht .no", "不是.no"],
        ambiguous=[".no or .se", ".se or .no", ".no and .se", ".no / .se", ".no или .se"],
    ),
)  # fmt: skip
def test_dot_of_a_domain_ends_no_clause(ask, text, label):
    question = ask("What is the TLD of Norway?", [".no", "no"], [".se"], answer_type="code")
    assert score(question, text).label == label, score(question, text)


def test_list_of_short_codes_is_a_list(ask):
    question = ask("What is the code of German?", ["de"], ["fr", "it"], answer_type="code")
    assert score(question, "fr, de").label == "ambiguous"
    assert score(question, "de or fr").label == "ambiguous"
    assert score(question, "de and it").label == "ambiguous"
    assert score(question, "it de casa").label == "incorrect"
    assert score(question, "de. fr").label == "correct"
    spanish = ask("Code?", [".ag", "ag"], ["no", "es"], answer_type="code")
    assert score(spanish, "No es .ag").label == "incorrect"


def test_abbreviation_ends_no_sentence(ask):
    question = ask("Where?", ["U.S.", "EE. UU."], ["Peru"])
    for text in ("U.S. or Mexico", "U.S./Mexico", "EE. UU. o México", "U.S. and Peru"):
        assert score(question, text).label == "ambiguous"
    assert score(question, "EE. UU. is not it").label == "incorrect"
    assert score(ask("哪里？", ["布里奇敦"], ["Zagreb"]), "布里奇敦. Zagreb").label == "correct"


def test_stop_inside_a_name_ends_no_sentence(ask):
    question = ask("Capital?", ["St. John's"], ["Ottawa"])
    assert score(question, "St. John's or Ottawa").label == "ambiguous"
    assert score(question, "St. John's/Toronto").label == "ambiguous"
    assert score(ask("Where?", ["U.S.A."]), "U.S.A. is not it").label == "incorrect"


def test_only_of_another_language_does_not_undo_a_negation(ask):
    question = ask("Capital?", ["Nur-Sultan"])
    assert score(question, "not Nur-Sultan").label == "incorrect"
    assert score(question, "not only Nur-Sultan").label == "correct"


def test_short_name_may_touch_han_characters(ask):
    question = ask("城市：利兹。它位于哪个国家？", ["United Kingdom", "UK", "U.K."], language="zh")
    assert score(question, "答案是UK。").label == "correct"
    assert score(question, "答案是U.K.。").label == "correct"
    assert score(question, "答案是UKR。").label == "incorrect"


def test_surface_with_its_own_punctuation(ask):
    question = ask("Which currency?", ["franc CFA (BEAC)"], ["euro"])
    assert score(question, "le franc CFA (BEAC) bien sûr").label == "correct"
    assert score(question, "New-franc CFA; (BEAC)").label == "incorrect"


def test_russian_endings_do_not_join_different_names(ask):
    question = ask("Страна?", ["Нигер"], {"ng": ["Нигерия"]}, language="ru")
    assert score(question, "в Нигерии").label == "incorrect"
    assert score(question, "в Нигере").label == "correct"


def test_four_letter_form_of_a_three_letter_name(ask):
    assert score(ask("Город?", ["Рим"], language="ru"), "в Риме").label == "correct"


def test_disjunction_in_a_later_sentence_is_harmless(ask):
    question = ask(QUERIES["en"], WARSAW, CAPITALS)
    assert score(question, "Warsaw. You can go by train or bus.").label == "correct"
    assert score(question, "Warsaw or Warsaw or Warsaw or").label == "correct"


def test_matched_surface_and_rule_are_named(ask):
    question = ask(QUERIES["en"], WARSAW, CAPITALS)
    assert score(question, "Die Stadt Warschau ")[1:] == ("Die Stadt Warschau", "Warschau", "entity")
    assert score(question, "It is Tokio")[2:] == ("Tokio", "entity_other")


@pytest.mark.parametrize("text", ["<b>Oslo</b>", "Oslo</answer>", "[Oslo](https://example.org)"])
def test_slash_of_a_tag_or_link_parts_no_alternatives(ask, text):
    question = ask("What is the capital of Norway?", ["Oslo"], ["Bergen"])
    assert score(question, text).label == "correct", score(question, text)
    assert score(question, "Oslo/Bergen").label == "ambiguous"
