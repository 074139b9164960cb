"""How far a run is: a bar with its rate on a terminal, nothing where there is none."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator

import pyarrow as pa

_WIDTH = 24
_PAUSE = 0.2


class Progress:
    """Counts rows as they are read, of files of a known size."""

    def __init__(self, size: int, quiet: bool = False) -> None:
        self.rows = 0
        self._bytes, self.size = 0, size
        self._began = self._shown = time.monotonic()
        self._is_shown = not quiet and sys.stderr.isatty()

    def counted(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The batches, which are counted as they pass."""
        for batch in batches:
            self.rows += batch.num_rows
            self._bytes += batch.nbytes
            if self._is_shown and time.monotonic() - self._shown > _PAUSE:
                self._show()
            yield batch

    def _show(self) -> None:
        self._shown = time.monotonic()
        seconds = self._shown - self._began
        # Rows in memory take about as much as in a file; the bar is a guess until the end.
        part = min(0.99, self._bytes / self.size) if self.size else 0.0
        done = round(part * _WIDTH)
        left = f", {seconds / part - seconds:.0f} s left" if part > 0.02 else ""
        rate = self.rows / seconds
        line = (
            f"[{'=' * done}{' ' * (_WIDTH - done)}] {self.rows:,} rows, {rate:,.0f} a second{left}"
        )
        print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        """Leave the line."""
        if self._is_shown:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
