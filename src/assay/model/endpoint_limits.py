"""Prompts that are longer than a server's model, or the policy, takes: only the server's reply tells."""

import re

from assay.model.answers import Answer
from assay.model.store import Failure

TOO_LONG = "too-long"
"""Type of the failure of a prompt that was answered and is longer than the policy allows."""

# In the words of OpenAI, vLLM, SGLang, llama.cpp and their like: "context length", "context_length_exceeded", ...
_CONTEXT_FULL = re.compile(r"context[ _-]?(?:length|size|window)", re.IGNORECASE)


def outgrown(failure: Failure) -> bool:
    """Return whether a server refused a prompt because it is longer than the model's context."""
    return failure.type == "refused" and _CONTEXT_FULL.search(failure.message) is not None


def too_long(longest: int | None, answer: Answer | None) -> Failure | None:
    """Return the failure of a prompt that the server counts as longer than `longest`, if it is one."""
    if longest is None or answer is None or (answer.n_prompt_tokens or 0) <= longest:
        return None
    return Failure(TOO_LONG, f"the server counts {answer.n_prompt_tokens} prompt tokens, at most {longest} are allowed")
