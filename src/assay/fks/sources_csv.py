"""Facts from a user's table: one fact a row, names by language in columns."""

import csv
import io
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import msgspec

from assay.canonical import bytes_digest
from assay.errors import DataError
from assay.fks.sources import LANGUAGES, Named, SourceFact

_REQUIRED = ("relation", "subject", "object")
_OPTIONAL = (
    "subject_id",
    "object_id",
    "subject_aliases",
    "object_aliases",
    "subject_running",
    "object_running",
    "inverse_unique",
    "weight",
    "record",
    *(f"{slot}_{language}" for slot in ("subject", "object") for language in LANGUAGES[1:]),
)
_SEPARATOR = "|"
_TRUE = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


class CsvSource(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Where a user's facts stand.

    Attributes
    ----------
    file : str
        CSV file in UTF-8 with a header, relative to the project folder.
    sha256 : str or None
        Digest from the lock; another file under this name is an error.
    templates : str or None
        JSON file with the texts of relations that are not embedded ones.
    templates_sha256 : str or None
        Its digest from the lock.
    """

    file: str
    sha256: str | None = None
    templates: str | None = None
    templates_sha256: str | None = None


def read_locked(path: Path, sha256: str | None) -> bytes:
    """Return the bytes of a data file, or complain that they are not those of the lock."""
    try:
        data = path.read_bytes()
    except FileNotFoundError as error:
        raise DataError("the file does not exist", file=path, expected="a path relative to the project") from error
    if sha256 is not None and bytes_digest(data) != sha256:
        raise DataError(
            f"the file has the sha256 {bytes_digest(data)}",
            file=path,
            expected=f"{sha256}, as recorded in configs/lock.yaml",
            remedy="run `assay data lock fks --renew` if the change is meant",
        )
    return data


def csv_facts(source: CsvSource) -> Iterator[SourceFact]:
    """Yield the facts of a table in file order.

    Columns: `relation`, `subject`, `object` (English names); optional `subject_id`, `object_id`,
    `subject_aliases`, `object_aliases` (separated by `|`), `subject_zh` ... `object_ru`, `subject_running`,
    `object_running` (the English name inside a sentence, as in "the Netherlands"), `inverse_unique`, `weight`,
    `record`. Without `inverse_unique` an inverse is unique where the table has the object once.

    Raises
    ------
    DataError
        Naming file, row (the header is row 1) and column.
    """
    path = Path(source.file)
    if source.templates is not None:
        read_locked(Path(source.templates), source.templates_sha256)
    rows = list(_rows(path, read_locked(path, source.sha256)))
    if not rows:
        raise DataError("the table has no facts", file=path, expected="at least one row under the header")
    # A fact that stands twice has one subject.
    pairs = {(row["relation"], _key(row, "object"), _key(row, "subject")) for _, row in rows}
    holders = Counter(pair[:2] for pair in pairs)
    for number, row in rows:
        subjects = holders[row["relation"], _key(row, "object")]
        unique = _flag(row, "inverse_unique", subjects == 1, number, path)
        if unique and subjects > 1:
            raise DataError(
                f"{subjects} subjects of {row['relation']!r} have the object {row['object']!r}",
                file=path,
                row=number,
                key="inverse_unique",
                expected="false, or no value",
            )
        yield SourceFact(
            relation=row["relation"],
            subject=_named(row, "subject"),
            object=_named(row, "object"),
            weight=_number(row, number, path),
            inverse_unique=unique,
            source=path.name,
            source_relation=f"{path.name}:{row['relation']}",
            records=(row["record"] or f"row {number}",),
        )


def _rows(path: Path, data: bytes) -> Iterator[tuple[int, dict[str, str]]]:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError("the file is not UTF-8", file=path, remedy="save it in UTF-8") from error
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = [name.strip() for name in next(reader, [])]
        _check_header(header, path)
        for values in reader:
            number = reader.line_num
            if not any(value.strip() for value in values):
                continue
            if len(values) != len(header):
                raise DataError(
                    f"{len(values)} values", file=path, row=number, expected=f"{len(header)}, as the header"
                )
            row = dict.fromkeys((*_REQUIRED, *_OPTIONAL), "") | dict(zip(header, map(str.strip, values), strict=True))
            for key in _REQUIRED:
                if not row[key]:
                    raise DataError(
                        "the value is empty", file=path, row=number, key=key, expected="a name in every row"
                    )
            yield number, row
    except csv.Error as error:
        raise DataError(
            f"no CSV: {error}",
            file=path,
            row=reader.line_num,
            expected="values with a comma or a quote in them in quotes",
        ) from error


def _check_header(header: list[str], path: Path) -> None:
    known = (*_REQUIRED, *_OPTIONAL)
    missing = [name for name in _REQUIRED if name not in header]
    if missing:
        raise DataError(
            "the column is missing", file=path, row=1, key=missing[0], expected="columns " + ", ".join(known)
        )
    for name, count in Counter(header).items():
        if count > 1:
            raise DataError("the column stands twice", file=path, row=1, key=name, expected="each column once")
        if name not in known:
            raise DataError(
                "the column is not known", file=path, row=1, key=name, expected="one of " + ", ".join(known)
            )


def _key(row: dict[str, str], slot: str) -> str:
    return row[f"{slot}_id"] or row[slot]


def _named(row: dict[str, str], slot: str) -> Named:
    names = {"en": row[slot]} | {lang: row[f"{slot}_{lang}"] for lang in LANGUAGES[1:] if row[f"{slot}_{lang}"]}
    aliases = tuple(alias.strip() for alias in row[f"{slot}_aliases"].split(_SEPARATOR) if alias.strip())
    return Named(key=_key(row, slot), names=names, aliases=aliases, running=row[f"{slot}_running"])


def _number(row: dict[str, str], number: int, path: Path) -> float:
    text = row["weight"] or "0"
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not 0 <= value < float("inf"):
        raise DataError(f"{text!r} is no weight", file=path, row=number, key="weight", expected="a number >= 0")
    return value


def _flag(row: dict[str, str], key: str, default: bool, number: int, path: Path) -> bool:
    text = row[key].casefold()
    if not text:
        return default
    if text not in _TRUE:
        raise DataError(f"{row[key]!r} is neither", file=path, row=number, key=key, expected="true or false")
    return _TRUE[text]
