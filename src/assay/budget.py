"""What an experiment will cost, estimated from its plan, and the budget that it must not exceed silently."""

from collections.abc import Iterable, Mapping

from assay.artifact.job import Job, Work
from assay.config.load import Configs
from assay.config.models import Endpoint, ModelEntry
from assay.errors import ConfigError

# The cost of hidden states is told apart from the benchmark that asks for them.
HIDDEN = "hidden"

# CPU-seconds for each million parameters, fitted to runs of two embedded models in float32 on AVX-512 cores: to read or
# write one token among others; to read all weights for one step of decoding; to start (weights, self-test). The last
# is what a start costs any model (libraries).
_TOKEN = 2.4e-5
_STEP = 2.0e-4
_START = 0.08
_STARTING = 12.0
# Rows that are decoded side by side, as in `assay.model.packed`.
_SLOTS = 128
# A decoder block of width w has about this many times w * w parameters.
_BLOCK = 14


def estimate(jobs: Iterable[tuple[str, Job]], configs: Configs) -> dict[str, float]:
    """Return the CPU-seconds of model jobs, which come with the benchmark's name, by benchmark, and of hidden states.

    Each row is taken to use all the tokens that it may, so that a model which stops early costs less. Jobs whose
    size or model is not known before the run, and endpoints, count nothing; so does all work without a model.
    """
    found = dict.fromkeys(configs.experiment.benchmarks, 0.0)
    for benchmark, job in jobs:
        if job.work is None or job.model is None:
            continue
        millions = parameters(configs.model(job.model))
        name = HIDDEN if job.stage == HIDDEN else benchmark
        if millions is not None:
            found[name] = found.get(name, 0.0) + cpu_seconds(job.work, millions)
    return found


def cpu_seconds(work: Work, millions: float) -> float:
    """Return the CPU-seconds of one job with a model of so many million parameters."""
    tokens = work.rows * (work.prompt_tokens + work.new_tokens)
    steps = work.rows * work.new_tokens / min(max(work.rows, 1), _SLOTS)
    return _STARTING + millions * (_START + _TOKEN * tokens + _STEP * steps)


def parameters(entry: ModelEntry) -> float | None:
    """Return the parameters of a model in millions, roughly, from its depth and width; None where that is unknown."""
    if isinstance(entry.source, Endpoint) or entry.layers is None or entry.width is None:
        return None
    return entry.layers * _BLOCK * entry.width**2 / 1e6


def check(estimated: Mapping[str, float], configs: Configs) -> None:
    """Refuse an experiment whose estimate is above the budget that it sets itself.

    Raises
    ------
    ConfigError
        With the estimate, the budget, and what to change.
    """
    file = f"configs/experiments/{configs.name}.yaml"
    for name, limit in configs.experiment.budget.items():
        if name != HIDDEN and name not in configs.experiment.benchmarks:
            raise ConfigError(
                f"the experiment sets a budget for {name!r}, which it does not run",
                file=file,
                key=f"budget.{name}",
                expected="one of " + ", ".join((*configs.experiment.benchmarks, HIDDEN)),
            )
        if estimated.get(name, 0.0) > limit:
            raise ConfigError(
                f"{name} is estimated at {estimated[name]:,.0f} CPU-seconds",
                file=file,
                key=f"budget.{name}",
                expected=f"at most {limit:,}",
                remedy="choose fewer rows or shorter answers, or raise the budget; without one nothing is refused",
            )
