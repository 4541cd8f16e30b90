"""The drill itself: what it must notice, and what the load of a machine must not decide."""

import os
import socket
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest

from assay.sandbox import bait, watch
from assay.sandbox.drill import Drill, Text, _counted_s, _Sibling


@pytest.mark.parametrize(
    ("rule", "data", "right"),
    [
        ({"equals": "a\n"}, b"a\n", True),
        ({"equals": ""}, b"a", False),
        ({"equals_hex": "ff00"}, b"\xff\x00", True),
        ({"equals_hex": "ff"}, b"\xff\x00", False),
        ({"contains": "b"}, b"abc", True),
        ({"contains": "x"}, b"abc", False),
        ({"startswith": "a"}, b"abc", True),
        ({"startswith": "b"}, b"abc", False),
        ({"not_contains": "x"}, b"abc", True),
        ({"not_contains": "b"}, b"abc", False),
        ({"contains": "a", "not_contains": "b"}, b"abc", False),
        ({}, b"anything", True),
    ],
)
def test_rules_of_output(rule, data, right):
    assert (Text(**rule).wrong(data) is None) is right


def test_every_listener_notices_who_comes():
    with bait.laid() as laid:
        assert laid.contacted() == []
        with socket.create_connection(("127.0.0.1", laid.ports["tcp"])):
            assert laid.contacted() == ["tcp"]
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            sender.sendto(b"x", ("127.0.0.1", laid.ports["udp"]))
        with socket.socket(socket.AF_UNIX) as sender:
            sender.connect("\0" + laid.abstract)
            assert sorted(laid.contacted()) == ["abstract", "udp"]
        assert laid.contacted() == []


def test_a_process_that_stayed_is_noticed():
    before = set(bait.processes())
    code = "import time; time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", code, "some-tag"], start_new_session=True) as process:
        try:
            left = bait.wait_for_nothing(before, "some-tag", set(), (), 0.2)
            assert any(text.startswith(f"{process.pid} ") for text in left)
        finally:
            process.kill()
    assert bait.wait_for_nothing(before, "some-tag", set(), (), 5.0) == []


@pytest.mark.parametrize(("mechanism", "depth"), [("landlock", 1), ("namespaces", 2)])
def test_what_stays_below_a_server_is_no_server(mechanism, depth):
    drill = Drill.__new__(Drill)
    drill.executor = SimpleNamespace(probe=SimpleNamespace(mechanism=mechanism))
    before = set(drill._server_ids())
    code = (
        "import subprocess, sys\n"
        "if sys.argv[1] != '0':\n"
        "    subprocess.run([sys.executable, '-c', sys.argv[2], str(int(sys.argv[1]) - 1), sys.argv[2]])\n"
        "print(1, flush=True)\n"
        "sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, "2", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        process.stdout.readline()  # the last one below has begun
        below = watch.descendants(process.pid)
        assert set(drill._server_ids()) - before == {process.pid, *below[: depth - 1]}
        process.communicate()
    assert len(below) == 2


def test_a_thread_that_has_just_ended_hides_no_children(monkeypatch):
    whole = watch.os.listdir
    monkeypatch.setattr(watch.os, "listdir", lambda path: ["999999999", *whole(path)])
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as process:
        assert process.pid in watch.children(os.getpid())
        assert process.pid in watch.descendants(os.getpid())
    tree = watch.Tree(os.getpid(), 0)
    assert tree._threads(os.getpid())[0] > 0
    assert tree.exact


def test_the_child_of_a_process_that_has_just_ended_is_looked_at_again():
    def found(parent):
        return bait.Process(parent, 60_500, "", "", "S")

    seen = {1: found(0), 7: found(1), 8: found(7), 9: found(99)}
    assert [bait._of_other_launcher(pid, seen) for pid in (7, 8, 9)] == [False, False, True]
    assert bait._of_other_launcher(8, {8: found(1)}) is False  # process 1 cannot always be seen


def test_what_we_use_ourselves_is_no_load_of_others(monkeypatch):
    before = bait._own_ticks()
    code = "import time\nwhile time.process_time() < 0.5: pass\nprint(1, flush=True)\ninput()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        assert bait._own_ticks() - before >= 40  # of a child that lives
        process.communicate(b"\n")
    assert bait._own_ticks() - before >= 40  # of one that has ended
    assert bait._busy_ticks() > 0


@pytest.mark.parametrize(("others", "idle"), [(0, True), (10, True), (500, False)])
def test_others_make_a_machine_busy(monkeypatch, others, idle):
    own, busy = iter([70, 470]), iter([1000, 1400 + others])
    monkeypatch.setattr(bait, "_own_ticks", lambda: next(own))
    monkeypatch.setattr(bait, "_busy_ticks", lambda: next(busy))
    with bait.Load() as load:
        time.sleep(0.5)
    assert load.idle is idle


class Stub:
    """An executor of one answer."""

    def __init__(self, results):
        self.results = results

    def execute(self, _requests):
        return self.results


def test_a_sibling_that_dies_or_waits_is_noticed(executor):
    from assay.sandbox.records import Request

    good = executor.execute([Request("print('alive')"), Request("print(1)")])
    for results, took, idle, wrong in (
        (good, 1.0, True, ""),
        (good, 6.0, True, "evaluator_unresponsive"),
        (good, 6.0, False, ""),
        (good[:1], 1.0, True, "sibling_died"),
        (good[::-1], 1.0, False, "sibling_died"),
    ):
        sibling = _Sibling(Stub(results))
        sibling._run()
        sibling._took_s = took
        assert sibling.wrong(idle=idle).partition(":")[0] == wrong
    assert 0 < _counted_s(good[0].final) < 5


def test_what_others_write_is_no_disk_that_a_snippet_took(monkeypatch):
    free = iter([10 << 20, 10 << 20, *[2 << 20] * 1000])
    monkeypatch.setattr(bait.shutil, "disk_usage", lambda place: SimpleNamespace(free=next(free)))
    with bait.Gauge() as gauge:
        time.sleep(0.2)
    assert gauge.fallen < 1 << 20


def test_what_a_process_below_has_written_counts(tmp_path, monkeypatch):
    free = iter([90 << 20, 90 << 20, *[2 << 20] * 1000])
    monkeypatch.setattr(bait.shutil, "disk_usage", lambda place: SimpleNamespace(free=next(free)))
    code = f"open({str(tmp_path / 'big')!r}, 'wb').write(bytes(16 << 20))"
    with bait.Gauge() as gauge:
        subprocess.run([sys.executable, "-c", code], check=True)
        time.sleep(0.2)
    if bait._written() == 0:
        pytest.skip("needs a temporary folder on a disk")
    assert gauge.fallen >= 16 << 20


def test_a_kernel_that_does_not_tell_who_wrote_leaves_the_free_space(monkeypatch):
    free = iter([10 << 20, 10 << 20, *[2 << 20] * 1000])
    monkeypatch.setattr(bait.shutil, "disk_usage", lambda place: SimpleNamespace(free=next(free)))
    monkeypatch.setattr(bait, "_written", lambda: None)
    with bait.Gauge() as gauge:
        time.sleep(0.2)
    assert gauge.fallen == 8 << 20
