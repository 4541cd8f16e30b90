import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from assay.model.cache import Cache
from assay.model.loading import LoadedModel, load, prepare_process

sys.path.insert(0, str(Path(__file__).parent))  # model_helpers
prepare_process()
# Servers of tests are on loopback, which no proxy of the machine's leads to.
os.environ |= {"NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}


@pytest.fixture(scope="session")
def cache(tmp_path_factory) -> Cache:
    return Cache(tmp_path_factory.mktemp("cache"))


@pytest.fixture
def folder(tmp_path) -> Path:
    return tmp_path / ".assay"


@pytest.fixture(scope="session")
def tiny_folder(tmp_path_factory) -> Path:
    from assay.model.tiny import build_tiny

    return build_tiny(tmp_path_factory.mktemp("models") / "tiny-0", seed=0)


@pytest.fixture(scope="session")
def tiny(tiny_folder) -> LoadedModel:
    model = load(tiny_folder)
    assert model.fallback is None
    return model


@pytest.fixture(scope="session")
def tiny_sequential(tiny_folder) -> LoadedModel:
    return load(tiny_folder, engine="sequential")


@pytest.fixture(scope="session")
def tiny_gguf(tmp_path_factory):
    """Bytes of a real GGUF file: a small random Llama with the vocabulary of single bytes."""
    return write_gguf(tmp_path_factory.mktemp("gguf") / "tiny.gguf").read_bytes()


@pytest.fixture
def gguf_without(tmp_path):
    """Return a function from a tensor's name to a GGUF file like `tiny_gguf` that lacks it."""
    return lambda name: write_gguf(tmp_path / "lacking.gguf", without=name)


@pytest.fixture
def gguf_with(tmp_path):
    """Return a function from what is done to the writer to a GGUF file like `tiny_gguf` that differs in that."""
    return lambda change: write_gguf(tmp_path / "changed.gguf", change=change)


def write_gguf(path: Path, without: str | None = None, change: Callable | None = None) -> Path:
    import gguf
    import numpy as np

    width, heads, layers, mlp = 32, 4, 2, 64
    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), "<|endoftext|>"]
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name("tiny test")
    writer.add_context_length(128)
    writer.add_embedding_length(width)
    writer.add_block_count(layers)
    writer.add_feed_forward_length(mlp)
    writer.add_head_count(heads)
    writer.add_head_count_kv(heads)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(width // heads)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("llama")
    writer.add_token_list(tokens)
    writer.add_token_scores([0.0] * len(tokens))
    writer.add_token_types([2, 3, 3] + [6] * 256 + [3])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    random = np.random.default_rng(0)

    def tensor(name, *shape):
        values = (random.standard_normal(shape) * 0.2).astype(np.float32)
        if name != without:
            writer.add_tensor(name, values)

    tensor("token_embd.weight", len(tokens), width)
    tensor("output_norm.weight", width)
    tensor("output.weight", len(tokens), width)
    for layer in range(layers):
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            tensor(f"blk.{layer}.{name}.weight", width, width)
        tensor(f"blk.{layer}.ffn_gate.weight", mlp, width)
        tensor(f"blk.{layer}.ffn_up.weight", mlp, width)
        tensor(f"blk.{layer}.ffn_down.weight", width, mlp)
        tensor(f"blk.{layer}.attn_norm.weight", width)
        tensor(f"blk.{layer}.ffn_norm.weight", width)
    if change is not None:
        change(writer)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


@pytest.fixture
def port():
    """A port that no neighbour gets while the server on it is down, as a socket that does not listen holds it."""
    with socket.socket() as held:
        for option in (socket.SO_REUSEADDR, socket.SO_REUSEPORT):
            held.setsockopt(socket.SOL_SOCKET, option, 1)
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]


@pytest.fixture
def two_threads():
    """Run the test with two torch threads."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def small_disk(tmp_path):
    """Return a function from a size ("600k") to a folder on a file system of that size; called again, it resizes it."""
    folder = tmp_path / "small disk"
    folder.mkdir()
    mounted = False

    def disk(size: str) -> Path:
        nonlocal mounted
        options = f"{'remount,' * mounted}size={size}"
        command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
        if os.geteuid() != 0 or subprocess.run(command, capture_output=True, check=False).returncode != 0:
            pytest.skip("mounting a small tmpfs needs root")
        mounted = True
        return folder

    yield disk
    if mounted:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.fixture(scope="session")
def fks_like_prompts() -> list[str]:
    """Prompts of many lengths and languages, as the fact benchmark asks them."""
    facts = [
        ("Austria", "Autriche", "Вена"),
        ("Japan", "Japon", "Токио"),
        ("Peru", "Pérou", "Лима"),
        ("Kenya", "Kenya", "Найроби"),
    ]
    patterns = [
        "Answer the question with a short factual answer only.\nQuestion: What is the capital of {0}?\nAnswer:",
        "{0} capital city\nAnswer:",
        "Country: {0}\nCapital:\nAnswer:",
        'Fill in the JSON: {{"country": "{0}", "capital": ""}}\nAnswer:',
        "The weather was fine all week and nobody expected the quiz. Which city is the capital of {0}?\nAnswer:",
        "Pays : {1}. Quelle ville en est la capitale ?\nAnswer:",
        "Столица какой страны — {2}?\nAnswer:",
        "{0}?",
        "{0} is a country. Its capital city, as everyone who paid attention at school knows, is the city of\nAnswer:",
        "True or false: the capital of {0} is Oslo.\nAnswer:",
    ]
    return [pattern.format(*fact) for fact in facts for pattern in patterns]


@pytest.fixture(scope="session")
def real_model_folder(root):
    """Return a function from a name in the registry to its folder; skips where the model has not been fetched.

    `ASSAY_TEST_MODELS` may name a folder of ready model folders to look in first.
    """
    from assay.config.models import read_registry
    from assay.errors import ModelError
    from assay.model.cache import Cache, model_folder

    def find(name: str) -> Path:
        ready = Path(os.environ.get("ASSAY_TEST_MODELS", "no such folder")) / name
        if ready.is_dir():
            return ready
        try:
            return model_folder(read_registry(root)[name], Cache())
        except ModelError as error:
            pytest.skip(str(error))

    return find
