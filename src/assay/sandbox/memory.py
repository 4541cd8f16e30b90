"""How many snippets may run at once without the job's memory running out."""

import contextlib
import os
from pathlib import Path

from assay.errors import SandboxError
from assay.sandbox.records import Limits

_SHARE = 0.8
_MIB = 1 << 20


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
