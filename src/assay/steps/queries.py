"""Queries: the facts and the questions of a knowledge benchmark."""

import importlib
from contextlib import ExitStack

from assay.records.step import StepContext
from assay.steps.common import require_unique, run_function


def run(context: StepContext) -> None:
    """Write facts and queries; an empty dataset and repeated ids are errors.

    A job whose function needs more than its inputs names, under `services`, what opens it: "module:name" of a context
    manager that takes the step's context. The name stands in the function's module, so its code is in the recipe.
    """
    with ExitStack() as stack:
        services = []
        if opener := context.config.get("services"):
            module, _, name = opener.partition(":")
            services.append(stack.enter_context(getattr(importlib.import_module(module), name)(context)))
        run_function(context, *services)
    require_unique(context, "queries.jsonl", "query_id")
