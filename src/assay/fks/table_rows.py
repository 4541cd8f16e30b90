"""Rows of the main table."""

import msgspec

SCHEMA = "assay.fks.main_table/1"

COLUMNS = (
    "correct_share",
    "incorrect_share",
    "ambiguous_share",
    "abstain_share",
    "unparseable_share",
    "bcs",
    "bes",
    "stable_correct_share",
    "stable_wrong_share",
    "stable_abstention_share",
    "unstable_share",
    "iss",
    "kts_geo",
    "kts_geo_raw_spearman",
    "kts_id",
)

FLOORS = {
    "bcs_chance": ("chance", "bcs"),
    "bes_chance": ("chance", "bes"),
    "correct_share_majority": ("majority", "correct_share"),
}
"""Column -> (baseline, metric): what a coin between two answers, and the most frequent object of each relation, reach
on the same facts. The floor of KTS-Geo is 0.5, that of ISS and KTS-ID 0."""


class Cell(msgspec.Struct, frozen=True, kw_only=True):
    """A number with its intervals by bootstrap unit and the number of cases behind it."""

    value: float | None
    n: int
    ci: dict[str, tuple[float | None, float | None]] = {}


class MainRow(msgspec.Struct, frozen=True, kw_only=True):
    """One model under one transport, coverage mode, subset, with or without the anchor.

    `transport` is empty where the model has no hidden states; `n_failed` counts failed generations of the model,
    `n_nonfinite` rows whose states were left out. `cells` has the columns `COLUMNS`, `floors` those of `FLOORS`. `how`
    says with which of our choices the numbers were made.
    """

    dataset: str
    model: str
    method: str
    seed: str
    filter_model: bool
    transport: str
    coverage: str
    subset: str
    anchor: bool
    n_facts: int
    n_excluded: dict[str, int]
    n_failed: int
    n_nonfinite: int
    cells: dict[str, Cell]
    floors: dict[str, float | None]
    scorer_version: str
    clusterer_version: str
    determinism: str
    how: str


class AcrossModels(msgspec.Struct, frozen=True, kw_only=True):
    """Spearman's correlation of model means, None below three models or where a side is constant.

    A model with several seeds counts once, by the mean over them.
    """

    dataset: str
    transport: str
    coverage: str
    subset: str
    anchor: bool
    inside: str
    outside: str
    n_models: int
    spearman: float | None


class MainTable(msgspec.Struct, frozen=True, kw_only=True):
    """The main table as data; every text form is made from it.

    `choice` has a sentence for each dataset whose facts were chosen by filter models.
    """

    schema: str
    rows: tuple[MainRow, ...]
    across_models: tuple[AcrossModels, ...]
    caveats: tuple[str, ...]
    choice: tuple[str, ...] = ()
