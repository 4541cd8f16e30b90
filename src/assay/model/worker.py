"""A worker: one thread, one copy of a model, told what to do over a socket by the process that started it."""

import json
import os
import sys
import threading
import time
import traceback
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import msgspec

from assay.canonical import canonical_text
from assay.errors import AssayError
from assay.model.engine import Completion, Decoding, Engine, Request

# Finished rows are handed on as soon as there are this many, or after this time.
_BATCH_ROWS = 16
_BATCH_S = 0.5


class Load(msgspec.Struct, frozen=True, tag=True):
    """First message to a worker: which engine to be. `size` is slots or rows of a batch."""

    folder: str
    dtype: str
    device: str
    engine: str
    size: int | None


class Work(msgspec.Struct, frozen=True, tag=True):
    """Message to a worker: rows to make."""

    requests: list[Request]
    decoding: Decoding


class Stored(msgspec.Struct, frozen=True, tag=True):
    """Message to a worker: the rows that it sent last are safe.

    It goes on only then, so a crash of everything costs at most one batch of each worker.
    """


class Ready(msgspec.Struct, frozen=True, tag=True):
    """First message of a worker: the engine that it is."""

    identity: dict[str, Any]
    fallback: str | None


class Rows(msgspec.Struct, frozen=True, tag=True):
    """Message of a worker: rows that are finished; `last` ends a `Work`."""

    completions: list[Completion]
    last: bool = False


class Broken(msgspec.Struct, frozen=True, tag=True):
    """Message of a worker that cannot go on: the error as its class and attributes."""

    kind: str
    attributes: dict[str, Any]


FromWorker = Ready | Rows | Broken
ToWorker = Load | Work | Stored


def load_engine(what: Load) -> tuple[Engine, str | None]:
    """Return a loaded engine, and why it is not the one that was asked for."""
    from assay.model.loading import load

    sizes: dict[str, Any] = {}
    if what.size is not None and what.engine != "sequential":
        sizes["batch_size" if what.engine == "padded" else "slots"] = what.size
    loaded = load(Path(what.folder), what.dtype, what.device, what.engine, **sizes)  # type: ignore[arg-type]
    return loaded.engine, loaded.fallback


def batches(engine: Engine, requests: Sequence[Request], decoding: Decoding) -> Iterator[list[Completion]]:
    """Yield finished rows in small batches, soon after they are finished; also those from before an error."""
    batch: list[Completion] = []
    due = time.monotonic() + _BATCH_S
    try:
        for completion in engine.generate(requests, decoding):
            batch.append(completion)
            if len(batch) >= _BATCH_ROWS or time.monotonic() >= due:
                yield batch
                batch, due = [], time.monotonic() + _BATCH_S
    except Exception:
        if batch:
            yield batch
        raise
    if batch:
        yield batch


def _serve(connection: Connection) -> None:
    decoder = msgspec.msgpack.Decoder(ToWorker)
    load = decoder.decode(connection.recv_bytes())
    assert isinstance(load, Load)
    engine, fallback = load_engine(load)
    # By way of its JSON: torch's version is a text of a class of its own.
    _send(connection, Ready(json.loads(canonical_text(engine.identity)), fallback))
    while True:
        work = decoder.decode(connection.recv_bytes())
        assert isinstance(work, Work)
        for batch in batches(engine, work.requests, work.decoding):
            _send(connection, Rows(batch))
            assert isinstance(decoder.decode(connection.recv_bytes()), Stored)
        _send(connection, Rows([], last=True))


def _send(connection: Connection, message: FromWorker) -> None:
    connection.send_bytes(msgspec.msgpack.encode(message))


def _end_with_parent() -> None:
    # A parent that was killed cannot tell; without this, its workers would compute on for nobody.
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def main(arguments: list[str]) -> int:
    """Serve the socket whose descriptor is given until it closes."""
    _end_with_parent()
    connection = Connection(int(arguments[0]))
    try:
        _serve(connection)
    except (EOFError, BrokenPipeError, ConnectionResetError, KeyboardInterrupt):
        return 0  # the parent has gone, or says itself that it was interrupted
    except AssayError as error:
        _send(connection, Broken(type(error).__name__, error.__dict__))
        return 1
    except Exception as error:  # noqa: BLE001 - the parent says it; the traceback is in the log
        traceback.print_exc()
        message = f"a worker failed: {type(error).__name__}: {error}"
        _send(connection, Broken("ModelError", {"message": message, "remedy": "see the traceback in the log"}))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
