"""Model slots of the whole machine: how many processes may hold a model at once, whoever started them."""

import contextlib
import fcntl
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import IO

import psutil

from assay.errors import ConfigError

VARIABLE = "ASSAY_MODEL_SLOTS"
_DEFAULT = 2
_POLL_S = 1.0
_CGROUP = Path("/sys/fs/cgroup")


def slot_count() -> int:
    """Return how many processes may hold a model: `$ASSAY_MODEL_SLOTS`, by default two."""
    text = os.environ.get(VARIABLE, str(_DEFAULT))
    if not text.isdecimal() or int(text) < 1:
        raise ConfigError(f"{VARIABLE} is {text!r}", key=VARIABLE, expected="a number of at least 1")
    return int(text)


def free_memory() -> int:
    """Return the bytes that a new process can take, control group included."""
    free = psutil.virtual_memory().available
    with contextlib.suppress(OSError, ValueError):
        limit = int((_CGROUP / "memory.max").read_text())
        used = int((_CGROUP / "memory.current").read_text())
        cached = [
            line for line in (_CGROUP / "memory.stat").read_text().splitlines() if line.startswith("inactive_file")
        ]
        free = min(free, limit - used + sum(int(line.split()[1]) for line in cached))
    return free


class Slot:
    """One slot, held until `release` or the end of the process.

    A process needs one slot, however many models it holds: two sessions that each waited for a second slot would
    wait for ever.

    Attributes
    ----------
    others : int
        Slots that other processes held when this one was taken.
    """

    _mine: "Slot | None" = None

    def __init__(self, file: IO[str], others: int) -> None:
        self._file = file
        self._users = 1
        self.others = others

    @classmethod
    def take(cls, needed: int, label: str, folder: Path | None = None) -> "Slot":
        """Wait for a free slot and for memory.

        Parameters
        ----------
        needed : int
            Bytes that the model will take. Where no other process holds a slot, nobody can free any: then the slot
            is given whatever is free.
        label : str
            Who waits, for the line on stderr.
        """
        if cls._mine is not None:
            cls._mine._users += 1
            return cls._mine
        folder = folder or Path(tempfile.gettempdir()) / f"assay-slots-{os.getuid()}"
        folder.mkdir(mode=0o700, exist_ok=True)
        said = False
        while True:
            with (folder / "gate").open("a") as gate:
                fcntl.flock(gate, fcntl.LOCK_EX)
                file, others = _free_slot(folder)
                if file is not None:
                    if not others or free_memory() - sum(map(_outstanding, others)) >= needed:
                        file.seek(0)
                        file.truncate()
                        json.dump({"pid": os.getpid(), "needed": needed}, file)
                        file.flush()
                        cls._mine = cls(file, len(others))
                        return cls._mine
                    file.close()
            if not said:
                print(f"{label}: waiting for a model slot", file=sys.stderr, flush=True)  # noqa: T201
                said = True
            time.sleep(_POLL_S)

    def release(self) -> None:
        """Give the slot back once every session of this process has."""
        self._users -= 1
        if self._users == 0:
            Slot._mine = None
            self._file.close()


def _free_slot(folder: Path) -> tuple[IO[str] | None, list[dict[str, int]]]:
    """Return an open, locked slot file, if one is free, and what the holders of the others wrote."""
    mine: IO[str] | None = None
    others = []
    for number in range(slot_count()):
        file = (folder / f"slot-{number}").open("a+")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            others.append(_holder(file))
            file.close()
            continue
        if mine is None:
            mine = file
        else:
            file.close()
    return mine, others


def _holder(file: IO[str]) -> dict[str, int]:
    file.seek(0)
    try:
        value = json.load(file)
        return {"pid": int(value["pid"]), "needed": int(value["needed"])}
    except (ValueError, KeyError, TypeError):
        return {"pid": 0, "needed": 0}


def _outstanding(holder: dict[str, int]) -> int:
    """Return the bytes that a holder announced and has not taken yet."""
    try:
        process = psutil.Process(holder["pid"])
        taken = sum(p.memory_info().rss for p in [process, *process.children(recursive=True)])
    except psutil.Error:
        return 0
    return max(0, holder["needed"] - taken)
