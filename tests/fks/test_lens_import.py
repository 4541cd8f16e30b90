"""`assay fks import-lens`: what it writes and records, what it refuses, and the lens stage that takes it."""

import shutil

import numpy as np
import pytest
import yaml

from assay.cli.main import main
from assay.config.load import load_configs
from assay.errors import DataError
from assay.fks import pipeline
from assay.fks.lens_file import read_lens
from assay.fks.lens_import import imported
from assay.records.step import Inputs

torch = pytest.importorskip("torch")
FILE = "data/fks-lenses/tiny-a.safetensors"


@pytest.fixture
def project(tmp_path, root, monkeypatch):
    """A project whose experiment transports the states of a tiny model by a lens that was fitted elsewhere."""
    (tmp_path / "configs/experiments").mkdir(parents=True)
    for name in ("fks.yaml", "models.yaml"):
        shutil.copy(root / "configs" / name, tmp_path / "configs" / name)
    (tmp_path / "configs/experiment.yaml").write_text("use: here\n")
    fks = {
        "states": {"top_state": "block_output"},
        "metrics": {"internal": {"transports": ["raw", "jlens"]}},
        "lens": {"imported": {"tiny-a": FILE}},
    }
    experiment = {"models": ["tiny-a", "tiny-b"], "benchmarks": {"fks": fks}}
    (tmp_path / "configs/experiments/here.yaml").write_text(yaml.safe_dump(experiment))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_published(path, scale=1.0, width=32):
    matrices = {layer: scale * torch.full((width, width), float(layer)) for layer in range(3)}
    torch.save({"J": matrices, "n_prompts": 40, "source_layers": [0, 1, 2], "d_model": width}, path)
    return str(path)


def jobs(root):
    return {job.name: job for job in pipeline.jobs(load_configs(root))}


def test_a_published_lens_takes_the_place_of_a_fit(project, capsys):
    assert main(["fks", "import-lens", write_published(project / "a.pt"), "--model", "tiny-a"]) == 0
    assert "layers 2 to 3, 32 wide, 40 prompts" in capsys.readouterr().out
    planned = jobs(project)
    job = planned["lens/fks-embedded.tiny-a"]
    assert job.function == "assay.fks.lens_import:imported"
    assert job.lock == ("data/fks-lens-tiny-a",)
    assert job.model is None
    assert planned["lens/fks-embedded.tiny-b"].function == "assay.fks.lens:fit"
    assert "imported" not in planned["lens/fks-embedded.tiny-b"].config["lens"]
    (project / "lens.safetensors").write_bytes(imported(job.config, Inputs(()))["lens.safetensors"])
    lens = read_lens(project / "lens.safetensors")
    assert lens.layers == (2, 3)
    assert np.array_equal(lens.of(2), np.full((32, 32), 2.0))
    assert np.array_equal(lens.of(3), np.eye(32))
    assert lens.header["n_prompts"] == 40
    assert lens.header["origin"] == "published"


def test_another_lens_is_refused_until_it_is_renewed(project, capsys):
    assert main(["fks", "import-lens", write_published(project / "a.pt"), "--model", "tiny-a"]) == 0
    first = (project / FILE).read_bytes()
    assert main(["fks", "import-lens", write_published(project / "b.pt", 2.0), "--model", "tiny-a"]) != 0
    assert "--renew" in capsys.readouterr().err
    assert (project / FILE).read_bytes() == first
    assert main(["fks", "import-lens", str(project / "b.pt"), "--model", "tiny-a", "--renew"]) == 0
    assert (project / FILE).read_bytes() != first


def test_a_lens_of_another_width_and_an_unknown_model_are_refused(project, capsys):
    assert main(["fks", "import-lens", write_published(project / "a.pt", width=16), "--model", "tiny-a"]) != 0
    assert "16 wide" in capsys.readouterr().err
    assert main(["fks", "import-lens", str(project / "a.pt"), "--model", "tiny-z"]) != 0
    assert "tiny-z" in capsys.readouterr().err
    assert not (project / FILE).exists()


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"file": "data/none.safetensors"}, "does not exist"),
        ({"sha256": "0" * 64}, "not the locked one"),
        ({"model": "tiny-b"}, "is of 'tiny-a'"),
        ({"layers": [1, 2, 3]}, "no layer 1"),
    ],
)
def test_the_stage_refuses_what_is_not_the_locked_lens(project, change, complaint):
    assert main(["fks", "import-lens", write_published(project / "a.pt"), "--model", "tiny-a"]) == 0
    config = jobs(project)["lens/fks-embedded.tiny-a"].config
    with pytest.raises(DataError, match=complaint):
        imported(config | change, Inputs(()))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"J": [1, 2]}, "J is no dict"),
        ({"J": {"top": torch.eye(32)}}, "J has the entry 'top'"),
        ({"J": {2: [1.0]}}, "J has the entry 2"),
        ({"d_model": None}, "d_model or n_prompts is no number"),
    ],
)
def test_a_file_of_another_shape_is_named(project, capsys, change, words):
    path = write_published(project / "a.pt")
    torch.save(torch.load(path, weights_only=True) | change, path)
    assert main(["fks", "import-lens", path, "--model", "tiny-a"]) == 4
    assert words in capsys.readouterr().err
    assert main(["fks", "import-lens", str(project), "--model", "tiny-a"]) == 4
    assert "this is no published lens" in capsys.readouterr().err


def test_a_lens_is_written_into_the_project_only(project, capsys):
    path = write_published(project / "a.pt")
    for out in (str(project / "b.safetensors"), "../b.safetensors"):
        assert main(["fks", "import-lens", path, "--model", "tiny-a", "--out", out]) != 0
        assert "lies outside the project" in capsys.readouterr().err
