"""Rows that answers to come may hold, kept from batch to batch as they are.

Order statistics have no small partial, so what a window carries on is the rows in it. They go in
front of the next batch, and both are numbered anew:

    rows held | batch         numbered together, answered from the batch's first row on
       [held']| next batch    what the newest windows hold goes on

A block that is at least as large as what is held before it at most doubles what is numbered. So
small batches are gathered: over a whole stream at most two rows are numbered for each row, and as
many once more as are held when it ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa

from windrow.work import sizes


class HeldRows:
    """The rows of some columns that answers to come may hold.

    Attributes:
        count: how many rows are held.
    """

    def __init__(self, columns: Sequence[str]) -> None:
        """Hold no rows yet."""
        self._columns = list(columns)
        self._joined: dict[str, pa.Array] = {}
        self.count = 0
        self._size = 0

    def before(self, columns: Mapping[str, pa.Array], size: int) -> dict[str, pa.Array]:
        """The columns of the rows held and of a batch behind them."""
        if self.count:
            columns = {
                name: pa.concat_arrays([self._joined[name], columns[name]])
                for name in self._columns
            }
        self._joined = {name: columns[name] for name in self._columns}
        self._size = self.count + size
        return self._joined

    def keep_from(self, front: int) -> None:
        """Keep the rows from one on, counted from the first row of the newest batch."""
        first = min(max(self.count + front, 0), self._size)
        # A copy: a slice would keep the memory of all rows.
        places = pa.array(np.arange(first, self._size))
        self._joined = {name: column.take(places) for name, column in self._joined.items()}
        self.count = self._size = self._size - first


def gathered(
    batches: Iterable[pa.RecordBatch | None], held: Callable[[], int]
) -> Iterator[pa.RecordBatch | None]:
    """The rows of batches in blocks at least as large as what is held before each.

    A None is handed on, and takes the place of a batch that has to wait for more.
    """
    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        if batch is None:
            yield None
            continue
        waiting.append(batch)
        if sum(each.num_rows for each in waiting) >= max(held(), sizes.current().smallest_block):
            yield pa.concat_batches(waiting)
            waiting = []
        else:
            yield None
    if waiting:
        yield pa.concat_batches(waiting)
