"""The plan: every artifact that the chosen experiment needs, from configs, lock, constraints and code."""

import importlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Protocol, cast

from assay.artifact.code import Source
from assay.artifact.environment import Declared
from assay.artifact.job import Job, Need
from assay.artifact.large import place_large_stages
from assay.artifact.make import Maker
from assay.artifact.recipe import Plan, Recipes
from assay.artifact.stages import GROUPS, STAGES
from assay.budget import check, estimate
from assay.config.files import unknown_key
from assay.config.load import Configs, load_configs
from assay.errors import ConfigError
from assay.records.atomic import write_if_changed

# Benchmark -> module with `jobs(configs)` and `published(configs)`. A new benchmark adds one line here.
BENCHMARKS = {
    "fks": "assay.fks.pipeline",
    "sopbench": "assay.sopbench.pipeline",
    "symbench": "assay.symbench.pipeline",
}
MAIN_TABLE = ("table", "main")
CODE_CACHE = Path(".snakemake/assay/code.json")  # the one folder that a dry run may write to
SOURCE = Path(__file__).resolve().parent.parent


class Pipeline(Protocol):
    """What the pipeline module of a benchmark defines."""

    def jobs(self, configs: Configs) -> Iterator[Job]:
        """Yield the benchmark's jobs, inputs before what needs them.

        A benchmark that the experiment leaves out still yields the job of its own published tables, without
        inputs, so that every experiment publishes the same names.
        """

    def published(self, configs: Configs) -> Mapping[str, tuple[str, str, str]]:
        """Return published path -> (stage, item, file of the artifact)."""


@dataclass(frozen=True)
class Project:
    """A project folder with the plan of one experiment."""

    configs: Configs
    declared: Declared
    plan: Plan
    estimated: Mapping[str, float]
    """CPU-seconds of the model jobs by benchmark, if nothing of the plan existed."""

    @property
    def root(self) -> Path:
        """The project folder."""
        return self.configs.root

    @cached_property
    def maker(self) -> Maker:
        """What makes the plan's artifacts."""
        return Maker(self.root, self.configs.lock, self.declared, self.configs.experiment.allow_environment)

    @cached_property
    def published(self) -> dict[str, Path]:
        """Published path -> path of the artifact file that it is a copy of, both relative to the project."""
        found = {f"table.{end}": (*MAIN_TABLE, f"table.{end}") for end in ("csv", "md")}
        found["metrics.json"] = (*MAIN_TABLE, "metrics.json")
        for name in BENCHMARKS:
            found |= dict(_pipeline(name).published(self.configs))
        return {
            f"{self.base}/{path.removeprefix('results/')}": self.plan[stage, item].folder / file
            for path, (stage, item, file) in found.items()
            if (stage, item) in self.plan
        }

    @cached_property
    def base(self) -> str:
        """Where published files stand; an experiment chosen for one call has a folder of its own."""
        default = load_configs(self.root).name
        return "results" if self.configs.name == default else f"results/published/{self.configs.name}"


def open_project(root: Path | None = None, experiment: str | None = None) -> Project:
    """Read configs, lock and constraints of a project folder (default: the current one) and plan."""
    root = Path.cwd() if root is None else root
    own = (root / "src" / "assay").resolve()
    if own.is_dir() and own != SOURCE / "assay":
        raise ConfigError(
            f"the running package is {SOURCE / 'assay'}, not this project's own",
            file="src/assay",
            remedy="activate this project's environment, or run `pip install -e .` here",
        )
    configs = load_configs(root, experiment)
    place_large_stages(root)
    declared = Declared.read(root)
    recipes = Recipes(Source(SOURCE, root / CODE_CACHE), configs.lock, declared)
    planned = list(named_jobs(configs))
    estimated = estimate(planned, configs)
    check(estimated, configs)
    return Project(configs, declared, recipes.plan(job for _, job in planned), estimated)


def named_jobs(configs: Configs) -> Iterator[tuple[str, Job]]:
    """Yield the jobs of all benchmarks with the benchmark's name, and last the table over all their metrics."""
    unknown = [name for name in configs.experiment.benchmarks if name not in BENCHMARKS]
    if unknown:
        raise ConfigError(
            f"{unknown[0]!r} is no benchmark",
            file=f"configs/experiments/{configs.name}.yaml",
            key="benchmarks",
            expected="one of " + ", ".join(BENCHMARKS),
        )
    if configs.experiment.executions:
        _ = configs.executions  # also where no benchmark of the experiment reads it
    if not configs.model_names:
        raise ConfigError(
            f"no model remains: {configs.left_out}",
            file=f"configs/experiments/{configs.name}.yaml",
            key="models",
            expected="at least one whose weights are here",
            remedy="add a model that this machine has",
        )
    for name in configs.table.markdown:
        if name not in BENCHMARKS:
            raise unknown_key(f"markdown.{name}", name, BENCHMARKS, "configs/table.yaml")
    clash = [name for name in BENCHMARKS if name in STAGES]
    if clash:
        raise ConfigError(f"the benchmark {clash[0]!r} is named like a stage", remedy="rename it")
    metrics = []
    for name in BENCHMARKS:
        for job in _pipeline(name).jobs(configs):
            if job.stage == "metrics":
                metrics.append(Need("metrics", job.stage, job.item))
            yield name, job
    yield (
        "",
        Job(
            stage="table",
            item="main",
            function="assay.report.table:build",
            config=configs.table.model_dump(mode="json"),
            needs=tuple(metrics),
        ),
    )


def _pipeline(name: str) -> Pipeline:
    return cast(Pipeline, importlib.import_module(BENCHMARKS[name]))


def write_keys(project: Project) -> list[str]:
    """Write the keys of each coarse DVC stage to `results/plan/`; return the files that changed."""
    lines: dict[str, list[str]] = {group: [] for group in GROUPS}
    for planned in project.plan.values():
        lines[STAGES[planned.job.stage].group].append(f"{planned.job.name} {planned.key}\n")
    folder = project.root / "results" / "plan"
    return [
        group
        for group, rows in lines.items()
        if write_if_changed(folder / f"{group}.txt", "".join(sorted(rows)).encode())
    ]
