"""The guarantee of the packed engine, on the embedded models: bits of logits, texts, states."""

import hashlib
import random
import threading

import pytest
import torch

from assay.model.engine import Decoding, Request
from assay.model.hidden import last_token_states
from assay.model.loading import load
from assay.model.packed import Forward, PackedEngine
from assay.model.unpacked import SequentialEngine

pytestmark = [pytest.mark.real_model, pytest.mark.long]

# Model, prompts of all variants, of the slow ones (1 slot, one prompt at a time), new tokens, lengths of long prompts.
MODELS = [
    ("smollm2-135m", 32, 8, 16, (130, 255, 431)),
    ("qwen2.5-coder-0.5b", 12, 3, 8, (130,)),
    ("gemma3-270m", 12, 3, 8, (130, 600)),  # with a sliding window of 512 tokens
    ("qwen2.5-coder-1.5b", 6, 2, 4, (130,)),
]
DECODING = Decoding(max_new_tokens=24)  # each request says how many it wants


class Digests(Forward):
    """A forward pass that remembers the digest of the logits of every row at every step."""

    def __init__(self, weights, requests):
        super().__init__(weights)
        self.of = {}
        self._prompts = {tuple(request.token_ids): request.row_id for request in requests}
        self._lane = threading.local()  # slots are those of a lane

    def step(self, decoding, starting, slab, least=0):
        rows = self._lane.__dict__.setdefault("rows", {})
        started = [self._prompts[tuple(tokens)] for _, tokens in starting]
        self._lane.order = [rows[slot] for slot, _, _ in decoding] + started
        rows.update((slot, row) for (slot, _), row in zip(starting, started, strict=True))
        return super().step(decoding, starting, slab, least)

    def logits(self, step):
        logits = super().logits(step)
        for row, values in zip(self._lane.order, logits, strict=True):
            self.of.setdefault(row, hashlib.sha256()).update(values.contiguous().numpy().tobytes())
        return logits


def run(model, requests, slots, lanes=1):
    """Return {row: (text, end, digest of all its logits)}."""
    # Never another slab, in which rows would move to other slots.
    engine = PackedEngine(model.weights, model.layout, slots=slots, slab_bytes=1 << 40, lanes=lanes)
    engine.forward = Digests(model.weights, requests)
    rows = {row.row_id: row for row in engine.generate(requests, DECODING)}
    return {name: (row.text, row.finish_reason, engine.forward.of[name].hexdigest()) for name, row in rows.items()}


@pytest.fixture(scope="module", params=MODELS, ids=[name for name, *_ in MODELS])
def case(request, real_model_folder, fks_like_prompts):
    name, n_all, n_slow, new_tokens, lengths = request.param
    model = load(real_model_folder(name))
    assert model.fallback is None
    assert model.engine.identity["linear"] == "onednn-1"
    tokenizer = model.weights.tokenizer
    prompts = list(dict.fromkeys(fks_like_prompts))[:n_all]
    requests = [Request(f"row-{n}", tokenizer(prompt).input_ids, new_tokens) for n, prompt in enumerate(prompts)]
    tokens = [token for request in requests for token in request.token_ids]
    # Two that begin like the first and are as long as it is: packs share the tokens of the beginning.
    first, others = requests[0].token_ids, tokens[::-1]
    alike = [[*first[:shared], *others[shared : len(first)]] for shared in (len(first) - 1, len(first) // 2)]
    requests[1:1] = [Request(f"alike-{n}", row, new_tokens) for n, row in enumerate(alike)]
    assert len({tuple(request.token_ids) for request in requests}) == len(requests)
    long = [Request(f"long-{n}", (tokens * 3)[n : n + length], 4) for n, length in enumerate(lengths)]
    return model, requests, n_slow, long


@pytest.fixture(scope="module")
def base(case):
    model, requests, *_ = case
    return run(model, requests, 16)


def of(base, requests):
    return {request.row_id: base[request.row_id] for request in requests}


def test_rows_at_a_time_do_not_change_logits(case, base):
    model, requests, n_slow, _ = case
    assert run(model, requests[:n_slow], 1) == of(base, requests[:n_slow])
    assert run(model, requests, 4) == base


def test_order_does_not_change_logits(case, base):
    model, requests, *_ = case
    # Prompts are sorted by length, so another order shows among equal lengths and in which rows share a step.
    assert run(model, random.Random(2).sample(requests, len(requests)), 7) == base


@pytest.mark.parametrize("shards", [2, 3])
def test_shards_do_not_change_logits(case, base, shards):
    model, requests, *_ = case
    together = {}
    for shard in range(shards):
        together |= run(model, requests[shard::shards], 16)
    assert together == base


def test_threads_do_not_change_logits(case, base):
    model, requests, *_ = case
    assert run(model, requests, 16, lanes=2) == base
    torch.set_num_threads(2)
    try:
        assert run(model, requests, 16) == base
    finally:
        torch.set_num_threads(1)


def test_texts_are_those_of_one_prompt_at_a_time(case, base):
    model, requests, n_slow, _ = case
    for row in SequentialEngine(model.weights).generate(requests[:n_slow], DECODING):
        assert (row.text, row.finish_reason) == base[row.row_id][:2]


def test_states_are_those_of_a_plain_pass(case):
    model, requests, n_slow, _ = case
    layers = list(range(model.weights.n_layers))
    together = dict(last_token_states(model, requests, layers, "hidden_states"))
    model.weights.attend("sdpa")
    for request in requests[:n_slow]:
        with torch.inference_mode():
            output = model.weights.model.model(torch.tensor([request.token_ids]), output_hidden_states=True)
        plain = torch.stack([state[0, -1] for state in output.hidden_states[1:]])
        if len(request.token_ids) >= 12:
            assert torch.equal(together[request.row_id], plain)
        else:
            torch.testing.assert_close(together[request.row_id], plain, rtol=1e-4, atol=1e-4)


def test_states_do_not_depend_on_neighbours_or_threads(case):
    model, requests, n_slow, _ = case
    layers = list(range(model.weights.n_layers))
    together = dict(last_token_states(model, requests, layers, "hidden_states"))
    for request in requests[:n_slow]:
        (_, alone), *_ = last_token_states(model, [request], layers, "hidden_states")
        assert torch.equal(together[request.row_id], alone)
    torch.set_num_threads(2)
    try:
        threaded = dict(last_token_states(model, requests, layers, "hidden_states"))
    finally:
        torch.set_num_threads(1)
    assert all(torch.equal(together[row], threaded[row]) for row in together)


def test_long_prompts_keep_their_bits(case):
    model, requests, _, long = case
    alone = {}
    for request in long:
        alone |= run(model, [request], 16)
    assert run(model, long + requests[:8], 16).items() >= alone.items()
