"""ISS, KTS-Geo, KTS-ID and whitening: definitions as loops, invariances, bounds, ties, undefined cases."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.fks.internal import FactSelection, measure_layer
from assay.fks.internal_rows import RowOrder, StateQuery
from assay.fks.iss import REASONS, UnitSums, iss
from assay.fks.kts import geometry, geometry_correlations, retrieval
from assay.fks.metric_settings import InternalSettings
from assay.fks.vectors import RelationRows
from assay.fks.whitening import Moments, whitener
from assay.fks.window import layer_window

FAMILIES = ("anchor", "paraphrase", "format")


def build(seed, n_facts=9, relations=("r0", "r1"), width=7, missing=0.15):
    """Queries in sorted order and their states: ragged, with gaps."""
    rng = np.random.default_rng(seed)
    queries = [
        StateQuery(f"{fact:03d}_{family}_{k}", f"f{fact:03d}", relations[fact % len(relations)], family)
        for fact in range(n_facts)
        for family in FAMILIES
        if rng.random() > missing
        for k in range(int(rng.integers(1, 4)))
    ]
    order = RowOrder.of(queries, FAMILIES, [f"f{fact:03d}" for fact in range(n_facts)])
    return order, rng.normal(size=(len(queries), width)) + 0.7


def measure(order, states, selections=None, jacobian=None, **changes):
    options = {"kts_geo_min_facts": 3, "kts_id_metrics": ("cosine", "euclidean"), "iss_whitening": ("none", "zca")}
    chosen = selections or [FactSelection((0, 1, 2), np.ones(len(order.facts), dtype=bool))]
    return measure_layer(
        lambda start, stop: states[start:stop].astype(np.float64),
        order,
        states.shape[1],
        chosen,
        InternalSettings(**(options | changes)),
        jacobian,
    )


def loop_iss(order, states, fact):
    """The definition as written, with every pair of states compared on its own."""
    cosine = lambda a, b: a @ b / np.linalg.norm(a) / np.linalg.norm(b)  # noqa: E731
    of = {}
    for query, state in zip(order.queries, states, strict=True):
        of.setdefault((query.fact_id, query.family), []).append(state)
    relation = {query.fact_id: query.relation for query in order.queries}
    mean = lambda i, f, j, g: np.mean([cosine(a, b) for a in of[i, f] for b in of[j, g]])  # noqa: E731
    plus, minus = [], []
    for f, g in itertools.combinations([f for f in FAMILIES if (fact, f) in of], 2):
        others = [j for j in relation if j != fact and relation[j] == relation[fact]]
        forward = [mean(fact, f, j, g) for j in others if (j, g) in of]
        backward = [mean(fact, g, j, f) for j in others if (j, f) in of]
        if forward and backward:
            plus.append(mean(fact, f, fact, g))
            minus.append((np.mean(forward) + np.mean(backward)) / 2)
    if not plus:
        return None
    return (np.mean(plus) - np.mean(minus)) / (1 - np.mean(minus))


def pair_cosines(units, has):
    """Mean cosines of a relation whose facts are all one another's background."""
    sums = UnitSums(np.empty_like(units), np.ones((1, len(units)), dtype=bool))
    sums.add(slice(0, len(units)), units)
    return sums.cosines(has)[0]


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 10**6))
def test_iss_equals_the_quadruple_loop(seed):
    order, states = build(seed)
    (result,) = measure(order, states)
    for place, fact in enumerate(order.facts):
        if fact not in {query.fact_id for query in order.queries}:
            continue
        expected = loop_iss(order, states, fact)
        got = result.iss["none"][place]
        assert (expected is None and np.isnan(got)) or got == pytest.approx(expected, abs=1e-9)


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 10**6))
def test_iss_is_one_for_identical_states_and_never_above(seed):
    order, states = build(seed, missing=0.0)
    facts = {fact: np.random.default_rng([seed, k]).normal(size=7) for k, fact in enumerate(order.facts)}
    same = np.stack([facts[query.fact_id] for query in order.queries])
    (result,) = measure(order, same)
    assert result.iss["none"] == pytest.approx(1.0, abs=1e-9)
    assert list(result.geo.values()) == pytest.approx([1.0] * len(result.geo))
    assert set(result.retrieval["cosine"].values()) == {1.0}
    (random,) = measure(order, states)
    assert (random.iss["none"] <= 1 + 1e-12).all()


def test_iss_is_zero_for_background():
    """Facts that differ in nothing but noise: own pairs are as similar as other facts' pairs."""
    rng = np.random.default_rng(8)
    centre = {"anchor": rng.normal(size=16), "paraphrase": rng.normal(size=16), "format": rng.normal(size=16)}
    queries = [StateQuery(f"{i:03d}_{f}", f"f{i:03d}", "r", f) for i in range(400) for f in FAMILIES]
    order = RowOrder.of(queries, FAMILIES, [f"f{i:03d}" for i in range(400)])
    states = np.stack([centre[q.family] + rng.normal(size=16) for q in order.queries])
    (result,) = measure(order, states)
    error = np.nanstd(result.iss["none"]) / 20
    assert abs(np.nanmean(result.iss["none"])) < 4 * error
    assert abs(np.mean(list(result.retrieval["cosine"].values()))) < 0.02


def random_rotation(rng, size):
    return np.linalg.qr(rng.normal(size=(size, size)))[0]


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 10**6), st.floats(0.01, 100))
def test_kts_geo_is_invariant_under_rotation_shift_and_scale_of_each_condition(seed, scale):
    order, states = build(seed)
    rng = np.random.default_rng(seed + 1)
    maps = {f: (random_rotation(rng, 7) * scale * rng.uniform(0.5, 2), rng.normal(size=7) * 5) for f in FAMILIES}
    moved = np.stack(
        [state @ maps[q.family][0] + maps[q.family][1] for q, state in zip(order.queries, states, strict=True)]
    )
    (before,), (after,) = measure(order, states), measure(order, moved)
    assert before.geo.keys() == after.geo.keys()
    for relation, pairs in before.geo_pairs.items():
        assert {k: v[1] for k, v in pairs.items()} == {k: v[1] for k, v in after.geo_pairs[relation].items()}
        for pair, (rho, _) in pairs.items():
            assert after.geo_pairs[relation][pair][0] == pytest.approx(rho, abs=1e-9)


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10**6))
def test_bounds_of_kts(seed):
    order, states = build(seed)
    (result,) = measure(order, states)
    assert all(-1 <= rho <= 1 for rho in result.geo.values())
    for metric, relations in result.retrieval_pairs.items():
        for pairs in relations.values():
            assert all(-1 / (n - 1) - 1e-12 <= value <= 1 for value, n in pairs.values()), metric


def test_row_order_changes_no_byte():
    order, states = build(4)
    by_id = {query.query_id: state for query, state in zip(order.queries, states, strict=True)}
    shuffled = list(order.queries)
    np.random.default_rng(1).shuffle(shuffled)
    again = RowOrder.of(shuffled, FAMILIES, order.facts)
    (first,) = measure(order, states)
    (second,) = measure(again, np.stack([by_id[query.query_id] for query in again.queries]))
    assert first.iss["zca"].tobytes() == second.iss["zca"].tobytes()
    assert first.geo == second.geo
    assert first.retrieval == second.retrieval


def test_a_selection_is_measured_as_if_the_other_facts_were_not_there():
    order, states = build(11, n_facts=14, missing=0.1)
    keep = np.array([k % 3 != 0 for k in range(14)])
    chosen = {fact for fact, stays in zip(order.facts, keep, strict=True) if stays}
    rows = np.array([query.fact_id in chosen for query in order.queries])
    both = measure(order, states, [FactSelection((0, 1, 2), np.ones(14, dtype=bool)), FactSelection((1, 2), keep)])
    queries = [query for query in order.queries if query.fact_id in chosen and query.family != "anchor"]
    alone_order = RowOrder.of(queries, FAMILIES, order.facts)
    kept = rows & np.array([query.family != "anchor" for query in order.queries])
    (alone,) = measure(alone_order, states[kept], [FactSelection((1, 2), keep)])
    assert both[1].iss["none"] == pytest.approx(alone.iss["none"], abs=1e-12, nan_ok=True)
    assert both[1].geo == pytest.approx(alone.geo)
    assert np.isnan(both[1].iss["none"][~keep]).all()


def test_whitening_forms_agree_and_whiten():
    rng = np.random.default_rng(2)
    rows = rng.normal(size=(300, 6)) @ rng.normal(size=(6, 6)) + 1000
    moments = Moments.of([rows[:7], rows[7:200], rows[200:]])
    assert moments.mean == pytest.approx(rows.mean(0), rel=1e-12)
    assert moments.covariance == pytest.approx(np.cov(rows.T, bias=True), rel=1e-9)
    cholesky = whitener(moments.covariance, 0.1)
    scale = np.trace(moments.covariance) / 6
    shrunk = 0.9 * moments.covariance / scale + 0.1 * np.eye(6)
    values, vectors = np.linalg.eigh(shrunk)
    zca = vectors @ np.diag(values**-0.5) @ vectors.T
    centred = rows - moments.mean
    assert (centred @ cholesky) @ (centred @ cholesky).T == pytest.approx((centred @ zca) @ (centred @ zca).T, rel=1e-9)


def test_a_coordinate_of_huge_mean_does_not_swallow_the_covariance():
    """Residual streams have such coordinates; 1e4 with a spread of 1 must leave nine digits."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(5000, 4))
    moved = rows + np.array([1e4, 0, 0, 0])
    moments = Moments.of([moved[:1000], moved[1000:]])
    assert moments.covariance == pytest.approx(np.cov(rows.T, bias=True), abs=1e-9)


def test_equal_states_have_no_whitener_and_saturate():
    order, states = build(3, missing=0.0)
    (result,) = measure(order, np.ones_like(states))
    assert {REASONS[code] for code in result.reason["none"]} == {"background_saturated"}
    assert result.geo == {}
    assert list(result.retrieval["euclidean"].values()) == pytest.approx([0.0, 0.0])
    assert result.iss["zca"] == pytest.approx(0.0)  # centred states are zero, and zero vectors have cosine 0


def test_zero_vectors_have_cosine_zero():
    units = np.zeros((3, 2, 4))
    units[1:, :, 0] = 1.0
    table = pair_cosines(units, np.ones((3, 2), dtype=bool))
    assert table.own[0, 0, 1] == 0
    assert iss(table).iss[1] == pytest.approx((1 - 0.5) / (1 - 0.5))


def test_reasons_of_undefined_iss():
    units = np.random.default_rng(0).normal(size=(2, 3, 4))
    has = np.array([[True, False, False], [True, True, True]])
    result = iss(pair_cosines(units * has[:, :, None], has))
    assert [REASONS[code] for code in result.reason] == ["too_few_families", "no_background"]
    assert np.isnan(result.s_plus[0])
    assert not np.isnan(result.s_plus[1])


def test_ties_share_the_credit_in_both_metrics():
    means = np.zeros((4, 2, 3))
    means[:, :] = np.array([[1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])[:, None]
    has = np.ones((4, 2), dtype=bool)
    for metric in ("cosine", "euclidean"):
        (found,) = retrieval(means, has, metric, 2)
        assert found.hit[:2, 0, 1] == pytest.approx((0.5 - 0.25) / 0.75)
        assert found.accuracy()[0, 1] == pytest.approx(2 / 3)


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10**6), st.floats(0, 1e4))
def test_euclidean_neighbours_equal_exact_distances(seed, shift):
    rng = np.random.default_rng(seed)
    means = rng.integers(0, 3, (12, 2, 2)).astype(float) + shift
    (found,) = retrieval(means, np.ones((12, 2), dtype=bool), "euclidean", 2)
    for i in range(12):
        exact = np.sqrt(((means[i, 0] - means[:, 1]) ** 2).sum(axis=1))
        near = exact <= exact.min() + 1e-12
        assert found.hit[i, 0, 1] == pytest.approx(((near[i] / near.sum()) - 1 / 12) / (11 / 12))


@pytest.mark.parametrize("scale", [1e-14, 1e-3, 1.0, 1e3])
def test_states_equal_but_for_rounding_are_retrieved_by_chance(scale):
    means = scale * (1 + 1e-16 * np.random.default_rng(3).normal(size=(5, 2, 4)) * 2)
    for metric in ("cosine", "euclidean"):
        (found,) = retrieval(means, np.ones((5, 2), dtype=bool), metric, 2)
        assert found.accuracy()[0, 1] == pytest.approx(0.0, abs=1e-12), metric


def test_pairs_with_too_few_facts_or_constant_distances_are_not_retained():
    means = np.random.default_rng(1).normal(size=(6, 3, 4))
    means[:, 2] = 0
    has = np.ones((6, 3), dtype=bool)
    has[4:, 1] = False
    rho, n = geometry_correlations(geometry(means, has), np.arange(6), 5)
    assert np.isnan(rho).all()
    assert n[0, 1] == 4
    assert n[0, 2] == 6


def test_transport_is_the_jacobian_applied_before_whitening():
    order, states = build(5)
    jacobian = np.random.default_rng(9).normal(size=(7, 7))
    (inside,) = measure(order, states, jacobian=jacobian)
    (outside,) = measure(order, states @ jacobian.T)
    for mode in ("none", "zca"):
        assert inside.iss[mode] == pytest.approx(outside.iss[mode], abs=1e-9, nan_ok=True)
    assert inside.geo == pytest.approx(outside.geo)


def test_rows_outside_the_main_families_take_part_in_the_covariance_only():
    order, states = build(6)
    stray = StateQuery("zzz", "f000", "r0", "reverse")
    more = RowOrder.of([*order.queries, stray], FAMILIES, order.facts)
    assert more.queries[-1] is stray
    extended = np.vstack([states, np.full((1, 7), 9.0)])
    (plain,), (wider,) = measure(order, states), measure(more, extended)
    assert plain.iss["none"].tobytes() == wider.iss["none"].tobytes()
    assert not np.allclose(plain.iss["zca"], wider.iss["zca"], equal_nan=True)


@pytest.mark.parametrize(("depth", "first"), [(1, 0), (2, 1), (16, 6), (24, 10), (28, 11), (32, 13), (42, 17)])
def test_layer_window(depth, first):
    assert layer_window(depth) == tuple(range(first, depth))


@pytest.mark.parametrize("scale", [1e-30, 1e-22, 1e20, 1e30])
def test_directions_do_not_depend_on_how_large_states_are(scale):
    rows = np.random.default_rng(4).normal(size=(12, 5)).astype(np.float32)
    facts = np.arange(4)
    relation = RelationRows("r", 0, 12, facts, np.arange(12), 3)
    plain, scaled = (relation.chunks[0].unit_sums(rows * np.float32(one)) for one in (1, scale))
    np.testing.assert_allclose(scaled, plain, rtol=1e-5)
