"""Dates, numbers, yes and no, multiple choice."""

import pytest

from assay.fks.answer_keys import answer_key
from assay.fks.dates import read_dates
from assay.fks.normalisation import Text
from assay.fks.numbers import read_numbers
from assay.fks.scorer import score


def rows(**texts: list[str]) -> list[tuple[str, str]]:
    return [(text, label) for label, found in texts.items() for text in found]


@pytest.mark.parametrize(
    ("text", "label"),
    rows(
        correct=[
            "1945", "It ended in 1945.", "2 September 1945", "1945-09-02", "September 1945", "1945年9月2日",
            "一九四五年", "１９４５", "en 1945", "el año 1945", "im Jahr 1945", "в 1945 году",
            "1945 (2 September 1945)", "1945, in the 1940s", "not 1944 but 1945",
        ],
        incorrect=[
            "1944", "19450", "21945", "not 1945", "long ago", "1950s", "19th century", "1945th", "不是1945年",
            "before 1939",
        ],
        ambiguous=[
            "1940s", "the 1940's", "1940er Jahre", "années 1940", "años 40", "1940-е годы", "1940年代",
            "XXe siècle", "siglo XX", "20. Jahrhundert", "XX век", "二十世纪", "20世纪", "1939 to 1945", "1945/1946",
            "1945 or later, 1946", "after 1945", "nach dem Jahr 1945", "до 1945 года", "1945年之前",
            "avant l'an 1945", "1945. Not 1945.", "not sure, 1945?",
        ],
        abstain=[
            "Ich weiß nicht", "unknown year",
        ],
        unparseable=[
            "1945 1945 1945 1945", "...",
        ],
    ),
)  # fmt: skip
def test_year(ask, text, label):
    question = ask("In which year did the war end?", ["1945"], answer_type="year", granularity="year")
    assert score(question, text).label == label, score(question, text)


@pytest.mark.parametrize(
    ("text", "label"),
    rows(
        correct=[
            "3 October 1990", "October 3rd, 1990", "the 3rd of October, 1990", "3/10/1990", "10/3/1990",
            "03.10.1990", "1990/10/3", "le 3 octobre 1990", "el 3 de octubre de 1990", "am 3. Oktober 1990",
            "3 октября 1990 года", "1990年10月3日", "一九九〇年十月三日",
        ],
        incorrect=[
            "４/10/1990", "3 November 1990", "3 October 1991",
        ],
        ambiguous=[
            "13/13/1990", "1990", "October 1990", "1990年10月", "3 October", "1990-10",
            "3 October 1990 or 4 October 1990",
        ],
    ),
)  # fmt: skip
def test_day(ask, text, label):
    question = ask("On what date was it?", ["1990-10-03"], answer_type="date", granularity="day")
    assert score(question, text).label == label, score(question, text)


def test_month_granularity(ask):
    question = ask("In which month?", ["1990-10-03"], answer_type="date", granularity="month")
    assert score(question, "October 1990").label == "correct"
    assert score(question, "5 October 1990").label == "correct"
    assert score(question, "1990").label == "ambiguous"
    assert score(question, "9/1990, September 1990").label == "incorrect"


def test_date_without_a_granularity_is_as_fine_as_its_gold(ask):
    question = ask("When?", ["1990-10-03"], answer_type="date", granularity="exact")
    assert score(question, "1990").label == "ambiguous"


def test_gold_that_is_no_modern_year_is_a_name(ask):
    question = ask("When was Rome founded?", ["753 BC"], ["476 AD"], answer_type="year", granularity="year")
    assert score(question, "in 753 BC").label == "correct"


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("8,849 8.849 8 849", ["8849", "8849", "8849"]), ("3.14 and 3,14", ["3.14", "3.14"]),
        ("1,234,567.89", ["1234567.89"]), ("1.234.567,5", ["1234567.5"]), ("0.125", ["0.125"]),
        ("007 00506 +506", ["7", "506", "506"]), ("-5 and 3-4", ["-5", "3", "4"]),
        ("A318 747-8 8849m", ["747", "8", "8849"]),
        ("12345.678", ["12345.678"]), ("10.0", ["10"]), ("8849, 1953", ["8849", "1953"]), ("٣", []), ("1,2", ["1.2"]),
    ],
)  # fmt: skip
def test_numbers_are_read_by_value(text, values):
    assert [number.value for number in read_numbers(Text(text))] == values


@pytest.mark.parametrize(
    ("text", "label"),
    rows(
        correct=[
            "206", "206 bones", "two hundred and six", "206.0", "There are 206 in adults (children have 270)",
            "the 32 teeth aside, 206", "not 205 but 206", "about 206", "0206",
            "1. 206", "1) 206", "(1) There are 206.",
            "№ 206", "№206", "Nº 206", "n.º 206", "N° 206", "nᵒ 206", "No. 206", "No.206", "Это № 206",
        ],
        incorrect=[
            "205", "2060", "1206", "none at all", "206,5", "not 206", "no 206", "no es 206", "№ 205", "1. 205", "1.",
        ],
        ambiguous=[
            "2. 206", "1, 206",
            "205 or 206", "206 or 207", "206-207", "206 – 207", "206 bis 207", "206 bones or 207 bones",
            "206 and 207", "205. 206", "I don't know, 206",
        ],
        abstain=[
            "No idea",
        ],
    ),
)  # fmt: skip
def test_number(ask, text, label):
    question = ask(
        "Besides 32 teeth, how many bones has an adult?", ["206", "two hundred and six"], answer_type="number"
    )
    assert score(question, text).label == label, score(question, text)


def test_the_number_of_a_list_is_an_answer_where_it_is_right(ask):
    question = ask("What is the calling code of Canada?", ["+1", "1"], answer_type="number")
    assert score(question, "1. It is shared by 25 countries").label == "correct"
    assert answer_key(question, "1. 44") == answer_key(question, "+44") == "num:44"
    assert answer_key(question, "1.") == "num:1"


@pytest.mark.parametrize(
    ("text", "yes"),
    [
        ("Yes", True), ("Yes.", True), ("That is correct", True), ("True, of course", True), ("Oui, c'est vrai", True),
        ("Sí", True), ("Ja, das stimmt", True), ("Верно", True), ("是的", True), ("对", True), ("答案是对的", True),
        ("It is not false", True), ("不是错的", True), ("not incorrect", True),
        ("No", False), ("No, it is not", False), ("not true", False), ("It isn't true", False), ("Faux", False),
        ("n'est pas vrai", False), ("Nein", False), ("nicht richtig", False), ("не верно", False), ("неправда", False),
        ("不是", False), ("不正确", False), ("这是错误的", False), ("答案是错的", False), ("否", False), ("Non", False),
        ("Oslo is not the capital of Poland", False),
        # A negator behind its verb, or with words in between; a negated no is a yes.
        ("Stimmt.", True), ("stimmt nicht", False), ("Das stimmt leider nicht.", False), ("Stimmt, nicht wahr?", True),
        ("Das stimmt nicht nur hier", True), ("Das ist nicht ganz richtig", False), ("No es falso", True),
        ("No, es falso", False), ("No es cierto", False), ("C'est pas tout à fait vrai", False),
        ("не совсем верно", False), ("没错", True), ("不错", True), ("说得没错。", True),
        ("Wahr ist das nicht.", False), ("wahr ist das leider nicht ganz", False), ("Falsch ist das nicht", True),
        ("Richtig ist Oslo", True), ("Richtig ist, dass Oslo nicht in Schweden liegt", True),
        ("Cierto no es", False), ("Falso no es eso.", True), ("Vrai ce n'est pas", False), ("True it is not.", False),
        ("True this isn't", False), ("True. It is not in Sweden", True), ("Yes it is not Sweden", True),
        ("Das ist korrekt", True), ("inkorrekt", False), ("Правильно.", True), ("Неправильно", False),
        ("Es verdad.", True), ("No es verdad", False), ("La afirmación es falsa.", False), ("Elle est vraie", True),
        # The adjective of an answer is no answer.
        ("La verdad es que no", False), ("Verdad es que es así", True),
        ("La respuesta correcta es falso", False), ("La réponse correcte est non", False),
        ("The correct answer is False.", False), ("The right answer is: no", False),
        ("The correct option is true", True), ("正确的答案是错误", False), ("正确答案：错", False),
        ("That is the correct answer.", True),
        ("True, the correct answer is Oslo.", True),
    ],
)  # fmt: skip
def test_yes_and_no(ask, text, yes):
    for gold, is_yes in (("yes", True), ("false", False)):
        question = ask("True or false: Oslo is in Norway.", [gold], family="recognition", answer_type="boolean")
        assert score(question, text).label == ("correct" if yes == is_yes else "incorrect"), (gold, text)


@pytest.mark.parametrize(
    ("text", "label"),
    rows(
        ambiguous=[
            "True or false", "oui ou non", "да или нет", "是还是不是", "yes/no", "yes, but I don't know",
        ],
        abstain=[
            "No idea", "I'm not sure", "不知道",
        ],
        incorrect=[
            "Norway",
        ],
        unparseable=[
            "",
        ],
    ),
)  # fmt: skip
def test_yes_and_no_without_a_verdict(ask, text, label):
    question = ask("Is Oslo in Norway?", ["yes"], family="recognition", answer_type="boolean")
    assert score(question, text).label == label, score(question, text)


def test_yes_and_no_are_never_inferred_from_the_gold_alone(ask):
    question = ask("What is the ISO 639-1 code of Norwegian?", ["no"], ["da", "ja"], answer_type="code")
    assert score(question, "no").rule_id == "exact"
    assert score(question, "da").label == "incorrect"


OPTIONS = "Which city is the capital of Poland?\nA) Oslo\nB) Rome\nC) Warsaw\nD) Warsaw City"
GOLD = ["Warsaw", "Варшава", "华沙"]


@pytest.mark.parametrize(
    ("text", "label"),
    rows(
        correct=[
            "C", "c", "(C)", "C.", "C) Warsaw", "Warsaw", "Option C", "选C", "答案：C", "Варшава", "Not A, but C",
            "A good guess is C", "C\nQuestion: next", "The correct option is C, Warsaw.",
            "C) Warsaw.", "**C) Warsaw**", "C) WARSAW!", "c) warsaw", "C) Warsaw.\nA) Oslo",
            "Which city is the capital of Poland?\nC) Warsaw.",
        ],
        incorrect=[
            "A) Oslo.", "b) rome", "B) Rome;\nC) Warsaw",
            "A", "E", "Rome", "Warsaw City", "a big city", "not C", "A) Oslo\nB) Rome\nC) Warsaw", "奥斯陆",
        ],
        ambiguous=[
            "A or C", "C) Rome", "Oslo and Warsaw", "I don't know, C",
        ],
        abstain=[
            "I don't know",
        ],
        unparseable=[
            "\n", "??",
        ],
    ),
)  # fmt: skip
def test_choice(ask, text, label):
    question = ask(OPTIONS, GOLD, {"oslo": ["Oslo", "奥斯陆"]}, family="recognition", answer_type="choice")
    assert question.kind == "choice"
    assert score(question, text).label == label, score(question, text)


@pytest.mark.parametrize("style", ["A) {}\nB) {}", "(A) {}\n(B) {}", "A. {}\nB. {}", "A、{}\nB、{}", "A) {} B) {}"])
def test_option_styles(ask, style):
    question = ask("Which?\n" + style.format("Rome", "Oslo"), ["Oslo"], family="recognition")
    assert question.kind == "choice"
    assert score(question, "B").label == "correct"


def test_choices_of_the_row_win_over_the_text(ask):
    question = ask("Which?", ["Oslo"], family="recognition", choices=("Rome", "Oslo"))
    assert score(question, "B").label == "correct"


def test_numeric_options(ask):
    question = ask("Code?\nA) 49\nB) 39\nC) 47", ["47", "+47"], family="recognition", answer_type="choice")
    assert score(question, "The answer is 47").label == "correct"
    assert score(question, "It is 49.").label == "incorrect"


def test_options_without_the_gold_are_no_choice(ask):
    question = ask("Which?\nA) Rome\nB) Lima", ["Oslo"], family="recognition", answer_type="choice")
    assert question.kind == "entity"
    assert score(question, "Oslo").label == "correct"


def test_recognition_with_a_yes_word_is_boolean_and_without_falls_back(ask):
    assert ask("True?", ["true"], family="recognition").kind == "boolean"
    assert ask("Which?", ["Oslo"], family="recognition").kind == "entity"
    assert ask("Which?", ["no"], family="anchor").kind == "entity"


def test_partial_dates_say_nothing_about_a_year(ask):
    question = ask("Which year?", ["1990"], answer_type="year", granularity="year")
    assert score(question, "3 October").label == "incorrect"
    assert [found.value("day") for found in read_dates(Text("3 October"))] == ["????-10-03"]
