"""How each kind of window trails along sorted rows: where it begins anew, and what it measures by.

A trail goes with one stream of rows. A table is a stream of one batch; between two batches a trail
keeps what the next one's first rows depend on. Two kinds of window bring a column of their own and
need no driver of their own: a window up to a mark or a gap is one without a limit, whose runs end
there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.engine import columns as arrow
from windrow.engine import deltas
from windrow.engine.policy_counts import Counts
from windrow.windows import DeltaWindow, PunctuatedWindow, SessionWindow, TimeWindow, Window

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class SortedRows:
    """Rows sorted by key and order.

    Attributes:
        columns: those that windows look at, among others.
        starts: the rows at which a new key begins (see `windrow.windows.key_runs`).
        size: how many there are.
        order: the column that orders them, if there is one.
    """

    columns: Mapping[str, pa.Array]
    starts: Array
    size: int
    order: str | None

    @cached_property
    def times(self) -> Array:
        """The order column as integers."""
        return arrow.times(self._order)

    @cached_property
    def timed(self) -> Array:
        """Which rows have a time."""
        return arrow.validity(self._order)

    @property
    def all_timed(self) -> bool:
        """Whether all rows have a time."""
        return not self._order.null_count

    @property
    def _order(self) -> pa.Array:
        assert self.order is not None
        return self.columns[self.order]


@dataclass(frozen=True)
class Bounds:
    """What the driver of a window needs to know of rows beside their values.

    Attributes:
        starts: the rows at which the window begins anew.
        measure: times, or how many rows each row's window holds, as the driver takes it.
        present: which rows are in windows at all, None for all; the others are answered as of no
            values.
    """

    starts: Array
    measure: Array | None = None
    present: Array | None = None


class RowsTrail:
    """The newest rows of a key."""

    def __init__(self, extent: int) -> None:
        self._extent = extent

    def bounds(self, rows: SortedRows) -> Bounds:
        """The bounds of the next rows."""
        return Bounds(rows.starts)

    def oldest(self, bounds: Bounds, row: int) -> int:
        """The oldest row in the window of a row."""
        return max(_run_of(bounds.starts, row), row - self._extent + 1)


class PunctuatedTrail(RowsTrail):
    """All rows since the last mark; the row after one begins anew."""

    def __init__(self, window: PunctuatedWindow, extent: int) -> None:
        super().__init__(extent)
        self._column = window.column
        self._marked = np.zeros(1, np.bool_)

    def bounds(self, rows: SortedRows) -> Bounds:
        """The bounds of the next rows."""
        marks = pc.fill_null(rows.columns[self._column], False).to_numpy(zero_copy_only=False)
        before, self._marked = _rows_before(self._marked, marks)
        return Bounds(_begun_anew(rows.starts, before))


class SessionTrail(RowsTrail):
    """All rows since the last gap.

    A row without a time is in no session. It is driven through a window of its own, because a run
    of such rows could overflow where nobody asks for its answer.
    """

    def __init__(self, window: SessionWindow, extent: int, nanoseconds_per_tick: int) -> None:
        super().__init__(extent)
        self._gap = min(window.gap // nanoseconds_per_tick, 2**63 - 1)
        self._time = np.zeros(1, np.int64)
        self._timed = np.ones(1, np.bool_)

    def bounds(self, rows: SortedRows) -> Bounds:
        """The bounds of the next rows."""
        times, self._time = _rows_before(self._time, rows.times)
        timed, self._timed = _rows_before(self._timed, rows.timed)
        anew = (rows.times - times > self._gap) | ~rows.timed | ~timed
        return Bounds(
            _begun_anew(rows.starts, anew), present=None if rows.all_timed else rows.timed
        )


class TimeTrail:
    """The rows that are less than an extent older."""

    def __init__(self, extent: int) -> None:
        self._extent = extent
        self._timed = np.ones(1, np.bool_)

    def bounds(self, rows: SortedRows) -> Bounds:
        """The bounds of the next rows.

        A key's null times are a run of their own: no distance leads from a null to a time.
        """
        if rows.all_timed and self._timed.all():
            return Bounds(rows.starts, rows.times)
        timed, self._timed = _rows_before(self._timed, rows.timed)
        return Bounds(_begun_anew(rows.starts, timed != rows.timed), rows.times)

    def oldest(self, bounds: Bounds, row: int) -> int:
        """The oldest row in the window of a row."""
        assert bounds.measure is not None
        run = _run_of(bounds.starts, row)
        limit = max(int(bounds.measure[row]) - self._extent, -(2**63))
        return run + int(np.searchsorted(bounds.measure[run:row], limit, side="right"))


class CountedTrail:
    """As many rows as are counted for each row."""

    def oldest(self, bounds: Bounds, row: int) -> int:
        """The oldest row in the window of a row."""
        assert bounds.measure is not None
        return row + 1 - max(int(bounds.measure[row]), 1)


class PolicyTrail(CountedTrail):
    """The rows that a policy lets stay."""

    def __init__(self, counts: Counts) -> None:
        self._counts = counts

    def bounds(self, rows: SortedRows) -> Bounds:
        """The bounds of the next rows."""
        counts = self._counts.of(rows.columns, rows.starts, rows.size)
        return Bounds(rows.starts, counts, arrow.read_only(counts > 0))


class DeltaTrail(CountedTrail):
    """The rows whose measure lies less than an amount behind."""

    def __init__(self, window: DeltaWindow) -> None:
        self._column = window.column
        self._behind = deltas.Behind(window)

    def bounds(self, rows: SortedRows) -> Bounds:
        """The bounds of the next rows."""
        column = rows.columns[self._column]
        present = arrow.present(column)
        if present is None:
            present = arrow.read_only(np.ones(len(column), np.bool_))
        return Bounds(rows.starts, self._behind.counts(rows.starts, column, present), present)


Trail = RowsTrail | TimeTrail | DeltaTrail | PolicyTrail


def trail_of(window: Window, extent: int, nanoseconds_per_tick: int) -> Trail:
    """The trail of a window, before its first row."""
    if isinstance(window, TimeWindow):
        return TimeTrail(extent)
    if isinstance(window, DeltaWindow):
        return DeltaTrail(window)
    if isinstance(window, PunctuatedWindow):
        return PunctuatedTrail(window, extent)
    if isinstance(window, SessionWindow):
        return SessionTrail(window, extent, nanoseconds_per_tick)
    return RowsTrail(extent)


def _run_of(starts: Array, row: int) -> int:
    """The first row of the run that a row is in."""
    return int(starts[np.searchsorted(starts, row, side="right") - 1])


def _rows_before(last: Array, values: Array) -> tuple[Array, Array]:
    """For each row the value in the row before; and the last value, for the rows to come."""
    joined = np.concatenate([last, values])
    return joined[:-1], joined[-1:]


def _begun_anew(starts: Array, anew: Array) -> Array:
    """The runs, cut at more rows.

    By marks: with numpy 2.4, `union1d` of a third of 2 million rows took a hundred times as long.
    """
    begins = anew.copy()
    begins[starts[:-1]] = True
    return np.append(np.flatnonzero(begins), starts[-1])
