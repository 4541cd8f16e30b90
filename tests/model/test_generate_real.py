"""Generations with the embedded models: processes, order, shards and crashes change no byte."""

import os
import random
import signal

import pytest
from model_helpers import ask

from assay.config.models import EngineChoice, read_registry
from assay.model.answers import KIND
from assay.model.cache import Cache
from assay.model.engine import Decoding
from assay.model.fetch import is_present
from assay.model.generate import ModelSession
from assay.model.identity import lock_entry
from assay.model.store import RowStore
from assay.records.rows import Message, PromptRow

pytestmark = [pytest.mark.long, pytest.mark.real_model]
DECODING = Decoding(max_new_tokens=10)


@pytest.fixture(scope="module", params=["smollm2-135m", "qwen2.5-coder-0.5b", "gemma3-270m", "qwen2.5-coder-1.5b"])
def model(request, root):
    entry = read_registry(root)[request.param]
    if not is_present(entry, Cache()):
        pytest.skip(f"{request.param} is not in the model cache: run `assay fetch`")
    return entry


@pytest.fixture
def prompts(fks_like_prompts, model):
    raw = [PromptRow.of_text(f"t{i}", text) for i, text in enumerate(fks_like_prompts[::3])]
    chats = [PromptRow.of_messages(f"c{i}", [Message("user", text)]) for i, text in enumerate(fks_like_prompts[:2])]
    return [*raw, *chats] if model.chat_template else raw


def test_processes_order_shards_and_a_crash_change_no_byte(model, prompts, tmp_path):
    one = model.model_copy(update={"workers": 1})
    base = {row.query_id: row for row in ask(tmp_path / "one", one, Cache(), prompts, DECODING)[0]}
    shuffled = random.Random(3).sample(prompts, len(prompts))

    folder = tmp_path / "crash"
    # Two workers, two rows at a time, so that some rows are finished long before others.
    two = model.model_copy(update={"workers": 2, "engine": EngineChoice(batch_size=2)})
    child = os.fork()
    if child == 0:
        try:
            put = RowStore.put

            def put_and_die(store, kind, rows):
                put(store, kind, rows)
                os.kill(os.getpid(), signal.SIGKILL)

            RowStore.put = put_and_die
            ask(folder, two, Cache(), shuffled, DECODING)
        finally:
            os._exit(0)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
    stored = _stored(folder)
    assert 0 < stored < len(prompts)

    with RowStore(folder, layout="shared") as store, ModelSession(one, lock_entry(one), store) as session:
        for shard in (shuffled[:5], shuffled[5:]):
            assert session.generate(shard, DECODING) == [base[p.query_id] for p in shard]
        assert session.facts()["stored"] == stored


def _stored(folder):
    with RowStore(folder, layout="shared") as store:
        return store.count(KIND)


ENDS = {
    "smollm2-135m": {"<|endoftext|>", "<|im_end|>"},
    "qwen2.5-coder-0.5b": {"<|endoftext|>", "<|im_end|>"},
    "gemma3-270m": {"<eos>", "<end_of_turn>"},
    "qwen2.5-coder-1.5b": {"<|endoftext|>", "<|im_end|>"},
}


def test_the_end_of_a_turn_and_the_end_of_a_text_both_end_a_row(model):
    from transformers import GenerationConfig

    from assay.model.cache import model_folder
    from assay.model.loading import load_tokenizer

    folder = model_folder(model, Cache())
    ends = GenerationConfig.from_pretrained(folder).eos_token_id
    assert {load_tokenizer(folder).decode([token]) for token in ends} == ENDS[model.name]


def test_prompts_begin_with_the_bos_that_the_model_wants(model):
    from assay.model.cache import model_folder
    from assay.model.prompting import Encoder

    encoder = Encoder(model_folder(model, Cache()), model)
    bos = encoder._tokenizer.bos_token_id
    [text] = encoder.encode([PromptRow.of_text("t", "The capital")], 8)
    # Gemma wants exactly one; the tokenizers of the others add none to raw text.
    assert [token == bos for token in text.token_ids[:2]] == [model.family == "gemma3", False]
    if model.chat_template:
        [chat] = encoder.encode([PromptRow.of_messages("c", [Message("user", "Hi")])], 8)
        assert encoder._tokenizer.decode(chat.token_ids).startswith("<|im_start|>system\n")
        assert encoder._tokenizer.decode(chat.token_ids).endswith("<|im_end|>\n<|im_start|>assistant\n")
