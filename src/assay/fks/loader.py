"""The published files, or others in their layout: read, checked, and passed on unchanged."""

import gzip
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from assay.canonical import canonical_bytes, file_digest
from assay.errors import ConfigError, DataError
from assay.fks.checks import Origin, check_all
from assay.fks.published import DEVIATIONS, check_published, count
from assay.fks.rows import FactRow, LexiconRow, QueryRow, TargetSlot
from assay.fks.selection import choice_key
from assay.records.locked import require_locked
from assay.records.step import Inputs, Outputs

Row = TypeVar("Row", FactRow, QueryRow)

# Where the rows of a config may stand if the folder's README.md does not say.
_NAMES = {
    "facts": ("facts", "benchmark_facts"),
    "queries": ("queries", "evaluation_queries"),
}
_ENDINGS = (".jsonl", ".jsonl.gz")


class LoadSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The loader's part of a job's config.

    Attributes
    ----------
    folder : str
        Folder of the dataset, relative to the project.
    files : dict
        Path in the folder -> sha256, from the lock: exactly the files that are read.
    expect_published_counts : bool
        Whether the numbers of the card must hold.
    accepted_deviations : tuple of str
        Documented deviations that may occur; another one stops the loader.
    relations : tuple of str
        Relations that are kept; empty keeps all.
    cap_per_relation : int or None
        Facts per relation, chosen by the hash of their ids; None keeps all.
    """

    folder: str
    files: dict[str, str]
    expect_published_counts: bool = True
    accepted_deviations: tuple[str, ...] = tuple(DEVIATIONS)
    relations: tuple[str, ...] = ()
    cap_per_relation: int | None = None


def load(config: dict[str, Any], inputs: Inputs) -> Outputs:
    """Read a dataset in the card's layout.

    Rows are written as they were read, further fields included; nothing is repaired.

    Parameters
    ----------
    config : dict
        Fields of `LoadSettings`.
    inputs : Inputs
        Not used.

    Returns
    -------
    Outputs
        `facts.jsonl`, `queries.jsonl`, `lexicon.jsonl`, and `load.json`: counts, deviations met, notes.

    Raises
    ------
    DataError
        For the first violation, naming file, row and key.
    """
    settings = msgspec.convert(config, LoadSettings)
    folder = Path(settings.folder)
    places = dataset_files(folder)
    _check_digests(folder, places, settings.files)
    raw_facts, facts, facts_at = _read(folder, places["facts"], FactRow)
    raw_queries, queries, queries_at = _read(folder, places["queries"], QueryRow)
    check_all(facts, queries, facts_at, queries_at)
    counts = count(facts, queries)
    notes = check_published(counts, queries, facts_at, queries_at) if settings.expect_published_counts else []
    _require_accepted({*counts.deviations, *(note.partition(":")[0] for note in notes)}, settings)
    kept = _chosen(facts, settings)
    report = msgspec.structs.replace(counts, notes=notes)
    return {
        "facts.jsonl": [row for row, fact in zip(raw_facts, facts, strict=True) if fact.fact_id in kept],
        "queries.jsonl": [row for row, query in zip(raw_queries, queries, strict=True) if query.fact_id in kept],
        "lexicon.jsonl": _lexicon(facts),
        "load.json": canonical_bytes(msgspec.to_builtins(report)) + b"\n",
    }


def dataset_files(folder: Path) -> dict[str, list[Path]]:
    """Return the files of the configs `facts` and `queries`, relative to the folder.

    The `configs` of the folder's `README.md` decide; without them files or folders named `facts`,
    `benchmark_facts`, `queries` and `evaluation_queries` are looked for, at the top and under `data`.

    Raises
    ------
    DataError
        If the folder or the files of a config are missing, or are no JSON Lines.
    """
    if not folder.is_dir():
        raise DataError(
            "the folder does not exist",
            file=folder,
            expected="the dataset in the card's layout",
            remedy="copy it there, or make a link of this name",
        )
    named = _configs_of_readme(folder / "README.md")
    places = {}
    for config, names in _NAMES.items():
        patterns = named.get(config) or [
            f"{top}{name}{tail}"
            for top in ("", "data/")
            for name in names
            for tail in (*_ENDINGS, *(f"/*{ending}" for ending in _ENDINGS))
        ]
        for pattern in patterns:
            if Path(pattern).is_absolute() or ".." in Path(pattern).parts:
                raise DataError(
                    f"{pattern!r} lies outside the folder",
                    file=folder / "README.md",
                    key=f"configs.{config}",
                    expected="paths inside it",
                )
        paths = (path for pattern in patterns for path in folder.glob(pattern) if path.is_file())
        found = sorted({path.relative_to(folder) for path in paths})
        if not found:
            expected = " or ".join(named.get(config) or [f"{name}.jsonl" for name in names])
            raise DataError(f"no file holds the config {config!r}", file=folder, expected=expected)
        for path in found:
            if not path.name.endswith(_ENDINGS):
                raise DataError("the file is no JSON Lines", file=folder / path, expected=" or ".join(_ENDINGS))
        places[config] = found
    return places


def _configs_of_readme(path: Path) -> dict[str, list[str]]:
    """Return config -> glob patterns from the YAML head of a dataset's README.md; empty where it has none."""
    import yaml

    try:
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        head = text.split("\n---", 1)[0].removeprefix("---") if text.startswith("---") else ""
        configs = (yaml.safe_load(head) or {}).get("configs", [])
        return {config["config_name"]: _patterns(config.get("data_files", [])) for config in configs}
    except (yaml.YAMLError, AttributeError, KeyError, TypeError, UnicodeDecodeError) as error:
        raise DataError(
            "the head of the file cannot be read", file=path, key="configs", expected="config_name and data_files"
        ) from error


def _patterns(data_files: Any) -> list[str]:
    items = data_files if isinstance(data_files, list) else [data_files]
    return [pattern for item in items for pattern in ([item] if isinstance(item, str) else _listed(item["path"]))]


def _listed(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value)


def lock_entry(folder: Path) -> dict[str, Any]:
    """Return what the lock records of a dataset folder: the sha256 of each file that is read."""
    paths = [path for found in dataset_files(folder).values() for path in found]
    return {"kind": "fks-card", "files": {path.as_posix(): file_digest(folder / path) for path in sorted(paths)}}


def _check_digests(folder: Path, places: dict[str, list[Path]], files: dict[str, str]) -> None:
    paths = {path.as_posix() for found in places.values() for path in found}
    for name in sorted(paths | files.keys()):
        require_locked(folder / name, files.get(name), "fks")
        if name not in paths:
            raise DataError(
                "the lock names the file, but the dataset does not read it",
                file=folder / name,
                expected="exactly the files of configs/lock.yaml",
                remedy="run `assay data lock fks --renew` if the change is meant",
            )


def _read(folder: Path, paths: Sequence[Path], kind: type[Row]) -> tuple[list[dict[str, Any]], list[Row], Origin]:
    """Return rows as they stand in the files, the same as structs, and where they come from."""
    raw: list[dict[str, Any]] = []
    rows: list[Row] = []
    sizes: list[tuple[object, int]] = []
    for path in paths:
        before = len(rows)
        for number, value in _lines(folder / path):
            try:
                rows.append(msgspec.convert(value, kind))
            except msgspec.ValidationError as error:
                message, _, place = str(error).partition(" - at `$.")
                key = place.rstrip("`") or _missing(message)
                raise DataError(message, file=folder / path, row=number, key=key) from error
            raw.append(value)
        sizes.append((folder / path, len(rows) - before))
    if not rows:
        raise DataError("the file has no rows", file=folder / paths[0], expected="at least one")
    return raw, rows, Origin(tuple(sizes))


def _missing(message: str) -> str | None:
    """Return the field that a message of msgspec names ("Object missing required field `query`")."""
    return message.split("`")[1] if message.count("`") == 2 else None


def _lines(path: Path) -> Iterator[tuple[int, Any]]:
    number = 0
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as file:
            for number, line in enumerate(file, 1):
                yield number, msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise DataError("this line is not JSON in UTF-8", file=path, row=number, expected="one JSON object") from error
    except (EOFError, gzip.BadGzipFile) as error:
        raise DataError("the file is cut off or no gzip", file=path, row=number + 1, remedy="fetch it again") from error


def _require_accepted(met: set[str], settings: LoadSettings) -> None:
    for name in sorted(met - set(settings.accepted_deviations)):
        raise ConfigError(
            f"the data show the deviation {name} ({DEVIATIONS[name]}), which is not accepted",
            file="configs/fks.yaml",
            key="accepted_deviations",
            remedy=f"add {name}, or use other data",
        )


def _chosen(facts: Sequence[FactRow], settings: LoadSettings) -> set[str]:
    relations = {fact.relation.relation_id for fact in facts}
    unknown = [name for name in settings.relations if name not in relations]
    if unknown:
        raise ConfigError(
            f"the data have no relation {unknown[0]!r}",
            key="relations",
            expected="one of " + ", ".join(sorted(relations)),
        )
    kept: set[str] = set()
    for relation in settings.relations or sorted(relations):
        ids = [fact.fact_id for fact in facts if fact.relation.relation_id == relation]
        kept.update(sorted(ids, key=lambda name: choice_key("fact", name))[: settings.cap_per_relation])
    return kept


def _lexicon(facts: Sequence[FactRow]) -> list[LexiconRow]:
    surfaces: dict[tuple[str, TargetSlot, str], dict[str, None]] = {}
    for fact in facts:
        slots: tuple[TargetSlot, ...] = ("object", "subject")
        for slot, entity in zip(slots, (fact.object, fact.subject), strict=True):
            key = fact.relation.relation_id, slot, entity.key
            surfaces.setdefault(key, {}).update(dict.fromkeys(entity.surfaces))
    return [
        LexiconRow(relation=relation, slot=slot, key=key, surfaces=tuple(names))
        for (relation, slot, key), names in surfaces.items()
    ]
