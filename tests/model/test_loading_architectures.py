"""Which architectures run in packs, and that those which do give the answers of one prompt at a time."""

import pytest
import torch

from assay.errors import ModelError
from assay.model.engine import Decoding, Request
from assay.model.hidden import last_token_states, states_identity
from assay.model.loading import load
from assay.model.packed import PackedEngine
from assay.model.selftest import examine
from assay.model.unpacked import SequentialEngine

COMMON = {"vocab_size": 259, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "initializer_range": 0.2}
SHAPE = COMMON | {
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "max_position_embeddings": 512,
}
DYNAMIC = {"rope_type": "dynamic", "factor": 2.0, "rope_theta": 10000.0}
SERVED = {
    "mistral window": ("MistralConfig", SHAPE | {"sliding_window": 24}),
    "mistral no window": ("MistralConfig", SHAPE | {"sliding_window": None}),
    "qwen2": ("Qwen2Config", SHAPE),
    "qwen3": ("Qwen3Config", SHAPE),
    "gemma": ("GemmaConfig", SHAPE),
    "gemma2 soft cap, window": (
        "Gemma2Config",
        SHAPE | {"sliding_window": 24, "query_pre_attn_scalar": 16, "attn_logit_softcapping": 2.0},
    ),
    "gemma3 window, own scaling": ("Gemma3TextConfig", SHAPE | {"sliding_window": 24, "query_pre_attn_scalar": 16}),
    "phi3 window": ("Phi3Config", SHAPE | {"sliding_window": 24}),
    "cohere": ("CohereConfig", SHAPE | {"logit_scale": 0.5}),
    "granite": ("GraniteConfig", SHAPE | {"logits_scaling": 2.0, "attention_multiplier": 0.3}),
    "olmo2": ("Olmo2Config", SHAPE),
    "stablelm": ("StableLmConfig", SHAPE),
    "starcoder2 window": ("Starcoder2Config", SHAPE | {"sliding_window": 24}),
    "smollm3": ("SmolLM3Config", SHAPE),
    "deepseek without experts, keys wider than values": (
        "DeepseekV3Config",
        {k: v for k, v in SHAPE.items() if k not in {"num_key_value_heads", "head_dim"}}
        | {"num_key_value_heads": 4, "first_k_dense_replace": 4, "n_routed_experts": 2, "n_group": 1, "topk_group": 1}
        | {"kv_lora_rank": 16, "q_lora_rank": 16, "qk_rope_head_dim": 8, "qk_nope_head_dim": 8, "v_head_dim": 8},
    ),
    "gpt-neox": ("GPTNeoXConfig", {k: v for k, v in SHAPE.items() if k not in {"num_key_value_heads", "head_dim"}}),
    "gpt2": ("GPT2Config", COMMON | {"n_embd": 32, "n_layer": 4, "n_head": 4, "n_positions": 512}),
}
REFUSED = {
    "llama, dynamic rope": ("LlamaConfig", SHAPE | {"rope_parameters": DYNAMIC}, "dynamic"),
    "mixtral": ("MixtralConfig", SHAPE | {"num_local_experts": 4, "num_experts_per_tok": 2}, "token alike"),
    "gpt-oss": ("GptOssConfig", SHAPE | {"num_local_experts": 4, "num_experts_per_tok": 2}, ""),
    "mamba": ("MambaConfig", COMMON | {"hidden_size": 32, "num_hidden_layers": 2, "state_size": 8}, ""),
    "bloom": ("BloomConfig", COMMON | {"hidden_size": 32, "n_layer": 2, "n_head": 4}, ""),
}


@pytest.fixture(scope="module")
def build(tiny_folder, tmp_path_factory):
    import transformers
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(tiny_folder)

    def make(name, settings):
        folder = tmp_path_factory.mktemp("architecture")
        config = getattr(transformers, name)(**settings)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(11)
            model = AutoModelForCausalLM.from_config(config)
            for parameter in model.parameters():
                # Norms start at one and biases at zero, which would hide mistakes.
                parameter.data.add_(torch.randn_like(parameter) * 0.05)
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        return folder

    return make


@pytest.fixture(scope="module")
def requests():
    lengths = [1, 2, 9, 9, 9, 15, 23, 24, 25, 40, 40, 63, 64, 65, 130]
    return [
        Request(f"row-{n}", [3 + (31 * n + 7 * k * k + k) % 250 for k in range(length)], 8)
        for n, length in enumerate(lengths)
    ]


def rows_of(engine, requests):
    return {row.row_id: row for row in engine.generate(requests, Decoding(max_new_tokens=8))}


@pytest.mark.parametrize("case", SERVED)
def test_served_architecture_runs_in_packs_and_answers_as_one_at_a_time(build, requests, case):
    model = load(build(*SERVED[case]))
    assert model.fallback is None
    together = rows_of(model.engine, requests)
    one_at_a_time = rows_of(SequentialEngine(model.weights), requests[::3])
    assert {row: together[row] for row in one_at_a_time} == one_at_a_time
    few = PackedEngine(model.weights, model.layout, slots=3)
    assert together == rows_of(few, requests[::-1])


@pytest.mark.parametrize("case", SERVED)
def test_states_of_a_served_architecture_are_those_of_the_plain_pass(build, requests, case):
    model = load(build(*SERVED[case]))
    for top_state in ("hidden_states", "block_output"):
        layers = [3, 0, 2]
        packed = dict(last_token_states(model, requests, layers, top_state))
        for request in requests:
            alone = dict(last_token_states(model, [request], layers, top_state))[request.row_id]
            assert torch.equal(packed[request.row_id], alone)
        model.weights.attend("eager")
        for request in requests:
            with torch.inference_mode():
                plain = model.weights.model(
                    torch.tensor([request.token_ids]), output_hidden_states=True, use_cache=False
                ).hidden_states
            wanted = torch.stack([plain[layer + 1][0, -1] for layer in layers])
            if top_state == "block_output":
                wanted, packed_rows = wanted[1:], packed[request.row_id][1:]
                assert not torch.allclose(plain[4][0, -1], packed[request.row_id][0], rtol=1e-2)
            else:
                packed_rows = packed[request.row_id]
            torch.testing.assert_close(packed_rows, wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("case", REFUSED)
def test_other_architectures_fall_back_and_say_why(build, requests, case):
    name, settings, word = REFUSED[case]
    model = load(build(name, settings))
    assert model.fallback
    assert word in model.fallback
    assert isinstance(model.engine, SequentialEngine)
    assert model.engine.identity["batch_rule"] == "one-at-a-time-1"
    asked = [request for request in requests if len(request.token_ids) < 60]
    assert len(rows_of(model.engine, asked)) == len(asked)


NARROW = COMMON | {"hidden_size": 32, "num_hidden_layers": 4, "num_attention_heads": 4, "max_position_embeddings": 512}
STATES_OF_OTHERS = {
    "llama4, which gives itself as its decoder": (
        "Llama4TextConfig",
        SHAPE | {"num_local_experts": 2, "intermediate_size_mlp": 64, "attention_chunk_size": 24},
    ),
    "modernbert, which gives its head as its decoder": ("ModernBertDecoderConfig", SHAPE | {"sliding_window": 24}),
    "openai-gpt, whose blocks give a list": ("OpenAIGPTConfig", COMMON | {"n_embd": 32, "n_layer": 4, "n_head": 4}),
    "roberta, whose positions begin at two": ("RobertaConfig", NARROW | {"intermediate_size": 64, "is_decoder": True}),
}
WITHOUT_STATES = {
    "lists of parts of blocks": ("XLMConfig", COMMON | {"emb_dim": 32, "n_layers": 4, "n_heads": 4}, "no list of 4"),
    "four streams": (
        "Gemma3nTextConfig",
        SHAPE | {"hidden_size_per_layer_input": 8, "vocab_size_per_layer_input": 259, "num_kv_shared_layers": 0},
        "several streams",
    ),
    "another width at the top": (
        "OPTConfig",
        NARROW | {"ffn_dim": 64, "word_embed_proj_dim": 16, "do_layer_norm_before": False},
        "another width",
    ),
}


@pytest.mark.parametrize("case", STATES_OF_OTHERS)
def test_states_are_those_of_the_plain_pass_however_a_model_is_built(build, requests, case):
    model = load(build(*STATES_OF_OTHERS[case]))
    found = dict(last_token_states(model, requests, [0, 1, 2, 3], "hidden_states"))
    model.weights.attend("eager" if model.weights.can_choose_attention else model.weights.plain_attention)
    for request in requests:
        with torch.inference_mode():
            plain = model.weights.model(torch.tensor([request.token_ids]), output_hidden_states=True, use_cache=False)
        wanted = torch.stack([state[0, -1] for state in plain.hidden_states[1:]])
        torch.testing.assert_close(found[request.row_id], wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("case", WITHOUT_STATES)
@pytest.mark.parametrize("layers", [[0, 3], [3]])
def test_models_without_one_state_for_each_token_are_refused(build, requests, case, layers):
    name, settings, words = WITHOUT_STATES[case]
    with pytest.raises(ModelError, match=words):
        list(last_token_states(load(build(name, settings)), requests, layers, "hidden_states"))


def test_logits_of_experts_do_not_depend_on_threads(build, requests, monkeypatch):
    from assay.model import unpacked

    wide = {"hidden_size": 512, "intermediate_size": 1024, "num_hidden_layers": 2, "head_dim": 64}
    experts = {"num_local_experts": 4, "num_experts_per_tok": 2}
    engine = load(build("MixtralConfig", SHAPE | wide | experts)).engine
    real, seen = unpacked.choose, []

    def choose(logits, *rest):
        seen[-1].append(logits.clone())
        return real(logits, *rest)

    monkeypatch.setattr(unpacked, "choose", choose)
    before = torch.get_num_threads()
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            seen.append([])
            rows_of(engine, requests)
            assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)
    assert "threads" not in engine.identity
    assert all(torch.equal(one, two) for one, two in zip(*seen, strict=True))


def test_a_model_that_does_not_leave_padding_out_is_refused_for_padded_batches(build):
    folder = build("RwkvConfig", COMMON | {"hidden_size": 32, "num_hidden_layers": 2, "attention_hidden_size": 32})
    with pytest.raises(ModelError, match="padding changes the logits of Rwkv"):
        load(folder, engine="padded", batch_size=2)
    assert load(folder, engine="padded", batch_size=1).engine.batch_size == 1
    assert load(folder).fallback


def test_a_row_that_changes_its_bits_is_noticed(tiny, monkeypatch):
    from assay.model import packed_attention

    real = packed_attention._decode

    def disturbed(step, *rest):
        out = real(step, *rest)
        return out + 1e-6 * step.n_real if step.n_real > 60 else out

    monkeypatch.setattr(packed_attention, "_decode", disturbed)
    verdict = examine(tiny.weights)
    assert "bits" in verdict.refusal


def test_where_prepared_layers_change_bits_the_model_runs_with_torchs_own(tiny_folder, monkeypatch):
    from assay.model import packed_linear

    real = packed_linear._forward

    def disturbed(weight, bias):
        forward = real(weight, bias)
        return lambda rows: forward(rows) * (1 + 1e-6 * (rows.shape[-2] > 60))

    monkeypatch.setattr(packed_linear, "_forward", disturbed)
    model = load(tiny_folder)
    assert model.fallback is None
    assert model.engine.identity["linear"] == "torch"


@pytest.mark.parametrize("kind", ["large", "last", "odd"])
def test_layers_that_change_bits_only_in_large_steps_are_noticed(tiny_folder, monkeypatch, kind):
    real = torch.nn.functional.linear

    def linear(rows, weight, bias=None):
        out = real(rows, weight, bias)
        n = rows.shape[-2]
        if rows.shape[-1] == 64:  # the second layer of the mlp
            if kind == "large" and n > 1000:
                out *= 1 + 1e-6
            if (kind == "last" and n > 1000) or (kind == "odd" and n % 2):
                out[..., -1, :] *= 1 + 1e-6
        return out

    weights = load(tiny_folder, engine="sequential").weights
    weights.linears = None
    monkeypatch.setattr(torch.nn.functional, "linear", linear)
    refusal = examine(weights).refusal
    # Odd numbers of rows, with which MKL does so under MKL_CBWR=COMPATIBLE, do not occur.
    assert (refusal is None) if kind == "odd" else ("steps of 1216 tokens" in refusal)


def test_states_go_one_by_one_where_torchs_own_layers_change_bits(tiny_folder, requests, monkeypatch):
    # Generation uses other kernels and keeps its packs.
    real = torch.nn.functional.linear

    def linear(rows, weight, bias=None):
        return real(rows, weight, bias) * (1 + 1e-6 * (rows.shape[-2] > 60))

    monkeypatch.setattr(torch.nn.functional, "linear", linear)
    model = load(tiny_folder)
    assert model.engine.identity["linear"] == "onednn-1"
    assert "bits" in model.states_refusal
    assert states_identity(model)["batch_rule"] == "one-at-a-time-1"
    short = [request for request in requests if len(request.token_ids) < 60]
    together = dict(last_token_states(model, short, [0, 3], "hidden_states"))
    for request in short:
        ((_, alone),) = last_token_states(model, [request], [0, 3], "hidden_states")
        assert torch.equal(together[request.row_id], alone)


def test_rows_that_see_each_other_are_noticed(tiny, monkeypatch):
    from assay.model import packed_attention

    real = packed_attention._prefill

    def leaking(module, query, key, value, *rest):
        return real(module, query, key.mean(0, keepdim=True).expand_as(key), value, *rest)

    monkeypatch.setattr(packed_attention, "_prefill", leaking)
    assert examine(tiny.weights).refusal is not None


def test_wrong_attention_is_noticed_by_comparison_with_the_plain_pass(tiny, monkeypatch):
    from assay.model import packed_attention

    real = packed_attention._prefill
    monkeypatch.setattr(
        packed_attention, "_prefill", lambda m, q, k, v, scale, *rest: real(m, q, k, v, scale * 2, *rest)
    )
    assert "plain" in examine(tiny.weights).refusal
