"""What happens in the process of a snippet before its first line and after its last one."""

from __future__ import annotations

import atexit
import ctypes
import os
import resource
import signal
import sys

import linux  # type: ignore[import-not-found]  # lies beside this file, wherever that is

TYPE_CHECKING = False  # importing typing would show in the snippet's world
if TYPE_CHECKING:
    from typing import Any

FIRST_OTHER = 3  # first descriptor that a fresh interpreter does not have
MEMORY_MARK = 64  # a snippet that ends with an uncaught MemoryError leaves by this real-time signal


def confine(job: dict[str, Any]) -> None:
    """In the snippet's process: limits, no privileges, no descriptors, nothing of the server's state."""
    settings = job["settings"]
    os.setsid()
    # Opened anew: flags and locks belong to what was opened, and would stay with the server for all later snippets.
    os.dup2(os.open("/dev/null", os.O_RDWR), 0)
    namespaces = settings["backend"] == "namespaces"
    # In the user namespace launcher, server and process 1 count as well; without one, all that this user runs.
    others = 3 if namespaces else tasks_of(settings["uid"]) - (settings["uid"] == os.geteuid())
    if not namespaces and settings["uid"] != os.geteuid():
        switch_user(settings)
    limits = (
        (resource.RLIMIT_AS, job["memory"], 0),
        (resource.RLIMIT_CPU, job["cpu"], 1),
        (resource.RLIMIT_FSIZE, job["file"], 0),
        (resource.RLIMIT_NPROC, job["processes"] + others, 0),
        (resource.RLIMIT_NOFILE, job["open_files"], 0),
        (resource.RLIMIT_CORE, 1, 0),  # too little for a file; 0 would still start a program that collects crashes
        (resource.RLIMIT_MSGQUEUE, 0, 0),
    )
    for number, value, more in limits:
        hard = resource.getrlimit(number)[1]
        soft = value if hard == resource.RLIM_INFINITY else min(value, hard)
        top = soft + more if hard == resource.RLIM_INFINITY else min(soft + more, hard)
        resource.setrlimit(number, (soft, top))
    if namespaces:
        linux.drop_privileges()
    else:
        linux.prctl(linux.PR_SET_NO_NEW_PRIVS, 1)
        ruleset = settings["rulesets"][job["shm"]]
        if ruleset >= 0:
            linux.landlock_restrict(ruleset)
    if settings["filter"]:
        linux.load_filter(settings["filter"])
    linux.prctl(linux.PR_SET_DUMPABLE, 1)
    linux.prctl(linux.PR_SET_PDEATHSIG, 0)
    linux.close_from(FIRST_OTHER)


def tasks_of(uid: int) -> int:
    """Return how many tasks of a user run now; without a user namespace the kernel counts them all together."""
    count = 0
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                if entry.stat().st_uid == uid:
                    count += len(os.listdir(f"/proc/{entry.name}/task"))
            except OSError:
                pass
    return count


def switch_user(settings: dict[str, Any]) -> None:
    """Become the sandbox's own user; keep at most the right to search folders, which Landlock then confines."""
    have = linux.permitted_capabilities()
    wanted = [c for c in (linux.CAP_DAC_READ_SEARCH, linux.CAP_DAC_OVERRIDE) if have >> c & 1][:1]
    if settings["search"] and wanted:
        linux.prctl(linux.PR_SET_KEEPCAPS, 1)
    os.setgroups([])
    os.setresgid(settings["gid"], settings["gid"], settings["gid"])
    os.setresuid(settings["uid"], settings["uid"], settings["uid"])
    if settings["search"] and wanted:
        linux.keep_over_exec(*wanted)


def prepare(job: dict[str, Any]) -> tuple[Any, tuple[Any, ...]]:
    """Put start-up state in place; return the C function that runs the snippet, and its arguments."""
    settings = job["settings"]
    script = f"{settings['box']}/work/main.py"
    variable = job["variable"]
    command = f"exec(open('main.py').read())\nprint({variable})\n" if variable else ""
    arguments = ["-c", command] if command else [script]
    if settings["fresh"]:
        os.execv(sys.executable, [sys.executable, "-s", "-P", *arguments])
    sys.argv = ["-c"] if command else [script]
    sys.orig_argv = [sys.executable, "-s", "-P", *arguments]
    folder = os.path.dirname(settings["server"])
    sys.path_importer_cache.pop(folder, None)
    for name in ("linux", "snippet", "watcher"):
        del sys.modules[name]
    if "threading" in sys.modules:
        sys.modules["threading"].main_thread()._set_native_id()  # it has the server's
    import builtins

    main = type(sys)("__main__")
    loader = sys.modules["_frozen_importlib"].BuiltinImporter
    main.__dict__.update(__annotations__={}, __builtins__=builtins, __loader__=loader)
    sys.modules["__main__"] = main
    api = ctypes.pythonapi
    if command:
        return api.PyRun_SimpleStringFlags, (command.encode(), None)
    linux.libc.fopen.restype = ctypes.c_void_p
    file = ctypes.c_void_p(linux.libc.fopen(script.encode(), b"rb"))
    if not file:
        raise OSError(f"{script} cannot be opened")
    return api.PyRun_SimpleFileExFlags, (file, script.encode(), 1, None)


def find_generators() -> list[Any]:
    """Return the generators of random numbers that preloaded modules have made for themselves, as sympy does.

    All snippets of a server would draw the same numbers from them, and those of the next server others.
    """
    kinds = []
    for module, kind in (("random", "Random"), ("numpy.random", "RandomState")):
        if module in sys.modules:
            kinds.append(getattr(sys.modules[module], kind))
    values = (
        value for module in list(sys.modules.values()) for value in list(getattr(module, "__dict__", {}).values())
    )
    return list({id(value): value for value in values if type(value) in kinds}.values())


def renew_generators(found: list[Any], seed: int) -> None:
    """Seed generators anew; with a seed also the global ones, which a snippet may use without seeding them."""
    for generator in found:
        generator.seed()
    if seed >= 0:
        import random

        random.seed(seed)
        if "numpy" in sys.modules:
            sys.modules["numpy"].random.seed(seed % 2**32)


class Leaving:
    """Ends the interpreter as usual, but without taking apart what the server had imported.

    Freeing thousands of shared objects would copy every page they lie on: two thirds of the cost of an execution.
    All that a snippet can notice still happens, in the interpreter's own code and order: threads are awaited, exit
    functions run, the snippet's modules are cleared, output is flushed. Only then does the process leave at once.
    """

    kept: dict[str, Any] = {}
    code: int | None = None  # None: the snippet called sys.exit; the interpreter knows the code and leaves by itself
    mark: int = 0
    flush_failed = False

    def register(self) -> None:
        """Register first, to be called last."""
        atexit.register(self.forget_preloaded)

    def forget_preloaded(self) -> None:
        """Take the server's modules out of the interpreter's sight: the last of the exit functions."""
        try:
            modules = sys.modules
            own = {name: module for name, module in modules.items() if self.kept.get(name) is not module}
            builtins, main = self.kept["builtins"], modules["__main__"]
            self.flush()
            modules.clear()
            modules.update(own)
            modules.update({"sys": sys, "builtins": builtins, "__main__": main})
            sys._leaving = Last()  # type: ignore[attr-defined]  # cleared with the names of `sys`, after all modules
        except Exception:  # noqa: BLE001
            pass  # whatever the snippet did to `sys`, the interpreter will cope as it always does

    def flush(self) -> None:
        """Flush as the interpreter is about to do, to learn whether that fails."""
        for stream in (sys.stdout, sys.stderr):
            try:
                if stream is not None and not stream.closed:
                    stream.flush()
            except Exception:  # noqa: BLE001 - whatever the snippet put there
                self.flush_failed = True


class Last:
    """What goes last."""

    def __del__(self) -> None:
        if leaving.code is None:
            return
        for stream in (sys.__stdout__, sys.__stderr__):
            try:
                if stream is not None and not stream.closed:
                    stream.flush()
            except Exception:  # noqa: BLE001 - whatever the snippet put there
                leaving.flush_failed = True
        linux.libc.fflush(None)
        if leaving.mark:
            signal.signal(leaving.mark, signal.SIG_DFL)
            os.kill(os.getpid(), leaving.mark)
        os._exit(120 if leaving.flush_failed else leaving.code)


leaving = Leaving()


def end(result: int) -> None:
    """Leave as the interpreter itself would after the snippet returned `result`."""
    kind = getattr(sys, "last_type", None) if result else None
    if isinstance(kind, type) and issubclass(kind, KeyboardInterrupt):
        leaving.mark = signal.SIGINT
    elif isinstance(kind, type) and issubclass(kind, MemoryError):
        leaving.mark = MEMORY_MARK
    if leaving.mark:  # in case the process leaves the slow way, through exit()
        linux.libc.__cxa_atexit(getattr(linux.libc, "raise"), ctypes.c_void_p(int(leaving.mark)), None)
    leaving.code = 1 if result else 0
    ctypes.pythonapi.Py_Exit(leaving.code)
