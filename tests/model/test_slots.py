"""Slots of the machine, and prices."""

import subprocess
import sys
import time

import pytest

import assay.model.slots
from assay.config.models import Price
from assay.errors import ConfigError
from assay.model.pricing import cost
from assay.model.slots import VARIABLE, Slot, free_memory

_HOLD = """
import sys, time
from pathlib import Path
from assay.model.slots import Slot

slot = Slot.take(int(sys.argv[2]), sys.argv[3], Path(sys.argv[1]))
print(slot.others, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def holders(tmp_path):
    """Return a function that starts a process that takes a slot; it says how many others held one."""
    started = []

    def hold(needed=0):
        command = [sys.executable, "-c", _HOLD, str(tmp_path), str(needed), "job"]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        started.append(process)
        return process

    yield hold
    for process in started:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()


def _waits(process, seconds=1.5):
    time.sleep(seconds)
    return process.poll() is None


def test_two_processes_hold_a_model_and_the_third_waits_for_one_to_end(holders):
    first, second = holders(), holders()
    assert sorted([first.stdout.readline(), second.stdout.readline()]) == ["0\n", "1\n"]
    third = holders()
    assert _waits(third)
    first.kill()  # a killed process gives its slot back
    assert third.stdout.readline() == "1\n"


def test_a_second_process_waits_for_memory(holders):
    first = holders()
    assert first.stdout.readline() == "0\n"
    large = holders(needed=1 << 50)
    assert _waits(large)
    first.stdin.close()
    assert large.stdout.readline() == "0\n"  # alone, nobody could free any


def test_what_another_process_announced_is_not_free(tmp_path, holders, monkeypatch):
    monkeypatch.setattr(assay.model.slots, "free_memory", lambda: 10 << 30)
    assert holders(needed=8 << 30).stdout.readline() == "0\n"
    with (tmp_path / "gate").open("a"):
        assert assay.model.slots._free_slot(tmp_path)[1][0]["needed"] == 8 << 30
        assert assay.model.slots._outstanding(assay.model.slots._free_slot(tmp_path)[1][0]) > 7 << 30


def test_a_process_needs_one_slot_however_many_models_it_holds(tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, "1")
    one = Slot.take(1, "a", tmp_path)
    two = Slot.take(1, "b", tmp_path)
    assert one is two
    one.release()
    assert Slot._mine is one
    two.release()
    assert Slot._mine is None


@pytest.mark.parametrize("value", ["0", "many", "-1"])
def test_a_wrong_number_of_slots_is_refused(tmp_path, monkeypatch, value):
    monkeypatch.setenv(VARIABLE, value)
    with pytest.raises(ConfigError, match=VARIABLE):
        Slot.take(1, "a", tmp_path)


def test_free_memory_is_some():
    assert free_memory() > 1 << 20


def test_costs():
    price = Price(input_per_million=3.0, output_per_million=15.0)
    assert cost(price, 2_000_000, 100_000) == {"amount": 7.5, "currency": "USD"}
    assert cost(None, 5, 5) is None
