"""The estimate of what an experiment costs, and the budget that stops it."""

from pathlib import Path

import pytest

from assay.artifact.job import Work
from assay.budget import check, cpu_seconds, estimate
from assay.config.experiment import Experiment
from assay.config.load import Configs, load_configs
from assay.errors import ConfigError
from assay.plan import named_jobs

ROOT = Path(__file__).resolve().parents[2]


def configs(**changes) -> Configs:
    """Return the quickstart with some keys of the experiment changed, and with both models, fetched or not."""
    found = load_configs(ROOT, "quickstart")
    text = found.experiment.model_dump() | {"optional_models": []} | changes
    return Configs(found.root, found.name, Experiment.model_validate(text), found.lock)


def test_the_quickstart_is_within_its_own_budget():
    chosen = configs()
    estimated = estimate(named_jobs(chosen), chosen)
    assert set(chosen.experiment.budget) == {"fks", "hidden", "symbench", "sopbench"}
    for name, limit in chosen.experiment.budget.items():
        assert 0.1 * limit < estimated[name] <= limit
    check(estimated, chosen)


def test_more_rows_than_the_budget_allows_are_refused_with_the_numbers():
    benchmarks = configs().experiment.benchmarks
    benchmarks["symbench"]["samples"] = {"per_task": 100}
    chosen = configs(benchmarks=benchmarks)
    estimated = estimate(named_jobs(chosen), chosen)
    with pytest.raises(ConfigError, match="symbench is estimated at") as caught:
        check(estimated, chosen)
    assert caught.value.key == "budget.symbench"
    assert "700" in str(caught.value)
    check(estimated, configs(benchmarks=benchmarks, budget={}))  # nothing is refused without a budget


def test_a_budget_for_what_is_not_run_is_an_error():
    chosen = configs(budget={"symbnech": 5})
    with pytest.raises(ConfigError, match="symbnech"):
        check(estimate(named_jobs(chosen), chosen), chosen)


def test_a_second_model_and_a_second_seed_cost_as_much_again():
    one, both = configs(models=["smollm2-135m"]), configs()
    two_seeds = configs(models=["smollm2-135m"], seeds=[0, 1])
    alone, together, twice = (estimate(named_jobs(c), c) for c in (one, both, two_seeds))
    assert all(0 < alone[name] < together[name] for name in alone)
    assert twice["symbench"] == pytest.approx(2 * alone["symbench"])
    assert twice["hidden"] == alone["hidden"]


def test_estimated_rows_are_about_the_rows_that_are_built():
    from assay.fks.builder import build
    from assay.fks.pipeline import jobs
    from assay.records.step import Inputs

    chosen = load_configs(ROOT, "ci")
    planned = list(jobs(chosen))
    made = build(next(job for job in planned if job.stage == "queries").config, Inputs(()))
    asked = next(job.work for job in planned if job.stage == "generations" and job.work)
    built = len(list(made["queries.jsonl"]))
    assert 0.7 * built <= asked.rows <= 1.5 * built


def test_cost_grows_with_rows_tokens_and_parameters():
    base = cpu_seconds(Work(100, 30, 20), 100)
    assert base < cpu_seconds(Work(200, 30, 20), 100) < cpu_seconds(Work(200, 60, 20), 100)
    assert base < cpu_seconds(Work(100, 30, 20), 200)
    # A token is cheaper where many rows are decoded side by side.
    assert cpu_seconds(Work(1, 0, 640), 100) > cpu_seconds(Work(64, 0, 10), 100)
