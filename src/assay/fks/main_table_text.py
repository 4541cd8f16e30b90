"""Text forms of the main table. Nothing is computed here."""

from collections.abc import Iterator

from assay.fks.table_rows import COLUMNS, FLOORS, Cell, MainRow, MainTable
from assay.records.tables import csv_text

_KEYS = ("dataset", "model", "filter_model", "transport", "coverage", "subset", "anchor", "n_facts")
_TAIL = ("n_excluded", "n_failed", "n_nonfinite", "scorer_version", "clusterer_version", "determinism", "seed", "how")
_INTERVALS = ("fact", "relation")
_SHORT = {
    "correct_share": "correct",
    "incorrect_share": "incorrect",
    "ambiguous_share": "ambiguous",
    "abstain_share": "abstain",
    "unparseable_share": "unparseable",
    "bcs": "BCS",
    "bes": "BES",
    "stable_correct_share": "SC",
    "stable_wrong_share": "SW",
    "stable_abstention_share": "SA",
    "unstable_share": "U",
    "iss": "ISS",
    "kts_geo": "KTS-Geo",
    "kts_geo_raw_spearman": "raw ρ",
    "kts_id": "KTS-ID",
    "bcs_chance": "BCS floor",
    "bes_chance": "BES floor",
    "correct_share_majority": "majority",
}
_WITH_INTERVAL = ("bcs", "bes", "iss", "kts_geo", "kts_id")
NOTES = (
    "Brackets: intervals over relations, the honest ones for statements about new relations; those over facts, and the "
    "numbers of excluded facts by reason, are in the CSV and JSON forms.",
    "SC, SW, SA, U: shares of stable correct, stable wrong, stably abstaining and unstable facts.",
    "*: a filter model, whose answers decided which facts were kept.",
    "Floors: what a coin between two answers (BCS, BES) and the most frequent object of each relation (majority) reach "
    "on the same facts; KTS-Geo 0.5, ISS and KTS-ID 0.",
)


def csv_table(table: MainTable) -> str:
    """Return every number with both intervals; floats round-trip, what is undefined is empty."""
    head = [*_KEYS]
    for column in COLUMNS:
        head += [column, f"{column}_n"]
        head += [f"{column}_{unit}_{side}" for unit in _INTERVALS for side in ("low", "high")]
    return csv_text([*head, *FLOORS, *_TAIL], map(_csv_cells, table.rows))


def _csv_cells(row: MainRow) -> Iterator[object]:
    yield from (getattr(row, key) for key in _KEYS)
    for column in COLUMNS:
        cell = row.cells[column]
        yield from (cell.value, cell.n)
        yield from (bound for unit in _INTERVALS for bound in cell.ci.get(unit, (None, None)))
    yield from (row.floors[name] for name in FLOORS)
    yield " ".join(f"{reason}={count}" for reason, count in sorted(row.n_excluded.items()))
    yield from (getattr(row, key) for key in _TAIL[1:])


def markdown_table(table: MainTable) -> str:
    """Return the table for readers: three decimals, intervals over relations, notes and caveats below."""
    head = ["model", "transport", "coverage", "subset", "anchor", "n facts", *_columns()]
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    lines += ["| " + " | ".join(_texts(table, row, "–")) + " |" for row in table.rows]
    lines += [
        "",
        *(f"- {note}" for note in (*NOTES, *made_how(table), *table.choice)),
        "",
        "Caveats:",
        "",
        *(f"- {caveat}" for caveat in table.caveats),
    ]
    shown = [one for one in table.across_models if one.spearman is not None]
    if shown:
        lines += ["", "Over models (Spearman of model means):", ""]
        lines += [
            f"- {one.inside} and {one.outside}, {one.transport}, {one.coverage}, {one.subset}, "
            f"{'with' if one.anchor else 'without'} anchor: {one.spearman:.3f} (n = {one.n_models})"
            for one in shown
        ]
    return "\n".join(lines).rstrip() + "\n"


def made_how(table: MainTable) -> list[str]:
    """Return a sentence for the models that were measured alike: choices, failures, determinism, versions."""
    models: dict[str, dict[str, None]] = {}
    for row in table.rows:
        text = (
            f"{row.how}; failed answers: {row.n_failed}; states left out: {row.n_nonfinite}; "
            f"determinism: {row.determinism}; scorer {row.scorer_version}, clusterer {row.clusterer_version}."
        )
        models.setdefault(text, {})[row.model] = None
    return [f"{', '.join(names)}: {text}" for text, names in models.items()]


def latex_table(table: MainTable) -> str:
    """Return a tabular with the same texts; the caveats stand below it."""
    head = ["model", "transport", "coverage", "subset", "anchor", "n", *_columns()]
    lines = [
        "% Made from main_table.json.",
        r"\begin{tabular}{" + "l" * 5 + "r" * (len(head) - 5) + "}",
        r"\hline",
        " & ".join(_latex(text) for text in head) + r" \\",
        r"\hline",
        *(" & ".join(_latex(text) for text in _texts(table, row, "--")) + r" \\" for row in table.rows),
        r"\hline",
        r"\end{tabular}",
        "",
        r"\begin{itemize}",
        *(rf"\item {_latex(text)}" for text in (*NOTES, *made_how(table), *table.choice, *table.caveats)),
        r"\end{itemize}",
    ]
    return "\n".join(lines) + "\n"


def _texts(table: MainTable, row: MainRow, nothing: str) -> list[str]:
    seed = f" (seed {row.seed})" if any(other.seed != row.seed for other in table.rows) else ""
    return [
        row.model + ("*" if row.filter_model else "") + seed,
        row.transport or nothing,
        row.coverage,
        row.subset,
        "in" if row.anchor else "out",
        str(row.n_facts),
        *(_number(row.cells[column], column in _WITH_INTERVAL, nothing) for column in COLUMNS),
        *(nothing if row.floors[name] is None else f"{row.floors[name]:.3f}" for name in FLOORS),
    ]


def _columns() -> list[str]:
    return [*(_SHORT[column] for column in COLUMNS), *(_SHORT[name] for name in FLOORS)]


def _number(cell: Cell, with_interval: bool, nothing: str) -> str:
    if cell.value is None:
        return nothing
    low, high = cell.ci.get("relation", (None, None))
    interval = f" [{low:.3f}, {high:.3f}]" if with_interval and low is not None and high is not None else ""
    return f"{cell.value:.3f}{interval}"


_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "ρ": r"$\rho$",
    "τ": r"$\tau$",
    "–": "--",
}


def _latex(text: str) -> str:
    return "".join(_LATEX.get(letter, letter) for letter in text)
