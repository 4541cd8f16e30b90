"""Recipes: from jobs to planned artifacts whose paths contain their keys."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from assay.artifact.code import Source
from assay.artifact.environment import Declared
from assay.artifact.job import Job
from assay.artifact.stages import DETERMINISM, MODEL_LIBRARIES, STAGES
from assay.canonical import digest
from assay.config.lock import Lock
from assay.errors import ConfigError

RESULTS = Path("results")
ATTIC = Path(".attic")
SHORT = 12


@dataclass(frozen=True)
class Planned:
    """One artifact of the plan.

    Attributes
    ----------
    own : dict
        The part of the recipe that this step contributes, every component by name.
    key : str
        Digest of `own` and the keys of the inputs (64 hex digits).
    needs : tuple of (role, Planned)
        Inputs in the job's order.
    determinism : str
        The weakest class along the way.
    """

    job: Job
    own: dict[str, Any]
    own_digest: str
    key: str
    needs: tuple[tuple[str, "Planned"], ...]
    determinism: str

    @property
    def name(self) -> tuple[str, str]:
        """Stage and item."""
        return self.job.stage, self.job.item

    @cached_property
    def folder(self) -> Path:
        """Path of the artifact relative to the project."""
        return RESULTS / self.job.stage / self.job.item / self.key[:SHORT]

    @property
    def manifest(self) -> Path:
        """Path of the manifest relative to the project."""
        return self.folder / "manifest.json"

    def content_key(self, input_digests: Iterable[str]) -> str:
        """Return the key with the inputs' contents in place of their recipes."""
        named = STAGES[self.job.stage].names_inputs
        parts = [
            [role, *p.name, d, p.key if named else ""] for (role, p), d in zip(self.needs, input_digests, strict=True)
        ]
        return digest("content", [self.own_digest, parts])


Plan = dict[tuple[str, str], Planned]


class Recipes:
    """Turns jobs into planned artifacts."""

    def __init__(self, source: Source, lock: Lock, declared: Declared) -> None:
        self._source = source
        self._lock = lock
        self._declared = declared
        self._codes: dict[tuple[str, str], dict[str, str]] = {}

    def plan(self, jobs: Iterable[Job]) -> Plan:
        """Return the artifacts of all jobs in dependency order.

        Raises
        ------
        ConfigError
            If two jobs have one name, a need is not planned before its job, a stage, function or lock entry is
            unknown, or two recipes share a short key.
        """
        plan: Plan = {}
        for job in jobs:
            if (job.stage, job.item) in plan:
                raise ConfigError(f"two jobs are named {job.name}", remedy="give them different items")
            plan[job.stage, job.item] = self._planned(job, plan)
        short: dict[tuple[str, str, str], Planned] = {}
        for planned in plan.values():
            if short.setdefault((*planned.name, planned.key[:SHORT]), planned) is not planned:
                raise ConfigError(
                    f"two recipes of {planned.job.name} share the short key {planned.key[:SHORT]}",
                    expected=f"other first {SHORT} digits in paths",
                    remedy="change any value of the config of one of the two, such as a seed",
                )
        self._source.save()
        return plan

    def _planned(self, job: Job, plan: Plan) -> Planned:
        if job.stage not in STAGES:
            raise ConfigError(f"{job.stage!r} is no stage", expected="one of " + ", ".join(STAGES))
        missing = [need for need in job.needs if (need.stage, need.item) not in plan]
        if missing:
            raise ConfigError(
                f"{job.name} needs {missing[0].stage}/{missing[0].item}, which is not planned before it",
                expected="inputs before what needs them",
                remedy="let the benchmark's pipeline yield that job, and yield it first",
            )
        needs = tuple((need.role, plan[need.stage, need.item]) for need in job.needs)
        own = self._own(job)
        own_digest = digest("own", own)
        classes = [job.determinism, *(p.determinism for _, p in needs)]
        return Planned(
            job=job,
            own=own,
            own_digest=own_digest,
            key=digest("recipe", [own_digest, [[role, *p.name, p.key] for role, p in needs]]),
            needs=needs,
            determinism=max(classes, key=DETERMINISM.index),
        )

    def _own(self, job: Job) -> dict[str, Any]:
        stage = STAGES[job.stage]
        libraries = dict.fromkeys([*stage.libraries, *(MODEL_LIBRARIES if job.model else ()), *job.libraries])
        return {
            "stage": job.stage,
            "item": job.item,
            "version": stage.version,
            "function": job.function,
            "config": job.config,
            "code": self._code(job),
            "lock": {name: self._lock.entry_digest(name) for name in sorted(job.lock)},
            "libraries": {name: self._declared.library(name) for name in sorted(libraries)},
            "python": [self._declared.python, self._declared.unicode] if stage.text else None,
        }

    def _code(self, job: Job) -> dict[str, str]:
        module = job.function.partition(":")[0]
        if (job.stage, module) not in self._codes:
            try:
                self._codes[job.stage, module] = self._source.closure(f"assay.steps.{job.stage}", module)
            except ModuleNotFoundError as error:
                raise ConfigError(
                    f"{job.name} names code that does not exist: {error}",
                    key=job.function,
                    expected='"package.module:name"',
                    remedy="correct the name in the benchmark's pipeline",
                ) from error
        return self._codes[job.stage, module]
