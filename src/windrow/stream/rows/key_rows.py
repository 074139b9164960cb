"""The rows of some keys at work: for each key the kept rows, and behind them the new ones.

        starts      fresh   stops      starts     fresh = stops
          |  kept     | new |            |  kept   |
          [  rows of a key  ]            [ of another, which has no new events ]

All of them are final. Answers to come need the rows of a key from some row on; rows before it can
go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.engine import columns as arrow
from windrow.windows.key_runs import NEVER

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class KeyRows:
    """Rows sorted by key and order.

    Attributes:
        columns: the columns that are kept of a row.
        order: the column that says when an event was, None if it is not kept.
        keys: the columns of the key, one row for each key.
        starts, stops: for each key, its first row and the row behind its last.
        fresh: for each key, its first new row.
        ledger: what is kept of each key beside its rows; null for nothing.
        time_type: the type whose ticks `times` are in, None for that of the order column.
    """

    columns: Mapping[str, pa.Array]
    order: str | None
    keys: Sequence[pa.Array]
    starts: Array
    stops: Array
    fresh: Array
    ledger: Mapping[str, pa.Array]
    time_type: pa.DataType | None = None

    @property
    def size(self) -> int:
        """How many rows there are."""
        return int(self.stops[-1]) if len(self.stops) else 0

    @property
    def count(self) -> int:
        """How many keys there are."""
        return len(self.starts)

    @cached_property
    def runs(self) -> Array:
        """The starts in the form that loops take (see `windrow.windows.key_runs`)."""
        return np.append(self.starts, NEVER)

    @cached_property
    def times(self) -> Array:
        """When each event was, in ticks."""
        assert self.order is not None
        order = self.columns[self.order]
        return arrow.times(order if self.time_type is None else order.cast(self.time_type))

    @cached_property
    def last_times(self) -> Array:
        """When the newest event of each key was."""
        last: Array = self.times[self.stops - 1]
        return last

    @cached_property
    def key_of(self) -> Array:
        """The number of each row's key."""
        return np.repeat(np.arange(self.count), self.stops - self.starts)

    @cached_property
    def is_fresh(self) -> Array:
        """Which rows are new."""
        fresh: Array = np.arange(self.size) >= self.fresh[self.key_of]
        return fresh

    def numbers(self, name: str) -> Array:
        """A number of the ledger for each key, 0 if it has none."""
        return self.ledger[name].fill_null(0).to_numpy()  # type: ignore[no-any-return]

    def first_not_before(self, time: int) -> Array:
        """For each key, its first row at or behind a time."""
        before = np.append(0, np.cumsum(self.times < time))
        firsts: Array = self.starts + before[self.stops] - before[self.starts]
        return firsts

    def only(self, seen: Array) -> tuple[KeyRows, Array, Array]:
        """Only some rows and their keys; and the places of these rows and keys among all."""
        rows = np.flatnonzero(seen)
        before = np.append(0, np.cumsum(seen))
        lengths = before[self.stops] - before[self.starts]
        keys = np.flatnonzero(lengths)
        old = before[self.fresh] - before[self.starts]
        stops = np.cumsum(lengths[keys])
        starts = stops - lengths[keys]
        indices, key_indices = pa.array(rows), pa.array(keys)
        part = KeyRows(
            {name: column.take(indices) for name, column in self.columns.items()},
            self.order,
            [column.take(key_indices) for column in self.keys],
            starts,
            stops,
            starts + old[keys],
            {name: column.take(key_indices) for name, column in self.ledger.items()},
            self.time_type,
        )
        return part, rows, keys


def later(times: Array, ticks: int) -> Array:
    """Times `ticks` later; `NEVER` beyond 64 bits."""
    most = min(ticks, NEVER)
    return np.where(times > NEVER - most, NEVER, times + most)
