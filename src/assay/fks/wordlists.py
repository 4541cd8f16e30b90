"""Words that the scorer knows, after normalisation and in six languages at once.

Any change of a list that the scorer reads changes `scorer_version`, which carries the digest of these lists.
Languages stand in the order English, French, Spanish, German, Russian, Chinese.
"""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _phrases(text: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(phrase.split()) for phrase in text.split(";") if phrase.strip())


ANSWER_KEYS = ("answer", "final_answer", "value", "object", "result", "response", "réponse", "reponse", "respuesta",
               "antwort", "ответ", "答案")  # fmt: skip

ARTICLES = _words(
    "the a an le la les l un une el los las una der die das den dem ein eine einen"
)  # "los" stands for Spanish, "les" for French

# Words that do not make one name of an answer and themselves, although the query has both side by side.
LINKS = ARTICLES | _words(
    "is are was est es ist war это 是 of in at to de du des d en dans del von vom im zu в во из на о 的 在"
)

NEGATORS = _words(
    "not no never neither nor cannot without cant dont isnt wasnt arent doesnt didnt"
    " pas ne n non jamais ni"
    " nunca tampoco"
    " nicht kein keine keinen keiner nie weder"
    " не ни нет"
)
# "isn't" is the two tokens "isn" and "t" after normalisation.
NT_STEMS = _words(
    "isn wasn aren weren don doesn didn hasn haven hadn won wouldn couldn shouldn mustn needn mightn ain can shan"
)
# "not only X" asserts X, in one language: "not Nur-Sultan" does not.
ONLY = {
    negator: _words(only)
    for negators, only in (
        ("not t cannot", "only just merely"),
        ("pas non", "seulement uniquement"),
        ("no", "solo solamente"),
        ("nicht", "nur bloss"),
        ("не", "только лишь"),
    )
    for negator in negators.split()
}
CHINESE_NEGATORS = ("不是", "并非", "而非", "不叫", "不在", "不属于", "不为")
CHINESE_CONTRASTS = ("而是", "但是", "但")

CONTRAST_WORDS = _words("but mais sino pero sondern aber но а однако")
CONTRAST_PHRASES = _phrases(
    "instead of; rather than; unlike; anything but; plutot que; contrairement a; au lieu de; en lugar de;"
    "a diferencia de; en vez de; statt; anstatt; im gegensatz zu; im gegensatz zur; im gegensatz zum;"
    "вместо; в отличие от"
)
NEGATED_COPULAS = _phrases(
    "is not; was not; are not; were not; isn t; wasn t; aren t; weren t; n est pas; n etait pas; no es; no era;"
    "no fue; ist nicht; war nicht; не является; не был; не была; не было; 不 是; 并 不 是; 并 非"
)

CONNECTORS = _words("and also as well plus et y e und и 和 与 及 以")  # 以及 is two tokens
CONNECTOR_MARKS = frozenset(" ,、+&")
DISJUNCTIONS = _words("or ou o oder или либо 或")
DISJUNCTION_PAIR = ("还", "是")
# Words in a disjunction that name no answer: "either X or", "X or ...".
DISJUNCTION_FILLERS = ARTICLES | _words("either soit entweder либо else 者 and also")
RELATIVES = _words(
    "which who whose that where when qui que dont quien cual cuyo donde welche welcher welches deren dessen wo"
    " который которая которое где"
)
RANGE_WORDS = _words("to a bis до по 至 到")

POLAR_PARTICLES = _words("yes oui si ja да no not non nein нет")
YES_WORDS = _words(
    "yes true correct right oui vrai vraie si verdadero verdadera verdad cierto correcto correcta ja wahr richtig"
    " korrekt stimmt да верно правда правильно"
)
NO_WORDS = _words(
    "no not false incorrect wrong untrue non faux fausse falso falsa incorrecto incorrecta nein falsch unwahr inkorrekt"
    " нет неверно неправда неправильно ложь"
)
CHINESE_YES = ("正确", "没错", "不错", "不假", "是", "对", "真")
CHINESE_NO = ("不正确", "不是", "不对", "错误", "否", "不", "错", "假")
# A finite verb, whose negator stands behind it: "stimmt leider nicht".
YES_VERBS = _words("stimmt")
# Negator -> words that may stand between it and a polar word, where the negator is no polar word by itself, or ends
# in the copula: "nicht ganz richtig", "no es falso".
NEGATION_FILLERS = {
    "nicht": _words("ganz so wirklich vollig vollstandig unbedingt immer"),
    "pas": _words("tout a fait vraiment entierement totalement completement toujours"),
    "не": _words("совсем вполне полностью всегда"),
    "no": _words("es era"),
}
# "the correct answer is ..." says which answer is meant, not that something is correct; so does "respuesta correcta".
# And "la verdad es que ..." only leads on.
ANSWER_NOUNS = (("answer",), ("response",), ("option",), ("choice",), ("答", "案"), ("的", "答", "案"), ("es", "que"))
ANSWER_NOUNS_BEFORE = _words("respuesta opcion reponse option")
# "Wahr ist das nicht", "true it is not": the negator ends a sentence that begins with what it denies.
INVERTING = _words("ist war")
PRONOUNS = _words("it this that ce c cela ca eso esto das es dies это 它 这")

RUSSIAN_ENDINGS = _words(
    "а я о е и ы у ю ь й ой ей ою ею ом ем ам ям ами ями ах ях ого его ому ему ый ий ая яя ое ее ые ых их ым им"
    " ыми ими ую юю"
)

COPULAS = _words("is est es ist это 是")
# Only clusters read the next two, so they are in no scorer version.
# What stands before a copula that only leads to the answer: "the answer is a city", "it is the capital".
LEAD_INS = PRONOUNS | _words(
    "answer response guess think believe he she reponse pense crois il elle respuesta creo pienso el ella"
    " antwort glaube denke er sie ответ думаю он она оно 答 想 认"
)
CLASSIFIERS = _words("a an un une una ein eine") | {"一"}

MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan janvier janv enero ene januar janner январь января январе янв",
            "february feb fevrier fevr febrero februar feber февраль февраля феврале фев",
            "march mar mars marzo marz март марта марте мар",
            "april apr avril avr abril abr апрель апреля апреле апр",
            "may mai mayo май мая мае",
            "june jun juin junio juni июнь июня июне июн",
            "july jul juillet juil julio juli июль июля июле июл",
            "august aug aout agosto ago август августа августе авг",
            "september sept sep septembre septiembre setiembre сентябрь сентября сентябре сен сент",
            "october oct octobre octubre oktober okt октябрь октября октябре окт",
            "november nov novembre noviembre ноябрь ноября ноябре ноя нояб",
            "december dec decembre diciembre dic dezember dez декабрь декабря декабре дек",
        ),
        1,
    )
    for name in names.split()
}
DATE_FILLERS = _words("of the de du del d")
YEAR_FILLERS = DATE_FILLERS | _words(
    "year annee l an ano el la dem das jahr den jahre dem года год году г in en im les los"
)
DECADE_NOUNS = _words("annees anos decada decade decennie jahrzehnt десятилетие десятилетии")
CENTURY_NOUNS = _words("century siecle jahrhundert jahrhunderts век века веке")
CENTURY_NOUNS_BEFORE = _words("siglo")
BEFORE_AFTER = _words("before after avant apres antes despues vor nach до после")
CHINESE_BEFORE_AFTER = ("之前", "以前", "之后", "以后", "前", "后")

# Patterns over normalised text, by script. A refusal must contain one of the triggers: most texts need no further
# look, and one script's patterns are not tried on another's.
REFUSAL_TRIGGERS = (
    _words(
        "know known sure certain unsure idea clue unknown cannot can could couldn unable able won will information ai n"
        " none null nothing"
        " sais sait connais aucune inconnu inconnue pas ignore repondre"
        " se desconozco desconocido desconocida seguro segura informacion responder contestar"
        " weiss ahnung unbekannt sicher bekannt informationen beantworten"
    ),
    _words("знаю уверен уверена неизвестно неизвестен неизвестна понятия затрудняюсь ответить информации данных"),
    _words("不 未 无 没"),
)
LATIN_REFUSALS = (
    # English; "don't" is "don t" here
    r"\b(?:do|does|did)(?: not|n t|nt) (?:\w+ )?know\b",
    r"\b(?:not|isn t|aren t|wasn t) (?:\w+ )?(?:known|sure|certain)\b",
    r"\bunsure\b",
    r"\b(?:no|haven t an|not an|don t have an|don t have any) (?:idea|clue)\b",
    r"\bunknown\b",
    r"\b(?:cannot|can not|can t|could not|couldn t|unable to|not able to|won t|will not) "
    r"(?:be )?(?:answer|determine)(?:e?d)?\b",
    r"\b(?:no|not enough|insufficient|any) (?:\w+ )?information\b",
    r"\b(?:do not|don t) have (?:\w+ ){0,3}information\b",
    r"\bas an? ai\b",
    r"\bn ?/ ?a\b",  # not "n a", which is French
    # French
    r"\b(?:ne )?(?:le )?(?:sais|sait|connais) pas\b",
    r"\baucune (?:idee|information)\b",
    r"\binconnue?\b",
    r"\b(?:j|l) ignore\b",
    r"\b(?:peux|peut) pas (?:y )?repondre\b",
    r"\bimpossible de (?:y )?repondre\b",
    # Spanish; "no sé" needs its accent, see ACCENTED_REFUSALS
    r"\bno (?:lo )?se$",
    r"\bni idea\b",
    r"\bdesconozco\b",
    r"\bdesconocid[oa]\b",
    r"\bno (?:estoy|es) segur[oa]\b",
    r"\bno (?:tengo|hay|se tiene) (?:\w+ )?informacion\b",
    r"\bno (?:lo )?(?:puedo|se puede) (?:responder|contestar)\b",
    # German
    r"\bweiss (?:(?:ich|es|das|die|antwort|leider|auch|wirklich) ){0,5}nicht\b",
    r"\bkeine (?:ahnung|information(?:en)?)\b",
    r"\bunbekannt\b",
    r"\bnicht (?:sicher|bekannt)\b",
    r"\bnicht (?:\w+ )?beantworten\b",
)
RUSSIAN_REFUSALS = (
    r"\bне знаю\b",
    r"\bне уверена?\b",
    r"\bнеизвест(?:но|ен|на)\b",
    r"\bпонятия не имею\b",
    r"\bне имею понятия\b",
    r"\bзатрудняюсь\b",
    r"\bне могу (?:\w+ )?ответить\b",
    r"\bнет (?:\w+ )?(?:информации|данных)\b",
)
CHINESE_REFUSALS = (
    r"不知道|不清楚|不确定|不晓得|未知|不详",
    r"(?:无法|不能)(?:\w{0,2})(?:回答|确定)",
    r"没有(?:相关|足够的?|任何)?信息",
)
ACCENTED_REFUSALS = r"\bno (?:lo )?sé\b|\bpas sûre?\b"  # over case-folded text that keeps its accents
WHOLE_REFUSALS = _words("none null nothing")

LISTS_OF_THE_VERSION = (
    ANSWER_KEYS, ARTICLES, LINKS, NEGATORS, NT_STEMS, ONLY, CHINESE_NEGATORS, CHINESE_CONTRASTS, CONTRAST_WORDS,
    CONTRAST_PHRASES, NEGATED_COPULAS, CONNECTORS, CONNECTOR_MARKS, DISJUNCTIONS, DISJUNCTION_PAIR,
    DISJUNCTION_FILLERS, RELATIVES, RANGE_WORDS, YES_WORDS, NO_WORDS, CHINESE_YES, CHINESE_NO, YES_VERBS,
    NEGATION_FILLERS, ANSWER_NOUNS, ANSWER_NOUNS_BEFORE, POLAR_PARTICLES, INVERTING, PRONOUNS, RUSSIAN_ENDINGS,
    COPULAS, MONTHS, DATE_FILLERS, YEAR_FILLERS, DECADE_NOUNS, CENTURY_NOUNS, CENTURY_NOUNS_BEFORE, BEFORE_AFTER,
    CHINESE_BEFORE_AFTER, REFUSAL_TRIGGERS, LATIN_REFUSALS, RUSSIAN_REFUSALS, CHINESE_REFUSALS,
    ACCENTED_REFUSALS, WHOLE_REFUSALS,
)  # fmt: skip
