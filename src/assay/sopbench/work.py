"""How much SOPBench asks of a model, told before anything is built; for the estimate of the plan."""

from assay.artifact.job import Work
from assay.config.sopbench import MethodConfig, SopbenchConfig

_PUBLISHED = 129  # tasks of a domain, on average
_PROMPT_TOKENS = {"oracle": 900, "full": 6000}
_TURN_TOKENS = 120  # what an answer of a tool or a user adds


def conversations(config: SopbenchConfig, method: MethodConfig) -> Work:
    """Return the work of one model under one method, as many turns as the limits allow.

    What was read in one turn is still there in the next, so each token is read once.
    """
    each = config.generated.succeed + config.generated.refuse if config.tasks == "generated" else _PUBLISHED
    if method.tasks_per_domain is not None:
        each = min(each, method.tasks_per_domain)
    domains = sum(method.domains is None or domain in method.domains for domain in config.domains)
    turns = min(method.max_messages // 2, method.max_calls)
    new = method.decoding.max_new_tokens
    return Work(
        domains * each * method.attempts, _PROMPT_TOKENS[method.tool_list] + turns * _TURN_TOKENS, max(1, turns) * new
    )
