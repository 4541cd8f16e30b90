"""What a user sees of both engines: dry runs, published copies, a clean git status, clear errors."""

import pytest
from project import TABLE, Project, copy

NOTHING = "Nothing to be done"


def state(project: Project) -> dict[str, tuple[int, bytes]]:
    """Return times and bytes of everything that a dry run must leave alone."""
    skip = {".snakemake", "__pycache__", ".git"}
    return {
        path.relative_to(project.folder).as_posix(): (path.stat().st_mtime_ns, path.read_bytes())
        for path in project.folder.rglob("*")
        if path.is_file() and not skip & set(path.relative_to(project.folder).parts)
    }


@pytest.mark.parametrize("target", [(), ("results/table.csv",)])
def test_a_dry_run_plans_jobs_when_nothing_is_made_and_says_so_when_all_is(target, fresh, built):
    assert "generations" in fresh.call("snakemake", "-n", *target)
    assert NOTHING in built.call("snakemake", "-n", *target)


def test_a_dry_run_changes_nothing_outside_the_engines_own_folder(built, tmp_path):
    project = copy(built, tmp_path / "p")
    project.edit("configs/toy.yaml", "threshold: 2", "threshold: 9")
    before = state(project)
    assert "labels" in project.call("snakemake", "-n")
    assert state(project) == before


def test_a_second_run_does_nothing_and_git_sees_only_published_tables(built):
    assert built.made(*TABLE) == {}
    assert built.made("snakemake", "--cores", "16", "results/table.csv") == {}
    seen = {line[3:] for line in built.call("git", "status", "--porcelain", "-uall").splitlines()}
    assert seen
    assert all(path.startswith("results/") and path.endswith((".csv", ".md", ".json", ".tex")) for path in seen), seen


def test_a_spoiled_published_copy_is_replaced(built, tmp_path):
    project = copy(built, tmp_path / "p")
    table = project.folder / "results/table.csv"
    right = table.read_bytes()
    table.write_text("spoiled")
    assert project.made(*TABLE) == {}
    assert table.read_bytes() == right


@pytest.mark.parametrize("name", ["labels.jsonl", "manifest.json"])
@pytest.mark.parametrize("target", [(), ("results/table.csv",), ("all_labels",)])
def test_a_deleted_file_of_an_artifact_is_made_again_and_only_that(name, target, built, tmp_path):
    project = copy(built, tmp_path / "p")
    file = next((project.folder / "results/labels/toy.tiny-a.greedy").glob(f"*/{name}"))
    before = project.artifacts()
    file.unlink()
    assert "labels" in project.call("snakemake", "-n", *target)
    assert project.made("snakemake", "--cores", "2", *target) == {"computed labels toy.tiny-a.greedy": 1}
    assert project.artifacts() == before
    assert NOTHING in project.call("snakemake", "-n", *target)


def test_dvc_is_clean_after_repro(recorded):
    assert "up to date" in recorded.call("dvc", "status")
    assert recorded.made("dvc", "repro") == {}
    assert recorded.call("git", "status", "--porcelain") == ""


def test_dvc_repro_after_a_comment_runs_the_plan_alone(recorded, tmp_path):
    project = copy(recorded, tmp_path / "p")
    project.edit("src/assay/toy/deep.py", "    return", "    # why\n    return")
    text = project.call("dvc", "repro")
    assert "Running stage 'plan'" in text
    assert [line for line in text.splitlines() if line.startswith("Running stage")] == ["Running stage 'plan':"]


def test_dvc_knows_single_settings(recorded, tmp_path):
    project = copy(recorded, tmp_path / "p")
    set_to = "configs/table.yaml:markdown_digits=1"
    assert project.made("dvc", "exp", "run", "-S", set_to) == {"computed table main": 1}
    changed = [line.split() for line in project.call("dvc", "params", "diff").splitlines()]
    assert changed[1:] == [["configs/table.yaml", "markdown_digits", "3", "1"]]
    assert "up to date" in project.call("dvc", "status")


def test_another_experiment_publishes_beside(built, tmp_path):
    project = copy(built, tmp_path / "p")
    other = (project.folder / "configs/experiments/toy.yaml").read_text().replace("[tiny-a, copied]", "[tiny-a]")
    (project.folder / "configs/experiments/small.yaml").write_text(other)
    table = project.folder / "results/table.csv"
    before = table.read_bytes()
    made = project.made("snakemake", "--cores", "2", "--config", "experiment=small")
    assert set(made) == {"computed table main"}
    assert table.read_bytes() == before
    assert (project.folder / "results/published/small/table.csv").read_bytes().count(b"\n") == 2
    assert NOTHING in project.call("snakemake", "-n")


def test_the_workflow_profile_is_found(built):
    assert "profiles/default" in built.call("snakemake", "-n")


BAD = [
    ("configs/experiments/toy.yaml", "tiny-a,", "tiny-aa,", ["toy.yaml", "'tiny-aa' is not known", "tiny-a"]),
    ("configs/toy.yaml", "weight:", "wieght:", ["toy.yaml", "'wieght' is not known", "weight"]),
    ("configs/toy.yaml", "sampled: 0", "sampled: -1", ["toy.yaml", "seeds.sampled", "greater than or equal to 0"]),
    ("configs/toy.yaml", "threshold: 2", "threshold: two", ["toy.yaml", "threshold", "'two'"]),
    ("configs/experiment.yaml", "use: toy", "use: tyo", ["configs/experiment.yaml", "'tyo' is not known", "toy"]),
    ("configs/experiments/toy.yaml", "  toy: {}", "  toyy: {}", ["toyy", "is no benchmark"]),
    ("configs/toy.yaml", "template:", "template: x\ntemplate:", ["toy.yaml", "stands twice"]),
    ("configs/toy.yaml", "template:", "template: [", ["toy.yaml"]),
    ("constraints.txt", "scipy==", "scipyy==", ["constraints.txt", "scipy", "pin it"]),
    ("configs/toy.yaml", "threshold: 2", "threshold: yes", ["toy.yaml", "threshold", "neither true nor false"]),
    ("configs/table.yaml", "markdown_digits: 3", "markdown_digits: -1", ["table.yaml", "markdown_digits", "0"]),
    ("configs/table.yaml", "  fks:", "  fsk:", ["configs/table.yaml", "'fsk' is not known", "fks"]),
]  # fmt: skip


@pytest.mark.parametrize(("path", "old", "new", "words"), BAD, ids=[f"{bad[1]} -> {bad[2]}" for bad in BAD])
def test_bad_configs_are_one_sentence(path, old, new, words, built, tmp_path):
    project = copy(built, tmp_path / "p")
    project.edit(path, old, new)
    before = project.artifacts()
    for command in (("assay", "plan"), TABLE):
        result = project.run(*command)
        assert result.code not in (0, 1)
        assert "Traceback" not in result.text
        for word in words:
            assert word in result.text
    assert project.artifacts() == before


def test_a_missing_config_and_an_empty_dataset_are_one_sentence(built, tmp_path):
    project = copy(built, tmp_path / "p")
    facts = (project.folder / "configs/toy.yaml").read_text()
    (project.folder / "configs/toy.yaml").write_text(facts[: facts.index("  - ")] + facts[facts.index("template") :])
    result = project.run("assay", "plan")
    assert result.code == 3
    assert "facts" in result.text
    (project.folder / "configs/toy.yaml").unlink()
    result = project.run("assay", "plan")
    assert result.code == 3
    assert "configs/toy.yaml: the file does not exist" in result.text


def test_a_lock_without_the_model_says_how_to_lock(built, tmp_path):
    project = copy(built, tmp_path / "p")
    (project.folder / "configs/lock.yaml").write_text("models: {}\ndata: {}\n")
    result = project.run("assay", "plan")
    assert result.code == 3
    assert "assay lock tiny-a" in result.text


def test_an_artifact_that_is_not_in_the_plan_is_one_sentence(built, tmp_path):
    """A misspelled item, or the path of an artifact that another experiment made."""
    project = copy(built, tmp_path / "p")
    result = project.run("snakemake", "--cores", "1", "results/labels/nobody/0123456789ab/labels.jsonl")
    assert result.code != 0
    assert "labels/nobody/0123456789ab is not, or no longer, what the plan asks for" in result.text
    assert "KeyError" not in result.text


def test_a_change_during_a_run_is_refused(built):
    result = built.run("assay", "make", "labels", "toy.tiny-a.greedy", "0" * 12)
    assert result.code == 5
    assert "run the command again" in result.text


@pytest.mark.parametrize("chosen", ["experimnt=toy", "experiment=tyo", "experiment=../experiment", "experiment=5"])
def test_a_misspelled_choice_of_the_experiment_is_no_run_of_another(chosen, built):
    result = built.run("snakemake", "-n", "--config", chosen)
    assert result.code == 3
    assert "is not known" in result.text
    assert "Traceback" not in result.text


def test_a_spoiled_list_of_absent_models_says_what_to_do(built, tmp_path):
    project = copy(built, tmp_path / "p")
    project.edit("configs/experiments/toy.yaml", "seeds: [0]", "optional_models: [copied]\nseeds: [0]")
    (project.folder / ".assay").mkdir(exist_ok=True)
    (project.folder / ".assay/absent_models.json").write_text("[")
    result = project.run("assay", "plan")
    assert result.code == 3
    assert "absent_models.json: the file is spoiled; delete it" in result.text


def test_a_model_that_is_left_out_is_told_by_every_command_that_plans(built, tmp_path):
    project = copy(built, tmp_path / "p")
    project.edit("configs/experiments/toy.yaml", "seeds: [0]", "optional_models: [copied]\nseeds: [0]")
    (project.folder / ".assay").mkdir(exist_ok=True)
    (project.folder / ".assay/absent_models.json").write_text('["copied"]')
    for command in (
        ("assay", "plan"),
        ("assay", "plan", "--write"),
        ("assay", "status"),
        ("assay", "verify"),
        ("assay", "sweep"),
        ("snakemake", "-n"),
    ):
        said = project.run(*command).text
        assert "left out, since its weights could not be fetched: copied; `assay fetch`" in said, command
