"""External stability of a fact: do its answers agree across conditions.

For fact i with the families F_i that it has and the queries Q_if of each, c(q) the cluster of an answer:

    p_if(a) = |{q in Q_if : c(q) = a}| / |Q_if|        p_i(a) = mean over f in F_i of p_if(a)
    BCS_i   = max_a p_i(a)
    BES_i   = 1 - H(p_i) / log A_i,   A_i = number of clusters with p_i(a) > 0;   BES_i = 1 if A_i = 1
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.fks.answers import Answers
from assay.fks.rows import LABELS

Array = NDArray[np.float64]
Index = NDArray[np.int64]
Bool = NDArray[np.bool_]

TIE = 1e-9
"""Shares closer than this are equal: 4/5 as a mean of family shares must reach a threshold of 0.8."""


@dataclass(frozen=True)
class Stability:
    """External stability of every fact that has a row in the chosen families.

    Attributes
    ----------
    fact : array of int, shape [n]
        Positions in `Answers.facts`, ascending.
    families : tuple of str
        The chosen families, as given.
    n_family : array of int, shape [n, n_families]
        Queries of each family, 0 where the fact lacks it.
    bcs, bes : array, shape [n]
        In [1/A, 1] and [0, 1]; 1 is best.
    n_clusters : array of int, shape [n]
        A_i.
    top : array of int, shape [n]
        Code of the cluster with the largest share; the first by name among equals.
    top_unique : array of bool, shape [n]
        Whether no other cluster comes within `TIE` of it.
    label_share : array, shape [n, 5]
        Family-balanced share of each label of `LABELS`.
    family_max : array, shape [n, n_families]
        max_a p_if(a), NaN where the fact lacks the family.
    n_failed : array of int, shape [n]
        Rows whose generation failed.
    entry_fact, entry_cluster, entry_share : arrays, shape [n_entries]
        The distributions p_i: row of this table, cluster code, share.
    """

    fact: Index
    families: tuple[str, ...]
    n_family: Index
    bcs: Array
    bes: Array
    n_clusters: Index
    top: Index
    top_unique: Bool
    label_share: Array
    family_max: Array
    n_failed: Index
    entry_fact: Index
    entry_cluster: Index
    entry_share: Array

    @property
    def complete(self) -> Bool:
        """Whether a fact has every chosen family, shape [n]."""
        return np.asarray((self.n_family > 0).all(axis=1))


def stability(answers: Answers, families: tuple[str, ...], language: str | None = None) -> Stability:
    """Return the external stability of every fact with at least one row in `families`.

    Parameters
    ----------
    answers : Answers
        Rows already selected by their flags.
    families : tuple of str
        Families to average over; rows of others are left out.
    language : str, optional
        Only rows in this language.
    """
    code = {answers.families.index(name): place for place, name in enumerate(families) if name in answers.families}
    place_of = np.full(len(answers.families) + 1, -1, dtype=np.int64)
    for number, place in code.items():
        place_of[number] = place
    use = place_of[answers.family] >= 0 if len(answers.family) else np.zeros(0, dtype=np.bool_)
    if language is not None:
        if language in answers.languages:
            use = use & (answers.language == answers.languages.index(language))
        else:
            use = np.zeros_like(use)
    fact, row = np.unique(answers.fact[use], return_inverse=True)
    family, cluster, label = place_of[answers.family[use]], answers.cluster[use], answers.label[use]
    n, n_families = len(fact), len(families)

    n_family = _table(row, family, (n, n_families))
    present = n_family > 0
    n_present = present.sum(axis=1)
    entry_fact, entry_cluster, entry_share, entry_family = _shares(row, family, cluster, n_family, n_present)
    bcs, bes, n_clusters, top, unique = _concentration(entry_fact, entry_share, n)
    label_share = np.zeros((n, len(LABELS)))
    for value in range(len(LABELS)):
        counted = _table(row[label == value], family[label == value], (n, n_families))
        label_share[:, value] = _mean_over_families(counted, n_family, n_present)
    family_max = np.full((n, n_families), np.nan)
    if n:
        np.fmax.at(family_max, (entry_family[0], entry_family[1]), entry_family[2])
    return Stability(
        fact=fact,
        families=families,
        n_family=n_family,
        bcs=bcs,
        bes=bes,
        n_clusters=n_clusters,
        top=entry_cluster[top] if n else np.zeros(0, dtype=np.int64),
        top_unique=unique,
        label_share=label_share,
        family_max=family_max,
        n_failed=np.bincount(row[answers.failed[use]], minlength=n),
        entry_fact=entry_fact,
        entry_cluster=entry_cluster,
        entry_share=entry_share,
    )


def bcs_bes(groups: Index, shares: Array, n_groups: int) -> tuple[Array, Array]:
    """Return BCS and BES of distributions, shape [n_groups] each.

    Parameters
    ----------
    groups : array of int, shape [n_entries]
        Number of the distribution that an entry belongs to, ascending; each from 0 to n_groups - 1 has one or more.
    shares : array, shape [n_entries]
        Above 0; those of one group sum to 1.
    """
    return _concentration(groups, shares, n_groups)[:2]


def _table(row: Index, column: Index, shape: tuple[int, int]) -> Index:
    return np.bincount(row * shape[1] + column, minlength=shape[0] * shape[1]).reshape(shape)


def _mean_over_families(counts: Index, n_family: Index, n_present: Index) -> Array:
    # Family shares are at most 1 and exactly 1 for an undivided family, so the mean never exceeds 1 by rounding.
    shares = np.divide(counts, n_family, out=np.zeros(counts.shape), where=n_family > 0)
    return np.asarray(shares.sum(axis=1) / np.maximum(n_present, 1))


def _shares(
    row: Index, family: Index, cluster: Index, n_family: Index, n_present: Index
) -> tuple[Index, Index, Array, tuple[Index, Index, Array]]:
    """Return p_i as entries sorted by (fact, cluster), and p_if as (fact, family, share) triples."""
    keys = np.stack([row, cluster, family]) if len(row) else np.zeros((3, 0), dtype=np.int64)
    distinct, count = np.unique(keys, axis=1, return_counts=True)
    share = count / np.maximum(n_family[distinct[0], distinct[2]], 1)
    if not distinct.shape[1]:
        return distinct[0], distinct[1], share, (distinct[0], distinct[2], share)
    first = np.flatnonzero(np.r_[True, (np.diff(distinct[:2], axis=1) != 0).any(axis=0)])
    summed = np.add.reduceat(share, first) / n_present[distinct[0, first]]
    return distinct[0, first], distinct[1, first], summed, (distinct[0], distinct[2], share)


def _concentration(group: Index, share: Array, n: int) -> tuple[Array, Array, Index, Index, Bool]:
    """Return BCS, BES, number of clusters, position of the top entry and its uniqueness, per group."""
    if not n:
        nothing = np.zeros(0, dtype=np.int64)
        return np.zeros(0), np.zeros(0), nothing, nothing, np.zeros(0, dtype=np.bool_)
    first = np.searchsorted(group, np.arange(n))
    largest = np.maximum.reduceat(share, first)
    clusters = np.bincount(group, minlength=n)
    entropy = np.add.reduceat(-share * np.log(share), first)
    several = clusters > 1
    bes = np.ones(n)
    # H <= log A holds exactly; clipping removes 1e-16 of rounding.
    bes[several] = np.clip(1 - entropy[several] / np.log(clusters[several]), 0.0, 1.0)
    near_top = share >= largest[group] - TIE
    place = np.arange(len(share))
    top = np.minimum.reduceat(np.where(near_top, place, len(share)), first)
    unique = np.bincount(group[near_top], minlength=n) == 1
    return largest, bes, clusters, top, unique
