import io
import json
import random

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file

from assay.canonical import canonical_text
from assay.cli.disk import refusal
from assay.errors import ConfigError, ModelError
from assay.model import hidden_files
from assay.model.engine import Request
from assay.model.hidden import last_token_states, states_identity
from assay.model.hidden_files import StateRow, write_states
from assay.model.loading import load
from assay.model.progress import Progress
from assay.records.jsonl import read_rows

HEADER = {"model_id": "tiny", "revision": None, "prompt_template_sha256": "0" * 64}
LAYERS = [1, 2, 3]


@pytest.fixture(scope="module")
def requests(tiny, fks_like_prompts):
    tokenizer = tiny.weights.tokenizer
    rows = [tokenizer(prompt, add_special_tokens=False).input_ids for prompt in fks_like_prompts]
    return [Request(f"q{number}", tokens, 1) for number, tokens in enumerate([*rows, [7], [9, 4]])]


def states_of(model, requests, layers=(0, 1, 2, 3), top_state="hidden_states"):
    return dict(last_token_states(model, requests, list(layers), top_state))


def same(left, right):
    return left.keys() == right.keys() and all(torch.equal(left[row], right[row]) for row in left)


def written(folder, model, requests, **changes):
    options = {
        "layers": LAYERS,
        "top_state": "hidden_states",
        "metadata_key": "fks",
        "header": HEADER,
        "rows_per_shard": 16,
    }
    write_states(folder, model, requests, **(options | changes))
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def metadata_of(path):
    with safe_open(path, framework="pt") as file:
        return file.metadata()


@pytest.fixture(scope="module")
def alone(tiny, requests):
    return {request.row_id: states_of(tiny, [request])[request.row_id] for request in requests}


def test_states_keep_their_bits_in_any_pack(tiny, requests, alone):
    assert same(states_of(tiny, requests), alone)
    assert same(states_of(tiny, random.Random(1).sample(requests, len(requests))), alone)
    assert same(states_of(tiny, requests[::4]), {request.row_id: alone[request.row_id] for request in requests[::4]})


@pytest.mark.usefixtures("two_threads")
def test_states_do_not_depend_on_threads(tiny, requests, alone):
    assert same(states_of(tiny, requests), alone)


@pytest.mark.parametrize("tokens", [20, 100, 10_000])
def test_states_do_not_depend_on_the_size_of_packs(tiny, requests, alone, tokens, monkeypatch):
    monkeypatch.setattr("assay.model.hidden._PACK_TOKENS", tokens)
    assert same(states_of(tiny, requests), alone)


def test_states_are_those_of_a_plain_pass(tiny, tiny_sequential, requests, alone):
    plain = states_of(tiny_sequential, requests)
    for row, state in alone.items():
        torch.testing.assert_close(state, plain[row], rtol=1e-5, atol=1e-5)


def test_states_are_entries_of_the_list_of_transformers(tiny_sequential, requests):
    weights = tiny_sequential.weights
    states = states_of(tiny_sequential, requests[:3])
    for request in requests[:3]:
        with torch.inference_mode():
            listed = weights.model(torch.tensor([request.token_ids]), output_hidden_states=True).hidden_states
        for layer in range(4):
            assert torch.equal(states[request.row_id][layer], listed[layer + 1][0, -1])


def test_block_output_differs_at_the_top_only(tiny, requests):
    listed, raw = (states_of(tiny, requests[:4], top_state=top) for top in ("hidden_states", "block_output"))
    for row in listed:
        assert torch.equal(listed[row][:3], raw[row][:3])
        assert not torch.allclose(listed[row][3], raw[row][3])


def test_layers_come_in_the_order_asked(tiny, requests, alone):
    states = states_of(tiny, requests[:1], layers=(3, 0))
    assert torch.equal(states["q0"], alone["q0"][[3, 0]])


@pytest.mark.parametrize("layers", [[], [4], [-1], [1, 1]])
def test_layers_that_cannot_be_are_refused(tiny, requests, layers):
    with pytest.raises(ConfigError, match="layers"):
        last_token_states(tiny, requests, layers, "hidden_states")


def test_padded_states_are_close(tiny, tiny_folder, requests, alone):
    padded = load(tiny_folder, engine="padded", batch_size=8)
    for row, state in states_of(padded, requests).items():
        torch.testing.assert_close(state, alone[row], rtol=1e-4, atol=1e-4)
    identities = [states_identity(padded), states_identity(load(tiny_folder, engine="padded")), states_identity(tiny)]
    assert all(identities.count(identity) == 1 for identity in identities)


def test_padded_states_of_absolute_positions_are_close(tmp_path, tiny_folder, requests):
    from transformers import AutoTokenizer, GPT2Config, GPT2LMHeadModel

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(5)
        config = GPT2Config(vocab_size=259, n_embd=32, n_layer=4, n_head=4, n_positions=512, initializer_range=0.2)
        GPT2LMHeadModel(config).save_pretrained(tmp_path)
    AutoTokenizer.from_pretrained(tiny_folder).save_pretrained(tmp_path)
    padded, packed = load(tmp_path, engine="padded", batch_size=8), load(tmp_path)
    assert packed.fallback is None
    expected = states_of(packed, requests)
    for row, state in states_of(padded, requests).items():
        torch.testing.assert_close(state, expected[row], rtol=1e-4, atol=1e-4)


def test_files_hold_the_states_in_prompt_order(tmp_path, tiny, requests, alone):
    names = written(tmp_path, tiny, requests)
    assert sorted(names) == [*(f"hidden-0000{n}.safetensors" for n in range(3)), "index.jsonl"]
    index = list(read_rows(tmp_path / "index.jsonl", StateRow))
    assert [row.query_id for row in index] == [request.row_id for request in requests]
    assert [(row.shard, row.row) for row in index[15:17]] == [
        ("hidden-00000.safetensors", 15),
        ("hidden-00001.safetensors", 0),
    ]
    states = torch.cat([load_file(path)["h"] for path in sorted(tmp_path.glob("*.safetensors"))])
    assert torch.equal(states, torch.stack([state[LAYERS] for state in alone.values()]))


def test_header_has_one_key_and_says_what_the_states_are(tmp_path, tiny, requests):
    written(tmp_path, tiny, requests)
    first, second = (metadata_of(tmp_path / f"hidden-0000{number}.safetensors") for number in range(2))
    assert list(first) == ["fks"]
    header = json.loads(first["fks"])
    assert header.pop("query_ids_sha256") != json.loads(second["fks"])["query_ids_sha256"]
    assert header == HEADER | {
        "schema": "hidden-1",
        "layers": LAYERS,
        "top_state": "hidden_states",
        "position": "last_prompt_token",
        "dtype": "float32",
    }


def test_one_input_gives_one_set_of_bytes(tmp_path, tiny, requests):
    assert written(tmp_path / "a", tiny, requests) == written(tmp_path / "b", tiny, iter(requests))


def test_an_interrupted_run_keeps_its_shards(tmp_path, tiny, requests, monkeypatch):
    whole = written(tmp_path / "whole", tiny, requests)
    real, calls = hidden_files._shard_states, []

    def dying(model, rows, *rest):
        calls.append(len(rows))
        if len(calls) == 3:
            raise KeyboardInterrupt
        return real(model, rows, *rest)

    monkeypatch.setattr(hidden_files, "_shard_states", dying)
    with pytest.raises(KeyboardInterrupt):
        written(tmp_path / "broken", tiny, requests)
    assert written(tmp_path / "broken", tiny, requests) == whole
    assert calls == [16, 16, 10, 10]


def test_progress_is_told_of_every_row(tmp_path, tiny, requests, monkeypatch):
    monkeypatch.setattr("assay.model.progress._LINE_EVERY_S", 0.0)
    for tokens in (sum(len(request.token_ids) for request in requests), 0):  # the second time all shards stand
        stream = io.StringIO()
        progress = Progress("states", len(requests), 0, stream)
        written(tmp_path, tiny, requests, progress=progress)
        progress.close()
        (tmp_path / ".made-by.json").write_text(canonical_text(states_identity(tiny)))
        lines = stream.getvalue().splitlines()
        assert lines[-1].startswith(f"states: {len(requests)}/{len(requests)} rows in")
        assert len(lines) > 2
        assert progress._tokens == tokens


def test_what_another_engine_left_is_written_anew(tmp_path, tiny, tiny_folder, requests, monkeypatch):
    whole = written(tmp_path / "whole", tiny, requests)
    real, calls = hidden_files._shard_states, []

    def dying(model, rows, *rest):
        calls.append(len(rows))
        if len(calls) == 3:
            raise KeyboardInterrupt
        return real(model, rows, *rest)

    monkeypatch.setattr(hidden_files, "_shard_states", dying)
    with pytest.raises(KeyboardInterrupt):
        written(tmp_path / "mixed", load(tiny_folder, engine="padded", batch_size=8), requests)
    assert (tmp_path / "mixed/hidden-00001.safetensors").is_file()
    assert written(tmp_path / "mixed", tiny, requests) == whole
    assert calls[3:] == [16, 16, 10]


def test_a_shard_of_other_rows_or_half_a_shard_is_written_anew(tmp_path, tiny, requests):
    whole = written(tmp_path, tiny, requests)
    (tmp_path / "hidden-00000.safetensors").write_bytes(whole["hidden-00001.safetensors"])
    (tmp_path / "hidden-00002.safetensors").write_bytes(whole["hidden-00002.safetensors"][:-40])
    assert written(tmp_path, tiny, requests) == whole


def test_bfloat16_storage_rounds_and_float16_is_refused(tmp_path, tiny, requests, alone):
    written(tmp_path, tiny, requests, dtype="bfloat16")
    states = load_file(tmp_path / "hidden-00000.safetensors")["h"]
    assert torch.equal(states[0], alone["q0"][LAYERS].to(torch.bfloat16))
    with pytest.raises(ConfigError, match="float16"):
        written(tmp_path, tiny, requests, dtype="float16")


def test_a_state_that_is_not_finite_is_an_error_with_its_row(tmp_path, tiny, requests, monkeypatch):
    def broken(model, rows, layers, top_state):
        for row in rows:
            state = torch.zeros(len(layers), 32)
            state[1, 3] = float("inf") if row.row_id == "q7" else 0.0
            yield row.row_id, state

    monkeypatch.setattr(hidden_files, "last_token_states", broken)
    with pytest.raises(ModelError, match="layer 2") as caught:
        written(tmp_path, tiny, requests)
    assert caught.value.row == "q7"


def test_a_full_disk_is_a_clear_error_and_keeps_finished_shards(tmp_path, small_disk, tiny, requests, monkeypatch):
    whole = written(tmp_path / "whole", tiny, requests)
    small = small_disk("28k")  # a shard takes two blocks of 4 KiB
    with pytest.raises(OSError, match="No space left on device") as caught:
        written(small, tiny, requests)
    assert refusal(caught.value).file.startswith(str(small))
    assert (small / "hidden-00000.safetensors").read_bytes() == whole["hidden-00000.safetensors"]
    real, calls = hidden_files._shard_states, []
    monkeypatch.setattr(
        hidden_files, "_shard_states", lambda model, rows, *rest: calls.append(1) or real(model, rows, *rest)
    )
    assert written(small_disk("1m"), tiny, requests) == whole
    assert len(calls) < 3


def test_one_shard_is_in_memory_at_a_time(tmp_path, tiny, requests, monkeypatch):
    sizes = []
    real = hidden_files._shard_states
    monkeypatch.setattr(
        hidden_files, "_shard_states", lambda model, rows, *rest: sizes.append(len(rows)) or real(model, rows, *rest)
    )
    written(tmp_path, tiny, requests, rows_per_shard=5)
    assert max(sizes) == 5
