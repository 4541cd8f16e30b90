"""How much SymBench asks of a model, told before anything is built; for the estimate of the plan."""

from assay.artifact.job import Work
from assay.config.symbench import Method, PublishedSamples, SymbenchConfig

_PUBLISHED = 100  # samples of a task in the published selections, about
_QUESTION_TOKENS = 200


def answers(config: SymbenchConfig, method: Method, tasks: int) -> Work:
    """Return the work of one model under one method, every call of it as long as the config allows."""
    samples = config.samples
    rows = tasks * (_PUBLISHED if isinstance(samples, PublishedSamples) else samples.per_task)
    new = (method.decoding or config.decoding).max_new_tokens
    calls = _calls(method)
    # A later call reads what the earlier ones wrote.
    read = calls * _QUESTION_TOKENS + new * calls * (calls - 1) // 2
    return Work(rows, read, calls * new)


def _calls(method: Method) -> int:
    """Return the calls of all roles for one sample, every round used; each answer of the checker holds a program."""
    match method.kind:
        case "code_text_sum1":
            return 3
        case "code_text_choice":
            return 2
        case "code_interpreter":
            return 1 + method.max_rounds
        case "symbolic_agent" | "codesteer":
            return 2 * (1 + method.max_rounds) + method.max_rounds * method.check_rounds
        case _:
            return 1
