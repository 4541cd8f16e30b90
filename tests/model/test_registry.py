"""The registry: strict entries, near names, what of them decides bytes."""

import re

import pytest
import yaml

from assay.config.lock import read_lock
from assay.config.models import Registry, choose, read_registry
from assay.errors import ConfigError
from assay.model.fetch import read_hashes


@pytest.fixture
def write(tmp_path):
    """Return a function that writes a registry and reads it back."""
    (tmp_path / "configs").mkdir()

    def write(models):
        (tmp_path / "configs/models.yaml").write_text(yaml.safe_dump({"models": models}))
        return read_registry(tmp_path)

    return write


SERVED = {"kind": "endpoint", "url": "http://localhost:8000/v1", "served_name": "x"}
TINY = {"title": "Tiny", "source": {"kind": "tiny", "seed": 0}}


def test_the_projects_registry_is_complete(root):
    models = read_registry(root)
    assert {"smollm2-135m", "qwen2.5-coder-0.5b", "gemma3-270m", "qwen2.5-coder-1.5b", "tiny-a", "tiny-b"} <= set(
        models
    )
    assert {"gemma3-270m", "qwen2.5-coder-1.5b"} <= {name for name, model in models.items() if model.opt_in}
    assert not any(models[name].opt_in for name in ("smollm2-135m", "qwen2.5-coder-0.5b", "tiny-a", "tiny-b"))
    assert not models["gemma3-270m"].chat_template
    for model in models.values():
        assert model.layers
        assert model.width
        assert model.family
        assert model.licence


def test_every_wheel_of_the_registry_has_a_hash(root):
    for model in read_registry(root).values():
        if model.kind == "embedded":
            wheels = [part.wheel for part in model.source.parts]
            assert len(read_hashes(root / "requirements-models.txt", wheels)) == len(wheels)


def test_entries_with_one_source_are_locked_to_the_same_files(root):
    locked = read_lock(root).models
    by_source = {}
    for name, model in read_registry(root).items():
        if name in locked:
            by_source.setdefault(model.source.model_dump_json(), {})[name] = locked[name]
    assert max(map(len, by_source.values())) > 1
    for entries in by_source.values():
        assert all(entry == next(iter(entries.values())) for entry in entries.values()), list(entries)


def test_an_unknown_name_lists_near_ones(root):
    with pytest.raises(ConfigError, match=r"smolm2.*smollm2-135m"):
        choose(read_registry(root), ["smolm2-135m"])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"dtyp": "float32"}, "dtyp.*dtype"),
        ({"dtype": "int3"}, "int3.*float32"),
        ({"device": "tpu"}, "tpu"),
        ({"roles": ["judge", "jury"]}, "jury"),
        ({"layers": 0}, "layers"),
        ({"name": "other"}, "entry's key is its name"),
        *(
            ({"source": {"kind": "hub", "repo": "a/b", "revision": revision}}, f"{revision}.*commit of 40 hex digits")
            for revision in ("main", "0123abc", "A" * 40, int("1" * 40))
        ),
        ({"source": {"kind": "hub", "repo": "a/b"}}, "revision.*missing"),
        ({"source": {"kind": "endpoint", "url": "localhost:8000", "served_name": "x"}}, "localhost"),
        ({"source": {"kind": "magic"}}, "magic|kind"),
        ({"source": {"kind": "hub", "repo": "a/b", "revison": "0" * 40}}, "revison.*revision"),
        ({"engine": {"kindd": "packed"}}, "kindd.*kind"),
        ({"source": {"kind": "tiny", "seed": -1}}, "-1"),
        ({"engine": {"kind": "sequential", "batch_size": 4}}, "one row at a time"),
        ({"engine": {"kind": "padded"}, "workers": 2}, "workers.*1 with engine padded"),
        ({"device": "cuda", "workers": 2}, "workers.*1 with.*other devices"),
        ({"source": SERVED | {"url": "http://user:word@localhost/v1"}}, "url"),
        *(
            ({"source": SERVED, key: value}, f"an endpoint decides that by itself: leave {key} out")
            for key, value in {
                "dtype": "float32",
                "device": "cpu",
                "engine": {"kind": "packed"},
                "prompts": {"on_long": "truncate"},
                "workers": 1,
            }.items()
        ),
    ],
)
def test_a_mistake_is_named_with_file_and_key(write, change, words):
    with pytest.raises(ConfigError, match=rf"(?s)models\.yaml.*({words})"):
        write({"tiny": TINY | change})


@pytest.mark.parametrize("url", ["http://user:secret@localhost/v1", "http://localhost/v1?key=secret"])
def test_a_secret_in_an_address_is_refused_and_not_repeated(write, url):
    with pytest.raises(ConfigError, match=r"url without user.*key_variable") as caught:
        write({"served": {"title": "S", "source": SERVED | {"url": url}}})
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("variable", ["sk-very-secret", "", "two secret words"])
def test_a_secret_in_the_place_of_its_variable_is_refused_and_not_repeated(write, variable):
    with pytest.raises(ConfigError, match=r"key_variable.*name of an environment variable") as caught:
        write({"served": {"title": "S", "source": SERVED | {"key_variable": variable}}})
    assert "secret" not in str(caught.value)


def test_an_endpoint_needs_an_address_and_a_name_only(write):
    served = write({"served": {"title": "S", "source": SERVED | {"url": "https://host/a/v1"}, "context": 4096}})[
        "served"
    ]
    assert served.determinism == "volatile"


@pytest.mark.parametrize(
    ("engine", "class_"),
    [
        ({}, "isa"),
        ({"kind": "sequential"}, "isa"),
        ({"kind": "padded"}, "volatile"),
        ({"kind": "padded", "batch_size": 8}, "volatile"),
        ({"kind": "padded", "batch_size": 1}, "isa"),
    ],
)
def test_batches_whose_bits_depend_on_what_is_stored_already_are_volatile(write, engine, class_):
    assert write({"tiny": TINY | {"engine": engine}})["tiny"].determinism == class_


def test_a_name_that_no_path_can_hold_is_refused(write):
    with pytest.raises(ConfigError, match="lower-case"):
        write({"Tiny Model": TINY})


def test_local_paths_are_relative_to_the_project(write, tmp_path):
    models = write({"mine": {"title": "Mine", "source": {"kind": "folder", "path": "weights/mine"}}})
    assert models["mine"].source.path == tmp_path / "weights/mine"


def test_a_home_of_nobody_is_a_path_that_does_not_exist(write, tmp_path):
    models = write({"mine": {"title": "Mine", "source": {"kind": "folder", "path": "~no-such-user/mine"}}})
    assert models["mine"].source.path == tmp_path / "~no-such-user/mine"


DECISIVE = {
    "dtype": "bfloat16",
    "engine": {"kind": "padded", "batch_size": 8},
    "prompts": {"max_tokens": 5},
    "chat_template": False,
    "context": 99,
}
INDIFFERENT = {
    "device": "cuda",
    "engine": {"kind": "packed", "batch_size": 3},
    "workers": 3,
    "title": "Other",
    "licence": "MIT",
    "price": {"input_per_million": 1, "output_per_million": 2},
    "roles": ["judge"],
    "layers": 3,
}


@pytest.mark.parametrize("key", DECISIVE)
def test_what_decides_bytes_enters_recipes(write, key):
    models = write({"a": TINY, "b": TINY | {key: DECISIVE[key]}})
    assert models["a"].decisive() | {"name": ""} != models["b"].decisive() | {"name": ""}


@pytest.mark.parametrize("key", INDIFFERENT)
def test_what_does_not_stays_out(write, key):
    models = write({"a": TINY, "b": TINY | {key: INDIFFERENT[key]}})
    assert models["a"].decisive() | {"name": ""} == models["b"].decisive() | {"name": ""}


def test_every_field_has_a_docstring(root):
    source = (root / "src/assay/config/models.py").read_text()
    fields = re.findall(r"^    (\w+): [^\n]+\n(    \"\"\"|)", source, flags=re.MULTILINE)
    assert [name for name, doc in fields if not doc and name not in {"kind"}] == []
    assert Registry.model_fields
