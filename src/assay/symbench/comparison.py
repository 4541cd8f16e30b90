"""Average normalised scores of a comparison set, with intervals from resampling within tasks."""

from collections.abc import Mapping, Sequence
from fractions import Fraction

import msgspec
import numpy as np

from assay.canonical import derive_seed
from assay.errors import DataError
from assay.stats.bootstrap import Array, percentile_interval, resample, unit_counts
from assay.symbench.avenorm import SPLITS, Missing, average_normalized, split_tasks

Solved = Mapping[str, Sequence[bool]]  # task -> one value a sample, in the order of the samples


class Member(msgspec.Struct, frozen=True):
    """One column of a comparison: what it solved, and the digest of the samples of each task."""

    name: str
    solved: dict[str, tuple[bool, ...]]
    samples: dict[str, str]


class Score(msgspec.Struct, frozen=True, kw_only=True):
    """The score of one column over one split.

    Attributes
    ----------
    percent : Fraction
        In [0, 100].
    low, high : float or None
        Interval; None for external columns, and where a task has a single sample, which says nothing on spread.
    tasks, zero_tasks : tuple of str
        Tasks of the average, and those of them that no column solves, which count 0 for everybody.
    """

    name: str
    split: str
    percent: Fraction
    low: float | None
    high: float | None
    tasks: tuple[str, ...]
    zero_tasks: tuple[str, ...]
    external: bool = False


class Bootstrap(msgspec.Struct, frozen=True):
    """How intervals are made."""

    resamples: int = 2000
    level: float = 0.95
    seed: int = 20260102


def compare(
    members: Sequence[Member],
    tasks: Sequence[str],
    bootstrap: Bootstrap,
    missing: Missing = "refuse",
    external: Mapping[str, Mapping[str, Fraction]] | None = None,
) -> list[Score]:
    """Score every column over the seen, the unseen and all tasks; a split without tasks is left out.

    Parameters
    ----------
    members : sequence of Member
        The comparison set, in order.
    tasks : sequence of str
        Tasks of the experiment.
    external : mapping, optional
        Printed rates in [0, 1], name -> task -> rate. They enlarge the comparison set and have no samples.

    Raises
    ------
    DataError
        If two members have different samples of a task, or one lacks a task under the policy "refuse".
    """
    refuse_different_samples(members)
    others = external or {}
    clash = [member.name for member in members if member.name in others]
    if clash:
        raise DataError(f"a method and a printed column are both named {clash[0]!r}", remedy="rename the method")
    rates = {member.name: {task: _share(values) for task, values in member.solved.items()} for member in members}
    rates |= {name: dict(column) for name, column in others.items()}
    replicates = {task: _replicates(task, members, others, bootstrap) for task in tasks}
    scores = []
    for split in SPLITS:
        chosen = [task for task in split_tasks(split) if task in tasks]
        if missing == "common":
            chosen = [task for task in chosen if all(task in column for column in rates.values())]
        if not chosen:
            continue
        found = average_normalized(rates, chosen, missing)
        intervals = _intervals([replicates[task] for task in found.tasks], len(members), bootstrap.level)
        for number, (name, percent) in enumerate(found.percent.items()):
            low, high = intervals[number] if number < len(members) else (None, None)
            scores.append(
                Score(
                    name=name,
                    split=split,
                    percent=percent,
                    low=low,
                    high=high,
                    tasks=found.tasks,
                    zero_tasks=found.zero_tasks,
                    external=name in others,
                )
            )
    return scores


def refuse_different_samples(members: Sequence[Member]) -> None:
    """Raise unless all members that have a task were asked the same samples of it."""
    first: dict[str, Member] = {}
    for member in members:
        for task, samples in member.samples.items():
            other = first.setdefault(task, member)
            if other.samples[task] != samples:
                raise DataError(
                    f"{member.name} and {other.name} were not evaluated on the same samples of {task}",
                    key=task,
                    expected="the same sample ids in the same order, from one source",
                    remedy="evaluate both on one selection; rates on different samples cannot be compared",
                )


def _share(values: Sequence[bool]) -> Fraction:
    return Fraction(sum(values), len(values))


def _replicates(
    task: str, members: Sequence[Member], others: Mapping[str, Mapping[str, Fraction]], bootstrap: Bootstrap
) -> Array | None:
    """Return each member's normalised rate in every replicate, [resamples, members]; None for a single sample.

    All members share the drawn samples: they are the same samples, so their errors are paired. A member without
    the task has the rate 0, as under the policy "zero".
    """
    n = max((len(member.solved.get(task, ())) for member in members), default=0)
    if n < 2:
        return None
    solved = np.array([member.solved.get(task, (False,) * n) for member in members], dtype=np.float64).T
    index = resample(n, bootstrap.resamples, derive_seed("symbench-bootstrap", bootstrap.seed, task))
    rates = unit_counts(index, n) @ solved / n
    fixed = max((float(column.get(task, 0)) for column in others.values()), default=0.0)
    best = np.maximum(rates.max(axis=1, keepdims=True), fixed)
    scores: Array = np.divide(rates, best, out=np.zeros_like(rates), where=best > 0)
    return scores


def _intervals(
    replicates: Sequence[Array | None], members: int, level: float
) -> list[tuple[float | None, float | None]]:
    present = [part for part in replicates if part is not None]
    if len(present) < len(replicates):
        return [(None, None)] * members
    scores = 100 * sum(present) / len(present)
    # Without any spread (no one solves anything) an interval of width zero would claim certainty.
    return [
        (None, None) if np.ptp(column) == 0 else percentile_interval(column, level) for column in np.asarray(scores).T
    ]
