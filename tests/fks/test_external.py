"""BCS, BES, behaviour classes: bounds, independence of order, flags before family names, the chance floors."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.fks.answers import Answer, Answers, FactInfo
from assay.fks.behaviour import BEHAVIOURS, behaviour_classes
from assay.fks.chance import coin_floor, mean_coin_floor
from assay.fks.external import stability

FAMILIES = ("anchor", "paraphrase", "format", "context", "multilingual")
LABEL = {"gold": "correct", "abstain": "abstain", "ans": "incorrect", "amb": "ambiguous", "unparseable": "unparseable"}


def answers_of(rows, facts=("f0", "f1", "f2")):
    """Rows are (fact, family, cluster)."""
    return Answers.build(
        [FactInfo(fact, f"r{fact}", False, False) for fact in facts],
        [
            Answer(f"{number:04d}", fact, family, "en", LABEL[cluster.split(":")[0]], cluster)
            for number, (fact, family, cluster) in enumerate(rows)
        ],
    )


rows = st.lists(
    st.tuples(
        st.sampled_from(["f0", "f1", "f2"]),
        st.sampled_from(FAMILIES),
        st.sampled_from(["gold", "ans:a", "ans:b", "amb:a", "abstain"]),
    ),
    min_size=1,
    max_size=60,
)


@settings(deadline=None, max_examples=200)
@given(rows)
def test_bounds_of_bcs_and_bes(drawn):
    measured = stability(answers_of(drawn), FAMILIES)
    assert (measured.bcs <= 1).all()
    assert (measured.bcs >= 1 / measured.n_clusters - 1e-12).all()
    assert ((measured.bes >= 0) & (measured.bes <= 1)).all()
    assert ((measured.bes == 1) == (measured.n_clusters == 1)).all()
    assert np.bincount(measured.entry_fact, weights=measured.entry_share) == pytest.approx(1.0)
    assert measured.label_share.sum(axis=1) == pytest.approx(1.0)


@settings(deadline=None, max_examples=100)
@given(rows)
def test_equals_the_definition_written_as_loops(drawn):
    measured = stability(answers_of(drawn), FAMILIES)
    for place, fact in enumerate(measured.fact):
        mine = [(family, cluster) for f, family, cluster in drawn if f == f"f{fact}"]
        families = sorted({family for family, _ in mine})
        share = Counter()
        for family in families:
            here = [cluster for f, cluster in mine if f == family]
            for cluster in here:
                share[cluster] += 1 / len(here) / len(families)
        entropy = -sum(p * math.log(p) for p in share.values())
        assert measured.bcs[place] == pytest.approx(max(share.values()), abs=1e-12)
        assert measured.bes[place] == pytest.approx(
            1 if len(share) == 1 else 1 - entropy / math.log(len(share)), abs=1e-9
        )


@given(rows, st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=50)
def test_row_order_changes_no_byte(drawn, random):
    built = [Answer(f"{i:04d}", f, family, "en", LABEL[c.split(":")[0]], c) for i, (f, family, c) in enumerate(drawn)]
    facts = [FactInfo(fact, "r", False, False) for fact in ("f0", "f1", "f2")]
    first = stability(Answers.build(facts, built), FAMILIES)
    random.shuffle(built)
    random.shuffle(facts)
    second = stability(Answers.build(facts, built), FAMILIES)
    for name in ("bcs", "bes", "top", "label_share", "family_max", "entry_share"):
        assert getattr(first, name).tobytes() == getattr(second, name).tobytes()


def test_uniform_distribution_scores_zero_whatever_the_number_of_clusters():
    three = stability(
        answers_of([("f0", "anchor", "gold"), ("f0", "format", "ans:a"), ("f0", "context", "ans:b")]), FAMILIES
    )
    assert three.bes[0] == pytest.approx(0.0, abs=1e-12)
    assert three.bcs[0] == pytest.approx(1 / 3)


def test_families_count_alike_whatever_their_number_of_queries():
    drawn = [("f0", "anchor", "gold"), *[("f0", "multilingual", "ans:a")] * 5]
    assert stability(answers_of(drawn), FAMILIES).bcs[0] == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("clusters", "expected"),
    [
        (["gold"] * 4 + ["ans:a"], "stable_correct"),
        (["ans:a"] * 4 + ["gold"], "stable_wrong"),
        (["abstain"] * 4 + ["gold"], "stable_abstention"),
        (["amb:a"] * 5, "unstable"),
        (["gold"] * 3 + ["ans:a"] * 2, "unstable"),
    ],
)
def test_behaviour_follows_the_dominating_cluster(clusters, expected):
    answers = answers_of([("f0", family, cluster) for family, cluster in zip(FAMILIES, clusters, strict=True)])
    (code,) = behaviour_classes(answers, stability(answers, FAMILIES), 0.8)
    assert BEHAVIOURS[code] == expected


def test_two_equal_top_clusters_are_unstable_even_below_a_low_threshold():
    answers = answers_of([("f0", "anchor", "gold"), ("f0", "format", "ans:a")])
    assert BEHAVIOURS[behaviour_classes(answers, stability(answers, FAMILIES), 0.5)[0]] == "unstable"


# Family sizes of the published data, for the floors in docs/fks.md: queries -> facts of 2,592.
CONTEXT = {3: 1647, 2: 944, 0: 1}
MULTILINGUAL = {5: 2402, 0: 190}
PARAPHRASE = {4: 2277, 3: 315}


def size_tuples():
    """Sizes without the anchor, with weights; the gaps of context and multilingual fall on different facts."""
    both = {(c, 5): n for c, n in CONTEXT.items()}
    for c, n in {3: 1647, 2: 944}.items():
        gap = 190 * n / 2591
        both[c, 0] = gap
        both[c, 5] -= gap
    for (c, m), n in both.items():
        for p, k in PARAPHRASE.items():
            yield (p, 3, c, m), n * k / 2592


@pytest.mark.parametrize(
    ("anchor", "coverage", "bcs", "bes"),
    [
        (False, "full_set", 0.6112, 0.0579),
        (False, "complete_family", 0.6095, 0.0558),
        (True, "full_set", 0.6230, 0.0680),
        (True, "complete_family", 0.6213, 0.0659),
    ],
)
def test_the_published_chance_floors(anchor, coverage, bcs, bes):
    weighted = [
        (weight, coin_floor((1, *sizes) if anchor else sizes))
        for sizes, weight in size_tuples()
        if coverage == "full_set" or all(sizes)
    ]
    total = sum(weight for weight, _ in weighted)
    assert total == pytest.approx(2592 if coverage == "full_set" else 2401)
    assert sum(w * floor[0] for w, floor in weighted) / total == pytest.approx(bcs, abs=0.001)
    assert sum(w * floor[1] for w, floor in weighted) / total == pytest.approx(bes, abs=0.001)


def test_a_whole_benchmark_answered_by_coin_meets_the_exact_floor():
    """The floor is an expectation of the very metric: drawn answers scatter around it."""
    rng = np.random.default_rng(3)
    sizes = dict(zip(FAMILIES, (1, 4, 3, 3, 5), strict=True))
    facts = [f"f{i:04d}" for i in range(1500)]
    drawn = [
        (fact, family, ("gold", "ans:a")[rng.integers(2)])
        for fact in facts
        for family in FAMILIES
        for _ in range(sizes[family])
    ]
    measured = stability(answers_of(drawn, facts), FAMILIES)
    floor = mean_coin_floor([tuple(sizes.values())] * 1500)
    assert measured.bcs.mean() == pytest.approx(floor[0], abs=4 * measured.bcs.std() / 1500**0.5)
    assert measured.bes.mean() == pytest.approx(floor[1], abs=4 * measured.bes.std() / 1500**0.5)
