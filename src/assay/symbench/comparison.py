"""Average normalised scores of a comparison set, with intervals from resampling within tasks."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

import msgspec
import numpy as np

from assay.canonical import derive_seed
from assay.errors import DataError
from assay.stats.bootstrap import Array, percentile_interval, resample, unit_counts
from assay.symbench.avenorm import SPLITS, AverageNormalized, Missing, average_normalized, split_tasks


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


class Scored(msgspec.Struct, frozen=True):
    """The scores of a comparison set over one split, and what they are in each replicate."""

    split: str
    found: AverageNormalized
    replicates: Array | None  # [resamples, members], percent; None where a task has a single sample


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
    scores = []
    for part in _scored(members, tasks, bootstrap, missing, external or {}):
        for number, (name, percent) in enumerate(part.found.percent.items()):
            own = number < len(members)
            column = part.replicates[:, number] if own and part.replicates is not None else None
            scores.append(_score(name, part, percent, column, bootstrap.level, external=not own))
    return scores


def across(
    groups: Sequence[Sequence[Member]],
    tasks: Sequence[str],
    bootstrap: Bootstrap,
    missing: Missing = "refuse",
    external: Mapping[str, Mapping[str, Fraction]] | None = None,
) -> list[Score]:
    """Return each method's mean over the models of its scores within each model: how it generalises.

    A split in which the models do not share the tasks (policy "common") is left out.

    Parameters
    ----------
    groups : sequence of sequences of Member
        For each model the methods, the same ones in the same order.

    Raises
    ------
    DataError
        As `compare`.
    """
    parts = [
        {part.split: part for part in _scored(members, tasks, bootstrap, missing, external or {})} for members in groups
    ]
    scores = []
    for split in SPLITS:
        same = [found[split] for found in parts if split in found]
        if len({part.found.tasks for part in same}) != 1 or len(same) < len(parts):
            continue
        # What no model solves, whatever the method.
        zero = set.intersection(*(set(part.found.zero_tasks) for part in same))
        for number, member in enumerate(groups[0]):
            percent = sum((part.found.percent[member.name] for part in same), Fraction(0)) / len(same)
            # The samples of all models are the same, and so are the drawn ones.
            columns = [part.replicates[:, number] for part in same if part.replicates is not None]
            mean = np.mean(columns, axis=0) if len(columns) == len(same) else None
            score = _score(member.name, same[0], percent, mean, bootstrap.level)
            unsolved = tuple(task for task in score.tasks if task in zero)
            scores.append(msgspec.structs.replace(score, zero_tasks=unsolved))
    return scores


def _scored(
    members: Sequence[Member],
    tasks: Sequence[str],
    bootstrap: Bootstrap,
    missing: Missing,
    others: Mapping[str, Mapping[str, Fraction]],
) -> Iterator[Scored]:
    refuse_different_samples(members)
    clash = [member.name for member in members if member.name in others]
    if clash:
        raise DataError(f"a method and a printed column are both named {clash[0]!r}", remedy="rename the method")
    rates = {member.name: {task: _share(values) for task, values in member.solved.items()} for member in members}
    rates |= {name: dict(column) for name, column in others.items()}
    replicates = {task: _replicates(task, members, others, bootstrap) for task in tasks}
    for split in SPLITS:
        chosen = [task for task in split_tasks(split) if task in tasks]
        if missing == "common":
            chosen = [task for task in chosen if all(task in column for column in rates.values())]
        if chosen:
            found = average_normalized(rates, chosen, missing)
            parts = [part for task in found.tasks if (part := replicates[task]) is not None]
            complete = len(parts) == len(found.tasks)
            yield Scored(split, found, 100 * np.sum(parts, axis=0) / len(parts) if complete else None)


def _score(
    name: str, part: Scored, percent: Fraction, replicates: Array | None, level: float, *, external: bool = False
) -> Score:
    low: float | None = None
    high: float | None = None
    # Without any spread (no one solves anything) an interval of width zero would claim certainty.
    if replicates is not None and np.ptp(replicates) > 0:
        low, high = percentile_interval(replicates, level)
    return Score(
        name=name,
        split=part.split,
        percent=percent,
        low=low,
        high=high,
        tasks=part.found.tasks,
        zero_tasks=part.found.zero_tasks,
        external=external,
    )


def mean_interval(solved: Mapping[str, tuple[int, int]], bootstrap: Bootstrap) -> tuple[float | None, float | None]:
    """Return the interval of the mean over tasks of the success rates, from resampling within tasks.

    Parameters
    ----------
    solved : mapping
        Task -> (solved samples, all samples).

    Returns
    -------
    low, high : float or None
        In [0, 1]; None where a task has a single sample, or where nothing varies.
    """
    rates = []
    for task, (right, n) in solved.items():
        if n < 2:
            return None, None
        index = resample(n, bootstrap.resamples, derive_seed("symbench-bootstrap", bootstrap.seed, task))
        # Which samples are solved does not matter to a mean of one column.
        rates.append(unit_counts(index, n)[:, :right].sum(axis=1) / n)
    mean: Array = np.mean(rates, axis=0)
    return percentile_interval(mean, bootstrap.level) if np.ptp(mean) > 0 else (None, None)


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
