"""The executor: requests in, results out, in order; workers, retries, and the watch over the sandbox itself."""

import contextlib
import queue
import re
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from assay.canonical import derive_seed
from assay.config.executions import Executions
from assay.errors import SandboxError
from assay.sandbox import judge, memory, world
from assay.sandbox.control import ServerError
from assay.sandbox.guarantees import check_policy
from assay.sandbox.judge import Circumstances
from assay.sandbox.launching import Plan
from assay.sandbox.mechanism import Mechanism, probe
from assay.sandbox.plans import Slot, refuse_elsewhere
from assay.sandbox.records import Limits, Record, Request, Result, code_digest
from assay.sandbox.running import LAST_PATIENCE, PATIENCE
from assay.sandbox.worker import Server

KNOWN_GOOD = "import json\nprint(json.dumps({'sum': sum(range(10))}))\n"
KNOWN_GOOD_OUTPUT = b'{"sum": 45}\n'
_TRIES = 2
_IMPORT = re.compile(rb"(?:^|[;:])[ \t]*(import|from)[ \t]+([^\n;#]*)", re.MULTILINE)
_NAME = re.compile(rb"[A-Za-z_][A-Za-z0-9_]*")


class Executor:
    """Runs model-written code; use as a context manager.

    Parameters
    ----------
    settings : Executions, optional
        The section of the config; default: everything required.
    workers : int, optional
        Snippets at once, instead of the settings' number.

    Attributes
    ----------
    probe : Probe
        What this machine guarantees.
    warning : str or None
        What every artifact and table must carry, if guarantees are missing.
    runtime_id : str
        Identity of the world that snippets see.

    Raises
    ------
    SandboxError
        Before anything runs: if a required guarantee is missing, or the memory of the job does not suffice.
    ConfigError
        If a distribution is not installed, or a module to preload is part of none.
    """

    def __init__(self, settings: Executions | None = None, *, workers: int | None = None) -> None:
        refuse_elsewhere()
        self.settings = settings or Executions()
        self.limits = Limits(**self.settings.limits.model_dump())
        self.interpreter = world.find_interpreter(self.settings.interpreter)
        seeded = self.settings.seed_unseeded is not None
        world.check_preload(self.settings.distributions, self.settings.preload, seeded=seeded)
        self.workers = memory.workers(self.settings.workers if workers is None else workers, self.limits)
        self.probe = probe(self.settings)
        self.warning = check_policy(self.settings, self.probe)
        self.runtime_id = world.runtime_id(
            self.settings.distributions, self.interpreter.version, self.settings.preload, self.settings.seed_unseeded
        )
        self._mechanism = Mechanism(self.settings, self.probe.mechanism)  # type: ignore[arg-type]
        self._waiting: queue.SimpleQueue[_Task | None] = queue.SimpleQueue()
        self._cancel = threading.Event()
        self._turns = _Turns()
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> Self:
        for number in range(self.workers):
            thread = threading.Thread(target=_Worker(self, number).work, name=f"sandbox-{number}", daemon=True)
            self._threads.append(thread)
            thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self._cancel.set()
        for _ in self._threads:
            self._waiting.put(None)
        for thread in self._threads:
            thread.join()
        self._threads.clear()
        self._cancel.clear()

    def execute(self, requests: Iterable[Request], progress: Callable[[int, int], None] | None = None) -> list[Result]:
        """Run requests; return one result for each, in order.

        Parameters
        ----------
        requests : iterable of Request
        progress : callable, optional
            Called as `progress(finished, all)` in this thread after each request.

        Raises
        ------
        SandboxError
            If the sandbox fails twice on one request, or no longer runs its known-good snippet: then no result of
            this call can be trusted to be the code's own.
        """
        if not self._threads:
            raise SandboxError("the executor is not running", expected="`with Executor(...) as executor:`")
        asked = list(requests)
        done: queue.SimpleQueue[tuple[int, Result | BaseException]] = queue.SimpleQueue()
        for index, request in enumerate(asked):
            self._waiting.put(_Task(index, request, done))
        results: list[Result | None] = [None] * len(asked)
        try:
            for finished in range(1, len(asked) + 1):
                index, result = done.get()
                if isinstance(result, BaseException):
                    raise result
                results[index] = result
                if progress is not None:
                    progress(finished, len(asked))
        except BaseException:
            self._drop_waiting(done)
            raise
        return [result for result in results if result is not None]

    def _drop_waiting(self, done: object) -> None:
        """Forget what no worker has begun of one call; other threads may wait for theirs."""
        others = []
        try:
            while True:
                task = self._waiting.get_nowait()
                if task is None or task.done is not done:
                    others.append(task)
        except queue.Empty:
            for task in others:
                self._waiting.put(task)


class _Turns:
    """Lets first attempts run side by side, and a second attempt only while nothing else runs."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._one = threading.Lock()
        self._running = 0
        self._closed = False

    @contextlib.contextmanager
    def among_others(self) -> Iterator[None]:
        """Wait while somebody is alone."""
        with self._changed:
            self._changed.wait_for(lambda: not self._closed)
            self._running += 1
        try:
            yield
        finally:
            with self._changed:
                self._running -= 1
                self._changed.notify_all()

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Let nobody begin, and wait until all others have ended."""
        with self._one:
            try:
                with self._changed:
                    self._closed = True
                    self._changed.wait_for(lambda: not self._running)
                yield
            finally:
                with self._changed:
                    self._closed = False
                    self._changed.notify_all()


class _Task:
    """One request on its way through a worker."""

    def __init__(
        self, index: int, request: Request, done: "queue.SimpleQueue[tuple[int, Result | BaseException]]"
    ) -> None:
        self.index = index
        self.request = request
        self.done = done


class _Worker:
    """Runs requests one after the other in a thread of its own; owns one server per set of preloaded modules."""

    def __init__(self, executor: Executor, number: int) -> None:
        self.executor = executor
        self.number = number
        self.servers: dict[tuple[str, ...], Server] = {}
        self.slots: dict[tuple[str, ...], Slot | None] = {}
        self.since_check = 0

    def work(self) -> None:
        """Take tasks until told to stop."""
        try:
            while (task := self.executor._waiting.get()) is not None:
                answer: Result | BaseException
                try:
                    answer = self._request(task.request)
                except Exception as error:  # noqa: BLE001 - it is raised again in the caller's thread
                    answer = error
                task.done.put((task.index, answer))
        finally:
            for preload in list(self.servers):
                self._end(preload)

    def _request(self, request: Request) -> Result:
        code = request.code_bytes
        limits = request.limits or self.executor.limits
        preload = self._preload(code)
        records: list[Record] = []
        for variable in request.variables:
            record = self._repeated(code, variable, limits, preload)
            records.append(record)
            if record.stdout or record.payload.kind in ("timeout", "output_limit"):
                break
        return Result(tuple(records))

    def _preload(self, code: bytes) -> tuple[str, ...]:
        """Return the shortest prefix of the preloaded modules that serves the imports of this code."""
        names = self.executor.settings.preload
        if self.executor.settings.backend == "fresh" or not names:
            return ()
        wanted = imported(code)
        if self.executor.settings.seed_unseeded is not None:
            wanted |= {"numpy"}  # it may come with another package; only what the server has can be seeded
        needed = [position for position, name in enumerate(names, 1) if name.partition(".")[0] in wanted]
        return names[: max(needed, default=0)]

    def _repeated(self, code: bytes, variable: str | None, limits: Limits, preload: tuple[str, ...]) -> Record:
        """Run once, and for a sample of the snippets twice, to find those whose output varies."""
        record = self._surely(code, variable, limits, preload)
        digest = record.payload.code_sha256
        if derive_seed("repeat-check", digest) >= self.executor.settings.repeat_check_fraction * 2**63:
            return record
        again = self._surely(code, variable, limits, preload)
        differs = again.payload != record.payload
        return Record(record.payload, msgspec.structs.replace(record.envelope, nondeterministic=differs))

    def _surely(self, code: bytes, variable: str | None, limits: Limits, preload: tuple[str, ...]) -> Record:
        """Run once; once more, alone, if the fault was ours."""
        with self.executor._turns.among_others():
            record = self._once(code, variable, limits, preload, 1)
        for attempt in range(2, _TRIES + 1):
            if record.payload.kind != "infra_error":
                break
            if self.executor._cancel.is_set():
                raise SandboxError("the execution was cancelled")
            with self.executor._turns.alone():
                record = self._once(code, variable, limits, preload, attempt)
        if record.payload.kind == "infra_error":
            raise SandboxError(
                f"the sandbox failed {_TRIES} times on one snippet ({record.envelope.reason})",
                row=record.payload.code_sha256,
                remedy="run `assay sandbox probe`; on an overloaded machine use fewer workers",
            )
        return record

    def _once(
        self, code: bytes, variable: str | None, limits: Limits, preload: tuple[str, ...], attempt: int
    ) -> Record:
        at = Circumstances(
            code_sha256=code_digest(code),
            mode="script" if variable is None else f"print-variable {variable}",
            limits=limits,
            runtime_id=self.executor.runtime_id,
            probe=self.executor.probe,
            backend=self.executor.settings.backend,
            worker=self.number,
            attempt=attempt,
            paths={},
        )
        seed, cancelled = self.executor.settings.seed_unseeded, self.executor._cancel.is_set
        try:
            server = self._server(preload)
            limits = server.kept(limits)
            # The first attempt shares the machine with the other workers; the last one waits for its turn.
            patience = PATIENCE if attempt < _TRIES else LAST_PATIENCE
            outcome = server.run(code, variable, limits, seed, cancelled, patience)
        except (ServerError, OSError) as error:  # no more processes, descriptors, memory or disk, for example
            self._end(preload)
            return judge.lost(str(error), at)
        return judge.record(outcome, replace(at, limits=limits, paths=_worker_paths(server.plan)))

    def _server(self, preload: tuple[str, ...]) -> Server:
        """Return a server that is young enough, and that has just proven itself where it is time for that."""
        settings = self.executor.settings
        found = self.servers.get(preload)
        if found is not None and found.executions >= settings.recycle_after:
            self._end(preload)
            found = None
        if found is None:
            if preload not in self.slots:
                self.slots[preload] = self.executor._mechanism.slot()
            found = Server(self.executor._mechanism.plan(preload, self.slots[preload]))
            self.servers[preload] = found
            self.since_check = settings.check_every
        self.since_check += 1
        if self.since_check > settings.check_every:
            self.since_check = 0
            outcome = found.run(KNOWN_GOOD.encode(), None, Limits(), None, self.executor._cancel.is_set)
            if outcome.stop == "cancelled":
                raise SandboxError("the execution was cancelled")
            if outcome.status != 0 or outcome.stdout != KNOWN_GOOD_OUTPUT:
                raise SandboxError(
                    f"a known-good snippet ended with status {outcome.status}: "
                    f"{outcome.stderr.decode('utf-8', 'replace')[-300:]}",
                    remedy="run `assay sandbox probe`",
                )
        return found

    def _end(self, preload: tuple[str, ...]) -> None:
        server = self.servers.pop(preload, None)
        if server is not None:
            server.close()
        slot = self.slots.pop(preload, None)
        if slot is not None:
            slot.close()


def _worker_paths(plan: Plan) -> dict[str, str]:
    """Return the paths of a worker's folders, with the constant ones that they stand for."""
    if plan.backend == "namespaces":
        return {}
    return {
        f"{plan.box}/tmp": "/tmp",
        plan.box: world.BOX,
        str(Path(plan.box).parent / "python"): world.PREFIX,
    }


def imported(code: bytes) -> frozenset[str]:
    """Return the top names that a program seems to import.

    From its lines alone: nothing is executed, and nothing is parsed, since text can be written that a parser in this
    process would not survive. A name too many costs a slower start, a name too few an import inside.
    """
    names: set[str] = set()
    for kind, rest in _IMPORT.findall(code):
        parts = rest.split(b",") if kind == b"import" else [rest]
        names.update(found.group().decode() for part in parts if (found := _NAME.match(part.strip())))
    return frozenset(names)
