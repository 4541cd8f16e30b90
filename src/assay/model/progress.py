"""Progress of long steps: a bar on a terminal, plain lines elsewhere."""

import sys
import time
from collections import deque
from typing import IO, Any

_LINE_EVERY_S = 15.0
_BAR = "{l_bar}{bar}| {n_fmt}/{total_fmt} [{elapsed}{postfix}]"

# The time left is told from at least so much work, and from the latest where there is more.
_LEAST_S, _RECENT_S = 8.0, 30.0
_LEAST_ROWS, _MOST_ROWS, _PART = 8, 128, 8
_MARK_EVERY_S = 0.5


class Pace:
    """Rows per second of recent work.

    Many rows are in work at once, and they often end in bursts. So the time before the first row is not counted, which
    says next to nothing about the others; and no less time is counted than that, for it is what a row takes.

    Parameters
    ----------
    total : int
        Rows to make; an eighth of them, within limits, must be finished before the pace is known.
    started : float
        A moment of the caller's clock, in seconds.
    """

    def __init__(self, total: int, started: float) -> None:
        self._started = started
        self._total = total
        self._least_s = _LEAST_S
        self._rows = 0
        self._marks: deque[tuple[float, int]] = deque()  # a moment, and the rows that were finished by then

    def add(self, rows: int, now: float) -> None:
        """Count rows that were finished now."""
        self._rows += rows
        if not self._marks:
            self._least_s = max(_LEAST_S, now - self._started)
        if not self._marks or now - self._marks[-1][0] >= _MARK_EVERY_S:
            self._marks.append((now, self._rows))
        while len(self._marks) > 1 and self._known_since(self._marks[1], now, max(_RECENT_S, 2 * self._least_s)):
            self._marks.popleft()

    def skip(self, rows: int) -> None:
        """Take note that so many of the rows need not be made."""
        self._total -= rows

    def seconds(self, rows: int, now: float) -> float | None:
        """Return how long so many rows will take, None where too little is finished to tell."""
        if not self._marks or not self._known_since(self._marks[0], now, self._least_s):
            return None
        then, before = self._marks[0]
        return rows * (now - then) / (self._rows - before)

    def _known_since(self, mark: tuple[float, int], now: float, seconds: float) -> bool:
        rows = max(_LEAST_ROWS, min(_MOST_ROWS, self._total // _PART))
        return now - mark[0] >= seconds and self._rows - mark[1] >= rows


class Progress:
    """Counts rows and tokens, and says so on stderr.

    Parameters
    ----------
    label : str
        What is being made.
    total : int
        Rows to make.
    stored : int
        Rows that were there already, for the first line.
    """

    def __init__(self, label: str, total: int, stored: int = 0, stream: IO[str] | None = None) -> None:
        self._label = label
        self._total = total
        self._rows = 0
        self._made = 0
        self._tokens = 0
        self._stream = sys.stderr if stream is None else stream
        self._bar: Any = None
        if self._stream.isatty():
            from tqdm import tqdm

            self._bar = tqdm(
                total=total, desc=label, unit="row", file=self._stream, dynamic_ncols=True, bar_format=_BAR
            )
        elif total:
            self._line(f"{total} rows to make, {stored} stored")
        self._started = self._last = time.monotonic()
        self._pace = Pace(total, self._started)

    def add(self, rows: int, tokens: int) -> None:
        """Count finished rows and their new tokens."""
        now = time.monotonic()
        self._made += rows
        self._tokens += tokens
        self._pace.add(rows, now)
        self._show(rows, now)

    def skip(self, rows: int) -> None:
        """Count rows that were found finished."""
        self._pace.skip(rows)
        self._show(rows, time.monotonic())

    def close(self) -> None:
        """End the bar or write the last line."""
        if self._bar is not None:
            self._bar.close()
        elif self._total:
            now = time.monotonic()
            self._line(f"{self._rows}/{self._total} rows in {_duration(now - self._started)}, {self._rate(now)}")

    def _show(self, rows: int, now: float) -> None:
        self._rows += rows
        if self._bar is not None:
            self._bar.set_postfix_str(self._rate(now) + self._left(now), refresh=False)
            self._bar.update(rows)
        elif 0 < self._rows < self._total and now - self._last >= _LINE_EVERY_S:
            self._last = now
            self._line(f"{self._rows}/{self._total} rows, {self._rate(now)}{self._left(now)}")

    def _rate(self, now: float) -> str:
        seconds = max(now - self._started, 1e-9)
        return f"{self._made / seconds:.1f} rows/s, {self._tokens / seconds:.0f} tokens/s"

    def _left(self, now: float) -> str:
        left = self._pace.seconds(self._total - self._rows, now)
        return "" if left is None else f", about {_duration(left)} left"

    def _line(self, text: str) -> None:
        print(f"{self._label}: {text}", file=self._stream, flush=True)


def _duration(seconds: float) -> str:
    whole = round(seconds)
    return f"{whole // 60} min {whole % 60} s" if whole >= 60 else f"{seconds:.1f} s"
