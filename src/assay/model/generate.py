"""Sessions with a model: texts, chats and turns of conversations in, rows out, through the row store."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from assay.canonical import derive_seed
from assay.config.models import Endpoint, ModelEntry, PromptPolicy
from assay.errors import ConfigError, ModelError
from assay.model.backend import Backend, Prepared
from assay.model.cache import Cache
from assay.model.delivery import Ask, Delivery
from assay.model.engine import Decoding
from assay.model.store import RowStore
from assay.records.rows import GenerationRow, Message, PromptRow, row_id


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
        self._store = store
        self._backend = backend or _backend(entry, locked, cache or Cache())
        self._delivery = Delivery(
            entry,
            locked,
            store,
            self._backend,
            finished=finished,
            accept_failures=accept_failures,
            label=label or entry.name,
        )

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
            _ask(prompt, ready, decoding, seed, index)
            for prompt, ready in zip(rows, prepared, strict=True)
            for index in range(samples)
        ]
        return self._delivery.rows(asks, decoding)

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

        With `counts_overflow`, a prompt that a server finds longer than the model's context, or counts as longer than
        the policy allows, is no failure that could end the run, but a truncated row with finish reason "error".
        """
        prepared = self._prepare(prompts, decoding, chat, policy)
        indices = sample_indices or [0] * len(prompts)
        rows = zip(prompts, prepared, indices, strict=True)
        asks = [_ask(p, ready, decoding, seed, index) for p, ready, index in rows]
        return self._delivery.rows(asks, decoding, counts_overflow=counts_overflow)

    def facts(self) -> dict[str, Any]:
        """Return what the envelope should say: the model, `Counts.facts`, the engine, and damage of the row store."""
        facts = {
            "model": self._entry.name,
            **self._delivery.counts.facts(self._entry.price),
            **self._backend.facts(),
        }
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
            try:
                msgspec.json.encode(prompt)
            except UnicodeEncodeError as error:
                raise ModelError(
                    f"the prompt holds a half character, {error.object[error.start]!a}",
                    row=prompt.query_id,
                    expected="text that UTF-8 can hold",
                ) from error
        return self._backend.prepare(prompts, decoding, chat, policy) if prompts else []


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


def _ask(prompt: PromptRow, prepared: Prepared, decoding: Decoding, seed: int, index: int) -> Ask:
    if decoding.method == "greedy":
        # One greedy answer serves every sample and seed; only a server may answer differently each time.
        return Ask(prompt, prepared, index, None)
    identity = row_id(prompt.query_id, prompt.prompt_sha256, index)
    return Ask(prompt, prepared, index, derive_seed("sample", seed, identity))
