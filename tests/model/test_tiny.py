import hashlib

import pytest
import torch

from assay.model.tiny import N_LAYERS, WIDTH, build_tiny


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_one_seed_gives_one_file(tiny_folder, tmp_path):
    again = build_tiny(tmp_path, seed=0)
    assert {p.name: sha256(p) for p in again.iterdir()} == {p.name: sha256(p) for p in tiny_folder.iterdir()}


def test_other_seed_gives_other_weights(tiny_folder, tmp_path):
    other = build_tiny(tmp_path, seed=1)
    assert sha256(other / "model.safetensors") != sha256(tiny_folder / "model.safetensors")


def test_building_leaves_the_random_state_alone(tmp_path):
    before = torch.random.get_rng_state()
    build_tiny(tmp_path, seed=3)
    assert torch.equal(torch.random.get_rng_state(), before)


def test_size_is_as_documented(tiny):
    tiny.weights.attend("sdpa")  # while packed steps run, linear layers hold their weights in another layout
    assert sum(parameter.numel() for parameter in tiny.weights.model.parameters()) == 45_440
    assert (tiny.weights.n_layers, tiny.weights.width) == (N_LAYERS, WIDTH)


@pytest.mark.parametrize(
    "text", ["", "plain", "東京 and Москва", "\t\n  \r", "👩‍👧 e\u0301", "<eos> is text {}[]", "\u00a0\u200b"]
)
def test_any_text_comes_back(tiny, text):
    tokenizer = tiny.weights.tokenizer
    ids = tokenizer(text.replace("<eos>", ""), add_special_tokens=False).input_ids
    assert tokenizer.decode(ids, clean_up_tokenization_spaces=False) == text.replace("<eos>", "")


def test_chat_template_renders(tiny):
    messages = [{"role": "user", "content": "Hi"}]
    text = tiny.weights.tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
    assert text == "[user] Hi\n[assistant] "
