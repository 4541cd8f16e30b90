"""The lens fit against brute force, resuming, and the importer of published files."""

import numpy as np
import pytest

from assay.errors import ConfigError, DataError
from assay.fks.lens import SUM_FILE, LensSettings, fit, prompt_jacobians
from assay.fks.lens_file import read_lens
from assay.fks.lens_import import import_published
from assay.fks.lens_texts import default_texts
from assay.steps.lens import read_texts

torch = pytest.importorskip("torch")
SMALL = LensSettings(prompts=3, tokens=12, skip=4, rows_per_pass=8)
TEXTS = [
    "A river runs through the old town.",
    "x",
    "Bread is baked before sunrise.",
    "Trains leave every hour.",
    "More text.",
]


@pytest.fixture(scope="module")
def weights(tmp_path_factory):
    from assay.model.loading import load_weights
    from assay.model.tiny import build_tiny

    return load_weights(build_tiny(tmp_path_factory.mktemp("tiny")), "float32", "cpu", 1)


def brute_force(weights, ids, layer, skip):
    """The definition: the full Jacobian of all later block outputs, summed over targets, averaged over sources."""
    from assay.model.hidden import find_blocks

    blocks = find_blocks(weights.model, weights.n_layers)
    top, seen = weights.n_layers - 1, {}

    def run(replacement):
        def swap(_module, _inputs, output):
            state = output[0] if isinstance(output, tuple) else output
            seen["here"] = state
            new = state if replacement is None else replacement[None]
            return (new, *output[1:]) if isinstance(output, tuple) else new

        def keep(_module, _inputs, output):
            seen["top"] = output[0] if isinstance(output, tuple) else output

        handles = [blocks[layer].register_forward_hook(swap), blocks[top].register_forward_hook(keep)]
        weights.model.get_decoder()(input_ids=torch.tensor([ids]), use_cache=False)
        for handle in handles:
            handle.remove()
        return seen["top"][0]

    run(None)
    start = seen["here"][0].detach()
    full = torch.autograd.functional.jacobian(run, start)  # [target, out, source, in]
    valid = range(skip, len(ids) - 1)
    total = sum(full[t][:, s] for t in valid for s in valid)
    return (total / len(valid)).numpy()


def test_fit_equals_the_brute_force_jacobian(weights):
    ids = weights.tokenizer("Bread is baked")["input_ids"]
    found = prompt_jacobians(weights, ids, [1, 2, 3], LensSettings(tokens=64, skip=3, rows_per_pass=5))
    for place, layer in enumerate([1, 2]):
        assert found[place] == pytest.approx(brute_force(weights, ids, layer, 3), abs=2e-5)
    assert np.array_equal(found[2], np.eye(32))


def test_forward_mode_gives_the_same_product(weights):
    """J v by torch.func.jvp through the last block, one position: an independent way through autograd."""
    ids = weights.tokenizer("abcd")["input_ids"]
    skip = len(ids) - 2  # exactly one valid position
    found = prompt_jacobians(weights, ids, [2], LensSettings(tokens=64, skip=skip))[0]
    from assay.model.hidden import find_blocks

    weights.attend("eager")  # forward mode lacks the fused kernel; eager also makes its causal mask explicit
    block, seen = find_blocks(weights.model, weights.n_layers)[3], {}
    handle = block.register_forward_pre_hook(
        lambda _m, args, kwargs: seen.update(args=args, kwargs=kwargs), with_kwargs=True
    )
    weights.model.get_decoder()(input_ids=torch.tensor([ids]), use_cache=False)
    handle.remove()
    state = seen["args"][0].detach()
    direction = torch.zeros_like(state)
    direction[0, skip] = torch.randn(32, generator=torch.Generator().manual_seed(0))

    def through(hidden):
        output = block(hidden, **seen["kwargs"])
        return output[0] if isinstance(output, tuple) else output

    _, product = torch.func.jvp(through, (state,), (direction,))
    expected = product.reshape(-1, len(ids), 32)[0, skip] if product.ndim != 3 else product[0, skip]
    assert found @ direction[0, skip].numpy() == pytest.approx(expected.numpy(), abs=1e-5)
    weights.attend(weights.plain_attention)


def make(weights, shards, **changes):
    return fit(
        weights, SMALL, texts=changes.pop("texts", TEXTS), layers=[2, 3], shards=shards, header={"model_id": "tiny"}
    )


def test_short_prompts_are_skipped_and_counted(weights, tmp_path):
    lens = make(weights, tmp_path)
    assert (lens.header["n_prompts"], lens.header["n_short"], lens.layers) == (3, 1, (2, 3))
    assert lens.header["n_positions"] == 3 * (12 - 1 - 4)
    assert np.array_equal(lens.of(3), np.eye(32))


def test_an_interrupted_fit_goes_on_and_ends_with_the_same_bytes(weights, tmp_path):
    whole = make(weights, tmp_path / "whole")

    class InterruptedFitError(Exception):
        pass

    def stop(done, _wanted):
        if done == 2:
            raise InterruptedFitError

    with pytest.raises(InterruptedFitError):
        fit(
            weights,
            SMALL,
            texts=TEXTS,
            layers=[2, 3],
            shards=tmp_path / "cut",
            header={"model_id": "tiny"},
            report=stop,
        )
    assert (tmp_path / "cut" / SUM_FILE).is_file()
    calls = []
    again = fit(
        weights,
        SMALL,
        texts=TEXTS,
        layers=[2, 3],
        shards=tmp_path / "cut",
        header={"model_id": "tiny"},
        report=lambda done, wanted: calls.append((done, wanted)),
    )
    assert calls == [(3, 3)]
    assert again.to_bytes() == whole.to_bytes()


def test_kept_work_of_other_settings_is_not_used(weights, tmp_path):
    make(weights, tmp_path)
    fresh = LensSettings(prompts=2, tokens=12, skip=4, rows_per_pass=8)
    lens = fit(weights, fresh, texts=TEXTS, layers=[2, 3], shards=tmp_path, header={"model_id": "tiny"})
    assert lens.header["n_prompts"] == 2


def test_too_few_texts_are_refused(weights, tmp_path):
    with pytest.raises(DataError, match="only 2 of 3 texts"):
        make(weights, tmp_path, texts=TEXTS[:3])


def test_settings_without_a_valid_position_are_refused(weights, tmp_path):
    with pytest.raises(ConfigError, match="leave no position"):
        fit(weights, LensSettings(tokens=17), texts=TEXTS, layers=[3], shards=tmp_path, header={})
    with pytest.raises(ConfigError, match="layers are"):
        fit(weights, SMALL, texts=TEXTS, layers=[3, 4], shards=tmp_path, header={})


def test_texts_are_lines(tmp_path):
    (tmp_path / "texts.txt").write_text("one\n\n  zwölf \n", encoding="utf-8")
    assert read_texts(tmp_path / "texts.txt") == ["one", "zwölf"]
    (tmp_path / "texts.txt").write_text("\n")
    with pytest.raises(DataError, match="no text"):
        read_texts(tmp_path / "texts.txt")


def published(path, **changes):
    content = {
        "J": {layer: torch.full((4, 4), float(layer)) for layer in (1, 2)},
        "n_prompts": 40,
        "source_layers": [1, 2],
        "d_model": 4,
    }
    torch.save(content | changes, path)
    return path


def test_published_lenses_are_imported_and_end_in_the_identity(tmp_path):
    lens = import_published(published(tmp_path / "a.pt"), layers=[2, 3], n_layers=4, header={"model_id": "m"})
    assert lens.header["n_prompts"] == 40
    assert np.array_equal(lens.of(2), np.full((4, 4), 2.0))
    assert np.array_equal(lens.of(3), np.eye(4))
    (tmp_path / "lens.safetensors").write_bytes(lens.to_bytes())
    assert read_lens(tmp_path / "lens.safetensors").header == lens.header


def test_published_files_that_do_not_fit_are_refused(tmp_path):
    with pytest.raises(DataError, match="layer 0 is missing"):
        import_published(published(tmp_path / "a.pt"), layers=[0, 1], n_layers=4, header={})
    with pytest.raises(DataError, match="lacks keys"):
        torch.save({"J": {}}, tmp_path / "b.pt")
        import_published(tmp_path / "b.pt", layers=[1], n_layers=4, header={})
    with pytest.raises(DataError, match="shape"):
        import_published(published(tmp_path / "c.pt", d_model=5), layers=[1], n_layers=4, header={})
    with pytest.raises(DataError, match="4 wide, of 40 prompts"):
        import_published(published(tmp_path / "d.pt"), layers=[1], n_layers=4, header={}, width=5)
    with pytest.raises(DataError, match="of 0 prompts"):
        import_published(published(tmp_path / "e.pt", n_prompts=0), layers=[1], n_layers=4, header={})
    with pytest.raises(DataError, match="layer 2 is none of the model"):
        import_published(published(tmp_path / "f.pt"), layers=[1], n_layers=2, header={})


def test_a_file_that_would_run_code_is_refused(tmp_path):
    """Only the unpickler's refusal is tested: the call that it names is harmless."""
    import os.path
    import pickle

    class Calls:
        def __reduce__(self):
            return os.path.exists, ("/",)

    (tmp_path / "bad.pt").write_bytes(pickle.dumps({"J": Calls()}))
    with pytest.raises(DataError, match="no published lens"):
        import_published(tmp_path / "bad.pt", layers=[1], n_layers=4, header={})


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"\n", "holds no text"), (b"\xff", "not UTF-8"), (b"other\n", "not the locked one"), (None, "does not exist")],
)
def test_texts_of_ones_own_are_read_or_refused_before_a_model_is_loaded(tmp_path, content, words):
    from types import SimpleNamespace

    from assay.steps import lens

    if content is not None:
        (tmp_path / "texts.txt").write_bytes(content)
    context = SimpleNamespace(
        config={"model": {}, "layers": [1], "lens": {"texts": "texts.txt"}},
        function=fit,
        locked={"data/fks-lens-texts": {"files": {"texts.txt": "0" * 64}}},
        root=tmp_path,
    )
    with pytest.raises(DataError, match=words):
        lens.run(context)


def test_default_texts_suffice_for_the_default_fit():
    texts = default_texts()
    assert len(texts) == len(set(texts)) == LensSettings().prompts
    # Chinese counts letters, the others words; both are below the number of tokens.
    assert min(len(text) if any(c > "\u4dff" for c in text) else len(text.split()) for text in texts) > 80


@pytest.mark.long
def test_full_defaults_on_the_tiny_model(weights, tmp_path):
    lens = fit(weights, LensSettings(), texts=(), layers=[2, 3], shards=tmp_path, header={"model_id": "tiny"})
    assert lens.header["n_prompts"] == 100
    assert lens.header["n_positions"] == 100 * (128 - 1 - 16)


def test_the_type_of_the_settings_can_be_asked_for():
    """The generic step converts a job's plain settings to the type that the fit declares."""
    import typing

    assert list(typing.get_type_hints(fit).values())[1] is LensSettings
