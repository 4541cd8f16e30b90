"""First program of a worker: leaves the host's world step by step, then becomes the fork server.

Runs outside the private root, as `python -I -S -B launch.py N`, with the plan (JSON) on standard input and the control
socket as descriptor N. On failure it prints one JSON line {"step", "errno", "message"} to standard error.
"""

import json
import os
import resource
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

sys.path.insert(0, str(Path(__file__).parent))
import linux  # type: ignore[import-not-found]  # lies beside this file

Result = TypeVar("Result")

CONTROL = 3  # the number that the server expects
STACK_BYTES = 8 << 20  # what Linux gives where nobody says otherwise
# Each snippet gets its own; the soft limits of the caller are not for the server.
_FOR_SNIPPETS = tuple(getattr(resource, f"RLIMIT_{name}") for name in ("AS", "CPU", "DATA", "FSIZE", "NPROC"))
_OUTSIDE = (
    linux.CLONE_NEWUSER
    | linux.CLONE_NEWNS
    | linux.CLONE_NEWPID
    | linux.CLONE_NEWNET
    | linux.CLONE_NEWIPC
    | linux.CLONE_NEWUTS
)


class StepError(Exception):
    """A step towards the sandbox failed; the cause says how."""


def step(name: str, function: Callable[..., Result], *arguments: Any, **keywords: Any) -> Result:
    """Run one step; name it in the error."""
    try:
        return function(*arguments, **keywords)
    except OSError as error:
        raise StepError(name) from error


def die_with(parent: int) -> None:
    """Ask the kernel to end this process when its parent ends, and check that it has not ended already."""
    linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)
    if parent and os.getppid() != parent:
        os._exit(0)


def write_maps(uid: int, gid: int, inside: int) -> None:
    """Map the one user and group of a new user namespace."""
    if Path("/proc/self/setgroups").exists():
        Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{inside} {uid} 1")
    Path("/proc/self/gid_map").write_text(f"{inside} {gid} 1")


def build(root: str, plan: dict[str, Any]) -> None:
    """Build the private root on a new tmpfs: what the plan's operations name, and nothing else."""
    linux.mount("none", "/", None, linux.MS_REC | linux.MS_PRIVATE)
    linux.mount("tmpfs", root, "tmpfs", linux.MS_NOSUID, "size=64m,mode=755")
    empties = []
    for kind, source, target in plan["root"]:
        path = Path(root + target)
        if kind == "hide":
            if not path.exists():
                continue  # it went away since the plan was made
            kind, source = ("empty", "") if path.is_dir() else ("device", "/dev/null")
        path.parent.mkdir(parents=True, exist_ok=True)
        if kind == "folder":
            path.mkdir(parents=True, exist_ok=True)
        elif kind == "link":
            path.symlink_to(source)
        elif kind == "text":
            path.write_text(source)
        elif kind == "empty":
            path.mkdir(exist_ok=True)
            empties.append(str(path))
            linux.mount("tmpfs", str(path), "tmpfs", linux.MS_NOSUID | linux.MS_NODEV, "size=1m,mode=755")
        elif kind in ("bind", "device"):
            if not path.exists():
                if Path(source).is_dir():
                    path.mkdir()
                else:
                    path.touch()
            linux.mount(source, str(path), None, linux.MS_BIND | linux.MS_REC)
            linux.restrict_mount(str(path), devices=kind == "device")
    for empty in empties:
        linux.restrict_mount(empty, devices=False)


def proc(target: str, *, fresh: bool) -> bool:
    """Mount a /proc of this process-id namespace; return whether the kernel allowed it."""
    try:
        if fresh:
            linux.mount("proc", target, "proc", linux.MS_NOSUID | linux.MS_NODEV | linux.MS_NOEXEC)
        else:
            linux.mount("/proc", target, None, linux.MS_BIND | linux.MS_REC)
    except OSError:
        return False
    return True


def pivot(root: str) -> None:
    """Make `root` the root folder and let go of the old one."""
    os.chdir(root)
    linux.syscall("pivot_root", b".", b".")
    linux.umount(".")
    os.chdir("/")


def namespaces(plan: dict[str, Any]) -> bool:
    """Enter all namespaces; return (in process 1 of them) whether /proc is a fresh one."""
    root, inside = plan["mountpoint"], plan["inside_id"]
    uid, gid = plan["uid"], plan["gid"]
    switch = os.geteuid() == 0 and uid != 0
    if switch:
        # The interpreter may lie below a folder that only root may enter: bind it while still root.
        step("mount namespace", linux.unshare, linux.CLONE_NEWNS)
        step("private root", build, root, plan)
        proc(root + "/proc", fresh=False)
        step("private root", pivot, root)
        step("change of user", become, uid, gid)
    step("user namespace", linux.unshare, _OUTSIDE)
    step("user map", write_maps, uid, gid, inside)
    die_with(0)
    child = step("process-id namespace", os.fork)
    if child:
        os.close(CONTROL)
        os.closerange(0, 3)
        _, status = os.waitpid(child, 0)
        os._exit(os.waitstatus_to_exitcode(status) & 0xFF)
    die_with(0)
    if switch:
        fresh = proc("/proc", fresh=True)
    else:
        step("private root", build, root, plan)
        fresh = proc(root + "/proc", fresh=True)
        step("private root", pivot, root)
    step("host name", set_host_name, "sandbox")
    if not fresh:
        # Read-only: it would belong to the snippets' user, and what one leaves there would stay for all others.
        linux.mount("tmpfs", "/proc", "tmpfs", linux.MS_RDONLY | linux.MS_NOSUID | linux.MS_NODEV, "size=4k,mode=555")
    linux.mount(
        "none", "/", None, linux.MS_REMOUNT | linux.MS_BIND | linux.MS_RDONLY | linux.MS_NOSUID | linux.MS_NODEV
    )
    step("capabilities", linux.keep_over_exec, linux.CAP_SYS_ADMIN, linux.CAP_SETPCAP)
    return fresh


def set_host_name(name: str) -> None:
    """Set the host name of the new UTS namespace."""
    linux.check(linux.libc.sethostname(name.encode(), len(name)), "sethostname")


def become(uid: int, gid: int) -> None:
    """Become another user for good; the process stays inspectable by itself."""
    os.setgroups([])
    os.setresgid(gid, gid, gid)
    os.setresuid(uid, uid, uid)
    linux.prctl(linux.PR_SET_DUMPABLE, 1)


def forget_caller() -> None:
    """Undo what the caller's shell or scheduler left to all its children, and what would show in a snippet's result.

    nohup and background jobs ignore signals; a stack limit decides how deep a recursion goes before it crashes; and
    what ends a shell's child after some processor time would end a server in the middle of its work.
    """
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_DFL)
    limits = dict.fromkeys(_FOR_SNIPPETS, resource.RLIM_INFINITY) | {resource.RLIMIT_STACK: STACK_BYTES}
    for limit, wanted in limits.items():
        hard = resource.getrlimit(limit)[1]
        known = [value for value in (wanted, hard) if value != resource.RLIM_INFINITY]
        resource.setrlimit(limit, (min(known, default=resource.RLIM_INFINITY), hard))


def main() -> None:
    """Read the plan, confine, and become the server."""
    plan = json.load(sys.stdin.buffer)
    if int(sys.argv[1]) != CONTROL:
        os.dup2(int(sys.argv[1]), CONTROL)
        os.close(int(sys.argv[1]))
    forget_caller()
    die_with(plan["parent"])
    fixed_addresses = linux.libc.personality(linux.ADDR_NO_RANDOMIZE) >= 0
    fresh_proc = False
    if plan["backend"] == "namespaces":
        os.umask(0o022)
        fresh_proc = namespaces(plan)
    os.umask(0o077)
    die_with(0)
    null = os.open("/dev/null", os.O_RDWR)
    os.dup2(null, 0)
    reader, writer = os.pipe()  # standard output of the server is a pipe, as that of every snippet
    os.dup2(writer, 1)
    for descriptor in (null, reader, writer):
        os.close(descriptor)
    os.set_inheritable(CONTROL, True)
    facts = {"fresh_proc": fresh_proc, "fixed_addresses": fixed_addresses}
    with socket.socket(fileno=os.dup(CONTROL)) as control:
        control.send(json.dumps(facts).encode())
    os.execve(plan["python"], [plan["python"], "-s", "-P", plan["server"]], plan["environment"])


if __name__ == "__main__":
    try:
        main()
    except StepError as error:
        cause = error.__cause__
        number = cause.errno if isinstance(cause, OSError) else 0
        sys.stderr.write(json.dumps({"step": str(error), "errno": number, "message": str(cause)}) + "\n")
        sys.exit(1)
