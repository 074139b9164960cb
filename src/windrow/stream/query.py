"""A query over a stream: what one shard does with a batch of its events and a watermark.

Time is cut into slices. The watermark says how far time is final: a slice that ends by then gets no
more events. Where slices are moments, the moment of the watermark itself is final, as it is for
Spark's own operators. A batch takes four steps:

1. Events in final slices are late: they are counted and dropped. So are events without a time,
   because nothing says when they are final.
2. The other events wait until their slice is final, because combining has to follow the order of
   events (see `waiting`; and `slices/waiting_partials` where the order does not matter).
3. Each group of windows gets the events that have become final for it, answers what they complete,
   and keeps what answers to come need (see `group`).
4. The header is written, with the watermark at which there may be more answers.

An operator in front of the query hands it, with each batch, the events that this batch's watermark
made final for the operator. So behind an operator, events are late by the watermark of the batch
before. The shard keeps that watermark, and is woken whenever the watermark moves.

      watermark                    before                 now
      operator in front              |   gives events      |
      query behind it       late     |   takes and answers |   takes
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pyarrow as pa

from windrow.engine import columns as arrow
from windrow.engine.named_failures import kernels_named
from windrow.errors import IncompatibleState
from windrow.planning.over_plan import OverPlan
from windrow.planning.slide_plan import SlidePlan
from windrow.planning.stream_arguments import MILLISECOND
from windrow.planning.stream_plan import GroupPlan
from windrow.slicing import LIMIT
from windrow.slicing.calendar_slices import numbers_of
from windrow.stream.batch_result import BatchResult
from windrow.stream.description import description_of, differences
from windrow.stream.group import FURTHEST, Array, Columns, WindowGroup
from windrow.stream.header import GroupState, ShardHeader, WaitingState
from windrow.stream.state import (
    DESCRIPTION,
    HEADER,
    KEY,
    NONE,
    SLICES,
    WAITING_SCHEMA,
    ShardBlocks,
    ShardPlace,
    Storage,
    block_number,
    blocks_in,
    integers,
    require_numbers,
)
from windrow.stream.streamed import require_streamed
from windrow.stream.waiting import WaitingEvents
from windrow.windows import ticks

#: behind every frontier, in milliseconds: the watermark of a stream that has ended
_ENDLESS = 2**63 * 10**9


class StreamQuery:
    """A plan over a stream. It remembers nothing itself: state lies in each shard's storage.

    Attributes:
        keeps_late: whether late events are given back, with all their columns.
    """

    keeps_late = False

    def __init__(
        self,
        plan: SlidePlan | OverPlan,
        types: Mapping[str, pa.DataType],
        groups: Sequence[WindowGroup],
        shards: int,
    ) -> None:
        """Refuse here what a task would refuse later.

        Args:
            plan: an arranged plan (see `description`).
            types: the columns of an event that wait with it, and their types.
            groups: all windows of the plan.
            shards: among how many shards the keys are spread.
        """
        require_streamed(plan, types)
        self._columns, self._order = list(types), plan.order[0]
        self._features = plan.features
        self._tick = ticks.nanoseconds_per_tick(types[self._order])
        self._waiting_schema = pa.schema(list(types.items()), {KEY: json.dumps(plan.key)})
        require_numbers(len(groups))
        self._groups = groups
        #: for each group, 1 if the tick of the watermark itself is final; a day is no moment
        is_clock = pa.types.is_timestamp(types[self._order])
        self._margins = [int(is_clock and group.of_moments) for group in groups]
        kept = [line for group in groups for line in group.kept]
        self.description = description_of(plan, types, kept, shards)
        digest = hashlib.sha256("\n".join(self.description).encode()).digest()
        self._fingerprint = int.from_bytes(digest[:8], "little", signed=True)

    @property
    def is_of_moments(self) -> bool:
        """Whether an event is late that is as old as the watermark."""
        return any(self._margins)

    def describe(self) -> list[GroupPlan]:
        """How each group of windows keeps its state (see `GroupPlan`)."""
        return [group.describe() for group in self._groups]

    def advance(
        self,
        storage: Storage | ShardBlocks,
        batches: Iterable[pa.Table],
        watermark: int,
        is_behind: bool = False,
    ) -> BatchResult:
        """Take the events of a shard that came with a batch, and answer what is final.

        Args:
            storage: where the shard's blocks lie, or the blocks themselves (see `live_blocks`).
            batches: the events, in the order of arrival.
            watermark: in milliseconds; up to 0 there is none yet.
            is_behind: whether there may be an operator in front. Then a shard has to `begin`.
        """
        blocks, step = blocks_in(storage), BatchResult()
        header = self._header(blocks)
        late = header.watermark if is_behind and header.watermark != NONE else watermark
        final = watermark
        with kernels_named(self._features):
            if header.history != NONE:
                # The table has answered what it makes final, so these answers are dropped.
                self._move(blocks, header, [], 0, header.history, BatchResult())
                late, final = (max(each, header.history) for each in (late, watermark))
            self._move(blocks, header, batches, late, final, step)
        header.watermark = max(header.watermark, watermark)
        return self._written(blocks, header, is_behind, step)

    def begin(
        self,
        storage: Storage | ShardBlocks,
        batches: Iterable[pa.Table],
        final: int = NONE,
        is_behind: bool = False,
    ) -> BatchResult:
        """Take events of a table that the stream goes on from, before the first batch.

        The table gives the answers that are final by the watermark `final`; the stream does not
        repeat them. You may call this several times; the highest watermark counts.
        """
        blocks, step = blocks_in(storage), BatchResult()
        header = self._header(blocks)
        self._take_history(blocks, header, batches, step)
        header.history = max(header.history, final)
        header.watermark = 0
        return self._written(blocks, header, is_behind, step)

    def finish(self, storage: Storage | ShardBlocks) -> BatchResult:
        """Answer what is left, as on a table: no event comes any more."""
        blocks, step = blocks_in(storage), BatchResult()
        header = self._header(blocks)
        with kernels_named(self._features):
            if header.history != NONE:
                self._move(blocks, header, [], 0, header.history, BatchResult())
            self._move(blocks, header, [], 0, _ENDLESS, step)
        return self._written(blocks, header, False, step)

    def _take_history(
        self,
        blocks: ShardBlocks,
        header: ShardHeader,
        batches: Iterable[pa.Table],
        step: BatchResult,
    ) -> None:
        """Take events of a table before the first batch, and answer nothing."""
        self._move(blocks, header, batches, 0, 0, step)

    def _move(
        self,
        blocks: ShardBlocks,
        header: ShardHeader,
        batches: Iterable[pa.Table],
        late: int,
        final: int,
        step: BatchResult,
    ) -> None:
        """Take events that are not late, and let every group answer what is final.

        `late` and `final` are the watermarks that decide which events are late, and what is final.
        """
        waiting = self._waiting(blocks, header.waiting)
        arrived = self._arrived(batches, max(self._frontiers(late, header)), step)
        before, now = [state.frontier for state in header.groups], self._frontiers(final, header)
        if arrived is not None:
            columns, times = arrived
            waiting.add(columns, self._last_edges(times), max(now))
        taken = waiting.take(before, now)
        step.answers += self._answered(blocks, header.groups, taken, now)
        waiting.merge(now)

    def _waiting(self, blocks: ShardBlocks, state: WaitingState) -> WaitingEvents:
        """The events of a shard that wait."""
        return WaitingEvents(blocks, self._waiting_schema, state, self._joint_begins)

    def _answered(
        self,
        blocks: ShardBlocks,
        states: Sequence[GroupState],
        taken: Sequence[pa.RecordBatch],
        now: Sequence[int],
    ) -> list[pa.Table]:
        """Hand each group the events that were taken for it, with its new frontier."""
        answers: list[pa.Table] = []
        for group, state, events, frontier in zip(self._groups, states, taken, now, strict=True):
            if frontier > state.frontier:
                answers += group.move(state, blocks, self._held(group, events), frontier)
        return answers

    def _written(
        self, blocks: ShardBlocks, header: ShardHeader, is_behind: bool, step: BatchResult
    ) -> BatchResult:
        """Write the header, and say when the shard is to be woken."""
        step.timer = header.watermark + 1 if is_behind else self._due(blocks, header)
        if step.timer is not None:
            # A watermark before 1970 is none, and a timer up to the watermark is no timer.
            step.timer = max(step.timer, 1)
        step.timer_before = None if header.timer == NONE else header.timer
        header.timer = NONE if step.timer is None else step.timer
        blocks.write(block_number(HEADER), header.encoded())
        step.bytes_read, step.bytes_written = blocks.bytes_read, blocks.bytes_written
        return step

    def _due(self, blocks: ShardBlocks, header: ShardHeader) -> int | None:
        """The watermark at which there may be more answers."""
        due = [
            -(-(time - margin) * self._tick // MILLISECOND)
            for group, state, margin in zip(self._groups, header.groups, self._margins, strict=True)
            for time in group.due(state, blocks, header.waiting.oldest(state.frontier))
        ]
        return min((time for time in due if time < LIMIT), default=None)

    # The state of a shard ------------------------------------------------------------------------

    def require_own(self, storage: Storage | ShardBlocks) -> None:
        """Refuse a shard without state, or whose state another query wrote."""
        blocks = blocks_in(storage)
        if not blocks.has(block_number(HEADER)):
            raise ShardPlace(block_number(HEADER)).missing()
        self._header(blocks)

    def _header(self, blocks: ShardBlocks) -> ShardHeader:
        """The header of a shard; raises if another query wrote it."""
        content = blocks.bytes_of(block_number(HEADER))
        if content is None:
            blocks.require_new()
            self._write_description(blocks)
            groups = [GroupState([0] * len(group.names)) for group in self._groups]
            return ShardHeader(self._fingerprint, groups)
        header = ShardHeader.decoded(content)
        if header.fingerprint != self._fingerprint:
            before = (blocks.bytes_of(block_number(DESCRIPTION)) or b"").decode().split("\n")
            raise IncompatibleState(
                "checkpoint: its state was written by another query: "
                f"{differences(before, self.description)}. Go on with the query that it was made "
                "for; or give a new checkpoint, with history= the events so far, to go on from them"
            )
        return header

    def _write_description(self, blocks: ShardBlocks) -> None:
        """Write what stays the same in every batch."""
        blocks.write(block_number(DESCRIPTION), "\n".join(self.description).encode())
        layouts = {block_number(WAITING_SCHEMA): self._waiting_schema}
        for group in self._groups:
            for kind, schema in group.layouts.items():
                if layouts.setdefault(block_number(kind), schema) != schema:
                    layouts[block_number(kind, group.number)] = schema
        for number, schema in layouts.items():
            blocks.write(number, schema.serialize().to_pybytes())
        for group in self._groups:
            slices = integers(numbers_of(group.slices, self._tick))
            blocks.write(block_number(SLICES, group.number), slices)

    # Time ----------------------------------------------------------------------------------------

    def _frontiers(self, watermark: int, header: ShardHeader) -> list[int]:
        """For each group, when its first slice begins that is not final by a watermark.

        What was final once stays final.
        """
        before = [state.frontier for state in header.groups]
        if watermark <= 0:
            return before
        reached = watermark * MILLISECOND // self._tick
        frontiers = []
        for group, margin in zip(self._groups, self._margins, strict=True):
            number = group.slices.slice_at(min(reached + margin, FURTHEST))
            frontiers.append(int(group.slices.starts(np.array([number]))[0]))
        return list(map(max, frontiers, before))

    def _times(self, columns: Columns) -> Array:
        return ticks.times(columns[self._order])

    def _joint_begins(self, columns: Columns) -> Array:
        """For each event, when its joint slice begins (see `waiting`)."""
        return self._last_edges(self._times(columns))

    def _last_edges(self, times: Array) -> Array:
        """For each time, the last edge of any group's slices at or before it."""
        if any(group.of_moments for group in self._groups):
            return times
        begins = []
        for group in self._groups:
            own = group.slices.starts(group.slices.slice_of(times))
            # Beyond 64 bits a begin wraps; then the time itself tells the slice as well.
            begins.append(np.where(own > times, times, own))
        found: Array = np.maximum.reduce(begins)
        return found

    def _moments(self, waited: pa.RecordBatch) -> Array:
        """For each event that waited, a time of its joint slice."""
        return ticks.times(waited[self._order])

    # Events --------------------------------------------------------------------------------------

    def _prepared(self, columns: dict[str, pa.Array]) -> dict[str, pa.Array]:
        """The columns of events in the types in which they are kept."""
        return columns

    def _arrived(
        self, batches: Iterable[pa.Table], frontier: int, step: BatchResult
    ) -> tuple[Columns, Array] | None:
        """The events that are not late, and their times, if any came; counts those that are late.

        An event is in all of its windows or in none: it is late as soon as its slice is final for
        some group, which is before the furthest frontier.
        """
        tables = [batch for batch in batches if batch.num_rows]
        if not tables:
            return None
        table = pa.concat_tables(tables)
        columns = self._prepared({name: arrow.whole(table[name]) for name in self._columns})
        times = self._times(columns)
        step.events, step.untimed = len(times), columns[self._order].null_count
        kept = times >= frontier
        if step.untimed:
            timed = columns[self._order].is_valid().to_numpy(zero_copy_only=False)
            late = timed & ~kept
            step.late = int(late.sum())
            kept &= timed
        else:
            late = ~kept
            step.late = len(kept) - int(np.count_nonzero(kept))
        if self.keeps_late and step.late:
            mask = pa.array(late)
            plain = {name: arrow.whole(table[name]).filter(mask) for name in table.column_names}
            step.late_events.append(pa.table(plain))
        held = [each for group in self._groups if (each := group.holds(times)) is not None]
        if len(held) == len(self._groups):
            kept &= np.logical_or.reduce(held)
        if kept.all():
            return columns, times
        mask = pa.array(kept)
        return {name: column.filter(mask) for name, column in columns.items()}, times[kept]

    def _held(self, group: WindowGroup, events: pa.RecordBatch) -> pa.RecordBatch:
        """The events that a group's windows hold: others wait for other groups."""
        if len(self._groups) == 1 or not events.num_rows:
            return events
        held = group.holds(self._moments(events))
        return events if held is None else events.filter(pa.array(held))
