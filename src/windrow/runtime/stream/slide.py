"""`slide` over a stream: periodic windows of time of one shard of keys, batch after batch.

Time is cut into slices at every edge of a window. The watermark says how far time is final: a slice
that ends by then gets no more events, nor does a window. A batch goes like this:

1. Events in slices that are final are late: they are counted and dropped.
2. The others wait, as they are, in blocks in the order of arrival: until a slice is final, events
   older than those seen may come, and combining has to follow the order of events.
3. The events of the slices that have become final are put in order and combined, into one cell for
   each key and slice.
4. Every window that has become final is answered, for all keys at once, from cells: those of the
   slices where answers begin, the maps of the tree for what all of them hold, and the new cells.

           front        answers begin                    edge before        edge
             |---------|---------------|---------------------|----------------|
      cells  . . . . . [ block | block ]                     [      new       ]
      maps                             [ node  | node | node ]

5. Blocks that no window will read again are deleted, and the new cells are appended to the tree.

So what a batch reads and writes follows from the events that came and the slices that became final,
and the logarithm of how many blocks a window holds; never from the window's range.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from windrow.algebra.kinds import plain_type
from windrow.algebra.memory import KernelMemory
from windrow.errors import IncompatibleState, InvalidArgument
from windrow.planning.share import SharedPlan, share
from windrow.planning.slide import SlidePlan
from windrow.runtime import columns as arrow
from windrow.runtime import edges
from windrow.runtime.answering import CompiledWindow, SliceKernels, answered_table, times_to_arrow
from windrow.runtime.features import Features, overflow_named
from windrow.runtime.slide import in_order_type
from windrow.runtime.stream.forest import MapForest
from windrow.runtime.stream.maps import SLICE, Maps
from windrow.runtime.stream.state import (
    CELLS_SCHEMA,
    DESCRIPTION,
    HEADER,
    NONE,
    SLICES,
    WAITING_SCHEMA,
    Blocks,
    GroupState,
    Header,
    Storage,
    block_number,
    differences,
    integers,
)
from windrow.runtime.stream.waiting import WaitingEvents
from windrow.slicing import PeriodicWindow, Slices
from windrow.windows import EveryTime, TimeWindow, Window

Array = np.ndarray[Any, Any]
Columns = Mapping[str, pa.Array]

#: a block has at most so many slices, so that little is read of which little is needed
SLICES_IN_A_BLOCK = 64
_NANOSECONDS_IN_A_MILLISECOND = 1_000_000


@dataclass
class Step:
    """What came of a batch.

    Attributes:
        answers: as tables, each of one window.
        events: how many came.
        late: how many of them were dropped, because their slice was final.
        timer: the watermark, in milliseconds, at which there may be more answers; None for never.
        timer_before: what it was when the batch came.
        bytes_read, bytes_written: of state.
    """

    answers: list[pa.Table] = field(default_factory=list)
    events: int = 0
    late: int = 0
    timer: int | None = None
    timer_before: int | None = None
    bytes_read: int = 0
    bytes_written: int = 0


class StreamSlide:
    """The windows of a plan over a stream; what is remembered lies in each shard's storage."""

    def __init__(self, plan: SlidePlan, nullable: AbstractSet[str], shards: int) -> None:
        """`nullable` names the columns that may hold nulls; refuses what streams cannot do yet."""
        _require_supported(plan)
        self._plan = plan
        features = Features(plan.features, nullable)
        if features.product.holds_rows:
            raise InvalidArgument(
                "aggs: on a stream, partials are numbers or pairs of them; "
                f"{_names(features.compiled)} keep rows of numbers, which streams do not take yet"
            )
        types = {name: plain_type(plan.schema.field(name).type) for name in plan.columns}
        types[plan.order[0]] = plan.order_type
        maps = Maps(plan.key, types, features)
        self._cells_schema, self._waiting_schema = maps.schema, pa.schema(list(types.items()))
        self._tick = arrow.nanoseconds_per_tick(plan.order_type)
        names = list(plan.windows)
        periods = [_in_ticks(name, window, self._tick) for name, window in plan.windows.items()]
        self._groups = [
            _Group(number, plan, features, maps, shared, [names[q] for q in shared.queries])
            for number, shared in enumerate(share(periods).groups)
        ]
        self.description = _description(plan, types, features, shards)
        digest = hashlib.sha256("\n".join(self.description).encode()).digest()
        self._fingerprint = int.from_bytes(digest[:8], "little", signed=True)

    def advance(self, storage: Storage, batches: Iterable[pa.Table], watermark: int) -> Step:
        """Take the events of a shard that came with a batch, and answer what is final.

        Args:
            storage: of the shard.
            batches: the events, in the order of arrival.
            watermark: in milliseconds; up to 0 there is none yet.
        """
        blocks, step = Blocks(storage), Step()
        header = self._header(blocks)
        edges_now = [group.edge_at(self._ticks_of(watermark)) for group in self._groups]
        with overflow_named():
            columns = self._arrived(batches, edges_now, step)
            for group, state, edge in zip(self._groups, header.groups, edges_now, strict=True):
                waiting = WaitingEvents(blocks, group.number, self._waiting_schema, state)
                if columns is not None:
                    waiting.add(*group.held(columns, self._times(columns)))
                if edge is not None and edge > state.edge:
                    forest = MapForest(group.maps, blocks, group.number, state)
                    step.answers += group.move(state, forest, waiting, edge, self._times)
        due = [
            time
            for group, state in zip(self._groups, header.groups, strict=True)
            for time in group.due(state)
        ]
        if due:
            step.timer = -(-min(due) * self._tick // _NANOSECONDS_IN_A_MILLISECOND)
        step.timer_before = None if header.timer == NONE else header.timer
        header.timer = NONE if step.timer is None else step.timer
        blocks.write(block_number(HEADER), header.encoded())
        step.bytes_read, step.bytes_written = blocks.bytes_read, blocks.bytes_written
        return step

    # The state of a shard ------------------------------------------------------------------------

    def _header(self, blocks: Blocks) -> Header:
        content = blocks.bytes_of(block_number(HEADER))
        if content is None:
            blocks.write(block_number(DESCRIPTION), "\n".join(self.description).encode())
            for kind, schema in (
                (CELLS_SCHEMA, self._cells_schema), (WAITING_SCHEMA, self._waiting_schema)
            ):  # fmt: skip
                blocks.write(block_number(kind), schema.serialize().to_pybytes())
            for group in self._groups:
                told = [self._tick, group.slices.period, *group.slices.edges]
                blocks.write(block_number(SLICES, group.number), integers(told))
            groups = [GroupState([0] * len(group.names)) for group in self._groups]
            return Header(self._fingerprint, groups)
        header = Header.decoded(content)
        if header.fingerprint != self._fingerprint:
            before = (blocks.bytes_of(block_number(DESCRIPTION)) or b"").decode().split("\n")
            raise IncompatibleState(
                "checkpoint: its state was written by another query: "
                f"{differences(before, self.description)}; give a new checkpoint, or the query "
                "that it was made for"
            )
        return header

    # Events --------------------------------------------------------------------------------------

    def _ticks_of(self, watermark: int) -> int | None:
        """How far time is final, in ticks of the order column."""
        if watermark <= 0:
            return None
        return watermark * _NANOSECONDS_IN_A_MILLISECOND // self._tick

    def _times(self, columns: Columns) -> Array:
        return arrow.times(columns[self._plan.order[0]])

    def _arrived(
        self, batches: Iterable[pa.Table], edges_now: Sequence[int | None], step: Step
    ) -> Columns | None:
        """The events that are not late, if there are any; counts those that are.

        An event is in all of its windows or in none: it is late as soon as its slice in some group
        is final.
        """
        tables = [batch for batch in batches if batch.num_rows]
        if not tables:
            return None
        table = pa.concat_tables(tables)
        columns = {name: arrow.whole(table[name]) for name in self._plan.columns}
        order = self._plan.order[0]
        columns[order] = in_order_type(columns[order], self._plan)
        timed = columns[order].is_valid().to_numpy(zero_copy_only=False)
        late = np.zeros(len(timed), np.bool_)
        times = self._times(columns)
        for group, edge in zip(self._groups, edges_now, strict=True):
            if edge is not None:
                late |= timed & (group.slices.slice_of(times) < edge)
        step.events, step.late = len(timed), int(late.sum())
        kept = timed & ~late
        if kept.all():
            return columns
        mask = pa.array(kept)
        return {name: column.filter(mask) for name, column in columns.items()}


class _Held(NamedTuple):
    """The cells that the windows from one begin to another are made of."""

    maps: list[pa.RecordBatch]
    front: int


class _Group:
    """Windows that share slices; `windows` are in ticks."""

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
        self.slices: Slices = shared.slices
        self._windows = shared.windows
        self._plan, self._features = plan, features
        self._kernels = SliceKernels(features, plan, names)

    def edge_at(self, time: int | None) -> int | None:
        """The oldest slice that is not final when time is final up to `time`."""
        return None if time is None else self.slices.slice_at(time)

    def held(self, columns: Columns, times: Array) -> tuple[Columns, Array]:
        """The events that some window holds, and their slices."""
        holds = np.logical_or.reduce([window.holds(times) for window in self._windows])
        if not holds.all():
            mask = pa.array(holds)
            columns = {name: column.filter(mask) for name, column in columns.items()}
            times = times[holds]
        return columns, self.slices.slice_of(times)

    def due(self, state: GroupState) -> Iterator[int]:
        """When windows end that may have an answer."""
        oldest = min((each.first for each in state.waiting), default=None)
        for window, front in zip(self._windows, state.fronts, strict=True):
            if front < state.end:
                yield self._first_open(window, state.edge) + window.range
            if oldest is not None:
                start = self.slices.starts(np.array([oldest]))
                yield int(window.first_starts(start)[0]) + window.range

    def move(
        self,
        state: GroupState,
        forest: MapForest,
        waiting: WaitingEvents,
        edge: int,
        times: Any,
    ) -> list[pa.Table]:
        """Make the slices before an edge final: the answers of the windows that end by then."""
        columns = waiting.take_before(edge, lambda held: self.slices.slice_of(times(held)))
        cells = self.maps.empty
        if columns is not None:
            slices = self.slices.slice_of(times(columns))
            cells = self.maps.of_events(columns, self._plan.order, slices)
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
    ) -> _Held:
        """What the windows that begin from `low` to `high` hold of the tree.

        From where the next window begins they all hold everything, so there nodes will do. A block
        that ends before is not read again.
        """
        first, following = map(self.slices.slice_at, (low, high + window.slide))
        maps: list[pa.RecordBatch] = []
        block, end = front, forest.state.end
        while block < end:
            cells = forest.block(block)
            oldest, newest = cells[SLICE][0].as_py(), cells[SLICE][-1].as_py()
            if oldest >= following:
                break
            if newest >= first:
                maps.append(cells)
            block += 1
            if newest < following:
                front = block
        return _Held([*maps, *forest.between(block, end)], front)

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
        begins, firsts, stops = edges.held_between(
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


# What a query is ---------------------------------------------------------------------------------


def _require_supported(plan: SlidePlan) -> None:
    for name, window in plan.windows.items():
        if not (isinstance(window, TimeWindow) and isinstance(window.every, EveryTime)):
            raise InvalidArgument(
                f"windows: {name!r} is not supported on streams yet; they take periodic windows of "
                "time, as in wr.time('1 hour', every='1 minute')"
            )
    plain = [feature for feature in plan.features if not feature.compiled]
    if plain:
        raise InvalidArgument(
            f"aggs: {_names(plain)} cannot be kept in the state of a stream yet: its partials are "
            "Python objects, and state is numbers"
        )
    several = [feature for feature in plan.features if feature.monoid.members and feature.carried]
    if several:
        raise InvalidArgument(
            f"aggs: {_names(several)} answers with the values of several events, which streams do "
            "not keep yet"
        )
    if plan.changes_only:
        raise InvalidArgument("changes_only: is not supported on streams yet")


def _names(features: Iterable[Any]) -> str:
    return ", ".join(map(str, features))


def _in_ticks(name: str, window: Window, tick: int) -> PeriodicWindow:
    assert isinstance(window, TimeWindow)
    assert isinstance(window.every, EveryTime)
    extent, every = window.range // tick, window.every
    try:
        return PeriodicWindow(extent, every.time // tick, every.offset // tick)
    except InvalidArgument as error:
        raise InvalidArgument(f"windows: {name!r}: {error}") from None


def _description(
    plan: SlidePlan, types: Mapping[str, pa.DataType], features: Features, shards: int
) -> list[str]:
    """All that the layout and the meaning of a shard's state depends on, line by line."""
    inputs = [f"{column}: {types[column]}" for column in plan.key]
    return [
        f"shards={shards}",
        f"key=[{', '.join(inputs)}]",
        f"order=[{', '.join(f'{column}: {types[column]}' for column in plan.order)}]",
        *(f"window {name}={window}" for name, window in plan.windows.items()),
        *(f"aggregation {feature}" for feature in features.compiled),
        f"partials=[{', '.join(f'{each.name}: {each.dtype}' for each in features.product.fields)}]",
        f"columns=[{', '.join(f'{name}: {each}' for name, each in types.items())}]",
    ]
