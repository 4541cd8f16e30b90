"""The process above a snippet: prepares its folders, waits for its end, and lets nothing outlive it."""

from __future__ import annotations

# `signal` would turn the mask of all signals into 64 names, at each call.
import _signal  # type: ignore[import-not-found]  # part of every interpreter
import os
import resource
import select
import signal
import time

import linux  # type: ignore[import-not-found]  # these lie beside this file, wherever that is
import snippet  # type: ignore[import-not-found]

TYPE_CHECKING = False  # importing typing would show in the snippet's world
if TYPE_CHECKING:
    from typing import Any

_PASSES = 50
_EVERY_SIGNAL = tuple(_signal.valid_signals())


def begin(job: dict[str, Any]) -> dict[str, Any]:
    """Fork the snippet's process and watch it; return the job in the snippet's process, ready to run.

    This process forks before it touches anything: what parent and child both write to costs a copy of its page in
    each, so that all preparation is the child's.
    """
    namespaces = job["settings"]["backend"] == "namespaces"
    if namespaces:
        linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)
    else:
        linux.prctl(linux.PR_SET_CHILD_SUBREAPER, 1)
    linux.prctl(linux.PR_SET_DUMPABLE, 0)
    # What the snippet sends to its parent must not end the parent, not even between the next two lines.
    _signal.pthread_sigmask(signal.SIG_BLOCK, _EVERY_SIGNAL)
    pid = os.fork()
    if pid == 0:
        _signal.pthread_sigmask(signal.SIG_SETMASK, ())
        try:
            prepare(job)
            if not job["settings"]["fresh"]:
                snippet.renew_generators(job["generators"], job["seed"])
            os.write(job["report"], f"begun {time.monotonic_ns()} {os.getpid()}\n".encode())
            snippet.confine(job)
        except BaseException as error:  # noqa: BLE001
            # Ours, not the snippet's: it must never look like a wrong answer.
            os.write(job["report"], f"broken {type(error).__name__}: {error}\n".encode())
            os._exit(1)
        return job
    if namespaces:
        watch_namespace(job, pid)
    else:
        watch_tree(job, pid)
    os._exit(0)


def prepare(job: dict[str, Any]) -> None:
    """Make the snippet's folders, put its program there, and connect its output."""
    settings = job["settings"]
    box = settings["box"]
    if settings["backend"] == "namespaces":
        options = f"size={job['disk']},nr_inodes={job['inodes']},mode=755"
        linux.mount("tmpfs", box, "tmpfs", linux.MS_NOSUID | linux.MS_NODEV, options)
        if settings["proc"]:
            # Read-only: who writes to it can lower the priority of his own session.
            flags = linux.MS_RDONLY | linux.MS_NOSUID | linux.MS_NODEV | linux.MS_NOEXEC
            linux.mount("proc", "/proc", "proc", flags)
    else:
        job["shm"] = shared_memory(settings)
        linux.empty_folder(box)
    for name in ("work", "tmp", "shm"):
        os.mkdir(f"{box}/{name}", 0o700)
    os.chdir(f"{box}/work")
    script = os.open("main.py", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    size = os.fstat(job["code"]).st_size
    sent = 0
    while sent < size:
        sent += os.sendfile(script, job["code"], sent, size - sent)
    os.close(script)
    if settings["backend"] != "namespaces" and settings["uid"] != os.geteuid():
        for name in ("work", "tmp", "shm", "work/main.py"):
            os.chown(f"{box}/{name}", settings["uid"], settings["gid"])
    os.dup2(job["stdout"], 1)
    os.dup2(job["stderr"], 2)


def shared_memory(settings: dict[str, Any]) -> bool:
    """Tell whether the snippet may use /dev/shm, whose name is fixed in libc and which semaphores need.

    Only as a user of its own, and only while nothing there is anybody's that this user could open: with the right to
    search all folders comes that to read all files. What other snippets keep there counts for nothing.
    """
    if settings["uid"] == os.geteuid():
        return False
    first, after_last = settings["ids"]
    try:
        others = [found for _, found in shared_files() if not first <= found.st_uid < after_last]
        return not any(settings["search"] or found.st_mode & 0o006 for found in others)
    except OSError:
        return False


def shared_files() -> list[tuple[str, os.stat_result]]:
    """Return paths and states of what lies in /dev/shm; anybody's may vanish meanwhile."""
    found = []
    for name in os.listdir("/dev/shm"):
        path = f"/dev/shm/{name}"
        try:
            found.append((path, os.lstat(path)))
        except FileNotFoundError:
            continue
    return found


def waited(pid: int) -> tuple[int, int, int]:
    """Wait for the snippet's process, reap orphans; return (status, run-queue wait in ns, end time in ns)."""
    while True:
        told = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)
        ended = told.si_pid if told else 0
        if ended == pid:
            finished = time.monotonic_ns()
            try:
                descriptor = os.open(f"/proc/{pid}/schedstat", os.O_RDONLY)
                delay = int(os.read(descriptor, 128).split()[1])
                os.close(descriptor)
            except (OSError, IndexError, ValueError):
                delay = -1
            return os.waitpid(pid, 0)[1], delay, finished
        os.waitpid(ended, 0)


def ended(pid: int, number: int) -> None:
    """Send a signal to what may have ended already."""
    try:  # noqa: SIM105 - contextlib would show in the snippet's world
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def reap() -> None:
    """Reap until no child is left."""
    try:
        while True:
            os.waitpid(-1, 0)
    except ChildProcessError:
        pass


def report(job: dict[str, Any], status: int, delay: int, finished: int, survivors: int) -> None:
    """Tell the supervisor how the snippet ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = round((usage.ru_utime + usage.ru_stime) * 1e9)
    os.write(job["report"], f"ended {status} {finished} {delay} {cpu} {usage.ru_maxrss} {survivors}\n".encode())


def watch_namespace(job: dict[str, Any], pid: int) -> None:
    """As process 1: when the snippet ends, end whatever it left behind."""
    os.close(job["stop"])
    status, delay, finished = waited(pid)
    survivors = sum(name.isdigit() for name in os.listdir("/proc")) - 1 if job["settings"]["proc"] else -1
    ended(-1, signal.SIGKILL)
    reap()
    report(job, status, delay, finished, survivors)


def watch_tree(job: dict[str, Any], pid: int) -> None:
    """Without a process-id namespace: as subreaper, freeze all descendants until the set is stable, then kill."""
    wake, woken = os.pipe()
    os.set_blocking(woken, False)
    signal.signal(signal.SIGUSR1, lambda *_: None)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGUSR1, signal.SIGCHLD])
    linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGUSR1)
    poll = select.poll()
    poll.register(wake, select.POLLIN)
    poll.register(job["stop"], select.POLLIN)
    result: tuple[int, int, int] | None = None
    while result is None:
        for descriptor, _ in poll.poll(500):
            # Told to stop by the supervisor, or woken by the death of the server.
            if descriptor == job["stop"] or signal.SIGUSR1 in os.read(wake, 512):
                result = (signal.SIGKILL, -1, time.monotonic_ns())
        while result is None:
            child = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT | os.WNOHANG)
            if child is None:
                break
            if child.si_pid == pid:
                result = waited(pid)
            else:
                os.waitpid(child.si_pid, 0)
    survivors = sweep_and_reap()
    linux.empty_folder(job["settings"]["box"])
    clear_shm(job["settings"])
    report(job, *result, survivors)


def clear_shm(settings: dict[str, Any]) -> None:
    """Remove shared-memory files of the sandbox's own user, who can make nothing else there."""
    if settings["uid"] != os.geteuid() and os.path.isdir("/dev/shm"):
        for path, found in shared_files():
            if found.st_uid == settings["uid"]:
                os.unlink(path)


def descendants() -> set[int]:
    """Return the ids of all living descendants of this process, from one scan of /proc."""
    parents = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    fields = file.read().rpartition(b")")[2].split()
            except OSError:
                continue
            if fields[0] not in (b"Z", b"X"):
                parents[int(name)] = int(fields[1])
    found: set[int] = set()
    grown = {os.getpid()}
    while grown:
        grown = {pid for pid, parent in parents.items() if parent in grown} - found
        found |= grown
    return found


def sweep_and_reap() -> int:
    """End and reap all descendants; return how many there were.

    A look at /proc misses a process whose parent ends between the looks at the two. It is our own child then.
    """
    found = sweep()
    try:
        while True:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                found += sweep()
    except ChildProcessError:
        return found


def sweep() -> int:
    """Stop all descendants until two scans agree, then kill them, until there are none; return how many there were.

    Killing one by one loses the race against a fork bomb; a stopped process forks no more. One that is continued by
    another, before that one is stopped, still may: hence again. The dead are reaped afterwards, because until then
    they count as processes, and leave no room for new ones.
    """
    found: set[int] = set()
    while now := descendants():
        for _ in range(_PASSES):
            for pid in now:
                ended(pid, signal.SIGSTOP)
            before, now = now, descendants()
            if now == before:
                break
        for pid in now:
            ended(pid, signal.SIGKILL)
        found |= now
    return len(found)
