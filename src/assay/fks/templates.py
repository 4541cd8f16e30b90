"""Question texts of every relation: English wordings, and one question in each of five other languages."""

import functools
from pathlib import Path
from typing import Literal

import msgspec

from assay.errors import ConfigError, DataError
from assay.fks.builder_text import SLOT

_FILE = Path(__file__).parent / "data" / "templates.json"
OTHER_LANGUAGES = ("zh", "fr", "es", "de", "ru")
AnswerType = Literal["entity", "code", "number", "year"]


class Template(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Texts of one relation. `{s}` stands for the subject, `{o}` for the object, `____` for the blank.

    Attributes
    ----------
    label : dict
        Language -> the noun that introduces the subject ("Country", "Страна"); so nothing is inflected.
    kv : str
        Key of the key-value form.
    anchor, paras, cloze, stmt : str
        The plain question, its paraphrases, the sentence with a blank, the true statement.
    q : dict
        Language -> question about "this country", "this city".
    rev : tuple of str
        Questions from the object to the subject; the first also serves where the inverse is not unique.
    at, gr : str
        Answer type and granularity.
    """

    label: dict[str, str]
    kv: str
    anchor: str
    paras: tuple[str, ...]
    cloze: str
    stmt: str
    q: dict[str, str]
    rev: tuple[str, ...]
    at: AnswerType
    gr: Literal["exact", "year", "month", "day"] = "exact"
    direction: Literal["forward", "inverse"] = "forward"
    inverse_of: str | None = None

    def problem(self) -> str | None:
        """Return what is wrong with the texts, or None."""
        if "en" not in self.label:
            return "label needs at least 'en'"
        if (self.direction == "inverse") != (self.inverse_of is not None):
            return "inverse_of is given exactly when direction is inverse"
        for text in (self.anchor, *self.paras, self.cloze, self.stmt):
            if "{s}" not in text:
                return f"{text!r} does not name the subject {{s}}"
        for text in (self.stmt, *self.rev):
            if "{o}" not in text:
                return f"{text!r} does not name the object {{o}}"
        for text, slots in (
            *((text, "s") for text in (self.anchor, *self.paras, self.cloze)),
            (self.stmt, "so"),
            *((text, "o") for text in self.rev),
        ):
            others = [slot for slot in SLOT.findall(text) if slot not in tuple(slots)]
            if others:
                return f"{text!r} has the slot {{{others[0]}}}, expected {' and '.join(f'{{{one}}}' for one in slots)}"
        if "____" not in self.cloze:
            return "cloze needs the blank ____"
        unknown = [language for language in self.q if language not in OTHER_LANGUAGES]
        if unknown:
            return f"q has the language {unknown[0]!r}, expected some of {', '.join(OTHER_LANGUAGES)}"
        missing = [language for language in self.q if language not in self.label]
        return f"label needs {missing[0]!r}, since q has it" if missing else None


@functools.cache
def built_in() -> dict[str, Template]:
    """Return the texts of the thirteen embedded relations."""
    return read_templates(_FILE)


def read_templates(path: Path) -> dict[str, Template]:
    """Read the texts of relations from a JSON file: relation -> the fields of `Template`.

    Raises
    ------
    DataError
        Naming the file, the relation and what is wrong.
    """
    try:
        found = msgspec.json.decode(path.read_bytes(), type=dict[str, Template])
    except FileNotFoundError as error:
        raise DataError("the file does not exist", file=path, expected="relation -> question texts") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise DataError(str(error), file=path, expected="relation -> question texts") from error
    for relation, template in found.items():
        problem = template.problem()
        if problem is not None:
            raise DataError(problem, file=path, key=relation, remedy="see src/assay/fks/data/templates.json")
    return found


def template_of(relation: str, templates: dict[str, Template], file: object) -> Template:
    """Return the texts of a relation.

    Raises
    ------
    ConfigError
        If there are none.
    """
    if relation not in templates:
        raise ConfigError(
            f"the relation {relation!r} has no question texts",
            file=file,
            key="relation",
            expected="one of " + ", ".join(sorted(templates)),
            remedy="add it to the templates file of the dataset",
        )
    return templates[relation]
