"""Windows of differences: what they measure by, for `slide` and for `over`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.compiler.kernel import compiled_loop
from windrow.engine import columns as arrow
from windrow.errors import InvalidArgument
from windrow.windows import DeltaWindow

Array = np.ndarray[Any, Any]

_LARGEST = 2**63 - 1


class Measure:
    """The column of a window of differences, in one piece or in batches."""

    def __init__(self, window: DeltaWindow) -> None:
        self._window = window
        self._extremes: list[int] = []

    def read(self, column: pa.Array) -> tuple[Array, Any]:
        """The values of the next rows, and the amount in the same kind of number."""
        values = arrow.values(column)
        if values.dtype != np.int64:
            return values, float(self._window.amount)
        found = pc.min_max(column).as_py().values()
        self._extremes = [*self._extremes, *(number for number in found if number is not None)]
        self._extremes = [min(self._extremes), max(self._extremes)] if self._extremes else []
        # Not even the largest: it stands for all amounts that are larger.
        if self._extremes and self._extremes[1] - self._extremes[0] >= _LARGEST:
            raise InvalidArgument(
                f"windows: the values of {self._window.column!r} lie further apart than 64 bits "
                "can measure; cast the column to a float"
            )
        # Values are whole: less than a part of one behind is less than the whole.
        return values, min(-int(-self._window.amount // 1), _LARGEST)


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


class Behind:
    """The rows of a window of differences, by measure, between one batch and the next.

    Rows leave oldest first: one that has left does not come back, also where the measure does not
    only grow. Rows without a measure make none leave. They are held like the others, so that
    places are counted in rows, and leave when they are the oldest.
    """

    def __init__(self, window: DeltaWindow) -> None:
        self._measure = Measure(window)
        self._held = np.empty(0)
        self._present = np.empty(0, np.bool_)
        self._front = self._end = 0

    def counts(self, starts: Array, column: pa.Array, present: Array) -> Array:
        """How many rows each row's window holds, from its oldest to the row itself.

        `present` tells which rows have a measure.
        """
        size = len(column)
        measure, amount = self._measure.read(column)
        self._make_room(size, measure.dtype)
        counts = np.empty(size, np.int64)
        self._front = compiled_loop(_count_less_behind)(
            starts, measure, present, amount,
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
