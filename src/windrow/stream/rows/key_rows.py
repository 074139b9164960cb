"""The rows of some keys of a stream, all final: those that were kept, and behind them the new ones.

        starts      fresh   stops      starts     fresh = stops
          |  kept     | new |            |  kept   |
          [  rows of a key  ]            [ of another, which has no new events ]

What answers to come need of a key is a row to begin with; the rows before it can go.
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
        columns: those that are kept of a row.
        order: which of them says when an event was, None if it is not kept.
        keys: the columns of the key, one row for each key.
        starts, stops: of each key, the first row and the one behind the last.
        fresh: of each key, the first row that is new.
        ledger: what is kept of each key beside its rows; null where there is nothing.
        time_type: the type whose ticks times are told in, None for that of the order column.
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
        """The starts as loops take them (see `windrow.windows.key_runs`)."""
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
        """A number that is kept of each key, 0 where there is none."""
        return self.ledger[name].fill_null(0).to_numpy()  # type: ignore[no-any-return]

    def first_not_before(self, time: int) -> Array:
        """Of each key, the first row that is not before a time."""
        before = np.append(0, np.cumsum(self.times < time))
        firsts: Array = self.starts + before[self.stops] - before[self.starts]
        return firsts

    def only(self, seen: Array) -> tuple[KeyRows, Array, Array]:
        """Some of the rows and their keys, and which rows and which keys they are."""
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
    """Times so many ticks later; what 64 bits do not hold never comes."""
    most = min(ticks, NEVER)
    return np.where(times > NEVER - most, NEVER, times + most)
