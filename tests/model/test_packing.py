"""The layout of a step, and what prompts of one length share in it."""

import random

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from assay.model.engine import Decoding, Request
from assay.model.packed import Forward, PackedEngine
from assay.model.packing import make_step, minimum_rows, padded_rows
from assay.model.selftest import examine

# Few lengths and few tokens, so that many prompts begin alike.
prompts = st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=6), min_size=1, max_size=12)


def step_of(rows, decoding=(), least=0):
    starting = list(enumerate(sorted(rows, key=len)))
    return starting, make_step(decoding, starting, slab=None, least=least, device=torch.device("cpu"))


@given(prompts, st.integers(0, 3))
def test_every_prompt_finds_its_tokens_and_what_begins_alike_stands_once(rows, n_decoded):
    starting, step = step_of(rows, [(20 + n, 7, 50) for n in range(n_decoded)])
    ids, positions = step.token_ids[0], step.position_ids[0]
    assert [slot for part in step.prompts for slot in part.slots] == [slot for slot, _ in starting]
    found = []
    for part in step.prompts:
        found += part.by_row(ids.view(1, -1, 1)).view(-1, part.length).tolist()
        assert part.by_row(positions.view(1, -1, 1)).view(-1, part.length).unique(dim=0).tolist() == [
            list(range(part.length))
        ]
        same_length = [tokens for _, tokens in starting if len(tokens) == part.length]
        beginnings = {tuple(tokens[:n]) for tokens in same_length for n in range(1, part.length + 1)}
        total = part.length * len(same_length)
        spares = total - len(beginnings)
        assert part.end - part.first == (len(beginnings) if spares >= total / 16 else total)
    assert found == [tokens for _, tokens in starting]
    assert step.n_real == n_decoded + sum(part.end - part.first for part in step.prompts)


@given(prompts)
def test_the_wanted_tokens_are_the_last_of_each_prompt(rows):
    starting, step = step_of(rows, least=16)
    last = step.wanted[: step.n_wanted]
    assert step.token_ids[0, last].tolist() == [tokens[-1] for _, tokens in starting]
    assert step.position_ids[0, last].tolist() == [len(tokens) - 1 for _, tokens in starting]
    assert len(step.wanted) >= 16
    assert step.token_ids.shape[1] >= 16


def test_few_numbers_of_rows_occur_and_few_rows_are_computed_in_vain():
    sizes = {rows: padded_rows(rows) for rows in range(minimum_rows(1), 1153)}
    assert len(set(sizes.values())) == 79
    assert all(0 <= size - rows <= max(3, rows / 16) for rows, size in sizes.items())
    for n_decoded in range(1, 150, 7):
        _, step = step_of([[1, 2, 3]] * 5 + [[2] * 9], [(20 + n, 7, 50) for n in range(n_decoded)], least=16)
        assert len(step.wanted) == padded_rows(max(16, step.n_wanted))
        assert step.token_ids.shape == step.position_ids.shape == (1, padded_rows(max(16, step.n_real)))


@given(prompts)
def test_what_attention_gives_comes_back_to_each_token(rows):
    _, step = step_of(rows)
    # A result that tells the beginning of a prompt: what shares a token must agree on it.
    ids = step.token_ids[0]
    for part in step.prompts:
        tokens = part.by_row(ids.view(1, -1, 1)).view(-1, part.length)
        result = (tokens * 3 ** torch.arange(part.length)).cumsum(1).view(-1, part.length, 1, 1)
        returned = part.by_token(result).view(-1, 1)
        assert torch.equal(part.by_row(_in_step(returned, part, len(ids))).view(-1, part.length, 1, 1), result)


def _in_step(returned, part, total):
    placed = torch.full((1, total, 1), -1)
    placed[0, part.first : part.end] = returned
    return placed


@pytest.fixture
def alike(tiny):
    """Prompts of two lengths around the blocks of the attention kernel, some equal, most with a common beginning."""
    chance = random.Random(5)
    rows = []
    for length in (31, 70):
        common = [chance.randrange(5, 250) for _ in range(length)]
        rows += [
            common[:shared] + [chance.randrange(5, 250) for _ in range(length - shared)]
            for shared in (length, length, length - 1, length - 1, length // 2, 3, 0)
        ]
    return [Request(f"row-{n}", tokens, 12, seed=n) for n, tokens in enumerate(rows)]


@pytest.mark.parametrize(
    "decoding",
    [Decoding(max_new_tokens=12), Decoding(method="sampling", temperature=0.8, max_new_tokens=12)],
    ids=["greedy", "sampling"],
)
def test_rows_that_begin_alike_keep_their_bits(tiny, alike, decoding):
    alone = {}
    for request in alike:
        [row] = tiny.engine.generate([request], decoding)
        alone[row.row_id] = row
    for slots in (3, 64):
        engine = PackedEngine(tiny.weights, tiny.layout, slots=slots)
        counted = engine.forward = Counted(tiny.weights)
        assert {row.row_id: row for row in engine.generate(alike, decoding)} == alone
        if slots == 64:
            assert counted.prompt_tokens < 0.8 * sum(len(request.token_ids) for request in alike)


def test_logits_of_rows_that_begin_alike_keep_their_bits(tiny, alike):
    forward = Forward(tiny.weights)
    asked = sorted(alike, key=lambda request: (-len(request.token_ids), request.token_ids))
    together = forward.logits(forward.step([], [(n, row.token_ids) for n, row in enumerate(asked)], None))
    for request, row in zip(asked, together, strict=True):
        alone = forward.logits(forward.step([], [(0, request.token_ids)], None))[0]
        assert torch.equal(row, alone)


def test_a_model_whose_rows_suffer_from_sharing_is_refused(tiny, monkeypatch):
    from assay.model import packing

    assert examine(tiny.weights).refusal is None
    # A mistake in sharing: every prompt would end with the last token of the last one.
    honest = packing._shared

    def wrong(rows):
        own, places = honest(rows)
        length = len(rows[0])
        if len(own) < len(places):
            places[length - 1 :: length] = places[-1:] * len(rows)
        return own, places

    monkeypatch.setattr(packing, "_shared", wrong)
    assert "changes its bits" in examine(tiny.weights).refusal


class Counted(Forward):
    """A forward pass that counts the tokens of prompts."""

    prompt_tokens = 0

    def step(self, decoding, starting, slab, least=0):
        step = super().step(decoding, starting, slab, least)
        self.prompt_tokens += step.n_real - step.n_decoded
        return step
