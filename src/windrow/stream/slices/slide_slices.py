"""`slide` from partials: windows by a clock or a calendar, answered from the cells of slices.

Slices are cut at every edge of a window. When slices become final (see `query`):

1. Their events are put in order and combined, into one cell for each key and slice.
2. Every window that has become final is answered, for all keys at once, from three kinds of cells:
   those of the slices in which windows begin, the maps of the tree for what all of these windows
   hold, and the new cells.

           front        windows begin                frontier before       frontier
             |---------|---------------|---------------------|----------------|
      cells  . . . . . [ block | block ]                     [      new       ]
      maps                             [ node  | node | node ]

   With `empty="emit"`, windows without events come between them (see `kept_windows`).
3. Blocks that no window will read again are deleted, and the new cells are appended to the tree.

So the cost of a batch depends on its events, on the slices that became final, and on the logarithm
of the blocks in a window; it does not depend on the window's range.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa

from windrow.engine.answer_tables import answered_table
from windrow.engine.feature_columns import FeatureColumns
from windrow.engine.maps import SLICE, Maps
from windrow.engine.order_column import in_own_type, times_to_arrow
from windrow.planning.slide_plan import SlidePlan
from windrow.planning.stream_plan import GroupPlan
from windrow.slicing import Slices
from windrow.slicing.calendar_slices import CalendarSlices
from windrow.stream import sizes
from windrow.stream.cell_slides import CellSlides
from windrow.stream.group import Array, WindowGroup
from windrow.stream.header import GroupState
from windrow.stream.last_windows import EMPTY_FINAL
from windrow.stream.slices.kept_windows import Answered, KeptWindows
from windrow.stream.slices.map_tree import HeldMaps, MapTree
from windrow.stream.slices.waiting_partials import IN_ANY_ORDER, are_cells
from windrow.stream.state import CELLS_SCHEMA, NONE, WINDOWS_SCHEMA, ShardBlocks
from windrow.windows import ticks
from windrow.windows.schedules import Schedule


class SlideSlices(WindowGroup):
    """Windows by a clock or a calendar that share slices."""

    def __init__(
        self,
        number: int,
        plan: SlidePlan,
        features: FeatureColumns,
        maps: Maps,
        slices: Slices | CalendarSlices,
        windows: Mapping[str, Schedule],
        any_order: bool = False,
    ) -> None:
        """`any_order` says that events may come as cells (see `waiting_partials`)."""
        names = list(windows)
        self.number, self.names, self.maps = number, names, maps
        self.slices = slices
        self.layouts: dict[int, pa.Schema] = {CELLS_SCHEMA: maps.schema}
        self._any_order = any_order
        self.kept = [*maps.description, *([IN_ANY_ORDER] if any_order else [])]
        self._windows = list(windows.values())
        self._plan = plan
        self._slides = CellSlides(plan, features, maps, names)
        #: the last windows of keys, if windows without events are answered
        self._kept = KeptWindows(number, plan, maps, names) if plan.fills else None
        if self._kept is not None:
            self.layouts[WINDOWS_SCHEMA] = self._kept.schema
            self.kept = [*self.kept, f"last windows of {', '.join(plan.schedules)}"]

    def holds(self, times: Array) -> Array | None:
        """Which events do not lie in a gap between windows."""
        holds: Array = np.logical_or.reduce([window.holds(times) for window in self._windows])
        return None if holds.all() else holds

    def describe(self) -> GroupPlan:
        """Partials of slices in a tree."""
        beside = ", and for the keys with answers the bins of last windows"
        beside = beside if self._kept is not None else ""
        waiting = "the new events"
        if self._any_order:
            waiting += ", or partials of them where a slice has several of a key"
        return GroupPlan(
            self.names,
            way="slices: a partial for each key and slice, in a tree over blocks of slices",
            why="a clock or a calendar says when windows begin and end, and the partials of "
            "aggregations are numbers",
            reads="the header, the waiting events of slices that become final, the blocks in which "
            "windows begin, and at most 3 log2(n) nodes of the tree over a window's n blocks"
            + beside,
            writes=f"the header, {waiting}, and for each block of slices that become "
            "final about two nodes of the tree" + beside,
            final="at the end of a window, when the watermark reaches it"
            + (f"; {EMPTY_FINAL}" if self._kept is not None else ""),
        )

    def due(self, state: GroupState, blocks: ShardBlocks, oldest: int | None) -> Iterator[int]:
        """The ends of the first windows that may have an answer."""
        for window, front in zip(self._windows, state.fronts, strict=True):
            if front < state.end:
                yield window.end(window.first_open(state.frontier))
            if oldest is not None:
                yield window.end(window.first_of(oldest))

    def move(
        self, state: GroupState, blocks: ShardBlocks, events: pa.RecordBatch, frontier: int
    ) -> list[pa.Table]:
        """Answer the windows that end by a frontier."""
        tree = MapTree(self.maps, blocks, self.number, state)
        cells = self.maps.empty
        if events.num_rows:
            cells = self._joined(events) if are_cells(events) else self._combined(events)
        answered = {}
        front = state.front
        for place, (name, window) in enumerate(zip(self.names, self._windows, strict=True)):
            low, high = self._ending(window, state.frontier, frontier, cells)
            if low <= high:
                held = self._held(tree, window, state.fronts[place], low, high)
                state.fronts[place] = held.front
                answered[name] = self._answer(name, window, [*held.maps, cells], low, high)
        tree.drop(front, state.front)
        needed = min(
            self.slices.slice_at(window.begin(window.first_open(frontier)))
            for window in self._windows
        )
        for block in _blocks(cells, needed):
            tree.append(block)
        state.frontier = frontier
        if self._kept is not None:
            return self._kept.filled(blocks, frontier, answered)
        return [each.table for each in answered.values()]

    # The new cells ------------------------------------------------------------------------------

    def _combined(self, events: pa.RecordBatch) -> pa.RecordBatch:
        """The cells of events."""
        columns = dict(zip(events.schema.names, events.columns, strict=True))
        slices = self.slices.slice_of(ticks.times(columns[self._plan.order[0]]))
        return self.maps.of_events(in_own_type(columns, self._plan), self._plan.order, slices)

    def _joined(self, waited: pa.RecordBatch) -> pa.RecordBatch:
        """The cells of what waited as cells, by joint slice, which are parts of slices."""
        begins = waited[SLICE].to_numpy()
        slices = self.slices.slice_of(begins)
        cells = waited.set_column(0, waited.schema.field(0), pa.array(slices))
        are_whole = np.array_equal(self.slices.starts(slices), begins)
        return cells if are_whole else self.maps.joined([cells])

    # Which windows, and which cells they hold ----------------------------------------------------

    def _ending(
        self,
        window: Schedule,
        before: int,
        frontier: int,
        cells: pa.RecordBatch,
    ) -> tuple[int, int]:
        """The first and the last of the windows that end between two frontiers."""
        high = window.first_open(frontier) - window.step
        if before != NONE:
            return window.first_open(before), high
        if not cells.num_rows:
            return high + window.step, high
        oldest = self.slices.starts(np.array([cells[SLICE].to_numpy().min()]))
        return window.first_of(int(oldest[0])), high

    def _held(self, tree: MapTree, window: Schedule, front: int, low: int, high: int) -> HeldMaps:
        """What the windows from `low` to `high` hold of the tree."""
        begins = map(window.begin, (low, high + window.step))
        first, following = map(self.slices.slice_at, begins)
        return tree.held(front, first, following)

    # Answers -------------------------------------------------------------------------------------

    def _answer(
        self,
        name: str,
        window: Schedule,
        maps: Sequence[pa.RecordBatch],
        low: int,
        high: int,
    ) -> Answered:
        """The answers of the windows from `low` to `high`, of every key."""
        grouped = self.maps.grouped(maps)
        times = self.slices.starts(grouped.cells[SLICE].to_numpy()[grouped.places])
        windows, firsts, stops = window.held(grouped.starts, times, low, high)
        result = self._slides.answers(name, grouped, firsts, stops)
        keys = dict(zip(self._plan.key, self._slides.keys(grouped, firsts), strict=True))
        bounds = [times_to_arrow(bound, self._plan.order_type) for bound in window.bounds(windows)]
        table = answered_table(self._plan, name, keys, (bounds[0], bounds[1]), result)
        return Answered(table, windows)


def _blocks(cells: pa.RecordBatch, needed: int) -> Iterator[pa.RecordBatch]:
    """The cells of slices from `needed` on, by slice, in blocks of some slices."""
    slices = cells[SLICE].to_numpy()
    order = np.argsort(slices, kind="stable")
    order = order[np.searchsorted(slices[order], needed) :]
    placed = slices[order]
    most = sizes.current().slices_in_a_block
    begins = np.flatnonzero(np.diff(placed, prepend=placed[0] - 1)) if len(placed) else placed
    for begin, stop in zip(
        begins[::most],
        [*begins[most::most], len(placed)],
        strict=False,
    ):
        yield cells.take(pa.array(order[begin:stop]))
