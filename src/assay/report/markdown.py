"""The table as people read it: a section per benchmark, a column per model, and only the rows that the config names."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

_PLACE = ("metric", "method", "profile", "setting")


class Section(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which rows of a benchmark are shown.

    Attributes
    ----------
    metrics : list of str
        These, in this order; empty for all.
    where : dict
        Setting -> values: rows with another value of it are left out, rows without it are shown.
    prefer : dict
        Setting -> values: of rows that differ in nothing else, the one with the earliest of these values is shown.
    without : list of str
        Rows that have one of these settings are left out: they break a number down.
    """

    metrics: list[str] = []
    where: dict[str, list[str]] = {}
    prefer: dict[str, list[str]] = {}
    without: list[str] = []

    def shows(self, metric: str, setting: Mapping[str, str]) -> bool:
        """Return whether a row is shown, others left aside."""
        return (
            (not self.metrics or metric in self.metrics)
            and all(setting[name] in values for name, values in self.where.items() if name in setting)
            and not any(name in setting for name in self.without)
        )

    def absent(self, rows: Iterable[Mapping[str, Any]]) -> list[str]:
        """Return the metrics, and the settings and values of `where`, that no row has: not measured, or misspelled."""
        found = list(rows)
        told = {pair for row in found for pair in settings_of(row["setting"]).items()}
        known = {row["metric"] for row in found} | {name for name, _ in told}
        values = [(name, value) for name, asked in self.where.items() if name in known for value in asked]
        return [name for name in (*self.metrics, *self.where) if name not in known] + [
            f"{name}={value}" for name, value in values if (name, value) not in told
        ]

    def chosen(self, rows: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        """Return the rows that are shown, by metric, else in their order."""
        best: dict[tuple[Any, ...], tuple[list[int], Mapping[str, Any]]] = {}
        for row in rows:
            setting = settings_of(row["setting"])
            if not self.shows(row["metric"], setting):
                continue
            rank = [_rank(values, setting.get(name)) for name, values in self.prefer.items()]
            rest = tuple(sorted((k, v) for k, v in setting.items() if k not in self.prefer))
            same = (*(row[name] for name in ("metric", "method", "profile", "model", "baseline")), rest)
            if same not in best or rank < best[same][0]:
                best[same] = (rank, row)
        return sorted((row for _, row in best.values()), key=lambda row: _rank(self.metrics, row["metric"]))


def _rank(values: Sequence[str], value: str | None) -> int:
    return values.index(value) if value in values else len(values)


def markdown(rows: Iterable[Mapping[str, Any]], sections: Mapping[str, Section], digits: int) -> str:
    """Return the Markdown of a table's rows, which come in its order.

    What all rows of a section have in common (data set, dtype, seed …) stands above it once.
    """
    groups: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for row in rows:
        groups.setdefault((row["benchmark"], row["dataset"]), []).append(row)
    text = ["# Results", "", "Every number, with all breakdowns, stands in table.csv. Without a unit it is a fraction."]
    for (benchmark, dataset), found in groups.items():
        section = sections.get(benchmark, Section())
        shown = section.chosen(found)
        text += ["", f"## {benchmark}: {dataset}", ""]
        text += _section(shown, section, digits) if shown else ["No row is shown."]
        if len(shown) < len(found):
            text += ["", f"{len(found) - len(shown):,} more rows in table.csv."]
        if absent := section.absent(found):
            text += ["", f"Asked for in configs/table.yaml and in no row: {', '.join(absent)}."]
    return "\n".join(text) + "\n"


def settings_of(text: str) -> dict[str, str]:
    """Return the settings that a cell of the table names."""
    return dict(part.split("=", 1) for part in text.split(";") if part)


def _section(rows: Sequence[Mapping[str, Any]], section: Section, digits: int) -> list[str]:
    common = _common([settings_of(row["setting"]) for row in rows])
    pinned = {name: " or ".join(values) for name, values in section.where.items()}
    fixed = {name: "" for name, values in section.where.items() if not values[1:] and _merges_nothing(rows, name)}
    implied = {**common, **dict.fromkeys(section.prefer, ""), **fixed}
    single = {name: rows[0][name] for name in ("method", "profile") if len({row[name] for row in rows}) == 1}
    columns = [name for name in _PLACE if name not in single]
    lines: dict[tuple[str, ...], dict[str, str]] = {}
    for row in rows:
        own = {name: value for name, value in settings_of(row["setting"]).items() if name not in implied}
        cells = dict(row) | {"setting": " ".join(f"{name}={value}" for name, value in own.items())}
        if row["unit"] != "fraction":
            cells["metric"] += f" ({row['unit']})"
        lines.setdefault(tuple(str(cells[name]) for name in columns), {})[_column(row)] = _number(row, digits)
    names = _merge_baselines(rows, lines)
    if not any(place[-1] for place in lines):
        columns, lines = columns[:-1], {place[:-1]: values for place, values in lines.items()}
    preferred = {name: ", else ".join(_in_order(rows, name, values)) for name, values in section.prefer.items()}
    stated = [f"{name} {value}" for name, value in {**preferred, **single, **common, **pinned}.items() if value]
    text = ["Shown: " + ", ".join(stated) + ".", ""] if stated else []
    text.append("| " + " | ".join([*columns, *names]) + " |")
    text.append("|" + " --- |" * len(columns) + " ---: |" * len(names))
    for place, found in lines.items():
        text.append("| " + " | ".join([*map(_escaped, place), *(found.get(name, "") for name in names)]) + " |")
    return text


def _in_order(rows: Iterable[Mapping[str, Any]], setting: str, preferred: Sequence[str]) -> list[str]:
    """Return the values of a setting that rows have, the preferred ones first."""
    found = {settings_of(row["setting"]).get(setting) for row in rows} - {None}
    return sorted(map(str, found), key=lambda value: (_rank(preferred, value), value))


def _escaped(cell: str) -> str:
    """Return a cell whose text, such as the name of a user's relation, ends neither the cell nor the line."""
    return " ".join(cell.replace("|", r"\|").splitlines())


def _merges_nothing(rows: Iterable[Mapping[str, Any]], setting: str) -> bool:
    """Return whether the rows of each metric and column all have a setting or all lack it, so that it may go unsaid."""
    having = {(row["metric"], _column(row), setting in settings_of(row["setting"])) for row in rows}
    return len(having) == len({place[:2] for place in having})


def _merge_baselines(
    rows: Sequence[Mapping[str, Any]], lines: Mapping[tuple[str, ...], dict[str, str]]
) -> Sequence[str]:
    """Give a baseline that is the same for every model one column; return the columns, baselines last."""
    names = dict.fromkeys([_column(row) for row in rows if not row["baseline"]])
    for baseline in dict.fromkeys(row["baseline"] for row in rows if row["baseline"]):
        of_models = dict.fromkeys(_column(row) for row in rows if row["baseline"] == baseline)
        if all(len({found[n] for n in of_models if n in found}) <= 1 for found in lines.values()):
            for found in lines.values():
                values = [found.pop(n) for n in of_models if n in found]
                found.update({baseline: values[0]} if values else {})
            of_models = {baseline: None}
        names |= of_models
    return list(names)


def _common(settings: Sequence[Mapping[str, str]]) -> dict[str, str]:
    first = settings[0]
    return {name: value for name, value in first.items() if all(other.get(name) == value for other in settings)}


def _column(row: Mapping[str, Any]) -> str:
    if row["model"] and row["baseline"]:
        return f"{row['baseline']} ({row['model']})"
    return str(row["model"] or row["baseline"])


def _number(row: Mapping[str, Any], digits: int) -> str:
    text = "–" if row["value"] is None else f"{row['value']:.{digits}f}"
    if row["ci_low"] is not None and row["ci_high"] is not None:
        text += f" [{row['ci_low']:.{digits}f}, {row['ci_high']:.{digits}f}]"
    return text + (f" ({row['n_failed']} of {row['n']} failed)" if row["n_failed"] else "")
