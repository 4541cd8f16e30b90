"""Labels: one judged row for every answer, in the order of the answers."""

from assay.records.step import StepContext
from assay.steps.common import require_same_rows, run_function

# What is judged: executed answers stand for the generations that they come from.
_JUDGED = (("executions", "executions.jsonl"), ("rollouts", "rollouts.jsonl"), ("generations", "generations.jsonl"))


def run(context: StepContext) -> None:
    """Write the labels; a missing or left-over row is an error."""
    run_function(context)
    role, name = next((role, name) for role, name in _JUDGED if context.inputs.all(role))
    require_same_rows(context, role, name, "labels.jsonl")
