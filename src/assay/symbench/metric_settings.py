"""What the `metrics` job reads, and the runs that it measures."""

from collections.abc import Iterable
from typing import Literal

import msgspec

from assay.records.rows import Determinism
from assay.symbench.avenorm import Missing
from assay.symbench.comparison import Bootstrap
from assay.symbench.label_rows import LabelRow

Mode = tuple[Literal["upstream", "corrected"], Literal["echo", "normalized", "marker"]]


_CLASSES: tuple[Determinism, ...] = ("bytes", "isa", "volatile")


class Run(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a labels artifact is about; the runs of a job stand in the order of its inputs.

    `setting` is what else tells its rows from others, as the precision of its model.
    """

    model: str
    method: str
    seed: int
    setting: dict[str, str] = {}
    determinism: Determinism = "bytes"


class MetricSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Config of the job.

    Attributes
    ----------
    setting : dict
        What tells all rows of this experiment from those of another, for the column `setting`.
    headline : Mode
        The mode whose averages lead the published table.
    comparison : str
        "methods": the methods of each model are compared; "models": all models under each method; or both.
    published_columns : bool
        Whether the printed rates are columns of every comparison.
    """

    dataset: str = ""
    setting: dict[str, str] = {}
    runs: list[Run] = []
    tasks: list[str] = []
    modes: list[Mode] = []
    headline: Mode = ("upstream", "normalized")
    comparison: Literal["methods", "models", "both"] = "both"
    published_columns: bool = False
    missing: Missing = "refuse"
    bootstrap: Bootstrap = Bootstrap()


class Measured(msgspec.Struct, frozen=True):
    """A run with its labels by task."""

    run: Run
    labels: dict[str, list[LabelRow]]


def questions_of(rows: Iterable[LabelRow]) -> str:
    """Return whose words the questions of these rows are: published, own or generated; several joined by `+`."""
    return "+".join(sorted({row.question_source for row in rows}))


def weakest(runs: Iterable[Run]) -> Determinism:
    """Return the determinism class of what several runs decide."""
    return max((run.determinism for run in runs), key=_CLASSES.index, default="bytes")
