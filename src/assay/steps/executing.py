"""An executor whose finished results are kept: nothing that was executed is executed again."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any

import msgspec

from assay.canonical import digest
from assay.config.executions import TUNING, Executions
from assay.config.files import read_yaml, validate
from assay.errors import SandboxError
from assay.model.store import RowStore
from assay.records.step import StepContext
from assay.sandbox import world
from assay.sandbox.executor import Executor
from assay.sandbox.guarantees import CLOSED
from assay.sandbox.mechanism import probe
from assay.sandbox.records import Limits, Request, Result, World, code_digest

KIND = "executions"
ROW_VERSION = 3
"""Raise it whenever the sandbox gives other payloads than before."""


class StoredExecutor:
    """Executes through the row store; the sandbox starts with the first request that is not stored.

    The key of a result holds the world that the snippet saw (closed or open, and `runtime_id`: interpreter, visible
    distributions, fixed environment), its limits, the isolation policy, the code and the attempts.
    """

    def __init__(self, settings: Executions, store: RowStore, facts: dict[str, Any]) -> None:
        self._settings = settings
        self._store = store
        counts = {"requests": 0, "stored": 0, "made": 0, "near_limit": 0, "nondeterministic": 0}
        self._facts = facts.setdefault("executions", counts)
        self._executor: Executor | None = None
        self._limits = settings.limits.model_dump()
        interpreter = world.find_interpreter(settings.interpreter)
        seen = (settings.distributions, interpreter.version, settings.preload, settings.seed_unseeded)
        self._runtime_id = world.runtime_id(*seen)

    def __enter__(self) -> "StoredExecutor":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._executor is not None:
            self._executor.__exit__(kind, error, trace)

    def execute(self, requests: Sequence[Request]) -> list[Result]:
        """Return one result for each request, in order; equal requests are executed once."""
        asked = list(requests)
        if not asked:
            return []
        keys = [self._key(request) for request in asked]
        found = self._store.get(KIND, set(keys))
        missing = {key: request for key, request in zip(keys, asked, strict=True) if key not in found}
        self._facts["requests"] += len(asked)
        self._facts["stored"] += len(set(keys) & found.keys())
        for start in range(0, len(missing), 200):
            part = dict(list(missing.items())[start : start + 200])
            results = self._running().execute(list(part.values()))
            for request, result in zip(part.values(), results, strict=True):
                self._require_limits(request, result)
            made = {key: msgspec.json.encode(result) for key, result in zip(part, results, strict=True)}
            found |= self._store.put(KIND, made)
            self._facts["made"] += len(made)
        answers = [msgspec.json.decode(found[key], type=Result) for key in keys]
        for name in ("near_limit", "nondeterministic"):
            self._facts[name] += sum(any(getattr(r.envelope, name) for r in a.attempts) for a in answers)
        return answers

    def _require_limits(self, request: Request, result: Result) -> None:
        """Refuse results under other limits than asked for: the recipe names those, and nobody would see the lower."""
        wanted = request.limits or Limits(**self._limits)
        for record in result.attempts:
            for name, value in msgspec.structs.asdict(wanted).items():
                if (kept := getattr(record.payload.limits, name)) != value:
                    raise SandboxError(
                        f"a hard limit of this process leaves snippets {kept} of {value}",
                        key=f"limits.{name}",
                        remedy="raise it (`ulimit -Ha` shows them), or lower the limit in configs/executions.yaml",
                    )

    @cached_property
    def _world(self) -> World:
        """The world of all executions; what the policy does not settle is tried."""
        required = self._settings.isolation_required if self._settings.isolation == "require" else ()
        return "closed" if set(CLOSED) <= set(required) else probe(self._settings).world

    def _running(self) -> Executor:
        if self._executor is None:
            self._executor = Executor(self._settings).__enter__()
            self._facts["guarantees"] = sorted(self._executor.probe.held)
            if self._executor.warning:
                self._facts["warning"] = self._executor.warning
        return self._executor

    def _key(self, request: Request) -> str:
        limits = self._limits if request.limits is None else msgspec.to_builtins(request.limits)
        settings = self._settings.model_dump(mode="json", exclude={"limits", *TUNING})
        parts = [
            ROW_VERSION,
            self._runtime_id,
            self._world,
            settings,
            limits,
            code_digest(request.code_bytes),
            list(request.variables),
        ]
        return digest("execution-key", parts)


def executor_of(context: StepContext, config: dict[str, Any], store: RowStore) -> StoredExecutor:
    """Return the executor that the "executions" section of a job's config describes, tuned as the project says."""
    return StoredExecutor(Executions.model_validate({**tuning(context.root), **config}), store, context.facts)


def tuning(root: Path) -> dict[str, Any]:
    """Return what `configs/executions.yaml` says of how the sandbox works; it changes no byte and is in no recipe."""
    file = root / "configs/executions.yaml"
    section = validate(Executions, read_yaml(file), file) if file.is_file() else Executions()
    return section.model_dump(mode="json", include=set(TUNING))
