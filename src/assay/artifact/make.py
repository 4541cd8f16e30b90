"""Making one artifact: reuse what has the same content, else run the step; then one rename."""

import importlib
import json
import logging
import os
import platform
import resource
import secrets
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from assay.artifact.environment import Declared, actual, actual_python, differences
from assay.artifact.job import Job
from assay.artifact.large import require_one_disk, workspace
from assay.artifact.manifest import ENVELOPE, MANIFEST, Manifest, describe, hash_files, read_manifest
from assay.artifact.recipe import Planned
from assay.artifact.stages import STAGES
from assay.artifact.store import Verified, exclusive, find_equal, install, link_files, read_sound
from assay.config.lock import Lock
from assay.errors import ArtifactError, ConfigError
from assay.records.jsonl import write_json
from assay.records.step import Input, Inputs, StepContext

How = Literal["present", "linked", "computed"]
LOG = Path("logs") / "made.jsonl"


class Maker:
    """Makes artifacts of one project.

    Parameters
    ----------
    root : Path
        The project folder.
    lock : Lock
        Declared digests, handed to the steps that load models or data.
    declared : Declared
        The environment that recipes were computed from.
    allow_environment : bool
        Compute although installed versions differ; the envelope then says which.
    """

    def __init__(self, root: Path, lock: Lock, declared: Declared, allow_environment: bool = False) -> None:
        self.root = root
        self._lock = lock
        self._declared = declared
        self._allow_environment = allow_environment
        self._verified = Verified(root)

    def make(self, planned: Planned) -> How:
        """Make an artifact unless it is there; return how it came about.

        Two processes that want the same artifact do not both compute it: the second waits and finds it.
        """
        with exclusive(self.root, f"{planned.job.stage}.{planned.job.item}.{planned.key[:12]}"):
            how = self._make(planned)
        self._record(planned, how)
        return how

    def _make(self, planned: Planned) -> How:
        final = self.root / planned.folder
        if self._is_sound(planned):
            return "present"
        started = time.time()
        inputs = [read_sound(self.root, p, self._verified) for _, p in planned.needs]
        content_key = planned.content_key(m.digest for m in inputs)
        base = workspace(self.root, planned.job.stage)
        base.mkdir(exist_ok=True)
        require_one_disk(base, final)
        name = f"{planned.job.stage}.{planned.key[:12]}"
        for left in base.glob(f"{name}.*"):  # by a run that was killed: nobody else is at this artifact
            shutil.rmtree(left, ignore_errors=True)
        work = base / f"{name}.{secrets.token_hex(6)}"
        work.mkdir()
        facts: dict[str, Any] = {}
        how: How = "computed"
        try:
            source = find_equal(self.root, planned, content_key, self._verified)
            if source is not None:
                how = "linked"
                link_files(source, list(read_manifest(source / MANIFEST).files), work)
                facts["linked_from"] = source.relative_to(self.root).as_posix()
                facts["computed"] = _computed(source)
            else:
                facts |= self._run_step(planned, inputs, content_key, work)
            mixed = mixed_versions(self.root, planned) if STAGES[planned.job.stage].group == "table" else []
            if mixed:
                facts["mixed_environments"] = mixed
            manifest = self._seal(planned, inputs, work)
            self._write_envelope(planned, how, started, facts, work)
            aside = install(work, final, self.root)
        finally:
            shutil.rmtree(work, ignore_errors=True)
        shutil.rmtree(self._shards(planned, manifest.content_key), ignore_errors=True)
        log = logging.getLogger(planned.job.name)
        for sentence in mixed:
            log.warning("its numbers were computed under several environments: %s", sentence)
        if aside is not None:
            log.warning("what stood in its place was damaged; it is kept in %s", aside.relative_to(self.root))
        return how

    def _is_sound(self, planned: Planned) -> bool:
        try:
            read_sound(self.root, planned, self._verified)
        except ArtifactError:
            return False
        return True

    def _shards(self, planned: Planned, content_key: str) -> Path:
        return (
            workspace(self.root, planned.job.stage) / "shards" / planned.job.stage / planned.job.item / content_key[:12]
        )

    def _run_step(self, planned: Planned, inputs: list[Manifest], content_key: str, work: Path) -> dict[str, Any]:
        job = planned.job
        facts: dict[str, Any] = {}
        deviations = differences(self._declared, planned.own["libraries"], STAGES[job.stage].text)
        if deviations:
            if not self._allow_environment:
                raise ConfigError(
                    f"{job.name} cannot be computed here: " + "; ".join(deviations),
                    file="constraints.txt",
                    remedy="install the declared versions, or set allow_environment: true in the experiment",
                )
            facts["environment_deviations"] = deviations
        shards = self._shards(planned, content_key)
        shards.mkdir(parents=True, exist_ok=True)
        context = StepContext(
            stage=job.stage,
            item=job.item,
            function=load_function(job),
            config=json.loads(json.dumps(job.config)),  # a step must not be able to change the plan
            inputs=Inputs(
                tuple(
                    Input(role, *p.name, p.key, self.root / p.folder, m.determinism)
                    for (role, p), m in zip(planned.needs, inputs, strict=True)
                )
            ),
            locked={name: self._lock.entry(name) for name in job.lock},
            out=work,
            shards=shards,
            root=self.root,
            facts=facts,
        )
        importlib.import_module(f"assay.steps.{job.stage}").run(context)
        return facts

    def _seal(self, planned: Planned, inputs: list[Manifest], work: Path) -> Manifest:
        files = hash_files(work)
        absent = [name for name in STAGES[planned.job.stage].outputs if name not in files]
        if absent:
            raise ArtifactError(
                f"{planned.job.name} wrote no {absent[0]}, only {', '.join(files) or 'nothing'}",
                file=planned.folder,
                expected=", ".join(STAGES[planned.job.stage].outputs),
                remedy=f"let {planned.job.function} return it",
            )
        manifest = describe(planned, files, inputs)
        (work / MANIFEST).write_bytes(manifest.to_bytes())
        return manifest

    def _write_envelope(self, planned: Planned, how: How, started: float, facts: dict[str, Any], work: Path) -> None:
        usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        python, unicode = actual_python()
        write_json(
            work / ENVELOPE,
            {
                "how": how,
                "started_unix_s": round(started, 3),
                "wall_s": round(time.time() - started, 3),
                "cpu_s": round(sum(u.ru_utime + u.ru_stime for u in usage), 3),
                "peak_memory_mib": round(max(u.ru_maxrss for u in usage) / 1024, 1),
                "machine": {"system": platform.system(), "processor": processor(), "cores": os.cpu_count()},
                "versions": actual(planned.own["libraries"]) | {"python": python, "unicode": unicode},
                "facts": facts,
            },
        )

    def _record(self, planned: Planned, how: How) -> None:
        path = self.root / LOG
        path.parent.mkdir(exist_ok=True)
        line = {"how": how, "stage": planned.job.stage, "item": planned.job.item, "key": planned.key[:12]}
        with path.open("ab") as file:  # one short append is atomic
            file.write(json.dumps(line | {"unix_s": round(time.time(), 3)}).encode() + b"\n")


def _computed(folder: Path) -> dict[str, Any]:
    """Return the envelope of the run that computed an artifact's files, however often they were linked since."""
    try:
        envelope: dict[str, Any] = json.loads((folder / ENVELOPE).read_bytes())
        return envelope["facts"].get("computed", envelope)  # type: ignore[no-any-return]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}  # it is in no digest: without it nothing is wrong, only untold


def mixed_versions(root: Path, planned: Planned) -> list[str]:
    """Return a sentence for each library (and Python) of which what an artifact was made from saw several versions.

    Envelopes that are not here, as those of artifacts that were not pulled, say nothing.
    """
    seen: set[Path] = set()
    made_by: dict[str, dict[str, set[str]]] = {}
    left = [need for _, need in planned.needs]
    while left:
        artifact = left.pop()
        if artifact.folder in seen:
            continue
        seen.add(artifact.folder)
        left.extend(need for _, need in artifact.needs)
        versions = _computed(root / artifact.folder).get("versions")
        for name, version in versions.items() if isinstance(versions, dict) else ():
            made_by.setdefault(name, {}).setdefault(str(version), set()).add(artifact.job.name)
    return [
        f"{name} " + "; ".join(f"{version} ({len(jobs)} jobs, as {min(jobs)})" for version, jobs in sorted(of.items()))
        for name, of in sorted(made_by.items())
        if len(of) > 1
    ]


def load_function(job: Job) -> Callable[..., Any]:
    """Import the function that a job names."""
    module, _, name = job.function.partition(":")
    try:
        return getattr(importlib.import_module(module), name)  # type: ignore[no-any-return]
    except AttributeError as error:
        raise ConfigError(
            f"{job.name} names a function that does not exist",
            key=job.function,
            expected='"package.module:name"',
            remedy="correct the name in the benchmark's pipeline",
        ) from error


def processor() -> str:
    """Return the processor's model name, or its architecture where the system does not tell."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.machine()
