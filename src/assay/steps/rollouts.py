"""Rollouts: conversations in which a model sees what its earlier turns led to; one row per sample."""

from contextlib import ExitStack
from typing import Any

from assay.errors import ConfigError
from assay.model.generate import ModelSession
from assay.model.store import RowStore
from assay.records.step import StepContext
from assay.steps.common import require_unique, run_function
from assay.steps.executing import StoredExecutor, executor_of
from assay.steps.loaded import model_of

# Role -> key of the job's config that describes the model that plays it.
_ROLES = {
    "assistant": "model",
    "user": "user_model",
    "guide": "guide_model",
    "checker": "checker_model",
    "solver": "model",
}


class Services:
    """What a rollouts function may use: the models of its job by role, and the sandbox. Both start when first used."""

    def __init__(self, context: StepContext, store: RowStore, stack: ExitStack) -> None:
        self._context = context
        self._store = store
        self._stack = stack
        self._sessions: dict[str, ModelSession] = {}
        self._executor: StoredExecutor | None = None

    def model(self, role: str) -> ModelSession:
        """Return the model with a role; two roles played by one model share its session."""
        decisive = self._context.config.get(_ROLES.get(role, ""))
        if not isinstance(decisive, dict):
            raise ConfigError(
                f"{self._context.item} names no model for the role {role!r}",
                key=_ROLES.get(role),
                expected=f"a model for a role, one of {', '.join(_ROLES)}",
                remedy="the pipeline must give it",
            )
        name = decisive["name"]
        if name not in self._sessions:
            entry, locked = model_of(self._context, decisive)
            accepted = int(self._context.config.get("accept_failures", 0))
            label = f"{self._context.item} {role}"
            session = ModelSession(entry, locked, self._store, accept_failures=accepted, label=label)
            self._sessions[name] = self._stack.enter_context(session)
        return self._sessions[name]

    @property
    def executor(self) -> StoredExecutor:
        """The sandbox, after the section "executions" of the job's config."""
        if self._executor is None:
            if "executions" not in self._context.config:
                raise ConfigError(f"{self._context.item} has no section executions", remedy="the pipeline must give it")
            executor = executor_of(self._context, self._context.config["executions"], self._store)
            self._executor = self._stack.enter_context(executor)
        return self._executor

    def facts(self) -> dict[str, Any]:
        """Return what the envelope should say about the models."""
        return {name: session.facts() for name, session in self._sessions.items()}


def run(context: StepContext) -> None:
    """Hold the conversations; model calls and executions go through the row store."""
    with RowStore(context.store, job=f"{context.stage}.{context.item}") as store, ExitStack() as stack:
        if "model" in context.config or "executions" in context.config:
            services = Services(context, store, stack)
            run_function(context, services)
            context.facts["models"] = services.facts()
        else:
            run_function(context)
    require_unique(context, "rollouts.jsonl", "row_id")
