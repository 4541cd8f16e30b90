"""Progress of long steps: a bar on a terminal, plain lines elsewhere."""

import sys
import time
from typing import IO, Any

_LINE_EVERY_S = 15.0


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
        self._tokens = 0
        self._started = self._last = time.monotonic()
        self._stream = sys.stderr if stream is None else stream
        self._bar: Any = None
        if self._stream.isatty():
            from tqdm import tqdm

            self._bar = tqdm(total=total, desc=label, unit="row", file=self._stream, dynamic_ncols=True)
        elif total:
            self._line(f"{total} rows to make, {stored} stored")

    def add(self, rows: int, tokens: int) -> None:
        """Count finished rows and their new tokens."""
        self._rows += rows
        self._tokens += tokens
        now = time.monotonic()
        if self._bar is not None:
            self._bar.set_postfix_str(f"{self._tokens / max(now - self._started, 1e-9):.0f} tokens/s", refresh=False)
            self._bar.update(rows)
        elif 0 < self._rows < self._total and now - self._last >= _LINE_EVERY_S:
            self._last = now
            left = (now - self._started) / self._rows * (self._total - self._rows)
            self._line(f"{self._rows}/{self._total} rows, {self._rate(now)}, about {_duration(left)} left")

    def close(self) -> None:
        """End the bar or write the last line."""
        if self._bar is not None:
            self._bar.close()
        elif self._total:
            now = time.monotonic()
            self._line(f"{self._rows}/{self._total} rows in {_duration(now - self._started)}, {self._rate(now)}")

    def _rate(self, now: float) -> str:
        seconds = max(now - self._started, 1e-9)
        return f"{self._rows / seconds:.1f} rows/s, {self._tokens / seconds:.0f} tokens/s"

    def _line(self, text: str) -> None:
        print(f"{self._label}: {text}", file=self._stream, flush=True)


def _duration(seconds: float) -> str:
    whole = round(seconds)
    return f"{whole // 60} min {whole % 60} s" if whole >= 60 else f"{seconds:.1f} s"
