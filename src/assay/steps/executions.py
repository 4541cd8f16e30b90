"""Executions: what the code in each answer gave in the sandbox, one row per answer in the order of the answers."""

from assay.errors import ConfigError
from assay.model.store import RowStore
from assay.records.step import StepContext
from assay.steps.common import require_same_rows, run_function
from assay.steps.executing import executor_of


def run(context: StepContext) -> None:
    """Execute what is not stored yet; the job's config holds the sandbox's section under "executions"."""
    if "executions" not in context.config:
        raise ConfigError(f"{context.item} has no section executions", remedy="the pipeline must give it")
    with (
        RowStore(context.store, job=f"{context.stage}.{context.item}") as store,
        executor_of(context, context.config["executions"], store) as executor,
    ):
        run_function(context, executor)
    require_same_rows(context, "generations", "generations.jsonl", "executions.jsonl")
