"""Exact recomputation: each single change makes exactly what lies downstream, in Snakemake and in `dvc repro`."""

import pytest
from changes import CHANGES, Change
from project import TABLE, Project, copy

QUICK = {"a scorer rule", "a greedy seed", "a comment", "a deleted artifact"}
PARAMS = [
    pytest.param(change, id=change.name, marks=() if change.name in QUICK else pytest.mark.long) for change in CHANGES
]


def expected(change: Change) -> dict[str, int]:
    """Return the exact log of a change: which artifacts are computed, which are linked."""
    computed = change.affected if change.computed is None else change.computed
    return {("computed " if name in computed else "linked ") + name: 1 for name in change.affected}


@pytest.mark.parametrize("change", PARAMS)
def test_snakemake_makes_exactly_what_lies_downstream(change, built, fresh, tmp_path):
    project = copy(built, tmp_path / "p")
    change.apply(project)
    assert project.made(*TABLE) == expected(change)
    assert "Nothing to be done" in project.call("snakemake", "-n")
    assert "0 problems" in project.call("assay", "verify")
    assert project.made("assay", "sweep") == {}
    assert project.artifacts() == clean_build(change, fresh, tmp_path)


def clean_build(change: Change, fresh: Project, tmp_path) -> dict[str, bytes]:
    clean = copy(fresh, tmp_path / "clean")
    if change.name != "a deleted artifact":
        change.apply(clean)
    clean.call(*TABLE)
    return clean.artifacts()


@pytest.mark.parametrize("change", [pytest.param(c, id=c.name, marks=pytest.mark.long) for c in CHANGES])
def test_dvc_repro_makes_exactly_what_lies_downstream(change, recorded, tmp_path):
    project = copy(recorded, tmp_path / "p")
    change.apply(project)
    assert project.made("dvc", "repro") == expected(change)
    assert "up to date" in project.call("dvc", "status")
    assert "Nothing to be done" in project.call("snakemake", "-n")
    assert "0 problems" in project.call("assay", "verify")


def test_dvc_repro_follows_a_scorer_change_and_its_undoing(recorded, tmp_path):
    project = copy(recorded, tmp_path / "p")
    change = next(c for c in CHANGES if c.name == "a scorer rule")
    before = project.artifacts()
    change.apply(project)
    assert project.made("dvc", "repro") == expected(change)
    project.call("git", "checkout", "configs")
    made = project.made("dvc", "repro")
    assert made == {"linked " + name: 1 for name in change.affected}
    assert project.artifacts() == before


def test_going_back_in_snakemake_is_no_job_at_all(built, tmp_path):
    project = copy(built, tmp_path / "p")
    before = (project.folder / "results/table.csv").read_bytes()
    project.edit("configs/toy.yaml", "threshold: 2", "threshold: 9")
    assert project.made(*TABLE)
    assert (project.folder / "results/table.csv").read_bytes() != before
    project.edit("configs/toy.yaml", "threshold: 9", "threshold: 2")
    assert project.made(*TABLE) == {}
    assert (project.folder / "results/table.csv").read_bytes() == before


def test_weights_that_changed_without_a_new_lock_stop_the_run(built, tmp_path):
    """Same path, size and times: only the bytes tell."""
    from changes import overwrite_weights

    project = copy(built, tmp_path / "p")
    lock = (project.folder / "configs/lock.yaml").read_text()
    overwrite_weights(project)
    (project.folder / "configs/lock.yaml").write_text(lock)
    project.edit("configs/toy.yaml", "sampled: 0", "sampled: 5")
    result = project.run(*TABLE)
    assert result.code != 0
    assert "assay lock" in result.text
    assert "Traceback" not in result.text
