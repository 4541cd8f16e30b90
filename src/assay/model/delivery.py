"""From what is asked to rows: stored answers are found, missing ones made and stored, every asker gets a row."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.config.models import Endpoint, ModelEntry
from assay.errors import AssayError, EndpointError, ModelError
from assay.model.answers import KIND, Answer, finished_rows, read_answer, row_key
from assay.model.backend import Backend, Prepared, Task
from assay.model.counts import Counts
from assay.model.endpoint_limits import TOO_LONG, outgrown, too_long
from assay.model.engine import Decoding
from assay.model.identity import model_identity
from assay.model.progress import Progress
from assay.model.store import Failure, RowStore
from assay.records.rows import GenerationRow, PromptRow, row_id


@dataclass(frozen=True)
class Ask:
    """One sample of one prompt."""

    prompt: PromptRow
    prepared: Prepared
    sample_index: int
    seed: int | None


class Delivery:
    """Delivers the answers of one model; see `ModelSession` for the parameters.

    Attributes
    ----------
    counts : Counts
        Of everything that was delivered.
    """

    def __init__(
        self,
        entry: ModelEntry,
        locked: Mapping[str, Any],
        store: RowStore,
        backend: Backend,
        *,
        finished: Iterable[Path],
        accept_failures: int,
        label: str,
    ) -> None:
        self.counts = Counts()
        self._name = entry.name
        self._remote = isinstance(entry.source, Endpoint)
        self._model = model_identity(locked)
        self._store = store
        self._backend = backend
        self._finished = finished
        self._imported = False
        self._accept_failures = accept_failures
        self._label = label

    def rows(self, asks: list[Ask], decoding: Decoding, *, counts_overflow: bool = False) -> list[GenerationRow]:
        """Return one row for every ask, in order.

        Raises
        ------
        ModelError, EndpointError
            If the model cannot be used, or more rows fail than are accepted. All rows that were finished are stored
            then.
        """
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
        count = missing - len(failures)
        found |= made
        long = {
            key: failure
            for ask, key in zip(asks, keys, strict=True)
            if (failure := too_long(ask.prepared.longest, found.get(key)))
        }
        failures |= long
        full = {key for key, failure in failures.items() if counts_overflow and (key in long or outgrown(failure))}
        failed = [n for n, key in enumerate(keys) if key in failures and key not in full]
        if len(failed) > self._accept_failures:
            raise self._too_many(asks[failed[0]], failures[keys[failed[0]]], len(failed), len(asks))
        self.counts.deliver(
            rows=len(asks),
            stored=stored,
            duplicates=len(asks) - stored - missing,
            made=count,
            failed=len(failed),
            truncated=sum(ask.prepared.truncated or key in full for ask, key in zip(asks, keys, strict=True)),
        )
        return [
            _row(ask, key, found.get(key), failures.get(key), outgrown=key in full)
            for ask, key in zip(asks, keys, strict=True)
        ]

    def _look_up(
        self, asks: list[Ask], decoding: Decoding, engine: Mapping[str, Any]
    ) -> tuple[list[str], dict[str, Answer]]:
        """Return the key of every ask, and the answers that are stored."""
        keys = [
            row_key(
                self._model,
                engine,
                decoding,
                ask.prepared.sha256,
                ask.sample_index if self._remote or ask.seed is not None else 0,
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
        self, asks: list[Ask], keys: list[str], found: Mapping[str, Answer], decoding: Decoding
    ) -> tuple[dict[str, Answer], dict[str, Failure]]:
        """Make what is missing, storing every batch as it is finished."""
        tasks = {key: Task(ask.prepared, ask.seed) for key, ask in zip(keys, asks, strict=True) if key not in found}
        made: dict[str, Answer] = {}
        failures: dict[str, Failure] = {}
        if not tasks:
            return made, failures
        progress = Progress(self._label, len(tasks), len(found))
        try:
            with self.counts.time():
                for batch in self._backend.run(tasks, decoding):
                    answers = {key: value for key, value in batch.items() if isinstance(value, Answer)}
                    failed = {key: value for key, value in batch.items() if isinstance(value, Failure)}
                    kept = self._store.put(KIND, {key: answer.to_bytes() for key, answer in answers.items()})
                    made |= {key: read_answer(data, key) for key, data in kept.items()}
                    if failed:
                        self._store.fail(KIND, failed)
                        failures |= failed
                    for key, answer in answers.items():
                        self.counts.answer(tasks[key], answer)
                    progress.add(len(batch), sum(answer.n_new_tokens for answer in answers.values()))
        finally:
            progress.close()
        lost = [key for key in tasks if key not in made and key not in failures]
        if lost:
            raise ModelError(f"{self._name} did not answer {len(lost)} of {len(tasks)} rows", row=lost[0])
        return made, failures

    def _too_many(self, ask: Ask, failure: Failure, failed: int, rows: int) -> AssayError:
        kind = EndpointError if self._remote else ModelError
        remedy = "run the same command again to retry the failed ones"
        if failure.type == TOO_LONG:
            remedy = "a server's prompts are never cut: shorten them, or raise max_prompt_tokens or the model's context"
        return kind(
            f"{failed} of {rows} rows of {self._name} failed, the first with {failure.type}: {failure.message}",
            row=ask.prompt.query_id,
            expected=f"at most {self._accept_failures} failures",
            remedy=f"all other rows are stored: {remedy}, or allow for failures (accept_failures in the experiment)",
        )


def _row(ask: Ask, key: str, answer: Answer | None, failure: Failure | None, *, outgrown: bool) -> GenerationRow:
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
        text="" if answer is None or failure is not None else answer.text,
        n_new_tokens=0 if answer is None else answer.n_new_tokens,
        finish_reason="error" if answer is None or failure is not None else answer.finish_reason,
        error=None if failure is None else f"{failure.type}: {failure.message}",
    )
