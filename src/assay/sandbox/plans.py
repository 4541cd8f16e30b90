"""How servers are started under each kind of confinement: the private root, or a confined folder on the host."""

import contextlib
import fcntl
import os
import pwd
import shutil
import stat
import sys
import tempfile
from pathlib import Path
from typing import Literal

from assay.config.executions import Executions
from assay.errors import SandboxError
from assay.sandbox import seccomp, world
from assay.sandbox.inside import linux
from assay.sandbox.launching import PROGRAMS, Plan

Backend = Literal["namespaces", "landlock", "plain"]
_SLOTS = 256
_IDS = range(60_500, 60_500 + 4 * _SLOTS)  # user ids that are tried for the snippets of root


def unused_id(slot: int) -> int:
    """Return a user id that nobody has, one per slot.

    Raises
    ------
    SandboxError
        If none is mapped in this user namespace.
    """
    ranges = []
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/uid_map").read_text().splitlines():
            first, _, length = (int(word) for word in line.split())
            ranges.append(range(first, first + length))
    found = 0
    for candidate in _IDS:
        if ranges and not any(candidate in known for known in ranges):
            continue
        try:
            pwd.getpwuid(candidate)
        except KeyError:
            if found == slot:
                return candidate
            found += 1
    raise SandboxError("no unused user id is left for the snippets", remedy="run as an ordinary user instead of root")


class Slot:
    """A folder on the host, constant per worker, for the snippets of one worker without a mount namespace.

    Its lock is held by the servers and watchers as well: who watched a snippet of a killed executor empties the folder
    at the end, and until then nobody else may use it.
    """

    def __init__(self) -> None:
        try:
            self._find(Path(tempfile.gettempdir(), f"assay-sandbox-{os.geteuid()}"))
        except OSError as error:
            raise SandboxError(
                f"no folder for snippets can be made ({error})", remedy="set TMPDIR to a folder that can be written"
            ) from error

    def _find(self, base: Path) -> None:
        base.mkdir(mode=0o711, exist_ok=True)
        found = base.lstat()
        if found.st_uid != os.geteuid() or not stat.S_ISDIR(found.st_mode) or found.st_mode & 0o022:
            raise SandboxError(f"{base} is not a folder of this user alone", file=base, remedy="remove it")
        base.chmod(0o711)  # the caller's umask may be narrower
        for number in range(_SLOTS):
            lock = os.open(base / f"w{number}.lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(lock)
                continue
            self.number, self.folder = number, base / f"w{number}"
            self.lock = fcntl.fcntl(lock, fcntl.F_DUPFD_CLOEXEC, 10)  # the numbers below are the launcher's
            os.close(lock)
            with contextlib.suppress(FileNotFoundError):
                self._remove()  # what an executor left that was killed
            for folder in (self.folder, self.folder / "box"):
                folder.mkdir()
                folder.chmod(0o711)
            return
        raise SandboxError(f"{_SLOTS} sandboxes of this user run already", file=base)

    def close(self) -> None:
        """Remove the folder and let go of it."""
        with contextlib.suppress(OSError):  # a watcher may still be at it; who comes next begins by removing
            self._remove()
        os.close(self.lock)

    def _remove(self) -> None:
        linux.empty_folder(str(self.folder))
        self.folder.rmdir()


def namespaces_plan(settings: Executions, preload: tuple[str, ...]) -> Plan:
    """Plan a server in namespaces of its own."""
    interpreter = world.find_interpreter(settings.interpreter)
    programs = {name: file.read_text() for name, file in PROGRAMS.items()}
    root = os.geteuid() == 0
    identity = unused_id(0) if root else os.geteuid()
    return Plan(
        backend="namespaces",
        fresh=settings.backend == "fresh",
        preload=preload,
        python=f"{world.PREFIX}/bin/{Path(interpreter.executable).name}",
        launcher_python=interpreter.executable,
        program=world.SCRIPT,
        box=world.BOX,
        environment=world.ENVIRONMENT,
        uid=identity,
        gid=identity if root else os.getegid(),
        inside_id=world.INSIDE_ID,
        root=world.root_operations(interpreter, settings.distributions, programs),
        filter=seccomp.snippet_filter() if seccomp.supported() else b"",
    )


def folder_plan(settings: Executions, preload: tuple[str, ...], slot: Slot, backend: Backend) -> Plan:
    """Plan a server on the host's files, confined by Landlock and seccomp ("landlock") or hardly ("plain")."""
    interpreter = world.find_interpreter(settings.interpreter)
    python = slot.folder / "python"
    readable = _farm(python, interpreter, settings.distributions)
    confined = backend == "landlock"
    root = os.geteuid() == 0
    identity = unused_id(1 + slot.number) if root and confined else os.geteuid()
    box = str(slot.folder / "box")
    environment = {
        name: text.replace(world.PREFIX, str(python)).replace(world.BOX, box)
        for name, text in world.ENVIRONMENT.items()
    }
    environment["TMPDIR"] = f"{box}/tmp"
    search = root and confined and not _open_to_all(interpreter, settings.distributions, slot)
    own_user = identity != os.geteuid() and not search
    return Plan(
        backend=backend,
        fresh=settings.backend == "fresh",
        preload=preload,
        python=str(python / "bin" / Path(interpreter.executable).name),
        launcher_python=interpreter.executable,
        program=str(PROGRAMS["main.py"]),
        box=box,
        environment=environment,
        uid=identity,
        gid=identity if root and confined else os.getegid(),
        inside_id=world.INSIDE_ID,
        ids=(_IDS.start, _IDS.stop),
        readable=readable,
        writable=[box, "/dev/null", "/dev/zero", "/dev/full"],
        filter=_folder_filter(own_user=own_user) if confined else b"",
        held=(slot.lock,),
        search=search,
    )


def _folder_filter(*, own_user: bool) -> bytes:
    return seccomp.snippet_filter(namespaces=False, own_user=own_user, truncation=linux.landlock_abi() < 3)


def _farm(python: Path, interpreter: world.Interpreter, names: tuple[str, ...]) -> list[str]:
    """Build a folder of links with the layout of an installed Python; return what must be readable for it."""
    readable = [str(python), "/etc/ld.so.cache", "/dev/random", "/dev/urandom", "/proc"]
    library = python / Path(interpreter.library).name
    stdlib = library / Path(interpreter.stdlib).name
    stdlib.mkdir(parents=True)
    (python / "bin").mkdir()
    executable = python / "bin" / Path(interpreter.executable).name
    shutil.copy2(interpreter.executable, executable)
    for alias in ("python", "python3"):
        (python / "bin" / alias).symlink_to(executable.name)
    with os.scandir(interpreter.library) as entries:
        for entry in sorted(entries, key=lambda e: e.name):
            if ".so" in entry.name and interpreter.library not in dict(world.system_folders()):
                (library / entry.name).symlink_to(entry.path)
                readable.append(os.path.realpath(entry.path))
    with os.scandir(interpreter.stdlib) as entries:
        for entry in sorted(entries, key=lambda e: e.name):
            if entry.name not in ("site-packages", "dist-packages", "__pycache__"):
                (stdlib / entry.name).symlink_to(entry.path)
                readable.append(os.path.realpath(entry.path))
    site = Path(interpreter.site_inside.replace(world.PREFIX, str(python)))
    site.mkdir(parents=True, exist_ok=True)
    for package in world.packages(names):
        (site / package.name).symlink_to(package.source)
        readable += _without(package.source, package.strays)
    for folder, _, _ in os.walk(python):
        os.chmod(folder, 0o755)  # the caller's umask may be narrower
    for path, link in world.system_folders():
        if not link:
            foreign = world.foreign_python(path) if path.endswith(("lib", "lib64")) else []
            readable += _without(path, tuple(foreign))
    return readable


def _without(folder: str, excluded: tuple[str, ...]) -> list[str]:
    """Return paths that together cover a folder except some paths in it; a rule can only allow whole subtrees."""
    inside = tuple(path for path in excluded if path.startswith(f"{folder}/"))
    if folder in excluded:
        return []
    if not inside or not os.path.isdir(folder):
        return [folder]
    covered: list[str] = []
    for name in sorted(os.listdir(folder)):
        covered += _without(f"{folder}/{name}", inside + tuple(p for p in excluded if p == f"{folder}/{name}"))
    return covered


def _open_to_all(interpreter: world.Interpreter, names: tuple[str, ...], slot: Slot) -> bool:
    """Tell whether every user may search the folders of the interpreter, the packages and the snippets."""
    sources = (os.path.dirname(package.source) for package in world.packages(names))
    places = {interpreter.stdlib, *sources, str(slot.folder)}
    for place in places:
        for folder in (place, *(str(parent) for parent in Path(place).parents)):
            if not os.stat(folder).st_mode & stat.S_IXOTH:
                return False
    return True


def refuse_elsewhere() -> None:
    """Stop with a sentence where there is no Linux.

    Raises
    ------
    SandboxError
        On any other system.
    """
    if sys.platform != "linux":
        raise SandboxError(
            f"model-written code cannot be confined on {sys.platform}",
            expected="Linux 5.13 or newer",
            remedy="run the stage executions on Linux, or in a Linux container; its artifacts serve everywhere",
        )
