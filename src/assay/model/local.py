"""Local models: the tokenizer in this process, engines here or in single-thread workers."""

import os
import sys
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
from assay.model.slots import Slot, free_memory
from assay.model.store import Failure, RowStore
from assay.model.worker import Load, batches, load_engine
from assay.model.workers import Workers
from assay.records.rows import PromptRow

# A worker's start (libraries, weights, self-test) costs some ten seconds of work. Measured with SmolLM2-135M: 89 new
# tokens a second and thread with 0.54 GB of weights, so a worker pays for itself above this many bytes times tokens.
_WORK_PER_WORKER = 10 * 89 * 540_000_000
_MOST_WORKERS = 8
# Memory of a process besides its weights: libraries, keys and values, buffers.
_OVERHEAD_BYTES = 1 << 30
# Models below this size take no slot of the machine.
_SMALL_BYTES = 64 << 20


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
        self._workers: Workers | None = None
        self._slot: Slot | None = None
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

    def identity(self, store: RowStore, tokens: int) -> dict[str, Any]:
        """Return the identity that this very setting had last time, or start the engine to learn it."""
        if self._running() is not None:
            return self._running_identity()
        known = store.note(self._note())
        try:
            # A damaged note that still reads leads to no rows, and then to a start.
            return msgspec.json.decode(known or "", type=dict[str, Any])
        except msgspec.DecodeError:
            return self.start(store, tokens)

    def start(self, store: RowStore, tokens: int) -> dict[str, Any]:
        """See `Backend.start`."""
        if self._running() is None:
            folder = check_against_lock(self._entry, self._locked, self._cache)
            weights = sum(path.stat().st_size for path in folder.glob("*.safetensors"))
            if self._slot is None and weights >= _SMALL_BYTES:
                self._slot = Slot.take(weights + _OVERHEAD_BYTES, self._entry.name)
            started = time.monotonic()
            count = self._worker_count(weights, tokens)
            choice = self._entry.engine
            load = Load(str(folder), self._entry.dtype, self._entry.device, choice.kind, choice.batch_size)
            if count == 1:
                self._engine, fallback = load_engine(load)
            else:
                self._workers = Workers(load, count)
                fallback = self._workers.fallback
            try:
                # Other files may have taken the places of the checked ones before the model was loaded.
                check_against_lock(self._entry, self._locked, self._cache)
            except BaseException:
                self.close()
                raise
            self._facts |= {"load_s": round(time.monotonic() - started, 3), "workers": count}
            if fallback is not None:
                self._facts["fallback"] = fallback
                print(f"{self._entry.name}: one row at a time: {fallback}", file=sys.stderr)  # noqa: T201
            store.set_note(self._note(), canonical_text(self._running_identity()))
        return self._running_identity()

    def run(self, tasks: Mapping[str, Task], decoding: Decoding) -> Iterator[dict[str, Answer | Failure]]:
        """See `Backend.run`."""
        requests = [
            Request(key, task.prepared.token_ids or [], decoding.max_new_tokens, task.seed)
            for key, task in tasks.items()
        ]
        if self._workers is not None:
            made = self._workers.batches(requests, decoding)
        else:
            assert self._engine is not None
            made = batches(self._engine, requests, decoding)
        for batch in made:
            yield {completion.row_id: outcome(completion) for completion in batch}
        if self._workers is not None and self._workers.lost:
            self._facts["workers_lost"] = self._workers.lost

    def facts(self) -> dict[str, Any]:
        """See `Backend.facts`."""
        return dict(self._facts)

    def close(self) -> None:
        """Free the model's memory, and the slot."""
        self._engine = None
        if self._workers is not None:
            self._workers.close()
            self._workers = None
        if self._slot is not None:
            self._slot.release()
            self._slot = None

    def _running(self) -> Engine | Workers | None:
        if self._workers is not None and not len(self._workers):
            self._workers = None  # closed after an error
        return self._engine or self._workers

    def _running_identity(self) -> dict[str, Any]:
        running = self._running()
        assert running is not None
        return running.identity

    def _worker_count(self, weights: int, tokens: int) -> int:
        """Return the number of processes. Bytes of batch-invariant engines do not depend on it."""
        if self._entry.engine.kind == "padded" or self._entry.device != "cpu":
            return 1
        if self._entry.workers is not None:
            return self._entry.workers
        others = 0 if self._slot is None else self._slot.others
        cores = len(os.sched_getaffinity(0)) // (others + 1)
        memory = free_memory() // (weights + _OVERHEAD_BYTES)
        return max(1, min(cores, memory, weights * tokens // _WORK_PER_WORKER, _MOST_WORKERS))

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
