"""What a server is started with: the programs that run inside, and the plan of its confinement."""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

# Programs of other processes, started and never imported. Named as modules, so that they belong to the code of every
# recipe that executes: who edits one of them gets new executions.
_LAUNCHER = "assay.sandbox.inside.launch"
_INSIDE = {
    "linux.py": "assay.sandbox.inside.linux",
    "snippet.py": "assay.sandbox.inside.snippet",
    "watcher.py": "assay.sandbox.inside.watcher",
    # The server has the snippet's own path, so that its command line is that of a fresh interpreter.
    "main.py": "assay.sandbox.inside.server",
}


def _file_of(module: str) -> Path:
    return Path(__file__).parent / "inside" / f"{module.rpartition('.')[2]}.py"


LAUNCHER = _file_of(_LAUNCHER)
PROGRAMS = {name: _file_of(module) for name, module in _INSIDE.items()}
"""Name inside -> file of each program that a server needs."""


@dataclass(frozen=True)
class Plan:
    """How a server is started: its confinement, where things lie, and what it imports."""

    backend: Literal["namespaces", "landlock", "plain"]
    fresh: bool
    preload: tuple[str, ...]
    python: str  # as the server sees it
    launcher_python: str  # as this process sees it
    program: str  # the server's own file, as the server sees it
    box: str
    environment: dict[str, str]
    uid: int
    gid: int
    inside_id: int
    ids: tuple[int, int] = (0, 0)  # users of all snippets of root: the first, and the one after the last
    root: list[list[str]] = field(default_factory=list)
    readable: list[str] = field(default_factory=list)
    writable: list[str] = field(default_factory=list)
    filter: bytes = b""
    held: tuple[int, ...] = ()  # descriptors that the server and its watchers keep open, and no snippet
    search: bool = False  # the interpreter lies where only root may look: keep that one right after the uid switch

    def launch(self) -> dict[str, Any]:
        """Return what the launcher needs, as JSON data."""
        return {
            "backend": self.backend,
            "parent": os.getpid(),
            "mountpoint": "/sys",  # only hidden inside; nothing that the sandbox binds lies there
            "root": self.root,
            "uid": self.uid,
            "gid": self.gid,
            "inside_id": self.inside_id,
            "python": self.python,
            "server": self.program,
            "environment": self.environment,
        }

    def settings(self, *, fresh_proc: bool) -> dict[str, Any]:
        """Return what the server needs once it runs, as marshal data."""
        return {
            "backend": self.backend,
            "fresh": self.fresh,
            "preload": self.preload,
            "proc": fresh_proc or self.backend != "namespaces",
            "box": self.box,
            "server": self.program,
            "filter": self.filter,
            "uid": self.uid,
            "gid": self.gid,
            "ids": self.ids,
            "search": self.search,
            "readable": self.readable,
            "writable": self.writable,
        }
