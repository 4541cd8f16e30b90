"""Generations through the row store: nothing that was finished is computed again, every row is delivered."""

import re
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from assay.canonical import derive_seed
from assay.config.models import Endpoint, ModelEntry, PromptPolicy
from assay.errors import AssayError, ConfigError, EndpointError, ModelError
from assay.model.answers import KIND, Answer, finished_rows, read_answer, row_key
from assay.model.backend import Backend, Prepared, Task
from assay.model.cache import Cache
from assay.model.engine import Decoding
from assay.model.identity import model_identity
from assay.model.pricing import cost
from assay.model.progress import Progress
from assay.model.store import Failure, RowStore
from assay.records.rows import GenerationRow, Message, PromptRow, row_id

# In the words of OpenAI, vLLM, SGLang, llama.cpp and their like: "context length", "context_length_exceeded", ...
_CONTEXT_FULL = re.compile(r"context[ _-]?(?:length|size|window)", re.IGNORECASE)
_COUNTS = ("rows", "stored", "duplicates", "made", "failed", "truncated", "prompt_tokens", "new_tokens")


@dataclass(frozen=True)
class _Ask:
    """One sample of one prompt."""

    prompt: PromptRow
    prepared: Prepared
    sample_index: int
    seed: int | None


class ModelSession:
    """A model with its row store; the model is loaded when the first answer is not stored.

    Parameters
    ----------
    entry : ModelEntry
        The model.
    locked : dict
        Its lock entry.
    store : RowStore
        Where finished rows are and go.
    cache : Cache, optional
        Where weights are.
    finished : iterable of Path
        `generations.jsonl` of finished, verified artifacts: their rows count as stored. Read on the first miss.
    accept_failures : int
        Rows of one call that may fail and are then delivered with `finish_reason` "error".
    label : str, optional
        Name in progress lines; by default the model's.
    backend : Backend, optional
        Another way to make answers.
    """

    def __init__(
        self,
        entry: ModelEntry,
        locked: Mapping[str, Any],
        store: RowStore,
        cache: Cache | None = None,
        *,
        finished: Iterable[Path] = (),
        accept_failures: int = 0,
        label: str | None = None,
        backend: Backend | None = None,
    ) -> None:
        self._entry = entry
        self._model = model_identity(locked)
        self._store = store
        self._finished = finished
        self._imported = False
        self._accept_failures = accept_failures
        self._label = label or entry.name
        self._backend = backend or _backend(entry, locked, cache or Cache())
        self._counts: Counter[str] = Counter()
        self._served: Counter[str] = Counter()
        self._seconds = 0.0

    def __enter__(self) -> "ModelSession":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Free the model."""
        self._backend.close()

    def generate(
        self,
        prompts: Iterable[PromptRow],
        decoding: Decoding,
        *,
        seed: int = 0,
        samples: int = 1,
        chat: bool | None = None,
        policy: PromptPolicy | None = None,
    ) -> list[GenerationRow]:
        """Return one row for every prompt and sample: prompts in input order, the samples of one side by side.

        Parameters
        ----------
        seed : int
            With sampling, each row's own seed is derived from it; without, it changes nothing.
        samples : int
            Answers to each prompt.
        chat : bool, optional
            Whether to use the chat template; by default messages do if the registry says so, texts do not.
        policy : PromptPolicy, optional
            What happens to long prompts, instead of the registry's policy.

        Raises
        ------
        ConfigError
            For settings that contradict each other.
        ModelError, EndpointError
            If the model cannot be used, a prompt is refused, or more rows fail than are accepted. All rows that
            were finished are stored then.
        """
        if samples < 1:
            raise ConfigError(f"samples is {samples}", key="samples", expected="at least 1")
        if samples > 1 and decoding.method == "greedy" and not isinstance(self._entry.source, Endpoint):
            raise ConfigError(
                f"{samples} samples of a greedy answer are one answer", key="samples", remedy="choose method sampling"
            )
        rows = list(prompts)
        prepared = self._prepare(rows, decoding, chat, policy)
        asks = [
            self._ask(prompt, ready, decoding, seed, index)
            for prompt, ready in zip(rows, prepared, strict=True)
            for index in range(samples)
        ]
        return self._deliver(asks, decoding)

    def complete(
        self,
        prompt: str | Sequence[Message],
        decoding: Decoding,
        *,
        tools: list[dict[str, Any]] | None = None,
        seed: int = 0,
        sample_index: int = 0,
        chat: bool | None = None,
        policy: PromptPolicy | None = None,
    ) -> GenerationRow:
        """Return one answer, for conversations of several turns; see `generate`.

        The row's `query_id` is the prompt's digest. With sampling, `sample_index` tells repeated calls apart.
        """
        row = prompt_row(prompt, tools)
        indices = [sample_index]
        return self.complete_many([row], decoding, seed=seed, sample_indices=indices, chat=chat, policy=policy)[0]

    def complete_many(
        self,
        prompts: Sequence[PromptRow],
        decoding: Decoding,
        *,
        seed: int = 0,
        sample_indices: Sequence[int] | None = None,
        chat: bool | None = None,
        policy: PromptPolicy | None = None,
        counts_overflow: bool = False,
    ) -> list[GenerationRow]:
        """Return the next answer of many conversations at once, one for each prompt; see `generate`.

        With `counts_overflow`, a prompt that a server finds longer than the model's context is no failure that could
        end the run, but a truncated row with finish reason "error".
        """
        prepared = self._prepare(prompts, decoding, chat, policy)
        indices = sample_indices or [0] * len(prompts)
        rows = zip(prompts, prepared, indices, strict=True)
        asks = [self._ask(p, ready, decoding, seed, index) for p, ready, index in rows]
        return self._deliver(asks, decoding, counts_overflow)

    def facts(self) -> dict[str, Any]:
        """Return what the envelope should say: counts of rows and tokens, seconds, cost, the engine.

        Where a server did not say how many tokens it counted, there is no cost, and `without_usage` counts its answers.
        """
        counts = self._counts
        silent = counts["without_usage"]
        facts: dict[str, Any] = {
            "model": self._entry.name,
            **{name: counts[name] for name in _COUNTS},
            "seconds": round(self._seconds, 3),
            "tokens_per_s": round(counts["new_tokens"] / self._seconds, 1) if self._seconds else None,
            "cost": None if silent else cost(self._entry.price, counts["prompt_tokens"], counts["new_tokens"]),
            **self._backend.facts(),
        }
        if silent:
            facts["without_usage"] = silent
        if self._served:
            facts["served"] = dict(sorted(self._served.items()))
        if self._store.damaged or self._store.conflicts:
            facts |= {"store_damaged": self._store.damaged, "store_conflicts": self._store.conflicts}
        return facts

    def _prepare(
        self, prompts: Sequence[PromptRow], decoding: Decoding, chat: bool | None, policy: PromptPolicy | None
    ) -> list[Prepared]:
        decoding.check()
        for prompt in prompts:
            if (prompt.text is None) == (prompt.messages is None):
                raise ModelError("the prompt is no prompt", row=prompt.query_id, expected="either a text or messages")
        return self._backend.prepare(prompts, decoding, chat, policy) if prompts else []

    def _ask(self, prompt: PromptRow, prepared: Prepared, decoding: Decoding, seed: int, index: int) -> _Ask:
        if decoding.method == "greedy":
            # One greedy answer serves every sample and seed; only a server may answer differently each time.
            return _Ask(prompt, prepared, index, None)
        identity = row_id(prompt.query_id, prompt.prompt_sha256, index)
        return _Ask(prompt, prepared, index, derive_seed("sample", seed, identity))

    def _deliver(self, asks: list[_Ask], decoding: Decoding, counts_overflow: bool = False) -> list[GenerationRow]:
        if not asks:
            return []
        engine = self._backend.identity(self._store, len(asks) * decoding.max_new_tokens)
        keys, found = self._look_up(asks, decoding, engine)
        missing = len({key for key in keys if key not in found})
        if missing:
            # Rows of an engine that is not the remembered one stand under other keys.
            actual = self._backend.start(self._store, missing * decoding.max_new_tokens)
            if actual != engine:
                keys, found = self._look_up(asks, decoding, actual)
                missing = len({key for key in keys if key not in found})
        stored = sum(key in found for key in keys)
        made, failures = self._make(asks, keys, found, decoding)
        found |= made
        full = {key for key, failure in failures.items() if counts_overflow and _outgrown(failure)}
        failed = [n for n, key in enumerate(keys) if key in failures and key not in full]
        if len(failed) > self._accept_failures:
            raise self._too_many(asks[failed[0]], failures[keys[failed[0]]], len(failed), len(asks))
        self._counts.update(
            rows=len(asks),
            stored=stored,
            duplicates=len(asks) - stored - missing,
            made=missing - len(set(failures)),
            failed=len(failed),
            truncated=sum(ask.prepared.truncated or key in full for ask, key in zip(asks, keys, strict=True)),
        )
        return [
            _row(ask, key, found.get(key), failures.get(key), outgrown=key in full)
            for ask, key in zip(asks, keys, strict=True)
        ]

    def _look_up(
        self, asks: list[_Ask], decoding: Decoding, engine: Mapping[str, Any]
    ) -> tuple[list[str], dict[str, Answer]]:
        """Return the key of every ask, and the answers that are stored."""
        remote = isinstance(self._entry.source, Endpoint)
        keys = [
            row_key(
                self._model,
                engine,
                decoding,
                ask.prepared.sha256,
                ask.sample_index if remote or ask.seed is not None else 0,
                ask.seed,
            )
            for ask in asks
        ]
        stored = self._store.get(KIND, keys)
        if any(key not in stored for key in keys) and not self._imported:
            self._imported = True
            if self._store.import_files(KIND, self._finished, finished_rows):
                stored = self._store.get(KIND, keys)
        return keys, {key: read_answer(data, key) for key, data in stored.items()}

    def _make(
        self, asks: list[_Ask], keys: list[str], found: Mapping[str, Answer], decoding: Decoding
    ) -> tuple[dict[str, Answer], dict[str, Failure]]:
        """Make what is missing, storing every batch as it is finished."""
        tasks = {key: Task(ask.prepared, ask.seed) for key, ask in zip(keys, asks, strict=True) if key not in found}
        made: dict[str, Answer] = {}
        failures: dict[str, Failure] = {}
        if not tasks:
            return made, failures
        progress = Progress(self._label, len(tasks), len(found))
        started = time.monotonic()
        try:
            for batch in self._backend.run(tasks, decoding):
                answers = {key: value for key, value in batch.items() if isinstance(value, Answer)}
                failed = {key: value for key, value in batch.items() if isinstance(value, Failure)}
                kept = self._store.put(KIND, {key: answer.to_bytes() for key, answer in answers.items()})
                made |= {key: read_answer(data, key) for key, data in kept.items()}
                if failed:
                    self._store.fail(KIND, failed)
                    failures |= failed
                self._count(tasks, answers)
                progress.add(len(batch), sum(answer.n_new_tokens for answer in answers.values()))
        finally:
            self._seconds += time.monotonic() - started
            progress.close()
        lost = [key for key in tasks if key not in made and key not in failures]
        if lost:
            raise ModelError(f"{self._entry.name} did not answer {len(lost)} of {len(tasks)} rows", row=lost[0])
        return made, failures

    def _count(self, tasks: Mapping[str, Task], answers: Mapping[str, Answer]) -> None:
        for key, answer in answers.items():
            self._counts["new_tokens"] += answer.n_new_tokens
            prompt_tokens = answer.n_prompt_tokens or tasks[key].prepared.n_tokens or 0
            self._counts["prompt_tokens"] += prompt_tokens
            self._counts["without_usage"] += not prompt_tokens  # no prompt is empty
            if answer.served:
                self._served[f"{answer.served} {answer.fingerprint}".strip()] += 1

    def _too_many(self, ask: _Ask, failure: Failure, failed: int, rows: int) -> AssayError:
        kind = EndpointError if isinstance(self._entry.source, Endpoint) else ModelError
        return kind(
            f"{failed} of {rows} rows of {self._entry.name} failed, the first with {failure.type}: {failure.message}",
            row=ask.prompt.query_id,
            expected=f"at most {self._accept_failures} failures",
            remedy="all other rows are stored: run the same command again to retry the failed ones",
        )


def generate_rows(
    prompts: Iterable[PromptRow],
    entry: ModelEntry,
    decoding: Decoding,
    *,
    seed: int,
    store: RowStore,
    locked: Mapping[str, Any],
    samples: int = 1,
    chat: bool | None = None,
    policy: PromptPolicy | None = None,
    cache: Cache | None = None,
    finished: Iterable[Path] = (),
    accept_failures: int = 0,
    label: str | None = None,
    facts: dict[str, Any] | None = None,
) -> list[GenerationRow]:
    """Return one row for every prompt and sample, in input order; see `ModelSession.generate`.

    Parameters
    ----------
    facts : dict, optional
        Gets what the envelope should say.
    """
    options: dict[str, Any] = {"finished": finished, "accept_failures": accept_failures, "label": label}
    with ModelSession(entry, locked, store, cache, **options) as session:
        try:
            return session.generate(prompts, decoding, seed=seed, samples=samples, chat=chat, policy=policy)
        finally:
            if facts is not None:
                facts["generation"] = session.facts()


def prompt_row(prompt: str | Sequence[Message], tools: list[dict[str, Any]] | None = None) -> PromptRow:
    """Return a prompt whose `query_id` is its digest, as turns of conversations have none of their own."""
    row = PromptRow.of_text("", prompt) if isinstance(prompt, str) else PromptRow.of_messages("", list(prompt), tools)
    return msgspec.structs.replace(row, query_id=row.prompt_sha256[:32])


def _backend(entry: ModelEntry, locked: Mapping[str, Any], cache: Cache) -> Backend:
    if isinstance(entry.source, Endpoint):
        from assay.model.endpoint import EndpointBackend

        return EndpointBackend(entry, locked)
    from assay.model.local import LocalBackend

    return LocalBackend(entry, locked, cache)


def _outgrown(failure: Failure) -> bool:
    """Return whether a server refused a prompt because it is longer than the model's context."""
    return failure.type == "refused" and _CONTEXT_FULL.search(failure.message) is not None


def _row(ask: _Ask, key: str, answer: Answer | None, failure: Failure | None, *, outgrown: bool) -> GenerationRow:
    prompt, prepared = ask.prompt, ask.prepared
    reported = None if answer is None else answer.n_prompt_tokens
    return GenerationRow(
        row_id=row_id(prompt.query_id, prompt.prompt_sha256, ask.sample_index),
        query_id=prompt.query_id,
        sample_index=ask.sample_index,
        row_key=key,
        prompt_sha256=prompt.prompt_sha256,
        prompt_ids_sha256=prepared.sha256,
        n_prompt_tokens=prepared.n_tokens if prepared.n_tokens is not None else reported or 0,
        truncated=prepared.truncated or outgrown,
        text="" if answer is None else answer.text,
        n_new_tokens=0 if answer is None else answer.n_new_tokens,
        finish_reason="error" if answer is None else answer.finish_reason,
        error=None if failure is None else f"{failure.type}: {failure.message}",
    )
