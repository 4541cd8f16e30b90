"""Behaviour classes of facts: stable and correct, wrong or abstaining, or unstable."""

import numpy as np
from numpy.typing import NDArray

from assay.fks.answers import Answers
from assay.fks.external import TIE, Stability

BEHAVIOURS = ("stable_correct", "stable_wrong", "stable_abstention", "unstable")
_UNSTABLE = 3


def behaviour_classes(answers: Answers, measured: Stability, tau: float) -> NDArray[np.int64]:
    """Return the behaviour class of each fact as a position in `BEHAVIOURS`, shape [n].

    A fact is stable if one cluster alone holds at least `tau` of its family-balanced answers: `gold` makes it stable
    correct, a wrong answer (`ans:`) stable wrong, `abstain` stable abstention. Everything else is unstable, a
    dominating ambiguous cluster included.
    """
    kind = np.array([_kind(name) for name in answers.clusters] or [_UNSTABLE], dtype=np.int64)
    stable = (measured.bcs >= tau - TIE) & measured.top_unique
    return np.where(stable, kind[measured.top], _UNSTABLE)


def _kind(cluster: str) -> int:
    if cluster == "gold":
        return 0
    if cluster.startswith("ans:"):
        return 1
    return 2 if cluster == "abstain" else _UNSTABLE
