"""What a session counts for the envelope: rows, tokens, time, cost."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any

from assay.config.models import Price
from assay.model.answers import Answer
from assay.model.backend import Task
from assay.model.pricing import cost

_NAMES = ("rows", "stored", "duplicates", "made", "failed", "truncated", "prompt_tokens", "new_tokens")


class Counts:
    """Counts over all calls of one session."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._served: Counter[str] = Counter()
        self._seconds = 0.0

    @contextmanager
    def time(self) -> Iterator[None]:
        """Count the time inside as time in which answers were made."""
        started = monotonic()
        try:
            yield
        finally:
            self._seconds += monotonic() - started

    def deliver(self, **rows: int) -> None:
        """Count rows that were delivered."""
        self._counts.update(rows)

    def answer(self, task: Task, answer: Answer) -> None:
        """Count the tokens of an answer that was made."""
        prompt_tokens = answer.n_prompt_tokens or task.prepared.n_tokens or 0
        # No prompt is empty, and no text is made of no tokens.
        silent = not prompt_tokens or (not answer.n_new_tokens and bool(answer.text))
        self._counts.update(prompt_tokens=prompt_tokens, new_tokens=answer.n_new_tokens, without_usage=silent)
        if answer.served:
            self._served[f"{answer.served} {answer.fingerprint}".strip()] += 1

    def facts(self, price: Price | None) -> dict[str, Any]:
        """Return counts, seconds, speed and cost.

        Where a server did not say how many tokens it counted, there is no cost, and `without_usage` counts its answers.
        """
        counts = self._counts
        silent = counts["without_usage"]
        return {
            **{name: counts[name] for name in _NAMES},
            "seconds": round(self._seconds, 3),
            "tokens_per_s": round(counts["new_tokens"] / self._seconds, 1) if self._seconds else None,
            "cost": None if silent else cost(price, counts["prompt_tokens"], counts["new_tokens"]),
            **({"without_usage": silent} if silent else {}),
            **({"served": dict(sorted(self._served.items()))} if self._served else {}),
        }
