"""Which facts a main number is taken over: switches, subset, coverage mode."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.fks.answers import Answers, FactInfo
from assay.fks.external import Stability
from assay.fks.metric_settings import Coverage, MetricSettings, Subset


@dataclass(frozen=True)
class Selection:
    """The facts of one line of the main table.

    Attributes
    ----------
    rows : array of int
        Positions in the `Stability` tables, ascending (facts are sorted by id).
    excluded : dict
        Reason -> number of facts left out; with `rows` it adds up to all facts.
    """

    anchor: bool
    families: tuple[str, ...]
    coverage: Coverage
    subset: Subset
    measured: Stability
    rows: NDArray[np.int64]
    excluded: dict[str, int]

    @property
    def facts(self) -> NDArray[np.int64]:
        """Positions in `Answers.facts`."""
        return self.measured.fact[self.rows]


def in_subset(fact: FactInfo, subset: Subset) -> bool:
    """Return whether a fact belongs to a subset."""
    if subset == "all":
        return True
    if subset == "drop_spec_6_2_flagged":
        return not fact.spec_6_2_flag
    return fact.answer_in_subject_surface == (subset == "answer_in_subject")


def select(
    answers: Answers, measured: Stability, settings: MetricSettings, anchor: bool, coverage: Coverage, subset: Subset
) -> Selection:
    """Apply switches, subset and coverage mode, in this order, and count what each left out."""
    excluded = dict.fromkeys(("switched_off", "outside_subset", "no_main_rows", "incomplete_family"), 0)
    row_of = {int(fact): row for row, fact in enumerate(measured.fact)}
    complete = measured.complete
    rows = []
    for position, fact in enumerate(answers.facts):
        row = row_of.get(position)
        if (settings.drop_spec_6_2_flagged and fact.spec_6_2_flag) or (
            settings.drop_answer_in_subject and fact.answer_in_subject_surface
        ):
            excluded["switched_off"] += 1
        elif not in_subset(fact, subset):
            excluded["outside_subset"] += 1
        elif row is None:
            excluded["no_main_rows"] += 1
        elif coverage == "complete_family" and not complete[row]:
            excluded["incomplete_family"] += 1
        else:
            rows.append(row)
    kept = np.array(rows, dtype=np.int64)
    return Selection(anchor, measured.families, coverage, subset, measured, kept, excluded)
