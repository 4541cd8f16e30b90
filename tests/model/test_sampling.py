import msgspec
import numpy as np
import pytest
import torch

from assay.errors import ConfigError
from assay.model.engine import Decoding
from assay.model.sampling import choose, nucleus, uniform


def sampling(**settings):
    return Decoding(method="sampling", max_new_tokens=4, **({"temperature": 1.0} | settings))


def by_definition(logits, temperature, top_k, top_p):
    """The kept tokens and their probabilities, by sorting everything."""
    order = sorted(range(len(logits)), key=lambda token: (-logits[token], token))
    order = order[:top_k] if top_k else order
    weights = np.exp(np.array([logits[token] for token in order]) / temperature)
    weights /= weights.sum()
    kept, total = [], 0.0
    for token, weight in zip(order, weights, strict=True):
        kept.append((token, weight))
        total += weight
        if total >= top_p:
            break
    mass = sum(weight for _, weight in kept)
    return {token: weight / mass for token, weight in kept}


@pytest.mark.parametrize("temperature", [0.3, 1.0, 2.5])
@pytest.mark.parametrize("top_k", [0, 1, 7, 500])
@pytest.mark.parametrize("top_p", [1.0, 0.9, 0.5, 0.01])
def test_nucleus_is_the_one_of_the_definition(temperature, top_k, top_p):
    logits = np.random.default_rng(5).normal(size=300) * 3
    ids, weights = nucleus(logits, temperature, top_k, top_p)
    expected = by_definition(logits, temperature, top_k, top_p)
    assert set(ids.tolist()) == set(expected)
    weights = weights / weights.sum()
    assert all(expected[token] == pytest.approx(weight) for token, weight in zip(ids.tolist(), weights, strict=True))


def test_equal_logits_are_cut_by_token_id():
    ids, _ = nucleus(np.zeros(10), 1.0, 3, 1.0)
    assert sorted(ids.tolist()) == [0, 1, 2]
    ids, _ = nucleus(np.zeros(10), 1.0, 0, 0.35)
    assert sorted(ids.tolist()) == [0, 1, 2, 3]


def test_frequencies_follow_the_softmax():
    logits = torch.log(torch.tensor([0.5, 0.3, 0.15, 0.05]))
    n = 4000
    drawn = choose(logits.expand(n, -1), sampling(), list(range(n)), [0] * n)
    shares = np.bincount(drawn, minlength=4) / n
    # Four standard deviations of a share.
    assert np.all(np.abs(shares - [0.5, 0.3, 0.15, 0.05]) < 4 * np.sqrt([0.25 / n, 0.21 / n, 0.1275 / n, 0.0475 / n]))


def test_a_draw_does_not_depend_on_neighbours():
    logits = torch.randn(40, 257, generator=torch.Generator().manual_seed(1))
    together = choose(logits, sampling(top_p=0.95), list(range(40)), [3] * 40)
    alone = [choose(logits[row : row + 1], sampling(top_p=0.95), [row], [3])[0] for row in range(40)]
    assert together == alone


def test_every_position_and_seed_draws_anew():
    points = {uniform(seed, position) for seed in range(100) for position in range(100)}
    assert len(points) == 10_000
    assert all(0.0 <= point < 1.0 for point in points)


def test_the_stream_of_a_seed_is_fixed():
    # Another value here changes every sampled answer: raise ROW_VERSION.
    assert [uniform(7, position) for position in range(2)] == [0.6837607076097463, 0.19543339427030781]


@pytest.mark.parametrize("decoding", [Decoding(max_new_tokens=1), sampling()])
@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_numbers_that_are_not_finite_give_no_token(decoding, bad):
    logits = torch.zeros(3, 5)
    logits[1, 2] = bad
    tokens = choose(logits, decoding, [1, 2, 3], [0, 0, 0])
    assert tokens[1] is None
    assert None not in (tokens[0], tokens[2])


def test_greedy_takes_the_first_of_equal_logits():
    assert choose(torch.tensor([[0.0, 3.0, 3.0, 1.0]]), Decoding(max_new_tokens=1), [None], [0]) == [1]


@pytest.mark.parametrize(
    ("settings", "key"),
    [
        ({"temperature": 0.7}, "temperature"),
        ({"top_p": 0.9}, "top_p"),
        ({"top_k": 5}, "top_k"),
        ({"method": "sampling"}, "temperature"),
        ({"method": "sampling", "temperature": -1.0}, "temperature"),
        ({"method": "sampling", "temperature": float("nan")}, "temperature"),
        ({"method": "sampling", "temperature": 1.0, "top_p": 0.0}, "top_p"),
        ({"method": "sampling", "temperature": 1.0, "top_k": -1}, "top_k"),
        ({"max_new_tokens": 0}, "max_new_tokens"),
        ({"stop": ("",)}, "stop"),
        ({"stop": ("a", "a")}, "stop"),
    ],
)
def test_contradictory_decoding_is_refused(settings, key):
    with pytest.raises(ConfigError) as caught:
        Decoding(**({"max_new_tokens": 4} | settings)).check()
    assert caught.value.key == key


def test_unknown_decoding_field_is_refused():
    with pytest.raises(msgspec.ValidationError, match="top_q"):
        msgspec.convert({"max_new_tokens": 4, "top_q": 1}, Decoding)
