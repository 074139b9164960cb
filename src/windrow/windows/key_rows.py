"""The rows of some keys of a stream at work: for each key the kept rows, and behind them new ones.

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

from windrow.windows.key_runs import NEVER
from windrow.windows.sorted_rows import SortedRows

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, kw_only=True)
class KeyRows(SortedRows):
    """The rows of keys; there is one run for each key.

    Attributes:
        keys: the columns of the key, one row for each key.
        stops: for each key, the row behind its last.
        fresh: for each key, its first new row.
        ledger: what is kept of each key beside its rows; null where there is nothing.
    """

    keys: Sequence[pa.Array]
    stops: Array
    fresh: Array
    ledger: Mapping[str, pa.Array]

    @property
    def count(self) -> int:
        """How many keys there are."""
        return len(self.stops)

    @property
    def starts(self) -> Array:
        """Of each key, the first row."""
        return self.runs[:-1]

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
            np.append(starts, NEVER),
            len(rows),
            self.order,
            self.time_type,
            keys=[column.take(key_indices) for column in self.keys],
            stops=stops,
            fresh=starts + old[keys],
            ledger={name: column.take(key_indices) for name, column in self.ledger.items()},
        )
        return part, rows, keys


def later(times: Array, ticks: int) -> Array:
    """Times `ticks` later; `NEVER` beyond 64 bits."""
    most = min(ticks, NEVER)
    return np.where(times > NEVER - most, NEVER, times + most)
