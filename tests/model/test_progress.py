"""Progress: a bar on a terminal, plain lines in logs, and a time left that can be believed."""

import io

import pytest

from assay.model import progress as module
from assay.model.progress import Pace, Progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def clock(monkeypatch):
    """A clock that the test sets."""

    class Clock:
        now = 1000.0

        def monotonic(self):
            return self.now

    clock = Clock()
    monkeypatch.setattr(module, "time", clock)
    return clock


def lines_of(clock, total, events, **found):
    """Return the lines of a run in which rows end at moments: pairs of (seconds since the start, rows)."""
    stream = io.StringIO()
    progress = Progress("fks.tiny", total, 3, stream)
    progress.skip(found.get("found", 0))
    for at, rows in events:
        clock.now = 1000.0 + at
        progress.add(rows, 20 * rows)
    progress.close()
    return stream.getvalue().splitlines()


def test_logs_get_plain_lines(clock):
    lines = lines_of(clock, 100, [(at, 2) for at in range(1, 51)])
    assert lines[0] == "fks.tiny: 100 rows to make, 3 stored"
    assert lines[1] == "fks.tiny: 30/100 rows, 2.0 rows/s, 40 tokens/s, about 35.0 s left"
    assert lines[-1] == "fks.tiny: 100/100 rows in 50.0 s, 2.0 rows/s, 40 tokens/s"
    assert len(lines) == 5


def test_a_terminal_gets_a_bar_with_the_same_words(clock):
    stream = Terminal()
    progress = Progress("fks.tiny", 100, 0, stream)
    for at in range(1, 51):
        clock.now = 1000.0 + at
        progress.add(2, 40)
    progress.close()
    assert "100/100" in stream.getvalue()
    assert "2.0 rows/s, 40 tokens/s, about 0.0 s left" in stream.getvalue()


def test_the_first_rows_of_many_in_work_promise_nothing(clock):
    # Two processes with 128 rows in work each: one row after 15 s, all others in bursts within the minute.
    bursts = [(15, 1), *((16 + at, 15) for at in range(5)), *((30 + at, 16) for at in range(30))]
    lines = lines_of(clock, 556, bursts)
    assert lines[1] == "fks.tiny: 1/556 rows, 0.1 rows/s, 1 tokens/s"
    assert lines[2].endswith("about 1 min 16 s left")  # 29 s in truth; by the time since the start it would be 151 s
    assert lines[3].endswith("about 20.3 s left")  # 14 s in truth


def test_the_time_left_follows_the_latest_work(clock):
    slow, fast = [(at, 1) for at in range(0, 300, 3)], [(300 + at, 20) for at in range(60)]
    lines = lines_of(clock, 2000, slow + fast)
    assert lines[-2].startswith("fks.tiny: 1020/2000 rows")
    assert lines[-2].endswith("about 49.0 s left")


def test_rows_that_were_found_finished_are_no_work(clock):
    lines = lines_of(clock, 1100, [(at, 2) for at in range(1, 51)], found=1000)
    assert lines[1] == "fks.tiny: 1030/1100 rows, 2.0 rows/s, 40 tokens/s, about 35.0 s left"
    assert lines[-1] == "fks.tiny: 1100/1100 rows in 50.0 s, 2.0 rows/s, 40 tokens/s"


def test_a_pace_needs_rows_and_seconds():
    pace = Pace(100, 0.0)
    assert pace.seconds(100, 60.0) is None
    pace.add(50, 1.0)
    assert pace.seconds(50, 60.0) is None  # no time between rows
    pace.add(11, 8.9)
    assert pace.seconds(39, 8.9) is None  # 12 rows are needed
    pace.add(1, 9.0)
    assert pace.seconds(38, 9.0) == pytest.approx(38 * 8 / 12)


def test_a_pace_of_many_instant_rows_remembers_little():
    pace = Pace(10**6, 0.0)
    for n in range(100_000):
        pace.add(1, n / 1000)
    assert len(pace._marks) < 100
    assert pace.seconds(1000, 100.0) == pytest.approx(1.0, rel=0.02)
