"""The last window of each key, beside the slices of a stream: for `wr.slide(empty="emit")`.

The answers of a batch are put into bins by their keys, as events are elsewhere. A bin knows the
last windows of its keys. So a batch reads and writes the bins of the keys that it answers.

      bin 0   [ key | window_0 | window_1 ]     the windows of the plan, by number
              [ a   |       40 |       36 ]
              [ b   |       20 |     null ]     null: no answer yet
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from windrow.engine.maps import Maps
from windrow.engine.sorting import arrange
from windrow.planning.slide_plan import SlidePlan
from windrow.stream.last_windows import LastWindows
from windrow.stream.state import WINDOWS, ShardBlocks
from windrow.stream.totals.stored_totals import OpenTotals, StoredTotals
from windrow.windows import walks
from windrow.windows.key_runs import NEVER

Array = np.ndarray[Any, Any]

_ROW = "row"


class Answered(NamedTuple):
    """The answers of a window by key and time, and which windows of its schedule they are of."""

    table: pa.Table
    names: Array


class KeptWindows:
    """The last windows of keys, of a group of windows.

    Attributes:
        schema: what is kept of a key; the same for all groups of a plan.
    """

    def __init__(self, number: int, plan: SlidePlan, maps: Maps, names: list[str]) -> None:
        self._number, self._plan, self._keys = number, plan, maps.keys
        places = {name: place for place, name in enumerate(plan.schedules)}
        self._last = {name: LastWindows(plan, name, places[name]) for name in names}
        keys = [maps.schema.field(name) for name in maps.keys]
        windows = [(f"window_{place}", pa.int64()) for place in places.values()]
        self.schema = pa.schema([*keys, *windows])

    def filled(
        self, blocks: ShardBlocks, frontier: int, answered: Mapping[str, Answered]
    ) -> list[pa.Table]:
        """The answers with the windows without events among them."""
        stops = np.cumsum([each.table.num_rows for each in answered.values()])
        if not len(stops) or not stops[-1]:
            return []
        stored = StoredTotals(blocks, self._number, self.schema, self._keys, WINDOWS)
        columns = {
            stored_as: pa.concat_arrays(
                [chunk for each in answered.values() for chunk in each.table[name].chunks]
            )
            for stored_as, name in zip(self._keys, self._plan.key, strict=True)
        }
        events = pa.RecordBatch.from_pydict(columns | {_ROW: pa.array(np.arange(stops[-1]))})
        tables = []
        for part in stored.parts(events, self._keys, [_ROW], frontier):
            tables += self._part(stored, part, answered, stops)
        stored.bins.close()
        return tables

    def _part(
        self, stored: StoredTotals, part: OpenTotals, answered: Mapping[str, Answered], stops: Array
    ) -> list[pa.Table]:
        """The answers of the keys of some bins."""
        known = part.totals.num_rows
        keys = [pa.concat_arrays([part.totals[each], part.events[each]]) for each in self._keys]
        size = known + part.events.num_rows
        permutation, starts = arrange(keys, [], size)
        places = np.arange(size) if permutation is None else permutation
        count = len(starts) - 1
        numbers = np.empty(size, np.int64)
        numbers[places] = np.repeat(np.arange(count), walks.lengths_of_runs(starts, size))
        old = np.full(count, -1)
        old[numbers[:known]] = np.arange(known)
        totals = part.totals.take(pa.array(old, mask=old < 0))
        last = {name: totals[name] for name in self.schema.names[len(keys) :]}
        rows, of_rows = part.events[_ROW].to_numpy(), numbers[known:]
        tables = []
        for (name, (table, names)), stop in zip(answered.items(), stops, strict=True):
            begin = stop - len(names)
            own = np.flatnonzero((rows >= begin) & (rows < stop))
            places_of = rows[own] - begin
            found, _keys, kept = self._last[name].filled(
                last, table.take(pa.array(places_of)), names[places_of], of_rows[own]
            )
            last |= kept
            tables.append(found)
        heads = pa.array(places[starts[:-1]])
        columns = [*(column.take(heads) for column in keys), *last.values()]
        totals = pa.RecordBatch.from_arrays(columns, schema=self.schema)
        stored.keep(part, totals, np.full(count, NEVER))
        return [table for table in tables if table.num_rows]
