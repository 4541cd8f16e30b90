"""SymBench through the real steps: tasks, prompts, answers, executions, rollouts, labels, metrics."""

import csv
import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from scripted_server import serving

from assay import plan
from assay.cli.main import main
from assay.config.lock import write_entry
from assay.config.models import read_registry
from assay.errors import SandboxError
from assay.model.cache import Cache
from assay.model.identity import lock_entry
from assay.plan import Project, open_project
from assay.records.jsonl import read_rows
from assay.records.rows import GenerationRow, MetricRow
from assay.symbench.catalogue import TASKS
from assay.symbench.datasets import load_published
from assay.symbench.label_rows import LabelRow
from assay.symbench.pipeline import MULTI_TURN, SINGLE_TURN
from assay.symbench.references import reference_answer
from assay.symbench.rollout_rows import RolloutRow
from assay.symbench.rows import TaskRow
from assay.symbench.templates import BUILT_IN

KINDS = list(BUILT_IN)
SMALL = {"max_rounds": 1, "check_tries": 1, "check_rounds": 1}
METHODS = dict.fromkeys(MULTI_TURN, SMALL)
MODES = [("upstream", "echo"), ("upstream", "normalized"), ("corrected", "marker")]


def small_project(root: Path, folder: Path, symbench: dict[str, Any], *models: str) -> Project:
    """Return a project with the repository's configs and one experiment."""
    (folder / "configs/experiments").mkdir(parents=True, exist_ok=True)
    for path in (root / "configs").glob("*.yaml"):
        if not (folder / "configs" / path.name).exists():
            shutil.copy(path, folder / "configs" / path.name)
    shutil.copy(root / "constraints.txt", folder / "constraints.txt")
    value = {"models": list(models), "seeds": [0], "benchmarks": {"symbench": symbench}, "allow_environment": True}
    (folder / "configs/experiments/one.yaml").write_text(json.dumps(value))
    (folder / "configs/experiment.yaml").write_text("use: one\n")
    return open_project(folder)


def make(project: Project) -> tuple[dict[str, Path], dict[str, str]]:
    """Make the project's SymBench artifacts in order; return by stage and item their folders, and how they came."""
    folders, how = {}, {}
    for planned in project.plan.values():
        if "symbench" in planned.job.item:
            try:
                how[planned.job.name] = project.maker.make(planned)
            except SandboxError as error:
                pytest.skip(f"no isolation here: {error}")
            folders[planned.job.name] = project.root / planned.folder
    return folders, how


def rows(folder: Path, name: str, kind: Any) -> list[Any]:
    return list(read_rows(folder / f"{name}.jsonl", kind))


def table(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / f"{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def tiny(root: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """All nine methods on all tasks with a random model."""
    methods = {**METHODS, "symbolic_agent": {**SMALL, "without_choice": "question"}}
    config = {"samples": {"per_task": 1}, "methods": methods, "decoding": {"max_new_tokens": 4}}
    return make(small_project(root, tmp_path_factory.mktemp("tiny"), config, "tiny-a"))[0]


@pytest.mark.long
class TestTinyModel:
    """Nothing is solved, and everything is counted."""

    @pytest.mark.parametrize("kind", KINDS)
    def test_every_sample_is_answered_labelled_and_counted(self, tiny: dict[str, Path], kind: str) -> None:
        item = f"symbench-generated.{kind}.tiny-a.s0"
        asked = [row.query_id for row in rows(tiny["tasks/symbench-generated"], "tasks", TaskRow)]
        assert len(asked) == len(TASKS) == 37
        if kind in SINGLE_TURN:
            answers = rows(tiny[f"generations/{item}"], "generations", GenerationRow)
        else:
            answers = rows(tiny[f"rollouts/{item}"], "rollouts", RolloutRow)
            assert all(row.turns for row in answers)
        labels = rows(tiny[f"labels/{item}"], "labels", LabelRow)
        assert [row.query_id for row in answers] == [row.query_id for row in labels] == asked
        for row in labels:
            assert [(verdict.profile, verdict.extraction) for verdict in row.verdicts] == MODES
        found = [row for row in rows(tiny["metrics/symbench"], "metrics", MetricRow) if row.method == kind]
        rates = [row for row in found if row.metric == "success_rate"]
        assert Counter((row.profile, row.n) for row in rates) == {("upstream", 1): 74, ("corrected", 1): 37}
        means = [row for row in found if row.metric == "mean_success_rate"]
        assert [row.n for row in means] == [37, 37, 37]
        failed = sum(row.generation_error is not None for row in labels)
        assert [row.n_failed for row in means] == [failed] * 3

    def test_a_guide_that_says_nothing_is_a_failed_sample_and_not_a_missing_one(self, tiny: dict[str, Path]) -> None:
        answers = rows(tiny["rollouts/symbench-generated.code_text_choice.tiny-a.s0"], "rollouts", RolloutRow)
        assert {row.ending for row in answers} == {"no_choice"}
        counts = [line for line in table(tiny["metrics/symbench"], "avenorm") if line["method"] == "code_text_choice"]
        assert {(line["n"], line["failed"]) for line in counts if line["split"] == "total"} == {("37", "37")}

    def test_averages_of_nothing_are_zero_and_say_so(self, tiny: dict[str, Path]) -> None:
        lines = table(tiny["metrics/symbench"], "avenorm")
        unsolved = [line for line in lines if line["split"] == "total" and len(line["unsolved_tasks"].split()) == 37]
        assert unsolved
        assert {(line["avenorm"], line["ci_low"], line["ci_high"]) for line in unsolved} == {("0.0", "", "")}


# One task of each kind of judging, small enough that a program can print the answer.
SOLVED = ("game24", "boxlift", "web_of_lies", "letters", "number_multiply", "string_insertion", "2048")


class Solver:
    """Plays every role: it knows the answers, writes programs when told to, and first one that never ends."""

    def __init__(self, references: dict[str, str]) -> None:
        self.references = references
        self.shown: list[str] = []

    def __call__(self, messages: list[dict[str, Any]]) -> str:
        system, last = messages[0]["content"], messages[-1]["content"]
        if len(messages) == 1:
            return "1"  # the lock asks what the server is
        if last.startswith(("You guide another model", "Decide how the problem")):
            return "<<<Return Answer>>>" if "A check of this answer said" in last else "Programs suit it. <<<Code>>>"
        if last.startswith("Here is a problem and an answer"):
            return "```python\nprint('Correct')\n```"
        if last.startswith("The model answered"):
            return "Return Answer" if "Correct" in last else "Terminate"
        answer = next((answer for question, answer in self.references.items() if question in last), None)
        if answer is None:
            self.shown.append(last)
            answer = next(a for question, a in self.references.items() if question in messages[1]["content"])
            return f"<<<{answer}>>>"
        if BUILT_IN["code_interpreter"]["interpreter"] == system:
            return "```python\nprint('so far', flush=True)\nwhile True: pass\n```"
        if last.startswith(BUILT_IN["all_code_cot"]["instruction"]):
            return f"I compute.\n```python\nanswer = {answer!r}\nprint('<<<' + answer + '>>>')\n```"
        return f"I think that it is <<<{answer}>>>."


@pytest.fixture(scope="module")
def solved(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[dict[str, Path], Solver]]:
    """Every method with a model that is right, behind a real server, with real executions."""
    folder = tmp_path_factory.mktemp("endpoint")
    solver = Solver({})
    with serving(solver) as server:
        (folder / "configs").mkdir()
        source = {"kind": "endpoint", "url": server.url, "served_name": "scripted", "attempts": 1}
        model = {"remote": {"title": "remote", "family": "none", "licence": "none", "source": source}}
        (folder / "configs/models.yaml").write_text(json.dumps({"models": model}))
        write_entry(folder, "models/remote", lock_entry(read_registry(folder)["remote"], Cache(folder)))
        config = {"samples": {"per_task": 2}, "tasks": list(SOLVED), "methods": METHODS, "loop_limit_s": 1}
        project = small_project(root, folder, config, "remote")
        first = project.plan["tasks", "symbench-generated"]
        project.maker.make(first)
        samples = rows(folder / first.folder, "tasks", TaskRow)
        solver.references.update({row.question: _reference(row) for row in samples})
        yield make(project)[0], solver


class TestEndpoint:
    """What comes of it."""

    @pytest.mark.parametrize("kind", KINDS)
    def test_every_method_solves_everything(self, solved: tuple[dict[str, Path], Solver], kind: str) -> None:
        labels = rows(solved[0][f"labels/symbench-generated.{kind}.remote.s0"], "labels", LabelRow)
        assert len(labels) == 2 * len(SOLVED)
        for row in labels:
            assert [verdict.outcome for verdict in row.verdicts[1:]] == ["right", "right"], row
        has_code = kind in {"all_code_cot", "code_text_choice", "symbolic_agent"}
        assert {row.execution != "none" for row in labels} == {has_code}

    def test_the_best_everywhere_have_one_hundred(self, solved: tuple[dict[str, Path], Solver]) -> None:
        lines = table(solved[0]["metrics/symbench"], "avenorm")
        sound = [line for line in lines if line["extraction"] != "echo"]
        assert {line["method"] for line in sound} == set(KINDS)
        assert {float(line["avenorm"]) for line in sound} == {100.0}
        found = rows(solved[0]["metrics/symbench"], "metrics", MetricRow)
        assert {row.determinism for row in found} == {"volatile"}

    def test_the_turn_after_a_time_out_sees_its_text(self, solved: tuple[dict[str, Path], Solver]) -> None:
        folders, solver = solved
        told = [text for text in solver.shown if "it ran longer than 1 seconds" in text]
        assert len(told) == 2 * len(SOLVED)
        assert all("Output:\nso far\n" in text for text in told)
        played = rows(folders["rollouts/symbench-generated.code_interpreter.remote.s0"], "rollouts", RolloutRow)
        for row in played:
            assert [turn.kind for turn in row.turns if turn.actor == "sandbox"] == ["timeout"]

    def test_the_loop_runs_checks_and_stops(self, solved: tuple[dict[str, Path], Solver]) -> None:
        for kind in ("codesteer", "symbolic_agent"):
            played = rows(solved[0][f"rollouts/symbench-generated.{kind}.remote.s0"], "rollouts", RolloutRow)
            assert {row.ending for row in played} == {"returned"}
            for row in played:
                checks = [turn for turn in row.turns if turn.actor == "sandbox" and turn.stdout == "Correct\n"]
                assert len(checks) == 1


def _reference(row: TaskRow) -> str:
    answer = reference_answer(row)
    assert answer is not None
    return answer


class TestRecomputation:
    """An edit of a verifier on the finished pipeline, multi-turn methods included."""

    CONFIG = {
        "samples": {"per_task": 1},
        "tasks": ["game24", "letters"],
        "methods": METHODS,
        "decoding": {"max_new_tokens": 4},
    }

    @pytest.fixture
    def edited(self, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str, str], None]:
        """A copy of the source that the plan reads, and a way to edit it."""
        skipped = shutil.ignore_patterns("__pycache__", ".*cache")
        shutil.copytree(root / "src/assay", tmp_path / "code/assay", ignore=skipped)
        monkeypatch.setattr(plan, "SOURCE", tmp_path / "code")

        def edit(module: str, old: str, new: str) -> None:
            path = tmp_path / "code/assay/symbench" / module
            text = path.read_text()
            assert text.count(old) == 1
            path.write_text(text.replace(old, new))

        return edit

    def test_a_verifier_moves_labels_and_what_is_below(
        self, root: Path, tmp_path: Path, edited: Callable[[str, str, str], None]
    ) -> None:
        folder = tmp_path / "project"
        _, first = make(small_project(root, folder, self.CONFIG, "tiny-a"))
        assert Counter(name.partition("/")[0] for name in first) == {
            "tasks": 1, "prompts": 9, "generations": 4, "executions": 4, "rollouts": 5, "labels": 9, "metrics": 1,
        }  # fmt: skip
        assert set(make(open_project(folder))[1].values()) == {"present"}

        edited("verifiers/game24.py", '"""Check that the expression', '"""Check whether the expression')
        assert set(make(open_project(folder))[1].values()) == {"present"}

        edited("verifiers/game24.py", "isinstance(value, int | float) and", "isinstance(value, float | int) and")
        _, second = make(open_project(folder))
        by_stage = {(name.partition("/")[0], how) for name, how in second.items()}
        assert by_stage == {
            ("tasks", "present"), ("prompts", "present"), ("generations", "present"), ("executions", "present"),
            ("rollouts", "present"),
            # The labels are the same, so what reads them is linked.
            ("labels", "computed"), ("metrics", "linked"),
        }  # fmt: skip

    def test_a_second_project_computes_the_same_bytes(self, root: Path, tmp_path: Path) -> None:
        made = [make(small_project(root, tmp_path / name, self.CONFIG, "tiny-a"))[0] for name in ("one", "two")]
        for name, folder in made[0].items():
            other = made[1][name]
            assert folder.name == other.name
            for path in folder.iterdir():
                assert path.name == "envelope.json" or path.read_bytes() == (other / path.name).read_bytes(), path

    def test_one_method_moves_its_own_rollouts(
        self, root: Path, tmp_path: Path, edited: Callable[[str, str, str], None]
    ) -> None:
        folder = tmp_path / "project"
        make(small_project(root, folder, self.CONFIG, "tiny-a"))
        edited("methods/codesteer.py", "for rounds in range(settings.max_rounds + 1)", "for rounds in range(1 + settings.max_rounds)")  # fmt: skip  # noqa: E501
        _, how = make(open_project(folder))
        moved = {name.split(".")[1] for name, way in how.items() if way == "computed" and name.startswith("rollouts/")}
        assert moved == {"codesteer", "symbolic_agent"}
        assert {way for name, way in how.items() if name.startswith(("prompts/", "generations/"))} == {"present"}


def test_prompts_that_lost_their_beginning_are_counted(root: Path, tmp_path: Path) -> None:
    config = {
        "samples": {"per_task": 2},
        "tasks": ["letters"],
        "use": ["only_question", "code_interpreter"],
        "methods": {"code_interpreter": SMALL},
        "decoding": {"max_new_tokens": 4, "max_prompt_tokens": 16},
    }
    made, _ = make(small_project(root, tmp_path, config, "tiny-a"))
    for method in ("only_question", "code_interpreter"):
        labels = rows(made[f"labels/symbench-generated.{method}.tiny-a.s0"], "labels", LabelRow)
        assert [row.truncated_prompt for row in labels] == [True, True]
    found = rows(made["metrics/symbench"], "metrics", MetricRow)
    assert {row.value for row in found if row.metric == "truncated_prompts_rate"} == {1.0}
    assert {line["truncated_prompts"] for line in table(made["metrics/symbench"], "avenorm")} == {"2"}


@pytest.mark.long
def test_published_samples_from_a_clone_to_the_averages(
    root: Path, shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Fetch from a local clone, lock, and evaluate a model on the published selection; questions of two sources."""
    import test_raw_layout as raw

    folder = tmp_path / "project"
    folder.mkdir()
    published = shared / "data/symbench"
    tasks = ["boxlift", "boxnet", "reversi", "path_plan"]
    for task in TASKS:
        if task != "path_plan":
            raw.write_raw(tmp_path / "clone/dataset_gather", task, load_published(published, task))
    monkeypatch.chdir(folder)
    (folder / "configs").mkdir()
    (folder / "configs/lock.yaml").write_bytes((root / "configs/lock.yaml").read_bytes())
    fetch = ["data", "fetch", "symbench", "--from", str(tmp_path / "clone")]
    assert main([*fetch, "--with", str(published / "path_plan_environments.json")]) == 0
    assert capsys.readouterr().out.count("digest as published") == 37
    config = {
        "samples": {"kind": "published", "selection": "runner-baseline"},
        "tasks": tasks,
        "use": ["only_question", "code_interpreter"],
        "methods": {"code_interpreter": SMALL},
        "decoding": {"max_new_tokens": 4},
    }
    made, _ = make(small_project(root, folder, config, "tiny-a"))
    samples = rows(made["tasks/symbench-published"], "tasks", TaskRow)
    assert Counter(row.task for row in samples) == {"path_plan": 140, "boxlift": 20, "boxnet": 30, "reversi": 50}
    sources = {row.task: row.question_source for row in samples}
    assert sources == {"path_plan": "own", "boxlift": "own", "boxnet": "own", "reversi": "published"}
    for method in ("only_question", "code_interpreter"):
        assert len(rows(made[f"labels/symbench-published.{method}.tiny-a.s0"], "labels", LabelRow)) == 240
    lines = table(made["metrics/symbench"], "avenorm")
    assert {(line["n"], line["n_tasks"]) for line in lines if line["split"] == "total"} == {("240", "4")}
    found = rows(made["metrics/symbench"], "metrics", MetricRow)
    assert all("samples=runner-baseline" in row.setting for row in found)
    # A file that changed since it was locked stops the run.
    with (folder / "data/symbench/reversi.jsonl").open("a") as file:
        file.write("\n")
    with pytest.raises(Exception, match="not the locked one"):
        make(small_project(root, folder, config | {"samples": {"kind": "published", "selection": "full"}}, "tiny-a"))
