"""Any window as one of counted rows, for `wr.over`: the loop that takes counts serves every kind.

Kinds with a faster loop of their own are not counted (see `windrow.engine.row_windows`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from windrow.algebra.arrays import present, read_only
from windrow.compiler.array_loops import compiled_loop
from windrow.windows.bounds import Bounding, Bounds
from windrow.windows.reach import Behind, Counted
from windrow.windows.sorted_rows import SortedRows

Array = np.ndarray[Any, Any]


def _count_less_behind(
    starts: Array, measure: Array, present: Array, amount: Any,
    held: Array, held_present: Array, front: int, end: int, counts: Array,
) -> int:  # fmt: skip
    run = 0
    for row in range(len(measure)):
        if row == starts[run]:
            front = end
            run += 1
        held[end] = measure[row]
        held_present[end] = present[row]
        end += 1
        if present[row]:
            while not held_present[front] or measure[row] - held[front] >= amount:
                front += 1
        counts[row] = end - front
    return front


class CountedBehind(Bounding):
    """Counts the rows of a window whose reach is `Behind`, from batch to batch.

    Rows leave oldest first: one that has left does not come back, also where the measure does not
    only grow. Rows without a measure make none leave. They are held like the others, so that
    places are counted in rows, and leave when they are the oldest.
    """

    def __init__(self, bounding: Bounding, measured: Sequence[str]) -> None:
        """`measured` are the columns without whose value a row is in no window."""
        self._bounding, self._measured = bounding, measured
        self._held = np.empty(0)
        self._present = np.empty(0, np.bool_)
        self._front = self._end = 0

    def of(self, rows: SortedRows, held: Array | None = None) -> Bounds:
        """The bounds of the next rows, counted."""
        bounds = self._bounding.of(rows, held)
        assert isinstance(bounds.reach, Behind)
        found = [present(rows.columns[name]) for name in self._measured]
        partly = [each for each in found if each is not None]
        there = np.logical_and.reduce(partly) if partly else np.ones(rows.size, np.bool_)
        counts = self._counts(bounds.runs, bounds.reach, there)
        return replace(bounds, reach=Counted(counts), present=read_only(there))

    def _counts(self, runs: Array, reach: Behind, there: Array) -> Array:
        """How many rows each row's window holds, from its oldest to the row itself."""
        measure, size = reach.measure, len(reach.measure)
        self._make_room(size, measure.dtype)
        counts = np.empty(size, np.int64)
        self._front = compiled_loop(_count_less_behind)(
            runs, measure, read_only(there), reach.amount,
            self._held, self._present, self._front, self._end, counts,
        )  # fmt: skip
        self._end += size
        return counts

    def _make_room(self, size: int, dtype: Any) -> None:
        """Room for more rows; what is held is moved once for as many rows as it is itself."""
        if self._end + size <= len(self._held):
            return
        live = slice(self._front, self._end)
        count = self._end - self._front
        held, present = np.empty(2 * count + size, dtype), np.empty(2 * count + size, np.bool_)
        held[:count], present[:count] = self._held[live], self._present[live]
        self._held, self._present = held, present
        self._front, self._end = 0, count
