"""The row store: every finished row at once and durable, under the artifacts, never a source of truth.

Generic over the kind of row (generations, executions, judge calls): a key, which holds everything that decided the
row, leads to canonical bytes. Losing the store loses no result; rows of finished artifacts can be read in again.
"""

import fcntl
import hashlib
import json
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Literal

import msgspec

from assay.errors import ArtifactError
from assay.model.files import file_identity

SCHEMA_VERSION = 1
_BUSY_S = 120.0
_LAYOUTS = ("shared", "per-job")
_NETWORK = ("nfs", "cifs", "smb", "lustre", "gpfs", "beegfs", "ceph", "glusterfs", "fuse.sshfs", "9p", "afs")
# What SQLite calls an operational error although no place or lock, but the file itself is to blame.
_BROKEN = ("no such ", "unsupported file format")
_TABLES = """
CREATE TABLE IF NOT EXISTS rows (
  kind TEXT NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL, digest BLOB NOT NULL, PRIMARY KEY (kind, key)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS failures (
  kind TEXT NOT NULL, key TEXT NOT NULL, type TEXT NOT NULL, message TEXT NOT NULL, attempts INTEGER NOT NULL,
  PRIMARY KEY (kind, key)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS imported (kind TEXT NOT NULL, file TEXT NOT NULL, PRIMARY KEY (kind, file)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS notes (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
"""

Layout = Literal["auto", "shared", "per-job"]


class Failure(msgspec.Struct, frozen=True):
    """A row that could not be made.

    Attributes
    ----------
    type : str
        Kind of cause in a few words, for counting: "rate-limit", "timeout", "no-number".
    attempts : int
        How often it was tried, over all runs.
    """

    type: str
    message: str
    attempts: int = 1


def row_digest(kind: str, key: str, value: bytes) -> bytes:
    """Return the digest that stands beside a row: of its kind, its key and its bytes."""
    return hashlib.sha256(b"\0".join((b"row", kind.encode(), key.encode(), value))).digest()


class RowStore:
    """Durable rows by kind and key; safe for many processes at once.

    Parameters
    ----------
    folder : Path
        Folder of the store, usually `.assay` of the project.
    job : str, optional
        Name of the writing job. On network folders, where SQLite's shared memory does not work, each job writes a
        file of its own and reads those of the others.
    layout : {"auto", "shared", "per-job"}
        By default `shared` (one file, write-ahead log) on local disks and `per-job` on network folders.

    Attributes
    ----------
    damaged : int
        Rows found with a wrong digest; they were removed and count as not stored.
    conflicts : int
        Rows put twice with different bytes; the first one stays.
    """

    def __init__(self, folder: Path, job: str = "main", layout: Layout = "auto") -> None:
        self.damaged = 0
        self.conflicts = 0
        self.layout = _layout(folder) if layout == "auto" else layout
        if self.layout not in _LAYOUTS:
            raise ValueError(f"layout {layout!r} is none of auto, {', '.join(_LAYOUTS)}")
        shared = self.layout == "shared"
        self.path = folder / "rows.sqlite" if shared else folder / "rows" / f"{_file_name(job)}.sqlite"
        self._main = self._opened()
        self._others: dict[Path, sqlite3.Connection] = {}

    def __enter__(self) -> "RowStore":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all files."""
        for connection in (self._main, *self._others.values()):
            connection.close()
        self._others.clear()

    def get(self, kind: str, keys: Iterable[str]) -> dict[str, bytes]:
        """Return the stored rows among `keys`.

        A row whose bytes do not have their digest is removed, counted in `damaged`, and not returned.
        """
        wanted = list(dict.fromkeys(keys))
        found: dict[str, bytes] = {}
        for path, connection in ((self.path, self._main), *self._connections()):
            missing = [key for key in wanted if key not in found]
            if not missing:
                break
            with self._errors(path=path):
                found |= self._get(connection, kind, missing)
        return found

    def put(self, kind: str, rows: Mapping[str, bytes]) -> dict[str, bytes]:
        """Store finished rows durably, all or none, and return what is stored under their keys now.

        Where a key is there already, the row that came first stays: artifacts may hold it.
        """
        if not rows:
            return {}
        if self._insert(kind, rows) == len(rows):
            return dict(rows)
        stored = self.get(kind, rows)
        damaged = {key: value for key, value in rows.items() if key not in stored}
        if damaged:  # they stood there under the same keys, and reading has removed them
            self._insert(kind, damaged)
            stored |= damaged
        self.conflicts += sum(stored[key] != value for key, value in rows.items())
        return stored

    def fail(self, kind: str, failures: Mapping[str, Failure]) -> None:
        """Record rows that could not be made; they are tried again by the next run."""
        rows = [(kind, key, f.type, f.message, f.attempts) for key, f in failures.items()]
        with self._errors(), self._write() as connection:
            connection.executemany(
                "INSERT INTO failures VALUES (?, ?, ?, ?, ?) ON CONFLICT (kind, key) DO UPDATE SET"
                " type = excluded.type, message = excluded.message, attempts = attempts + excluded.attempts",
                rows,
            )

    def failures(self, kind: str) -> dict[str, Failure]:
        """Return the rows that failed and have not been made since, by key."""
        with self._errors():
            query = "SELECT key, type, message, attempts FROM failures WHERE kind = ? ORDER BY key"
            return {key: Failure(*rest) for key, *rest in self._main.execute(query, (kind,))}

    def count(self, kind: str) -> int:
        """Return the number of stored rows of a kind."""
        with self._errors():
            query = "SELECT count(*) FROM rows WHERE kind = ?"
            connections = (self._main, *(other for _, other in self._connections()))
            return sum(int(c.execute(query, (kind,)).fetchone()[0]) for c in connections)

    def import_files(
        self, kind: str, files: Iterable[Path], read: Callable[[Path], Iterable[tuple[str, bytes]]]
    ) -> int:
        """Store the rows of finished artifacts, each file once; return how many files were read.

        Parameters
        ----------
        files : iterable of Path
            Data files of artifacts that the caller has verified.
        read : callable
            Yields key and canonical bytes of every row of a file.
        """
        count = 0
        for path in files:
            identity = file_identity(path)
            with self._errors():
                query = "SELECT 1 FROM imported WHERE kind = ? AND file = ?"
                if self._main.execute(query, (kind, identity)).fetchone():
                    continue
            rows = dict(read(path))
            stored = self.get(kind, rows)
            self.put(kind, {key: value for key, value in rows.items() if key not in stored})
            with self._errors(), self._write() as connection:
                connection.execute("INSERT OR IGNORE INTO imported VALUES (?, ?)", (kind, identity))
            count += 1
        return count

    def note(self, name: str) -> str | None:
        """Return a remembered fact, or None."""
        with self._errors():
            row = self._main.execute("SELECT value FROM notes WHERE name = ?", (name,)).fetchone()
            return None if row is None else str(row[0])

    def set_note(self, name: str, value: str) -> None:
        """Remember a fact that is cheap to lose."""
        with self._errors(), self._write() as connection:
            connection.execute("INSERT OR REPLACE INTO notes VALUES (?, ?)", (name, value))

    def _opened(self) -> sqlite3.Connection:
        with self._errors():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            connection = _open(self.path, self.layout == "shared")
            self._file = _inode(self.path)
            return connection

    def _insert(self, kind: str, rows: Mapping[str, bytes]) -> int:
        """Store rows whose keys are not there, forget that they failed, and return how many are new."""
        values = [(kind, key, value, row_digest(kind, key, value)) for key, value in rows.items()]
        if _inode(self.path) != self._file:  # somebody has deleted the store: SQLite would write on to the lost file
            lost, self._main = self._main, self._opened()
            lost.close()
        with self._errors(len(rows)), self._write() as connection:
            before = connection.total_changes
            connection.executemany("INSERT OR IGNORE INTO rows VALUES (?, ?, ?, ?)", values)
            added = connection.total_changes - before
            connection.executemany("DELETE FROM failures WHERE kind = ? AND key = ?", [v[:2] for v in values])
            # Where the tables' definitions are damaged, SQLite writes to places where it does not look.
            query = "SELECT key FROM rows WHERE kind = ? AND key IN (SELECT value FROM json_each(?))"
            if {key for (key,) in connection.execute(query, (kind, json.dumps(list(rows))))} != rows.keys():
                raise sqlite3.DatabaseError("rows that were just written are not there")
        return added

    def _get(self, connection: sqlite3.Connection, kind: str, keys: list[str]) -> dict[str, bytes]:
        query = "SELECT key, value, digest FROM rows WHERE kind = ? AND key IN (SELECT value FROM json_each(?))"
        found, damaged = {}, []
        for key, value, digest in connection.execute(query, (kind, json.dumps(keys))):
            if isinstance(key, str) and isinstance(value, bytes) and digest == row_digest(kind, key, value):
                found[key] = value
            else:
                damaged.append((kind, key))
        if damaged:
            self.damaged += len(damaged)
            if connection is self._main:
                with self._write() as writer:
                    writer.executemany("DELETE FROM rows WHERE kind = ? AND key = ?", damaged)
        return found

    def _connections(self) -> Iterator[tuple[Path, sqlite3.Connection]]:
        """Yield the files of other jobs, opened for reading."""
        if self.layout == "shared":
            return
        for path in sorted(self.path.parent.glob("*.sqlite")):
            if path != self.path and path not in self._others:
                with self._errors(path=path):
                    uri = f"{path.absolute().as_uri()}?mode=ro"
                    other = sqlite3.connect(uri, uri=True, timeout=_BUSY_S, isolation_level=None)
                    other.text_factory = _text
                    with suppress(sqlite3.OperationalError):  # another job is just creating it
                        other.execute("SELECT 1 FROM rows LIMIT 1")
                        self._others[path] = other
        yield from self._others.items()

    @contextmanager
    def _write(self) -> Iterator[sqlite3.Connection]:
        # IMMEDIATE takes the write lock first, where waiting is allowed; an upgrade from a read would fail at once.
        self._main.execute("BEGIN IMMEDIATE")
        try:
            yield self._main
            self._main.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):  # a full disk has rolled back already
                self._main.execute("ROLLBACK")
            raise

    @contextmanager
    def _errors(self, unsaved: int = 0, path: Path | None = None) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError, UnicodeDecodeError) as error:  # the last: a name in a damaged table
            raise self._explained(error, unsaved, path or self.path) from error

    def _explained(self, error: Exception, unsaved: int, path: Path) -> ArtifactError:
        lost = f"; {unsaved} rows of the last batch are not stored, all earlier ones are" if unsaved else ""
        said = str(error)
        if isinstance(error, sqlite3.OperationalError) and said.endswith("is locked"):
            return ArtifactError(
                f"the row store cannot be used: another process has kept it locked for {_BUSY_S:g} s{lost}",
                file=path,
                remedy="end that process, or wait for it, and run the same command again",
            )
        if isinstance(error, sqlite3.OperationalError | OSError) and not said.startswith(_BROKEN):
            return ArtifactError(
                f"the row store cannot be used: {error}{lost}",
                file=path,
                expected="a writable folder with free space",
                remedy="make room and run the same command again",
            )
        return ArtifactError(
            f"the row store is damaged: {error}{lost}",
            file=path,
            remedy="delete this file; rows of finished artifacts are read in again, the rest is computed",
        )


def _open(path: Path, shared: bool) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=_BUSY_S, isolation_level=None)
    connection.text_factory = _text
    try:
        with ExitStack() as stack:
            if shared:
                # Switching to the log is the one thing that SQLite does not wait for when two processes race.
                gate = stack.enter_context(path.with_suffix(".gate").open("ab"))
                fcntl.flock(gate, fcntl.LOCK_EX)
                connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            if version > SCHEMA_VERSION:
                raise sqlite3.DatabaseError(f"its format {version} is newer than {SCHEMA_VERSION}")
            if version < SCHEMA_VERSION:
                connection.executescript(f"BEGIN IMMEDIATE; {_TABLES} PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;")
    except BaseException:
        connection.close()
        raise
    return connection


def _inode(path: Path) -> tuple[int, int] | None:
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_dev, stat.st_ino


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")  # a damaged row is found by its digest, and must not hide the others


def _file_name(job: str) -> str:
    return "".join(c if c.isalnum() or c in "._-" else "_" for c in job)


def _layout(folder: Path) -> Literal["shared", "per-job"]:
    """Return `per-job` if the folder lies on a network file system."""
    import psutil

    place = os.path.realpath(folder)
    mounts = [p for p in psutil.disk_partitions(all=True) if _inside(place, p.mountpoint)]
    kind = max(mounts, key=lambda p: len(p.mountpoint)).fstype if mounts else ""
    return "per-job" if kind.startswith(_NETWORK) else "shared"


def _inside(path: str, mountpoint: str) -> bool:
    return os.path.commonpath([path, mountpoint]) == mountpoint
