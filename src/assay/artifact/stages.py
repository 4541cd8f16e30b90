"""The stages: what each makes, and what of the environment shows in it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Stage:
    """One kind of step.

    Parameters
    ----------
    group : str
        The coarse stage of `dvc.yaml` that it belongs to.
    outputs : tuple of str
        Files that every artifact of the stage has; a job's function may add others.
    libraries : tuple of str
        Distributions whose pinned versions enter every recipe of the stage.
    text : bool
        Whether the stage handles text, so that the Python minor version and its Unicode tables matter.
    names_inputs : bool
        Whether what it writes names the keys of its inputs (the table's `artifact` column). Then equal contents of
        the inputs do not make equal contents of the artifact, and there is no early cut-off.
    large : bool
        Whether its artifacts may be placed on another disk.
    version : int
        Raised when machinery outside the code closure changes what the stage writes.
    """

    group: str
    outputs: tuple[str, ...]
    libraries: tuple[str, ...] = ()
    text: bool = False
    names_inputs: bool = False
    large: bool = False
    version: int = 1


# Versions that decide what a model answers; they enter the recipe of every job that loads one.
# Jinja2 renders chat templates; the others tokenize and compute.
MODEL_LIBRARIES = ("torch", "transformers", "tokenizers", "jinja2", "safetensors", "numpy")

# In data-flow order. The same word names the rule, the step module and the folder in results/.
STAGES = {
    "queries": Stage("data", ("facts.jsonl", "queries.jsonl"), text=True),
    "tasks": Stage("data", ("tasks.jsonl",), text=True),
    "prompts": Stage("data", ("prompts.jsonl",), text=True),
    "generations": Stage("answers", ("generations.jsonl",), text=True),
    "executions": Stage("answers", ("executions.jsonl",), text=True),
    "rollouts": Stage("answers", ("rollouts.jsonl",), text=True),
    "hidden": Stage("hidden", ("index.jsonl",), text=True, large=True),
    "lens": Stage("hidden", ("lens.safetensors",), text=True, large=True),
    "labels": Stage("labels", ("labels.jsonl",), text=True),
    "judgements": Stage("labels", ("judgements.jsonl",), text=True),
    "verdicts": Stage("labels", ("verdicts.jsonl",), text=True),
    "clusters": Stage("labels", ("clusters.jsonl",), text=True),
    "metrics": Stage("metrics", ("metrics.jsonl",), ("numpy", "scipy")),
    "table": Stage("table", (), ("pandas",), names_inputs=True),
    "report": Stage("table", ("report.html",), names_inputs=True),
}

GROUPS = tuple(dict.fromkeys(stage.group for stage in STAGES.values()))

# From strongest to weakest; an artifact is as weak as the weakest along its way.
DETERMINISM = ("bytes", "isa", "volatile")
