"""The lock: declared digests of models and data, so that planning needs neither."""

import fcntl
import os
from pathlib import Path
from typing import Any

import yaml
from pydantic import field_validator

from assay.canonical import digest
from assay.config.files import Strict, read_yaml, validate
from assay.errors import ConfigError
from assay.records.atomic import write_if_changed

LOCK_FILE = Path("configs/lock.yaml")
_HEAD = "# Declared digests of models and data. Written by `assay lock`; part of every recipe that uses them.\n"


class Lock(Strict):
    """`configs/lock.yaml`. Entries are whatever identifies a thing; they enter recipes as a whole."""

    models: dict[str, dict[str, Any]] = {}
    """Model name -> digests of weights, tokenizer, template and configuration, or an endpoint's identity."""
    data: dict[str, dict[str, Any]] = {}
    """Dataset name -> source, revision and digests of its files."""

    @field_validator("data")
    @classmethod
    def _files_are_named(cls, entries: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
        for name, entry in entries.items():
            if not isinstance(entry.get("files"), dict):
                raise ValueError(f"under {name} the key files: file name -> sha256, as `assay data` writes it")
        return entries

    def entry(self, name: str) -> dict[str, Any]:
        """Return the entry "models/NAME" or "data/NAME".

        Raises
        ------
        ConfigError
            If nothing is recorded under this name.
        """
        kind, _, rest = name.partition("/")
        found = {"models": self.models, "data": self.data}.get(kind, {}).get(rest)
        if found is None:
            # Data sets are named BENCHMARK or BENCHMARK-WHICH.
            benchmark = rest.partition("-")[0]
            how = f"`assay data fetch {benchmark}`, or for files of your own `assay data lock {benchmark}`,"
            how = f"`assay lock {rest}`" if kind == "models" else how
            raise ConfigError("nothing is recorded for it", file=LOCK_FILE, key=name, remedy=f"run {how} once")
        return found

    def entry_digest(self, name: str) -> str:
        """Return the digest of an entry, as it stands in recipes."""
        return digest("lock-entry", self.entry(name))


def read_lock(root: Path) -> Lock:
    """Read the lock of a project; a project without one has an empty lock."""
    path = root / LOCK_FILE
    return validate(Lock, read_yaml(path), LOCK_FILE) if path.exists() else Lock()


def write_entry(root: Path, name: str, entry: dict[str, Any]) -> bool:
    """Record one entry and keep all others; return whether the file changed."""
    kind, _, rest = name.partition("/")
    folder = (root / LOCK_FILE).parent
    folder.mkdir(parents=True, exist_ok=True)
    guard = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(guard, fcntl.LOCK_EX)  # two that lock at once must not each drop the other's entry
        lock = read_lock(root).model_dump()
        lock[kind][rest] = entry
        text = yaml.safe_dump(lock, sort_keys=True, allow_unicode=True, width=120, default_flow_style=False)
        return write_if_changed(root / LOCK_FILE, (_HEAD + text).encode())
    finally:
        os.close(guard)
