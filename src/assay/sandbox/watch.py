"""Looks at a running snippet from outside, through /proc: processor time, waiting time, memory, processes."""

import contextlib
import os
from dataclasses import dataclass, field

_TICK_NS = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")


def children(pid: int) -> list[int]:
    """Return the living children of a process; each is that of the thread that made it."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            # One that has ended meanwhile must not hide the children of the others.
            with contextlib.suppress(OSError), open(f"/proc/{pid}/task/{thread}/children", "rb") as file:
                found += [int(child) for child in file.read().split()]
    return found


def descendants(root: int) -> list[int]:
    """Return the living descendants of a process, the process itself left out."""
    found: list[int] = []
    waiting = [root]
    while waiting:
        waiting += (below := children(waiting.pop()))
        found += below
    return found


def pidfd_process(descriptor: int) -> int:
    """Return the process id that a pidfd stands for, -1 if it has gone."""
    with open(f"/proc/self/fdinfo/{descriptor}") as file:
        for line in file:
            if line.startswith("Pid:"):
                return int(line.split()[1])
    return -1


def process_memory(pid: int) -> tuple[int, int, int]:
    """Return the address space of a process and its private memory, in bytes, and how many threads it has.

    Raises
    ------
    OSError
        If the process cannot be seen.
    """
    with open(f"/proc/{pid}/statm") as file:
        size, resident, shared = (int(word) * _PAGE for word in file.read().split()[:3])
    return size, resident - shared, len(os.listdir(f"/proc/{pid}/task"))


@dataclass
class Tree:
    """Running totals of one snippet's processes.

    `root` is the process that watches the snippet from inside; what it has reaped counts as well. `base` is the
    memory that every process shares with its server, bytes.
    """

    root: int
    base: int
    cpu_ns: int = 0
    queue_ns: int = 0
    peak_memory: int = 0
    peak_processes: int = 1
    exact: bool = True
    _threads_ns: dict[str, tuple[int, int]] = field(default_factory=dict)
    _seen_ns: int = 0

    def sample(self) -> int:
        """Look once; return the memory of all processes together, in bytes."""
        pids = descendants(self.root)
        used = self._reaped()
        resident = 0
        longest = 0
        for pid in pids:
            try:
                with open(f"/proc/{pid}/stat", "rb") as file:
                    fields = file.read().rpartition(b")")[2].split()
                resident += self._private(pid)
            except OSError:
                continue
            ran, waited = self._threads(pid)
            # Ticks count ended threads, nanoseconds count what is less than a tick: take the larger.
            used += max(sum(int(value) for value in fields[11:13]) * _TICK_NS, ran)
            used += sum(int(value) for value in fields[13:15]) * _TICK_NS  # reaped children
            longest = max(longest, waited)
        # What is counted nowhere else: children that ended without anybody waiting for them.
        self.cpu_ns = max(self.cpu_ns, used, self._seen_ns)
        self.queue_ns += longest
        self.peak_processes = max(self.peak_processes, len(pids))
        self.peak_memory = max(self.peak_memory, resident)
        return resident

    def memory(self) -> int:
        """Return the memory of all processes together, in bytes, as `sample` does, which looks at more."""
        resident = 0
        for pid in descendants(self.root):
            with contextlib.suppress(OSError):
                resident += self._private(pid)
        self.peak_memory = max(self.peak_memory, resident)
        return resident

    def precise_memory(self) -> int:
        """Return the memory of all processes with shared pages counted once; -1 where the kernel does not say."""
        total = 0
        for pid in descendants(self.root):
            try:
                with open(f"/proc/{pid}/smaps_rollup") as file:
                    for line in file:
                        if line.startswith("Pss_Anon:"):
                            total += int(line.split()[1]) * 1024
            except FileNotFoundError:
                continue
            except OSError:
                return -1
        return total

    def _private(self, pid: int) -> int:
        with open(f"/proc/{pid}/statm", "rb") as file:
            _, resident, shared = (int(word) for word in file.read().split()[:3])
        return max((resident - shared) * _PAGE - self.base, 0)

    def _threads(self, pid: int) -> tuple[int, int]:
        """Return the time that its threads ran, and the longest that one waited for a processor since the last look."""
        ran, longest = 0, 0
        threads: list[str] = []
        with contextlib.suppress(OSError):
            threads = os.listdir(f"/proc/{pid}/task")
        for thread in threads:
            try:
                with open(f"/proc/{pid}/task/{thread}/schedstat", "rb") as file:
                    words = file.read().split()
                own, waited = int(words[0]), int(words[1])
            except (OSError, ValueError, IndexError):
                continue  # gone meanwhile, or never told
            own_before, waited_before = self._threads_ns.get(thread, (0, 0))
            if own < own_before:
                own_before, waited_before = 0, 0  # the number belongs to another thread now
            self._threads_ns[thread] = own, waited
            self._seen_ns += own - own_before
            longest = max(longest, waited - waited_before)
            ran += own
        if threads and not os.path.exists("/proc/self/schedstat"):
            self.exact = False
        return ran, longest

    def _reaped(self) -> int:
        """Return the processor time of what the watching process has reaped, ns."""
        try:
            with open(f"/proc/{self.root}/stat", "rb") as file:
                fields = file.read().rpartition(b")")[2].split()
        except OSError:
            return 0
        return (int(fields[13]) + int(fields[14])) * _TICK_NS
