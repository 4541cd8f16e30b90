"""The world that a snippet sees: an interpreter, its standard library, system libraries, and the allowed packages.

Packages enter file by file as their RECORD names them, so that whatever else lies in the environment, Assay first
of all, does not exist inside.
"""

import csv
import importlib.metadata
import json
import os
import re
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from assay.errors import ConfigError, SandboxError
from assay.sandbox.records import facts_digest

PREFIX = "/opt/python"  # where the interpreter lies inside
BOX = "/sandbox"  # the writable space inside: work, tmp, shm
SCRIPT = f"{BOX}/work/main.py"
INSIDE_ID = 1000  # user and group inside
_SYSTEM = (
    "/bin",
    "/lib",
    "/lib32",
    "/lib64",
    "/usr/bin",
    "/usr/lib",
    "/usr/lib32",
    "/usr/lib64",
    "/usr/share/zoneinfo",
)
_DEVICES = ("null", "zero", "full", "random", "urandom")
_MANY_STRAYS = 500

ENVIRONMENT = {
    "HOME": f"{BOX}/work",
    "LANG": "C.UTF-8",
    "MKL_NUM_THREADS": "1",
    "NUMEXPR_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "PATH": f"{PREFIX}/bin:/usr/bin:/bin",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONHASHSEED": "0",
    "PYTHONIOENCODING": "utf-8:strict",
    "TMPDIR": "/tmp",
    "TZ": "UTC",
}
FLAGS = ("-s", "-P")  # not -I: it would ignore PYTHONHASHSEED

_FACTS = (
    "import json, os, site, sys, sysconfig; print(json.dumps({"
    "'version': sys.version.split()[0], 'minor': list(sys.version_info[:2]), 'prefix': sys.base_prefix,"
    "'executable': os.path.realpath(sys._base_executable), 'platlibdir': sys.platlibdir,"
    "'stdlib': os.path.realpath(sysconfig.get_path('stdlib')),"
    f"'site': site.getsitepackages(['{PREFIX}'])[0]}}))"
)


@dataclass(frozen=True)
class Interpreter:
    """The Python that runs snippets, as it lies on the host."""

    version: str
    executable: str
    prefix: str
    library: str
    stdlib: str
    site_inside: str


@dataclass(frozen=True)
class Package:
    """Files of the allowed distributions below one name of site-packages; strays are files that no RECORD names."""

    name: str
    source: str
    strays: tuple[str, ...]


@lru_cache(maxsize=8)
def find_interpreter(path: str | None) -> Interpreter:
    """Ask an interpreter where it lies.

    Raises
    ------
    SandboxError
        If it cannot be started or has another minor version than this one.
    """
    executable = path or str(getattr(sys, "_base_executable", sys.executable))
    try:
        # S603: the path is the user's own setting or this interpreter.
        done = subprocess.run([executable, "-I", "-c", _FACTS], capture_output=True, timeout=60, check=True)
        facts = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise SandboxError(
            f"the interpreter {executable} cannot be started ({error})",
            key="interpreter",
            expected="the path of a Python",
            remedy="correct it in configs/executions.yaml, or leave it out to use this one",
        ) from error
    if tuple(facts["minor"]) != sys.version_info[:2]:
        raise SandboxError(
            f"{executable} is Python {facts['version']}",
            key="interpreter",
            expected=f"Python {sys.version_info[0]}.{sys.version_info[1]}, for which the packages are installed",
        )
    return Interpreter(
        version=facts["version"],
        executable=facts["executable"],
        prefix=os.path.realpath(facts["prefix"]),
        library=os.path.realpath(Path(facts["prefix"], facts["platlibdir"])),
        stdlib=facts["stdlib"],
        site_inside=facts["site"],
    )


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


@lru_cache(maxsize=8)
def closure(names: tuple[str, ...]) -> dict[str, importlib.metadata.Distribution]:
    """Return the named distributions and all that they require, by normalised name, sorted.

    Raises
    ------
    ConfigError
        If one is not installed, or was installed without a list of its files.
    """
    found: dict[str, importlib.metadata.Distribution] = {}
    waiting = [(name, True) for name in names]
    while waiting:
        name, needed = waiting.pop()
        if _normal(name) in found:
            continue
        try:
            distribution = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError as error:
            if not needed:
                continue
            raise ConfigError(
                f"the distribution {name!r} is not installed",
                key="distributions",
                remedy=f"pip install {name}, or take it off the list in configs/executions.yaml",
            ) from error
        if not distribution.read_text("RECORD") and not distribution.files:
            raise ConfigError(
                f"the distribution {name!r} has no list of its files (RECORD)",
                key="distributions",
                remedy=f"pip install --force-reinstall {name}",
            )
        found[_normal(name)] = distribution
        for requirement in distribution.requires or ():
            head, _, marker = requirement.partition(";")
            matched = re.match(r"[A-Za-z0-9][A-Za-z0-9._-]*", head.strip())
            if matched and "extra" not in marker:
                waiting.append((matched.group(), not marker))
    return dict(sorted(found.items()))


def _recorded(distribution: importlib.metadata.Distribution) -> list[str]:
    """Return the files of a distribution as its RECORD names them; the parsed objects of the library are slow."""
    text = distribution.read_text("RECORD")
    if text is None:
        return [str(file) for file in distribution.files or ()]
    return [row[0] for row in csv.reader(text.splitlines()) if row]


@lru_cache(maxsize=8)
def packages(names: tuple[str, ...]) -> tuple[Package, ...]:
    """Return what is visible of site-packages, by name."""
    listed: dict[str, set[str]] = {}
    sources: dict[str, str] = {}
    for distribution in closure(names).values():
        for file in _recorded(distribution):
            top = file.partition("/")[0]
            if top in ("..", "__pycache__", ""):
                continue  # scripts and compiled copies of single modules
            listed.setdefault(top, set()).add(file)
            if top not in sources:
                sources[top] = os.path.realpath(str(distribution.locate_file(top)))
    present = [top for top in sorted(listed) if os.path.exists(sources[top])]
    return tuple(Package(top, sources[top], _strays(top, sources[top], listed[top])) for top in present)


def _strays(top: str, source: str, listed: set[str]) -> tuple[str, ...]:
    """Return paths below a package folder that no allowed distribution names, whole folders where possible."""
    if not os.path.isdir(source):
        return ()
    folders = set()
    for file in listed:
        while (file := file.rpartition("/")[0]) and file not in folders:
            folders.add(file)
    strays = []
    for folder, names, files in os.walk(source):
        here = os.path.join(top, os.path.relpath(folder, source)) if folder != source else top
        for name in list(names):
            if name != "__pycache__" and f"{here}/{name}" not in folders:
                names.remove(name)
                strays.append(f"{folder}/{name}")
        if os.path.basename(folder) == "__pycache__":
            continue
        strays += [f"{folder}/{name}" for name in files if f"{here}/{name}" not in listed]
    if len(strays) > _MANY_STRAYS:
        raise ConfigError(
            f"{source} holds {len(strays)} files that its distribution does not name, for example {strays[0]}",
            key="distributions",
            remedy=f"reinstall {top}",
        )
    return tuple(sorted(strays))


def check_preload(names: tuple[str, ...], preload: tuple[str, ...], *, seeded: bool = False) -> None:
    """Refuse to preload what no snippet could import; a server that fails to start would look like a broken sandbox.

    Raises
    ------
    ConfigError
        If a module belongs neither to the distributions nor to the standard library, or if numpy is to be `seeded`
        and is not preloaded.
    """
    visible = {package.name.partition(".")[0] for package in packages(names)} | sys.stdlib_module_names
    unknown = [module for module in preload if module.partition(".")[0] not in visible]
    if unknown:
        raise ConfigError(
            f"{unknown[0]!r} cannot be preloaded",
            key="preload",
            expected="modules of the distributions",
            remedy="take it off `preload`, or add its distribution to `distributions` in configs/executions.yaml",
        )
    if seeded and "numpy" in visible and "numpy" not in preload:
        raise ConfigError(
            "numpy.random can be seeded only where numpy is preloaded",
            key="seed_unseeded",
            expected="numpy on the list `preload`",
            remedy="put it there, or take seed_unseeded out of configs/executions.yaml",
        )


def runtime_facts(
    names: tuple[str, ...], version: str, preload: tuple[str, ...], seed: int | None
) -> dict[str, object]:
    """Return everything about the runtime that may show in an output, and that is the same in every checkout."""
    return {
        "python": version,
        "platform": sysconfig.get_platform(),
        "distributions": {name: found.version for name, found in closure(names).items()},
        "environment": ENVIRONMENT,
        "flags": list(FLAGS),
        "preload": list(preload),
        "seed_unseeded": seed,
        "script": SCRIPT,
        "user": INSIDE_ID,
    }


def runtime_id(names: tuple[str, ...], version: str, preload: tuple[str, ...], seed: int | None) -> str:
    """Return the digest of `runtime_facts`."""
    return facts_digest(runtime_facts(names, version, preload, seed))


def system_folders() -> list[tuple[str, str]]:
    """Return system folders as (path, link text or empty)."""
    found = []
    for path in _SYSTEM:
        if os.path.islink(path):
            found.append((path, os.readlink(path)))
        elif os.path.isdir(path):
            found.append((path, ""))
    return found


def foreign_python(folder: str) -> list[str]:
    """Return folders of other Pythons and their packages below a system library folder."""
    return sorted(e.path for e in os.scandir(folder) if e.name.startswith("python") and e.is_dir(follow_symlinks=False))


def root_operations(interpreter: Interpreter, names: tuple[str, ...], programs: dict[str, str]) -> list[list[str]]:
    """Return the operations (kind, source, target) that build the private root."""
    do: list[list[str]] = []
    for path, link in system_folders():
        do.append(["link", link, path] if link else ["bind", path, path])
        if not link and path.endswith(("lib", "lib64")):
            do += [["empty", "", other] for other in foreign_python(path)]
    name = Path(interpreter.executable).name
    do.append(["bind", interpreter.executable, f"{PREFIX}/bin/{name}"])
    do += [["link", name, f"{PREFIX}/bin/{alias}"] for alias in ("python", "python3") if alias != name]
    library = f"{PREFIX}/{Path(interpreter.library).name}"
    stdlib = f"{library}/{Path(interpreter.stdlib).name}"
    if interpreter.library in _SYSTEM or os.path.dirname(interpreter.stdlib) != interpreter.library:
        do.append(["bind", interpreter.stdlib, stdlib])
    else:
        do.append(["bind", interpreter.library, library])
        with os.scandir(interpreter.library) as entries:
            others = sorted(e.name for e in entries if e.is_dir(follow_symlinks=False))
        do += [["empty", "", f"{library}/{other}"] for other in others if f"{library}/{other}" != stdlib]
        do.append(["link", library, interpreter.library])  # an absolute path in the executable may lead there
    for folder in ("site-packages", "dist-packages"):
        if os.path.isdir(f"{interpreter.stdlib}/{folder}"):
            do.append(["empty", "", f"{stdlib}/{folder}"])
    site = interpreter.site_inside
    for package in packages(names):
        do.append(["bind", package.source, f"{site}/{package.name}"])
        strays = [stray.removeprefix(package.source) for stray in package.strays]
        do += [["hide", "", f"{site}/{package.name}{stray}"] for stray in strays]
    do += [["device", f"/dev/{device}", f"/dev/{device}"] for device in _DEVICES]
    links = {
        "fd": "/proc/self/fd",
        "stdin": "/proc/self/fd/0",
        "stdout": "/proc/self/fd/1",
        "stderr": "/proc/self/fd/2",
    }
    do += [["link", text, f"/dev/{name}"] for name, text in links.items()]
    do += [["link", f"{BOX}/shm", "/dev/shm"], ["link", f"{BOX}/tmp", "/tmp"], ["link", f"{BOX}/tmp", "/var/tmp"]]
    texts = {
        "/etc/passwd": f"root:x:0:0::/:/bin/sh\nsandbox:x:{INSIDE_ID}:{INSIDE_ID}::{BOX}/work:/bin/sh\n",
        "/etc/group": f"root:x:0:\nsandbox:x:{INSIDE_ID}:\n",
        "/etc/hosts": "127.0.0.1 localhost sandbox\n::1 localhost sandbox\n",
        "/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
    }
    do += [["text", text, path] for path, text in texts.items()]
    if os.path.exists("/etc/ld.so.cache"):
        do.append(["bind", "/etc/ld.so.cache", "/etc/ld.so.cache"])
    do += [["folder", "", "/proc"]]
    do += [["text", text, f"{BOX}/work/{name}"] for name, text in programs.items()]
    return do
