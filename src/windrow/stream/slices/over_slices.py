"""`over` from partials: every event once, with the windows of time that end at it or before.

An event is final when the watermark has reached its time: no event before it will come. Then it is
a slice by itself, and its cell goes into the tree. When events become final (see `query`):

1. They are put in order by key, and each becomes a cell.
2. Each of them is answered from three kinds of cells of its key: those of the blocks that some of
   the windows hold in part, the maps of the tree for what all windows hold, and the new cells.

              first new event - range   last new event - range      first    last new event
                        |-----------------------|---------------------|--------|
      cells             [  block  |  block  ]                         [   new  ]
      maps                                  [ node  |  node  |  node  ]

3. Blocks that lie a range behind the watermark are deleted, and the new cells are appended.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from windrow.engine.feature_columns import FeatureColumns
from windrow.engine.maps import SLICE, Maps
from windrow.engine.sorting import arrange
from windrow.planning.over_plan import OverPlan
from windrow.planning.stream_plan import GroupPlan
from windrow.slicing import Slices
from windrow.stream import sizes
from windrow.stream.cell_windows import CellWindows
from windrow.stream.group import Array, WindowGroup
from windrow.stream.header import GroupState
from windrow.stream.slices.map_tree import MapTree
from windrow.stream.state import CELLS_SCHEMA, ShardBlocks
from windrow.windows import ticks


class OverSlices(WindowGroup):
    """All windows of a plan; a slice is a tick of the order column."""

    of_moments = True

    def __init__(
        self,
        number: int,
        plan: OverPlan,
        order_type: pa.DataType,
        features: FeatureColumns,
        maps: Maps,
    ) -> None:
        self.number, self.names, self.maps = number, list(plan.windows), maps
        self.slices, self.layouts = Slices(1, (0,)), {CELLS_SCHEMA: maps.schema}
        self.kept = maps.description
        self._plan = plan
        tick = ticks.nanoseconds_per_tick(order_type)
        #: for each window, how many ticks an event is older that has left it
        self._extents = [window.ticks_back(tick) or 0 for window in plan.windows.values()]
        self._windows = CellWindows(plan, features, maps)

    def describe(self) -> GroupPlan:
        """Partials of events in a tree."""
        return GroupPlan(
            self.names,
            way="slices: a partial for each event, in a tree over blocks of events",
            why="the windows are of time, and the partials of aggregations are numbers",
            reads="the header, the waiting events that become final, the blocks in which their "
            "windows begin, and at most 3 log2(n) nodes of the tree over a window's n blocks",
            writes="the header, the new events, and for each block of events that become final "
            "about two nodes of the tree",
            final="for each event, when the watermark reaches its time",
        )

    def due(self, state: GroupState, blocks: ShardBlocks, oldest: int | None) -> Iterator[int]:
        """When the oldest waiting event is final, and when all that is kept can go."""
        yield from super().due(state, blocks, oldest)
        if state.front < state.end:
            yield state.frontier + max(self._extents)

    def move(
        self, state: GroupState, blocks: ShardBlocks, events: pa.RecordBatch, frontier: int
    ) -> list[pa.Table]:
        """Answer the events before a frontier."""
        tree = MapTree(self.maps, blocks, self.number, state)
        state.frontier = frontier
        if not events.num_rows:
            self._evict(tree, frontier)
            return []
        columns = self._arranged(events)
        moments = ticks.times(columns[self._plan.order[0]])
        cells = self.maps.of_runs(columns, moments, np.arange(len(moments)))
        results = [
            self._windows.answers(
                name, extent, self._held(tree, front, extent, moments), cells, lambda ticks: ticks
            )
            for name, extent, front in zip(self.names, self._extents, state.fronts, strict=True)
        ]
        self._evict(tree, frontier)
        for block in self._blocks(cells, moments, frontier):
            tree.append(block)
        for output, added in zip(self._plan.outputs, self._plan.output_fields, strict=True):
            columns[added.name] = results[self.names.index(output.window)][output.feature]
        return [pa.table(columns)]

    def _arranged(self, events: pa.RecordBatch) -> dict[str, pa.Array]:
        """The columns of events, sorted by key and order."""
        columns = dict(zip(events.schema.names, events.columns, strict=True))
        keys, order = [
            [columns[name] for name in names] for names in (self._plan.key, self._plan.order)
        ]
        permutation, _starts = arrange(keys, order, len(order[0]))
        if permutation is None:
            return columns
        indices = pa.array(permutation)
        return {name: column.take(indices) for name, column in columns.items()}

    def _held(self, tree: MapTree, front: int, extent: int, moments: Array) -> list[pa.RecordBatch]:
        """What the windows of new events hold of the tree."""
        first, following = (int(each) - extent + 1 for each in (moments.min(), moments.max()))
        return tree.held(front, first, following).maps

    def _evict(self, tree: MapTree, frontier: int) -> None:
        """Drop the blocks that no window of an event to come holds."""
        state = tree.state
        before = state.front
        for place, extent in enumerate(self._extents):
            front = state.fronts[place]
            while front < state.end and tree.block(front)[SLICE][-1].as_py() <= frontier - extent:
                front += 1
            state.fronts[place] = front
        tree.drop(before, state.front)

    def _blocks(
        self, cells: pa.RecordBatch, moments: Array, frontier: int
    ) -> Iterator[pa.RecordBatch]:
        """The cells that windows of events to come may hold, by time, in blocks."""
        order = np.argsort(moments, kind="stable")
        order = order[np.searchsorted(moments[order], frontier - max(self._extents), "right") :]
        most = sizes.current().events_in_a_block
        for begin in range(0, len(order), most):
            yield cells.take(pa.array(order[begin : begin + most]))
