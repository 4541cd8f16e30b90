"""The published tables of SymBench: `success_rates.csv` and `avenorm.csv`."""

from collections.abc import Iterable
from typing import Literal, Protocol

import msgspec

from assay.records.rows import Determinism
from assay.records.tables import csv_text
from assay.stats.intervals import wilson
from assay.symbench.catalogue import TASKS
from assay.symbench.comparison import Score
from assay.symbench.counting import Counts

Comparison = Literal["methods", "models", "across"]

_COUNTS = Counts.__struct_fields__
RATES = (
    "model", "method", "profile", "extraction", "seed", "task", "split", "level", "questions",
    *_COUNTS, "percent", "ci_low", "ci_high",
)  # fmt: skip
AVENORM = (
    "comparison", "compared_in", "split", "model", "method", "profile", "extraction", "seed", "source",
    "avenorm", "ci_low", "ci_high", "n_tasks", "unsolved_tasks", "columns", "printed_columns", "questions",
    *_COUNTS,
    "tasks",
)  # fmt: skip


class Line(Protocol):
    """A line of a table."""

    def cells(self) -> list[object]:
        """Return its cells in the order of the columns."""
        ...


class RateLine(msgspec.Struct, frozen=True):
    """Success of one model and method on one task, or on one level of it; `level` is empty for all of them."""

    model: str
    method: str
    profile: str
    extraction: str
    seed: int
    task: str
    level: str
    questions: str
    setting: dict[str, str]
    determinism: Determinism
    counts: Counts

    def cells(self) -> list[object]:
        """Return the cells of `RATES`; percent and bounds in [0, 100]."""
        interval = wilson(self.counts.right, self.counts.n)
        bounds = [None if bound is None else 100 * bound for bound in (interval.low, interval.high)]
        return [
            self.model, self.method, self.profile, self.extraction, self.seed,
            self.task, TASKS[self.task].split, self.level, self.questions,
            *msgspec.structs.astuple(self.counts), float(100 * self.counts.rate), *bounds,
        ]  # fmt: skip


class AvenormLine(msgspec.Struct, frozen=True, kw_only=True):
    """The average normalised score of one column of one comparison over one split.

    Attributes
    ----------
    comparison, of : str
        "methods" of the model `of`; "models" under the method `of`; "across": mean over so many models (`of`) of the
        method's scores among the methods of each.
    columns, external_columns : int
        Measured and printed columns of the comparison set.
    source : str
        "measured", or "printed" for a column of rates that the paper printed.
    questions : str
        Whose words the questions are.
    determinism : str
        Weakest class of all runs that are compared: each of them decides the best rates.
    """

    model: str
    method: str
    profile: str
    extraction: str
    seed: int
    comparison: Comparison
    of: str
    columns: int
    external_columns: int
    source: Literal["measured", "printed"]
    split: str
    questions: str
    setting: dict[str, str]
    determinism: Determinism
    score: Score
    counts: Counts

    def cells(self) -> list[object]:
        """Return the cells of `AVENORM`; score and bounds in [0, 100]."""
        counts = msgspec.structs.astuple(self.counts)
        return [
            self.comparison, self.of, self.split,
            self.model, self.method, self.profile, self.extraction, self.seed, self.source,
            float(self.score.percent), self.score.low, self.score.high,
            len(self.score.tasks), " ".join(self.score.zero_tasks), self.columns, self.external_columns,
            self.questions,
            *(counts if self.source == "measured" else [None] * len(counts)),
            " ".join(self.score.tasks),
        ]  # fmt: skip


def table(columns: tuple[str, ...], lines: Iterable[Line]) -> bytes:
    """Return a CSV file: the header, then one line each; what is not defined is an empty cell."""
    return csv_text(columns, (line.cells() for line in lines)).encode()
