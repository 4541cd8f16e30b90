"""What enters a recipe."""

from pathlib import Path

import pytest

from assay.artifact.code import Source
from assay.artifact.environment import Declared
from assay.artifact.job import Job, Need
from assay.artifact.recipe import Recipes
from assay.config.lock import Lock
from assay.errors import ConfigError

SRC = Path(__file__).resolve().parents[2] / "src"
VERSIONS = dict.fromkeys(
    ["torch", "transformers", "tokenizers", "jinja2", "safetensors", "numpy", "scipy", "pandas"], "1.0"
)
FUNCTION = "assay.records.rows:row_id"


def plan(*jobs: Job, versions: dict[str, str] = VERSIONS, lock: Lock | None = None):
    declared = Declared(versions, "3.11", "14.0.0")
    return Recipes(Source(SRC), lock or Lock(models={"m": {"sha256": "a"}}), declared).plan(jobs)


def one(stage: str = "rollouts", **fields) -> Job:
    return Job(stage, "x", FUNCTION, **fields)


def key(job: Job, **options) -> str:
    return plan(job, **options)[job.stage, job.item].key


@pytest.mark.parametrize("stage", ["generations", "rollouts", "hidden", "lens"])
def test_every_job_that_loads_a_model_depends_on_the_model_libraries(stage):
    other = VERSIONS | {"torch": "2.0"}
    with_model = one(stage, model="m", lock=("models/m",))
    assert key(with_model) != key(with_model, versions=other)
    assert key(one(stage)) == key(one(stage), versions=other)


def test_config_function_lock_and_needs_enter_the_key():
    base = one(config={"a": 1}, lock=("models/m",))
    keys = {
        key(base),
        key(one(config={"a": 1.0}, lock=("models/m",))),
        key(one(config={"a": 1})),
        key(base, lock=Lock(models={"m": {"sha256": "b"}})),
        key(Job("rollouts", "x", "assay.records.rows:setting_text", {"a": 1}, lock=("models/m",))),
    }
    assert len(keys) == 5
    tasks = [Job("tasks", "t", FUNCTION, {"seed": seed}) for seed in (0, 1)]
    fed = one(needs=(Need("tasks", "tasks", "t"),))
    assert len({plan(t, fed)["rollouts", "x"].key for t in tasks}) == 2


def test_determinism_is_the_weakest_along_the_way():
    answers = Job("generations", "g", FUNCTION, determinism="isa")
    labels = Job("labels", "l", FUNCTION, needs=(Need("generations", "generations", "g"),))
    assert plan(answers, labels)["labels", "l"].determinism == "isa"


def test_equal_contents_give_equal_content_keys_except_where_inputs_are_named():
    def content(stage: str, seed: int) -> str:
        feed = Job("metrics", "m", FUNCTION, {"seed": seed})
        return plan(feed, Job(stage, "x", FUNCTION, needs=(Need("metrics", "metrics", "m"),)))[stage, "x"].content_key(
            "d"
        )

    assert content("clusters", 0) == content("clusters", 1)
    assert content("table", 0) != content("table", 1)


@pytest.mark.parametrize(
    ("jobs", "message"),
    [
        ([one(), one()], "two jobs are named rollouts/x"),
        ([one("nothing")], "is no stage"),
        ([one(needs=(Need("tasks", "tasks", "t"),))], "which is not planned before it"),
        ([one(lock=("models/other",))], "assay lock other"),
        ([Job("tasks", "x", "assay.nowhere:f")], "names code that does not exist"),
    ],
)
def test_impossible_plans_are_refused(jobs, message):
    with pytest.raises(ConfigError, match=message):
        plan(*jobs)
