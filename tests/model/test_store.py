"""The row store: durable, shared by processes, honest about damage."""

import os
import shutil
import sqlite3
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from assay.errors import ArtifactError
from assay.model.store import Failure, RowStore, row_digest
from assay.steps.generations import finished_rows


@pytest.fixture
def store(tmp_path):
    with RowStore(tmp_path / ".assay", layout="shared") as store:
        yield store


def test_returns_what_was_put_and_nothing_else(store):
    store.put("generations", {"a": b"1", "b": b"2"})
    assert store.get("generations", ["b", "c", "b"]) == {"b": b"2"}


def test_kinds_do_not_share_keys(store):
    store.put("generations", {"a": b"1"})
    assert store.get("executions", ["a"]) == {}


def test_rows_survive_a_new_process_object(tmp_path, store):
    store.put("generations", {"a": b"1"})
    with RowStore(tmp_path / ".assay", layout="shared") as again:
        assert again.get("generations", ["a"]) == {"a": b"1"}


def test_more_keys_than_sqlite_takes_variables(store):
    rows = {f"k{i}": b"%d" % i for i in range(40_000)}
    store.put("generations", rows)
    assert store.get("generations", rows) == rows


def test_the_first_row_of_a_key_stays_and_is_what_the_second_writer_gets(store):
    store.put("generations", {"a": b"first"})
    assert store.put("generations", {"a": b"second", "b": b"new"}) == {"a": b"first", "b": b"new"}
    assert store.conflicts == 1


def test_a_repeated_equal_row_is_no_conflict(store):
    store.put("generations", {"a": b"1"})
    store.put("generations", {"a": b"1"})
    assert store.conflicts == 0


@pytest.mark.parametrize("column", ["value", "digest"])
def test_a_changed_byte_is_found_on_read_and_the_row_can_be_made_again(store, column):
    store.put("generations", {"a": b"good", "b": b"fine"})
    with sqlite3.connect(store.path) as raw:
        raw.execute(f"UPDATE rows SET {column} = ? WHERE key = 'a'", (b"evil",))
    assert store.get("generations", ["a", "b"]) == {"b": b"fine"}
    assert store.damaged == 1
    store.put("generations", {"a": b"good"})
    assert store.get("generations", ["a"]) == {"a": b"good"}


def test_a_flipped_byte_anywhere_in_the_file_is_never_another_row_nor_a_traceback(tmp_path):
    rows = {f"{i:064x}": b'{"text":"answer %d"}' % i for i in range(3)}
    with RowStore(tmp_path / "good", layout="shared") as good:
        good.put("generations", rows)
        good.set_note("engine", "{}")
        good.fail("generations", {"f" * 64: Failure("timeout", "late")})
    whole = good.path.read_bytes()
    found = Counter()
    # Every seventh of the bytes that are not empty space: tables' names, keys, values, digests, lengths.
    for at in [at for at, byte in enumerate(whole) if byte][::7]:
        file = tmp_path / "bad" / "rows.sqlite"
        shutil.rmtree(file.parent, ignore_errors=True)
        file.parent.mkdir()
        file.write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
        try:
            with RowStore(file.parent, layout="shared") as store:
                got = store.get("generations", rows)
                assert all(rows[key] == value for key, value in got.items())
                store.failures("generations")
                store.note("engine")
                assert store.put("generations", rows) == rows
                assert store.get("generations", rows) == rows
            found["read"] += 1
        except ArtifactError as error:
            found["explained" if "damaged" in error.message else error.message] += 1
    assert set(found) == {"read", "explained"}
    assert min(found.values()) > 10


@pytest.mark.parametrize(
    "change",
    [
        "sql = replace(sql, 'key TEXT', 'key UEXT') WHERE name = 'rows'",
        "rootpage = (SELECT rootpage FROM sqlite_master WHERE name = 'rows') WHERE name = 'failures'",
    ],
)
def test_rows_that_damaged_tables_would_swallow_are_not_taken_for_stored(store, change):
    store.put("generations", {"1": b"one"})
    store.close()
    with sqlite3.connect(store.path, isolation_level=None) as raw:
        raw.execute("PRAGMA writable_schema = ON")
        raw.execute(f"UPDATE sqlite_master SET {change}")
    swallowed = pytest.raises(ArtifactError, match=r"damaged.*not there.*1 rows.*not stored.*delete this file")
    with RowStore(store.path.parent, layout="shared") as again, swallowed:
        again.put("generations", {"2": b"two"})


@pytest.mark.parametrize("layout", ["shared", "per-job"])
@pytest.mark.parametrize("made_again", [False, True])
def test_rows_are_durable_also_after_somebody_deleted_the_store(tmp_path, layout, made_again):
    with RowStore(tmp_path / "s", layout=layout) as store:
        store.put("generations", {"a": b"1"})
        shutil.rmtree(tmp_path / "s")
        if made_again:
            RowStore(tmp_path / "s", layout=layout).close()
        assert store.put("generations", {"b": b"2"}) == {"b": b"2"}
        with RowStore(tmp_path / "s", job="other", layout=layout) as other:
            assert other.get("generations", ["b"]) == {"b": b"2"}
            other.put("generations", {"c": b"3"})
        assert store.get("generations", ["b", "c"]) == {"b": b"2", "c": b"3"}


def test_a_row_put_where_a_damaged_one_stands_is_stored(tmp_path, store):
    store.put("generations", {"a": b"good"})
    with sqlite3.connect(store.path) as raw:
        raw.execute("UPDATE rows SET value = ?", (b"evil",))
    assert store.put("generations", {"a": b"good", "b": b"fine"}) == {"a": b"good", "b": b"fine"}
    assert (store.damaged, store.conflicts) == (1, 0)
    with RowStore(tmp_path / ".assay", layout="shared") as again:
        assert again.get("generations", ["a", "b"]) == {"a": b"good", "b": b"fine"}


def test_a_store_that_another_process_keeps_locked_is_explained(tmp_path, store, monkeypatch):
    monkeypatch.setattr("assay.model.store._BUSY_S", 0.1)
    with RowStore(tmp_path / ".assay", layout="shared") as second:
        with sqlite3.connect(store.path, isolation_level=None) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(ArtifactError, match=r"another process.*locked.*1 rows.*not stored.*wait"):
                second.put("generations", {"a": b"1"})
            other.execute("ROLLBACK")
        second.put("generations", {"a": b"1"})


def test_a_row_moved_to_another_key_is_damage(store):
    store.put("generations", {"a": b"1"})
    with sqlite3.connect(store.path) as raw:
        raw.execute("UPDATE rows SET key = 'b'")
    assert store.get("generations", ["b"]) == {}


def test_the_digest_covers_kind_key_and_value():
    assert (
        len({row_digest(*case) for case in [("k", "a", b"1"), ("k", "a", b"2"), ("k", "b", b"1"), ("l", "a", b"1")]})
        == 4
    )


def test_a_file_that_is_no_database_is_explained(tmp_path):
    (tmp_path / "rows.sqlite").write_bytes(b"this is no database, whatever its name says" * 100)
    with pytest.raises(ArtifactError, match=r"rows\.sqlite.*damaged.*delete this file"):
        RowStore(tmp_path, layout="shared")


@pytest.mark.parametrize("name", ["a#b", "a?b", "a%20b", "\u00fc \u00f6"])
def test_jobs_see_each_others_rows_whatever_the_folder_is_called(tmp_path, name):
    with RowStore(tmp_path / name, job="one", layout="per-job") as one:
        one.put("generations", {"a": b"1"})
    with RowStore(tmp_path / name, job="two", layout="per-job") as two:
        assert two.get("generations", ["a"]) == {"a": b"1"}
        assert two.count("generations") == 1


def test_a_damaged_file_of_another_job_is_the_one_that_is_named(tmp_path):
    with RowStore(tmp_path, job="one", layout="per-job") as one:
        (tmp_path / "rows/other.sqlite").write_bytes(b"no database" * 1000)
        with pytest.raises(ArtifactError, match=r"other\.sqlite.*damaged.*delete this file"):
            one.get("generations", ["a"])


def test_a_newer_format_is_refused(tmp_path, store):
    store.close()
    with sqlite3.connect(store.path) as raw:
        raw.execute("PRAGMA user_version = 99")
    with pytest.raises(ArtifactError, match="newer"):
        RowStore(tmp_path / ".assay", layout="shared")


def test_failures_are_typed_counted_and_gone_once_the_row_is_made(store):
    store.fail("generations", {"a": Failure("timeout", "no answer")})
    store.fail("generations", {"a": Failure("rate-limit", "too many", attempts=3)})
    assert store.failures("generations") == {"a": Failure("rate-limit", "too many", attempts=4)}
    store.put("generations", {"a": b"1"})
    assert store.failures("generations") == {}


def test_files_of_artifacts_are_read_once_and_again_after_a_change(tmp_path, store):
    file = tmp_path / "rows.txt"
    file.write_text("a 1\nb 2\n")
    reads = []

    def read(path: Path):
        reads.append(path)
        return [(line.split()[0], line.split()[1].encode()) for line in path.read_text().splitlines()]

    assert store.import_files("generations", [file], read) == 1
    assert store.import_files("generations", [file], read) == 0
    assert store.get("generations", ["a", "b"]) == {"a": b"1", "b": b"2"}
    file.write_text("a 1\nb 2\nc 3\n")
    store.import_files("generations", [file], read)
    assert store.get("generations", ["c"]) == {"c": b"3"}
    assert len(reads) == 2


def test_an_artifact_that_is_swept_away_meanwhile_is_not_read_in(tmp_path, monkeypatch):
    monkeypatch.setattr(Path, "glob", lambda folder, _pattern: iter([folder / "item/key/generations.jsonl"]))
    assert list(finished_rows(tmp_path)) == []


_WRITER = """
import sys
from pathlib import Path
from assay.model.store import RowStore

folder, layout, writer = sys.argv[1:]
with RowStore(Path(folder), job=f"job{writer}", layout=layout) as store:
    for batch in range(25):
        store.put("generations", {f"{writer}-{batch}-{i}": b"%d" % i for i in range(4)} | {"same": b"shared"})
"""


@pytest.mark.parametrize("layout", ["shared", "per-job"])
def test_eight_processes_write_at_once_without_error_or_loss(tmp_path, layout):
    commands = [[sys.executable, "-c", _WRITER, str(tmp_path), layout, str(i)] for i in range(8)]
    writers = [subprocess.Popen(command) for command in commands]
    assert [writer.wait() for writer in writers] == [0] * 8
    with RowStore(tmp_path, job="reader", layout=layout) as store:
        keys = [f"{w}-{b}-{i}" for w in range(8) for b in range(25) for i in range(4)]
        assert len(store.get("generations", [*keys, "same"])) == 801


def test_a_job_on_a_network_folder_sees_the_rows_of_the_others(tmp_path):
    with RowStore(tmp_path, job="x/1", layout="per-job") as one, RowStore(tmp_path, job="x/2", layout="per-job") as two:
        one.put("generations", {"a": b"1"})
        assert one.path != two.path
        assert two.get("generations", ["a"]) == {"a": b"1"}


def test_a_full_disk_is_explained_and_earlier_rows_are_kept(small_disk):
    small = small_disk("1m")
    stored = 0
    with RowStore(small, layout="shared") as store:
        message = ""
        while not message:
            try:
                store.put("generations", {str(stored): os.urandom(20_000)})
                stored += 1
            except ArtifactError as error:
                message = str(error)
        assert "full" in message
        assert "make room" in message
        assert stored > 3
        assert len(store.get("generations", map(str, range(stored)))) == stored
    with RowStore(small, layout="shared") as again:
        assert again.count("generations") == stored
