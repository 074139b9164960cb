"""`over` over a stream: every event once, with the windows that end at it.

Windows of time, of aggregations whose partials are numbers, are answered from partials, here, and
so are windows of rows, where they suffice (see `over_counted`); others from the rows of keys (see
`over_rows`). An event is final when the watermark has passed
its time: no event before it will come. Then it is a slice by itself, and its cell goes into the
tree. When events become final (see `query`):

1. They are put in order by key; each becomes a cell.
2. Every one of them is answered from cells of its key: those of the blocks that some of the windows
   hold in part, the maps of the tree for what all of them hold, and the new cells.

              first new event - range   last new event - range      first    last new event
                        |-----------------------|---------------------|--------|
      cells             [  block  |  block  ]                         [   new  ]
      maps                                  [ node  |  node  |  node  ]

3. Blocks that lie a range behind the watermark are deleted, and the new cells are appended.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet

import numpy as np
import pyarrow as pa

from windrow.engine import columns as arrow
from windrow.engine.feature_columns import Features
from windrow.engine.maps import SLICE, Maps, has_partials_of_numbers
from windrow.engine.row_windows import extent_of
from windrow.engine.sorting import arrange
from windrow.planning.over_plan import OverPlan, column_types
from windrow.slicing import Slices
from windrow.stream.cell_windows import CellWindows
from windrow.stream.description import arranged
from windrow.stream.forest import MapForest
from windrow.stream.over_counted import OverCounted, counts_rows
from windrow.stream.over_rows import OverRows
from windrow.stream.query import (
    Array,
    Columns,
    Group,
    StreamQuery,
    Times,
)
from windrow.stream.state import CELLS_SCHEMA, Blocks, GroupState
from windrow.stream.waiting import WaitingEvents
from windrow.windows import TimeWindow

#: a block has at most so many events, so that little is read of which little is needed
EVENTS_IN_A_BLOCK = 2**12


class StreamOver(StreamQuery):
    """The windows of a plan over a stream."""

    def __init__(self, plan: OverPlan, nullable: AbstractSet[str], shards: int) -> None:
        """`nullable` names the columns that may hold nulls."""
        plan = arranged(plan)
        types = column_types(plan.schema, plan.schema.names)
        if _has_partials(plan):
            features = Features(plan.features, nullable)
            maps = Maps(plan.key, types, features)
            group: Group = _Trailing(plan, types[plan.order[0]], features, maps)
        else:
            group = (OverCounted if counts_rows(plan) else OverRows)(plan, types, nullable)
        super().__init__(plan, types, [group], shards)


def _has_partials(plan: OverPlan) -> bool:
    """Whether answers can be made of partials of stretches of time."""
    in_time = [
        isinstance(window, TimeWindow) and not window.peers for window in plan.windows.values()
    ]
    return all(in_time) and has_partials_of_numbers(plan.features)


class _Trailing(Group):
    """All windows of a plan; a slice is a tick of the order column."""

    of_moments = True

    def __init__(
        self, plan: OverPlan, order_type: pa.DataType, features: Features, maps: Maps
    ) -> None:
        self.number, self.names, self.maps = 0, list(plan.windows), maps
        self.slices, self.layouts = Slices(1, (0,)), {CELLS_SCHEMA: maps.schema}
        self.kept = maps.description
        self._plan = plan
        tick = arrow.nanoseconds_per_tick(order_type)
        #: for each window, how much older an event is that has left
        self._extents = [extent_of(window, tick) for window in plan.windows.values()]
        self._windows = CellWindows(plan, features, maps)

    def due(self, state: GroupState, blocks: Blocks) -> Iterator[int]:
        """When the oldest event that waits is final, and when all that is kept can go."""
        if state.waiting:
            yield min(each.first for each in state.waiting) + 1
        if state.front < state.end:
            yield state.edge + max(self._extents)

    def move(
        self, state: GroupState, blocks: Blocks, waiting: WaitingEvents, edge: int, times: Times
    ) -> list[pa.Table]:
        """Answer the events before an edge."""
        forest = MapForest(self.maps, blocks, self.number, state)
        state.edge = edge
        columns = waiting.take_before(edge)
        if columns is None:
            self._evict(forest, edge)
            return []
        events = self._arranged(columns)
        moments = times(events)
        cells = self.maps.of_runs(events, moments, np.arange(len(moments)))
        results = [
            self._windows.answers(
                name, extent, self._held(forest, front, extent, moments), cells, lambda ticks: ticks
            )
            for name, extent, front in zip(self.names, self._extents, state.fronts, strict=True)
        ]
        self._evict(forest, edge)
        for block in self._blocks(cells, moments, edge):
            forest.append(block)
        for output, added in zip(self._plan.outputs, self._plan.output_fields, strict=True):
            events[added.name] = results[self.names.index(output.window)][output.feature]
        return [pa.table(events)]

    def _arranged(self, columns: Columns) -> dict[str, pa.Array]:
        """Events by key and order."""
        keys, order = [
            [columns[name] for name in names] for names in (self._plan.key, self._plan.order)
        ]
        permutation, _starts = arrange(keys, order, len(order[0]))
        if permutation is None:
            return dict(columns)
        indices = pa.array(permutation)
        return {name: column.take(indices) for name, column in columns.items()}

    def _held(
        self, forest: MapForest, front: int, extent: int, moments: Array
    ) -> list[pa.RecordBatch]:
        """What the windows of new events hold of the tree."""
        first, following = (int(each) - extent + 1 for each in (moments.min(), moments.max()))
        return forest.held(front, first, following).maps

    def _evict(self, forest: MapForest, edge: int) -> None:
        """Drop the blocks that no window of an event to come holds."""
        state = forest.state
        before = state.front
        for place, extent in enumerate(self._extents):
            front = state.fronts[place]
            while front < state.end and forest.block(front)[SLICE][-1].as_py() <= edge - extent:
                front += 1
            state.fronts[place] = front
        forest.drop(before, state.front)

    def _blocks(self, cells: pa.RecordBatch, moments: Array, edge: int) -> Iterator[pa.RecordBatch]:
        """The cells that windows of events to come may hold, by time, in blocks."""
        order = np.argsort(moments, kind="stable")
        order = order[np.searchsorted(moments[order], edge - max(self._extents), "right") :]
        for begin in range(0, len(order), EVENTS_IN_A_BLOCK):
            yield cells.take(pa.array(order[begin : begin + EVENTS_IN_A_BLOCK]))
