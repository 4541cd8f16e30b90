"""Local models: the tokenizer in this process, engines here or in single-thread workers."""

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec

from assay.canonical import bytes_digest, canonical_text, digest
from assay.config.models import ModelEntry, PromptPolicy
from assay.model.answers import Answer
from assay.model.backend import Prepared, Task
from assay.model.cache import Cache
from assay.model.engine import Completion, Decoding, Engine, Request
from assay.model.identity import check_against_lock
from assay.model.prompting import Encoder
from assay.model.store import Failure, RowStore
from assay.records.rows import PromptRow

# Finished rows are handed on as soon as there are this many, or after this time.
_BATCH_ROWS = 16
_BATCH_S = 0.5


class LocalBackend:
    """Answers of a model on this machine.

    Parameters
    ----------
    entry : ModelEntry
        The model.
    locked : dict
        Its lock entry; files are checked against it before they are used.
    cache : Cache
        Where its files are.
    """

    def __init__(self, entry: ModelEntry, locked: Mapping[str, Any], cache: Cache) -> None:
        self._entry = entry
        self._locked = locked
        self._cache = cache
        self._encoder: Encoder | None = None
        self._engine: Engine | None = None
        self._facts: dict[str, Any] = {}

    def prepare(
        self, prompts: Sequence[PromptRow], decoding: Decoding, chat: bool | None, policy: PromptPolicy | None
    ) -> list[Prepared]:
        """See `Backend.prepare`."""
        if self._encoder is None:
            folder = check_against_lock(self._entry, self._locked, self._cache, parts="tokenizer")
            self._encoder = Encoder(folder, self._entry)
        encoded = self._encoder.encode(prompts, decoding.max_new_tokens, chat, policy)
        return [Prepared(e.sha256, len(e.token_ids), e.truncated, token_ids=e.token_ids) for e in encoded]

    def identity(self, store: RowStore) -> dict[str, Any]:
        """Return the identity that this very setting had last time, or start the engine to learn it."""
        known = None if self._engine is not None else store.note(self._note())
        return self.start(store, 1) if known is None else msgspec.json.decode(known, type=dict[str, Any])

    def start(self, store: RowStore, tasks: int) -> dict[str, Any]:
        """See `Backend.start`."""
        if self._engine is None:
            from assay.model.loading import load

            folder = check_against_lock(self._entry, self._locked, self._cache)
            started = time.monotonic()
            choice = self._entry.engine
            sizes = {} if choice.batch_size is None else {_size_name(choice.kind): choice.batch_size}
            loaded = load(folder, self._entry.dtype, self._entry.device, choice.kind, **sizes)
            self._engine = loaded.engine
            self._facts["load_s"] = round(time.monotonic() - started, 3)
            if loaded.fallback is not None:
                self._facts["fallback"] = loaded.fallback
            store.set_note(self._note(), canonical_text(self._engine.identity))
        return self._engine.identity

    def run(self, tasks: Mapping[str, Task], decoding: Decoding) -> Iterator[dict[str, Answer | Failure]]:
        """See `Backend.run`."""
        assert self._engine is not None
        requests = [
            Request(key, task.prepared.token_ids or [], decoding.max_new_tokens, task.seed)
            for key, task in tasks.items()
        ]
        batch: dict[str, Answer | Failure] = {}
        due = time.monotonic() + _BATCH_S
        for completion in self._engine.generate(requests, decoding):
            batch[completion.row_id] = outcome(completion)
            if len(batch) >= _BATCH_ROWS or time.monotonic() >= due:
                yield batch
                batch, due = {}, time.monotonic() + _BATCH_S
        if batch:
            yield batch

    def facts(self) -> dict[str, Any]:
        """See `Backend.facts`."""
        return dict(self._facts)

    def close(self) -> None:
        """Free the model's memory."""
        self._engine = None

    def _note(self) -> str:
        # Everything that could give the engine another identity: settings, code, libraries, processor, switches.
        libraries = {name: version(name) for name in ("torch", "transformers", "tokenizers", "numpy")}
        kernels = {k: v for k, v in sorted(os.environ.items()) if k.startswith(("ATEN_", "MKL_", "ONEDNN_", "DNNL_"))}
        setting = [self._locked, self._entry.decisive(), self._entry.device, libraries, kernels, _code(), _processor()]
        return "engine " + digest("engine-setting", setting)


def outcome(completion: Completion) -> Answer | Failure:
    """Return what to store of a completion."""
    if completion.finish_reason == "error":
        return Failure("no-number", completion.error or "the model gave no usable number")
    return Answer(completion.text, len(completion.token_ids), completion.finish_reason)


def _size_name(kind: str) -> str:
    return "batch_size" if kind == "padded" else "slots"


def _code() -> str:
    """Return a digest of this package's source: an engine that was edited may have another identity."""
    folder = Path(__file__).parent
    return digest("code", {path.name: bytes_digest(path.read_bytes()) for path in sorted(folder.glob("*.py"))})


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(errors="replace").splitlines()
    except OSError:
        import platform

        return platform.processor() or platform.machine()
    return "\n".join(sorted({line for line in lines if line.startswith(("flags", "vendor_id", "model name"))}))
