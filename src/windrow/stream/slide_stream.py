"""`slide` over a stream: the windows of one shard of keys, batch after batch.

Periodic windows of time, of aggregations whose partials are numbers, are answered from partials,
here; others from the rows of keys (see `slide_rows`). Slices are cut at every edge of a window.
When slices become final (see `query`):

1. Their events are put in order and combined, into one cell for each key and slice.
2. Every window that has become final is answered, for all keys at once, from cells: those of the
   slices where answers begin, the maps of the tree for what all of them hold, and the new cells.

           front        answers begin                    edge before        edge
             |---------|---------------|---------------------|----------------|
      cells  . . . . . [ block | block ]                     [      new       ]
      maps                             [ node  | node | node ]

3. Blocks that no window will read again are deleted, and the new cells are appended to the tree.

So what a batch reads and writes follows from the events that came and the slices that became final,
and the logarithm of how many blocks a window holds; never from the window's range.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.compiler.kernel_memory import KernelMemory
from windrow.engine import columns as arrow
from windrow.engine.feature_columns import Features
from windrow.engine.maps import SLICE, Maps, has_partials_of_numbers
from windrow.engine.slice_windows import (
    CompiledWindow,
    SliceKernels,
    answered_table,
    times_to_arrow,
)
from windrow.engine.slide_table import in_order_type, in_own_type
from windrow.planning.over_plan import column_types
from windrow.planning.share import SharedPlan, share
from windrow.planning.slide_plan import SlidePlan
from windrow.slicing import PeriodicWindow
from windrow.stream.description import arranged
from windrow.stream.forest import Held, MapForest
from windrow.stream.query import (
    Array,
    Columns,
    Group,
    StreamQuery,
    Times,
)
from windrow.stream.ripening import in_ticks
from windrow.stream.slide_rows import SlideRows
from windrow.stream.state import CELLS_SCHEMA, NONE, Blocks, GroupState
from windrow.stream.waiting import WaitingEvents
from windrow.windows import EveryTime, TimeWindow, periods

#: a block has at most so many slices, so that little is read of which little is needed
SLICES_IN_A_BLOCK = 64


class StreamSlide(StreamQuery):
    """The windows of a plan over a stream."""

    def __init__(self, plan: SlidePlan, nullable: AbstractSet[str], shards: int) -> None:
        """`nullable` names the columns that may hold nulls."""
        self._plan = plan = arranged(plan)
        types = column_types(plan.schema, plan.columns) | {plan.order[0]: plan.order_type}
        tick = arrow.nanoseconds_per_tick(plan.order_type)
        periods = _with_partials(plan, tick)
        groups: list[Group] = []
        if periods:
            features = Features(plan.features, nullable)
            maps = Maps(plan.key, column_types(plan.schema, plan.columns), features)
            names = list(periods)
            groups += [
                _Periodic(number, plan, features, maps, shared, [names[q] for q in shared.queries])
                for number, shared in enumerate(share(list(periods.values())).groups)
            ]
        others = [name for name in plan.windows if name not in periods]
        if others:
            groups.append(SlideRows(len(groups), others, plan, types, nullable))
        super().__init__(plan, types, groups, shards)

    def _prepared(self, columns: dict[str, pa.Array]) -> dict[str, pa.Array]:
        order = self._plan.order[0]
        return columns | {order: in_order_type(columns[order], self._plan)}


def _with_partials(plan: SlidePlan, tick: int) -> dict[str, PeriodicWindow]:
    """The windows whose answers can be made of partials of slices of time, in ticks."""
    if plan.changes_only or not has_partials_of_numbers(plan.features):
        return {}
    return {
        name: in_ticks(name, window.range, window.every, tick)
        for name, window in plan.windows.items()
        if isinstance(window, TimeWindow) and isinstance(window.every, EveryTime)
    }


class _Periodic(Group):
    """Periodic windows of time that share slices; `windows` are in ticks."""

    def __init__(
        self,
        number: int,
        plan: SlidePlan,
        features: Features,
        maps: Maps,
        shared: SharedPlan,
        names: list[str],
    ) -> None:
        self.number, self.names, self.maps = number, names, maps
        self.slices, self.layouts = shared.slices, {CELLS_SCHEMA: maps.schema}
        self.kept = maps.description
        self._windows = shared.windows
        self._plan, self._features = plan, features
        self._kernels = SliceKernels(features, plan, names)

    def held(self, columns: Columns, times: Array) -> tuple[Columns, Array]:
        """Without the events that lie in gaps between windows."""
        holds = np.logical_or.reduce([window.holds(times) for window in self._windows])
        if not holds.all():
            mask = pa.array(holds)
            columns = {name: column.filter(mask) for name, column in columns.items()}
            times = times[holds]
        return columns, self.slices.slice_of(times)

    def due(self, state: GroupState, blocks: Blocks) -> Iterator[int]:
        """The ends of windows that may have an answer."""
        oldest = min((each.first for each in state.waiting), default=None)
        for window, front in zip(self._windows, state.fronts, strict=True):
            if front < state.end:
                yield self._first_open(window, state.edge) + window.range
            if oldest is not None:
                start = self.slices.starts(np.array([oldest]))
                yield int(window.first_starts(start)[0]) + window.range

    def move(
        self, state: GroupState, blocks: Blocks, waiting: WaitingEvents, edge: int, times: Times
    ) -> list[pa.Table]:
        """Answer the windows that end by an edge."""
        forest = MapForest(self.maps, blocks, self.number, state)
        columns = waiting.take_before(edge)
        cells = self.maps.empty
        if columns is not None:
            slices = self.slices.slice_of(times(columns))
            read = in_own_type(columns, self._plan)
            cells = self.maps.of_events(read, self._plan.order, slices)
        answers = []
        front = state.front
        for place, (name, window) in enumerate(zip(self.names, self._windows, strict=True)):
            low, high = self._ending(window, state.edge, edge, forest, cells)
            if low <= high:
                held = self._held(forest, window, state.fronts[place], low, high)
                state.fronts[place] = held.front
                answers.append(self._answer(name, window, [*held.maps, cells], low, high))
        forest.drop(front, state.front)
        needed = min(
            self.slices.slice_at(self._first_open(window, edge)) for window in self._windows
        )
        for block in _blocks(cells, needed):
            forest.append(block)
        state.edge = edge
        return answers

    # Which windows, and which cells they hold ----------------------------------------------------

    def _first_open(self, window: PeriodicWindow, edge: int) -> int:
        """The begin of the first window that ends behind the begin of a slice."""
        start = int(self.slices.starts(np.array([edge]))[0])
        return int(window.last_starts(np.array([start - window.range]))[0]) + window.slide

    def _ending(
        self, window: PeriodicWindow, before: int, edge: int, forest: MapForest, cells: Any
    ) -> tuple[int, int]:
        """The first and the last begin of the windows that end between two edges."""
        high = self._first_open(window, edge) - window.slide
        if before != NONE:
            return self._first_open(window, before), high
        if not cells.num_rows:
            return high + window.slide, high
        oldest = self.slices.starts(np.array([cells[SLICE].to_numpy().min()]))
        return int(window.first_starts(oldest)[0]), high

    def _held(
        self, forest: MapForest, window: PeriodicWindow, front: int, low: int, high: int
    ) -> Held:
        """What the windows that begin from `low` to `high` hold of the tree."""
        first, following = map(self.slices.slice_at, (low, high + window.slide))
        return forest.held(front, first, following)

    # Answers -------------------------------------------------------------------------------------

    def _answer(
        self,
        name: str,
        window: PeriodicWindow,
        maps: Sequence[pa.RecordBatch],
        low: int,
        high: int,
    ) -> pa.Table:
        """The answers of the windows that begin from `low` to `high`, of every key."""
        cells, places, starts, partials = self.maps.grouped(maps)
        times = self.slices.starts(cells[SLICE].to_numpy()[places])
        begins, firsts, stops = periods.held_between(
            starts, times, window.range, window.slide, low, high
        )
        answers = self._features.answers(len(begins))
        if len(begins):
            kernel = CompiledWindow(self._kernels, name, KernelMemory(self._features.product))
            kernel.answer(partials, answers, firsts, stops, 0, len(begins))
        heads = pa.array(places[firsts])
        keys = {
            column: cells[stored].take(heads)
            for column, stored in zip(self._plan.key, self.maps.keys, strict=True)
        }

        def result(place: int) -> pa.Array:
            feature = self._plan.features[place]
            index = self._features.compiled.index(feature)
            return self._features.result(answers, feature, self.maps.carried(cells, index))

        bounds = [
            times_to_arrow(bound, self._plan.order_type)
            for bound in (begins, begins + window.range)
        ]
        return answered_table(self._plan, name, keys, (bounds[0], bounds[1]), result)


def _blocks(cells: pa.RecordBatch, needed: int) -> Iterator[pa.RecordBatch]:
    """The cells of slices from `needed` on, by slice, in blocks of some slices."""
    slices = cells[SLICE].to_numpy()
    order = np.argsort(slices, kind="stable")
    order = order[np.searchsorted(slices[order], needed) :]
    placed = slices[order]
    begins = np.flatnonzero(np.diff(placed, prepend=placed[0] - 1)) if len(placed) else placed
    for begin, stop in zip(
        begins[::SLICES_IN_A_BLOCK],
        [*begins[SLICES_IN_A_BLOCK::SLICES_IN_A_BLOCK], len(placed)],
        strict=False,
    ):
        yield cells.take(pa.array(order[begin:stop]))
