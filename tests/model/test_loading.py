import json
import shutil

import pytest
from model_helpers import entry

from assay.errors import ConfigError, ModelError
from assay.model.cache import Cache
from assay.model.engine import Decoding, Request
from assay.model.identity import lock_entry
from assay.model.loading import load
from assay.model.prompting import Encoder


@pytest.fixture
def copy(tiny_folder, tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(tiny_folder, folder)
    return folder


def edit(path, **changes):
    data = json.loads(path.read_text()) | changes
    path.write_text(json.dumps({key: value for key, value in data.items() if value is not None}))


def test_missing_folder(tmp_path):
    with pytest.raises(ModelError, match="does not exist") as caught:
        load(tmp_path / "nothing")
    assert caught.value.file.endswith("nothing")


@pytest.mark.parametrize(("file", "word"), [("config.json", r"config\.json"), ("model.safetensors", "weights")])
def test_missing_file(copy, file, word):
    (copy / file).unlink()
    with pytest.raises(ModelError, match=word):
        load(copy)


def test_pickled_weights_are_not_read(copy):
    (copy / "model.safetensors").rename(copy / "pytorch_model.bin")
    with pytest.raises(ModelError, match="weights"):
        load(copy)


def test_unknown_architecture(copy):
    edit(copy / "config.json", model_type="no-such-thing", architectures=["NoSuchThing"])
    with pytest.raises(ModelError, match="no-such-thing"):
        load(copy)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"hidden_size": "wide"}, "hidden_size.*expected int"),
        ({"rms_norm_eps": []}, "rms_norm_eps.*expected float"),
        ({"dtype": "float31"}, "float31"),
        ({"head_dim": 0}, "negative power"),
    ],
)
def test_a_config_that_the_library_does_not_take_is_explained(copy, change, words):
    edit(copy / "config.json", **change)
    with pytest.raises(ModelError, match=rf"{copy.name}.*cannot load the (model|tokenizer): .*{words}"):
        load(copy)


def test_a_config_that_is_no_object_is_explained_to_those_who_only_need_tokens(copy):
    (copy / "config.json").write_text("5")
    mine = entry({"kind": "folder", "path": str(copy)}, "mine")
    with pytest.raises(ModelError, match=r"cannot load the tokenizer|does not know this model"):
        Encoder(copy, mine)


def test_code_of_a_model_folder_is_never_run(copy):
    (copy / "modeling_x.py").write_text("raise SystemExit('ran')")
    edit(
        copy / "config.json",
        auto_map={"AutoModelForCausalLM": "modeling_x.X", "AutoConfig": "modeling_x.C"},
        model_type="x",
    )
    with pytest.raises(ModelError):
        load(copy)


def test_broken_weights(copy):
    path = copy / "model.safetensors"
    path.write_bytes(path.read_bytes()[:1000])
    with pytest.raises(ModelError, match="cannot load"):
        load(copy)


def test_weights_that_lack_a_tensor_are_an_error_not_random_numbers(copy):
    from safetensors.torch import load_file, save_file

    tensors = load_file(copy / "model.safetensors")
    del tensors["model.layers.2.mlp.up_proj.weight"]
    save_file(tensors, copy / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ModelError, match=r"layers\.2\.mlp\.up_proj"):
        load(copy)


def test_weights_of_more_layers_than_the_config_names_are_an_error_not_half_a_model(copy):
    edit(copy / "config.json", num_hidden_layers=2)
    with pytest.raises(ModelError, match=r"fewer layers than model\.layers\.2\."):
        load(copy)
    edit(copy / "config.json", num_nextn_predict_layers=2)  # layers of another use, which are left out
    assert load(copy).weights.n_layers == 2


def test_weights_of_a_config_without_layers_are_an_error(copy):
    edit(copy / "config.json", num_hidden_layers=0)
    with pytest.raises(ModelError, match=r"fewer layers than model\.layers\.0\."):
        load(copy)


@pytest.mark.parametrize("part", ["bias", "weight_scale", "lora_A.default.weight"])
def test_parts_of_a_layer_that_the_config_has_no_place_for_are_an_error(copy, part):
    from safetensors.torch import load_file, save_file

    name = f"model.layers.1.self_attn.q_proj.{part}"
    tensors = load_file(copy / "model.safetensors")
    tensors[name] = tensors["model.norm.weight"].clone()
    save_file(tensors, copy / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ModelError, match=rf"no place for {name}"):
        load(copy)


def test_weights_of_an_unknown_quantisation_are_not_taken_for_plain_ones(copy):
    edit(copy / "config.json", quantization_config={"quant_method": "a-new-one"})
    with pytest.raises(ModelError, match=r"how the weights are quantised.*a-new-one"):
        load(copy)


def test_end_tokens_that_cannot_be_read_are_an_error_not_left_out(copy):
    (copy / "generation_config.json").write_text("{broken")
    with pytest.raises(ModelError, match=r"generation_config\.json.*cannot be read"):
        load(copy)
    (copy / "generation_config.json").write_text("{}")
    load(copy)


def test_tensors_without_a_place_are_left_out(copy, tiny):
    from safetensors.torch import load_file, save_file

    tensors = load_file(copy / "model.safetensors")
    tensors["vision.layers.0.weight"] = tensors["model.norm.weight"].clone()
    save_file(tensors, copy / "model.safetensors", metadata={"format": "pt"})
    assert load(copy).weights.n_layers == tiny.weights.n_layers


def shard(folder, place=""):
    """Split the weights in two files; the index names them in `place`."""
    from safetensors.torch import load_file, save_file

    tensors = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    (folder / place).mkdir(exist_ok=True)
    names = sorted(tensors)
    files = {"1.safetensors": names[::2], "2.safetensors": names[1::2]}
    for file, mine in files.items():
        save_file({name: tensors[name] for name in mine}, folder / place / file, metadata={"format": "pt"})
    shards = {name: place + file for file, mine in files.items() for name in mine}
    index = {"metadata": {}, "weight_map": shards}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))


def test_weights_in_shards_are_those_in_one_file(copy, tiny):
    shard(copy)
    request, decoding = Request("x", [40, 50, 60], 8), Decoding(max_new_tokens=8)
    (row,), (expected,) = (m.engine.generate([request], decoding) for m in (load(copy), tiny))
    assert row.token_ids == expected.token_ids
    (copy / "2.safetensors").unlink()
    with pytest.raises(ModelError, match=r"2\.safetensors.*not all there"):
        load(copy)


def _far_shards(folder):
    shutil.copy(folder / "model.safetensors", folder / "other.safetensors")
    shard(folder, "../elsewhere/")


def _inner_shards(folder):
    shutil.copy(folder / "model.safetensors", folder / "other.safetensors")
    shard(folder, "inner/")


def _named_weights(folder):
    edit(folder / "config.json", transformers_weights="inner/model.safetensors")


def _adapter(folder):
    (folder / "adapter_config.json").write_text(json.dumps({"base_model_name_or_path": "some/where"}))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_far_shards, r"index\.json.*weight_map.*does not cover: '\.\./elsewhere/1\.safetensors'"),
        (_inner_shards, r"index\.json.*does not cover: 'inner/1\.safetensors'"),
        (_named_weights, r"config\.json.*transformers_weights.*does not cover: 'inner/model\.safetensors'"),
        (_adapter, r"adapter_config\.json.*merge"),
    ],
)
def test_weights_that_no_lock_would_cover_are_neither_locked_nor_loaded(copy, tmp_path, change, words):
    change(copy)
    with pytest.raises(ModelError, match=words):
        load(copy)
    with pytest.raises(ModelError, match=words):
        lock_entry(entry({"kind": "folder", "path": str(copy)}, "mine"), Cache(tmp_path))


@pytest.mark.parametrize("engine", ["packed", "sequential"])
def test_weights_overwritten_in_place_do_not_change_a_model_that_works(copy, engine):
    def answers():
        made = model.engine.generate([Request("r", [1, 70, 71, 72], 8)], Decoding(max_new_tokens=8))
        return [completion.token_ids for completion in made]

    model = load(copy, engine=engine)
    before = answers()
    size = (copy / "model.safetensors").stat().st_size
    with (copy / "model.safetensors").open("r+b") as file:
        file.seek(size // 2)
        file.write(bytes(size - size // 2))
    assert answers() == before


def test_weights_of_another_shape_are_an_error(copy):
    edit(copy / "config.json", intermediate_size=48)
    with pytest.raises(ModelError, match="mlp"):
        load(copy)


def test_missing_tokenizer(copy):
    (copy / "tokenizer.json").unlink()
    (copy / "tokenizer_config.json").unlink()
    with pytest.raises(ModelError, match="tokenizer"):
        load(copy)


@pytest.mark.parametrize(("options", "key"), [({"dtype": "int8"}, "dtype"), ({"threads": 0}, "threads")])
def test_impossible_settings(tiny_folder, options, key):
    with pytest.raises(ConfigError) as caught:
        load(tiny_folder, **options)
    assert caught.value.key == key


def test_missing_device(tiny_folder):
    with pytest.raises(ModelError, match="cuda:77"):
        load(tiny_folder, device="cuda:77")


def test_generation_settings_of_the_model_are_overridden(copy, tiny):
    own = {
        "do_sample": True,
        "temperature": 5.0,
        "repetition_penalty": 3.0,
        "max_new_tokens": 2,
        "eos_token_id": [2, 77],
    }
    (copy / "generation_config.json").write_text(json.dumps(own))
    request = Request("x", [40, 50, 60, 70], 16)
    decoding = Decoding(max_new_tokens=16)
    (expected,) = tiny.engine.generate([request], decoding)
    for engine in ("packed", "sequential", "padded"):
        model = load(copy, engine=engine)
        assert model.weights.eos_ids == {2, 77}
        (row,) = model.engine.generate([request], decoding)
        assert row.token_ids == expected.token_ids


def test_every_end_of_sequence_id_ends_a_row(copy, tiny):
    request = Request("x", [40, 50, 60, 70], 16)
    decoding = Decoding(max_new_tokens=16)
    (row,) = tiny.engine.generate([request], decoding)
    third = row.token_ids[2]
    assert third not in row.token_ids[:2]
    edit(copy / "generation_config.json", eos_token_id=[2, third])
    (ended,) = load(copy).engine.generate([request], decoding)
    assert (ended.token_ids, ended.finish_reason) == (row.token_ids[:3], "eos")


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("engine", ["packed", "padded"])
def test_half_types_load_and_say_so(tiny_folder, tiny, dtype, engine):
    model = load(tiny_folder, dtype, engine=engine)
    assert model.engine.identity["dtype"] == dtype
    assert model.engine.identity != tiny.engine.identity
    rows = list(model.engine.generate([Request("x", [40, 50], 4), Request("y", [41], 4)], Decoding(max_new_tokens=4)))
    assert {row.finish_reason for row in rows} <= {"length", "eos"}


def test_kernel_variables_are_part_of_the_identity(tiny_folder, tiny, monkeypatch):
    monkeypatch.setenv("MKL_CBWR", "COMPATIBLE")
    assert load(tiny_folder).engine.identity["kernel_variables"] == {"MKL_CBWR": "COMPATIBLE"}
    assert tiny.engine.identity["kernel_variables"] == {}


def test_loading_reaches_for_no_network(tiny_folder, monkeypatch):
    import socket

    def refuse(*_arguments, **_options):
        raise AssertionError("network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    (row,) = load(tiny_folder).engine.generate([Request("x", [40, 50], 3)], Decoding(max_new_tokens=3))
    assert len(row.token_ids) == 3
