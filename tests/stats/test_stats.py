"""The statistics that every benchmark shares, against plain loops and known values."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.stats.bootstrap import (
    group_sums,
    percentile_interval,
    ratio_intervals,
    resample,
    unit_counts,
)
from assay.stats.corrections import benjamini_hochberg, holm
from assay.stats.intervals import wilson
from assay.stats.permutation import paired_permutation
from assay.stats.ranks import resampled_spearman, spearman


def test_resampled_means_equal_the_plain_loop():
    values = np.random.default_rng(0).normal(size=37)
    index = resample(37, 500, 20260101)
    loop = [np.mean([values[i] for i in row]) for row in index]
    low, high = np.quantile(loop, [0.025, 0.975])
    (interval,) = ratio_intervals(values, None, unit_counts(index, 37))
    assert interval.low == pytest.approx(low, abs=1e-12)
    assert interval.high == pytest.approx(high, abs=1e-12)


def test_resampled_groups_bring_all_their_members():
    values = [1.0, 0.0, 0.5, 0.25, 1.0, 0.0]
    groups = ["b", "a", "b", "c", "c", "c"]
    members = {"a": [0.0], "b": [1.0, 0.5], "c": [0.25, 1.0, 0.0]}
    index = resample(3, 400, 7)
    loop = [np.mean([value for g in row for value in members["abc"[g]]]) for row in index]
    names, sums, sizes = group_sums(values, groups)
    (interval,) = ratio_intervals(sums, sizes, unit_counts(index, len(names)))
    assert (interval.low, interval.high) == pytest.approx(tuple(np.quantile(loop, [0.025, 0.975])), abs=1e-12)


def test_a_share_of_rows_resamples_whole_units():
    right, rows = np.array([1.0, 3.0, 0.0]), np.array([2.0, 3.0, 4.0])
    index = resample(3, 300, 3)
    loop = [right[row].sum() / rows[row].sum() for row in index]
    (interval,) = ratio_intervals(right, rows, unit_counts(index, 3))
    assert (interval.low, interval.high) == pytest.approx(tuple(np.quantile(loop, [0.025, 0.975])), abs=1e-12)


def test_one_unit_has_no_interval():
    (interval,) = ratio_intervals([0.7], None, unit_counts([[0], [0]], 1))
    assert (interval.low, interval.high, interval.n_units) == (None, None, 1)


def test_undefined_replicates_are_left_out():
    assert percentile_interval([np.nan, 1.0, np.nan, 1.0]) == (1.0, 1.0)
    assert percentile_interval([np.nan]) == (None, None)


def test_group_sums_are_sorted_by_name():
    names, sums, sizes = group_sums([1.0, 2.0, 4.0], ["z", "a", "z"])
    assert (names, sums.tolist(), sizes.tolist()) == (["a", "z"], [2.0, 5.0], [1.0, 2.0])


def test_positions_out_of_range_are_refused():
    with pytest.raises(ValueError, match="positions"):
        unit_counts(np.array([[0, 3]]), 3)


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    # Newcombe (1998), Stat. Med. 17, table I, method 3.
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_gives_published_values(successes, n, low, high):
    interval = wilson(successes, n)
    assert (interval.low, interval.high) == pytest.approx((low, high), abs=5e-5)


def test_wilson_without_units_is_undefined():
    assert wilson(0, 0).low is None


def test_exact_permutation_equals_the_plain_enumeration():
    difference = [0.3, -0.1, 0.4, 0.2, -0.5, 0.6]
    sums = [
        abs(sum(s * d for s, d in zip(signs, difference, strict=True)))
        for signs in itertools.product([1, -1], repeat=6)
    ]
    expected = np.mean([s >= abs(sum(difference)) - 1e-12 for s in sums])
    assert paired_permutation(difference, [0.0] * 6, seed=1) == pytest.approx(expected)


def test_equal_systems_have_p_one_and_a_drawn_test_is_never_zero():
    assert paired_permutation([1.0] * 40, [1.0] * 40, seed=1) == 1.0
    assert paired_permutation([1.0] * 40, [0.0] * 40, permutations=999, seed=1) == 1 / 1000


def test_units_of_one_group_flip_together():
    assert paired_permutation([1.0] * 40, [0.0] * 40, seed=1, groups=["a"] * 40) == 1.0


def test_corrections_give_known_values():
    p = [0.01, 0.02, 0.03, 0.04, 0.05]
    assert holm(p).tolist() == pytest.approx([0.05, 0.08, 0.09, 0.09, 0.09])
    assert benjamini_hochberg(p).tolist() == pytest.approx([0.05] * 5)
    with pytest.raises(ValueError, match="p-values"):
        holm([1.2])


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=30))
def test_spearman_equals_scipy(pairs):
    from scipy.stats import spearmanr

    a, b = zip(*pairs, strict=True)
    mine = spearman(a, b)
    if len(set(a)) == 1 or len(set(b)) == 1:
        assert mine is None
    else:
        assert mine == pytest.approx(spearmanr(a, b).statistic, abs=1e-12)


def test_spearman_with_a_nan_is_undefined():
    assert spearman([1.0, 2.0, np.nan], [1.0, 2.0, 3.0]) is None


def test_resampled_spearman_equals_ranking_each_resample():
    rng = np.random.default_rng(5)
    a, b = rng.integers(0, 8, 25).astype(float), rng.normal(size=25)
    index = resample(25, 60, 11)
    fast = resampled_spearman(a, b, unit_counts(index, 25))
    slow = [spearman(a[row], b[row]) for row in index]
    assert fast == pytest.approx(np.array(slow, dtype=float), abs=1e-12)
