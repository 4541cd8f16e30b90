"""What this machine, job and process leave to snippets: how many run at once, and which limits can be kept."""

import contextlib
import os
import resource
from pathlib import Path

import msgspec

from assay.errors import SandboxError
from assay.sandbox.records import Limits

_SHARE = 0.8
_MIB = 1 << 20
_HARD = ("AS", "CPU", "DATA", "FSIZE", "NOFILE", "NPROC")


def job_memory() -> int:
    """Return the memory that this job may use, in bytes: of the machine, its control groups, or Slurm's allotment."""
    limits = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for variable, count in (("SLURM_MEM_PER_NODE", 1), ("SLURM_MEM_PER_CPU", len(os.sched_getaffinity(0)))):
        with contextlib.suppress(KeyError, ValueError):
            limits.append(int(os.environ[variable]) * count * _MIB)
    with contextlib.suppress(OSError, ValueError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            name = "memory.limit_in_bytes" if controllers else "memory.max"
            base = Path("/sys/fs/cgroup", "memory" if controllers == "memory" else "")
            if controllers not in ("", "memory"):
                continue
            for folder in (Path(path), *Path(path).parents):
                with contextlib.suppress(OSError, ValueError):
                    limits.append(int((base / str(folder).lstrip("/") / name).read_text()))
    return min(limit for limit in limits if limit > 0)


def oom_kills() -> int:
    """Return how many processes the kernel has ended for want of memory since the machine started; 0 if unknown."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/vmstat").read_text().splitlines():
            name, _, count = line.partition(" ")
            if name == "oom_kill":
                return int(count)
    return 0


def kept(limits: Limits, interpreter_bytes: int) -> Limits:
    """Return the limits as the kernel will keep them: none can be above the hard limit of this process.

    Parameters
    ----------
    interpreter_bytes : int
        Address space that a process has before its snippet begins.
    """
    hard = {name: resource.getrlimit(getattr(resource, f"RLIMIT_{name}"))[1] for name in _HARD}
    below = {name: value for name, value in hard.items() if value != resource.RLIM_INFINITY}
    most: dict[str, float] = {
        "time_s": float(below.get("CPU", limits.time_s + 1) - 1),  # the kernel ends a process at the limit itself
        "processes": below.get("NPROC", limits.processes),
        "open_files": below.get("NOFILE", limits.open_files),
        "disk_mb": below.get("FSIZE", limits.disk_mb * _MIB) // _MIB,
    }
    spaces = [value for name, value in below.items() if name in ("AS", "DATA")]
    if spaces:
        most["memory_mb"] = (min(spaces) - interpreter_bytes) // _MIB
    lower = {name: max(value, 1) for name, value in most.items() if value < getattr(limits, name)}
    return msgspec.structs.replace(limits, **lower) if lower else limits


def workers(wanted: int | None, limits: Limits) -> int:
    """Return how many workers to use.

    Raises
    ------
    SandboxError
        If not even one, or not as many as wanted, fit into the job's memory.
    """
    if wanted is not None and wanted < 1:
        raise SandboxError(f"{wanted} workers can run nothing", key="workers", expected="a positive number")
    each = limits.tree_memory_mb + limits.disk_mb
    room = int(job_memory() * _SHARE / _MIB)
    fit = room // each
    if fit < (wanted or 1):
        raise SandboxError(
            f"{wanted or 1} workers may take {each} MiB each, and this job has {room} MiB for them",
            key="workers",
            remedy="use fewer workers, or lower limits.tree_memory_mb in configs/executions.yaml",
        )
    return wanted or min(fit, len(os.sched_getaffinity(0)))
