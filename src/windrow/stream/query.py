"""A query over a stream: what every kind of window does with a batch of one shard's events.

Time is cut into slices. The watermark says how far time is final: a slice that ends by then gets no
more events. Where slices are moments, the one that the watermark is at is final, as it is for
Spark's own operators. Events in slices that are final are late: they are counted and dropped. So
are events without a time, because there is no telling when they are final. The others wait, as they
are, until their slice is final, because combining has to follow the order of events. What is done
with slices that have become final is the business of groups, the windows that share slices.

An operator in front of the query gives, with each batch, what that batch's watermark made final. So
behind one, events are late by the watermark of the batch before. A shard keeps it, and is woken
whenever the watermark moves.

      watermark                    before                 now
      operator in front              |   gives events      |
      query behind it       late     |   takes and answers |   takes
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pyarrow as pa

from windrow.engine import columns as arrow
from windrow.engine.named_failures import kernels_named
from windrow.errors import IncompatibleState, InvalidArgument
from windrow.planning.over_plan import OverPlan
from windrow.planning.slide_plan import SlidePlan
from windrow.slicing import LIMIT
from windrow.stream.description import description_of, differences
from windrow.stream.group import Array, Columns, GroupPlan, WindowGroup
from windrow.stream.state import (
    DESCRIPTION,
    HEADER,
    KEY,
    NONE,
    SLICES,
    WAITING_SCHEMA,
    GroupState,
    ShardBlocks,
    ShardHeader,
    Storage,
    block_number,
    integers,
    require_numbers,
)
from windrow.stream.waiting import WaitingEvents

_NANOSECONDS_IN_A_MILLISECOND = 1_000_000


@dataclass
class Step:
    """What came of a batch.

    Attributes:
        answers: as tables.
        events: how many came.
        late: how many of them were dropped, because their slice was final.
        untimed: how many of them were dropped, because they had no time.
        timer: the watermark, in milliseconds, at which there may be more answers; None for never.
        timer_before: what it was when the batch came.
        bytes_read, bytes_written: of state.
    """

    answers: list[pa.Table] = field(default_factory=list)
    events: int = 0
    late: int = 0
    untimed: int = 0
    timer: int | None = None
    timer_before: int | None = None
    bytes_read: int = 0
    bytes_written: int = 0


class StreamQuery:
    """A plan over a stream; what is remembered lies in each shard's storage."""

    def __init__(
        self,
        plan: SlidePlan | OverPlan,
        types: Mapping[str, pa.DataType],
        groups: Sequence[WindowGroup],
        shards: int,
    ) -> None:
        """What a task would refuse is refused.

        Args:
            plan: what is asked, arranged.
            types: those of the columns of an event that wait with it.
            groups: of windows.
            shards: in how many of them keys are kept.
        """
        self._columns, self._order = list(types), plan.order[0]
        self._features = plan.features
        _require_time(self._order, types[self._order])
        self._tick = arrow.nanoseconds_per_tick(types[self._order])
        self._waiting_schema = pa.schema(list(types.items()), {KEY: json.dumps(plan.key)})
        require_numbers(len(groups))
        self._groups = groups
        #: for each group, how many ticks behind the watermark are final with it; a day is no moment
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
        storage: Storage,
        batches: Iterable[pa.Table],
        watermark: int,
        is_behind: bool = False,
    ) -> Step:
        """Take the events of a shard that came with a batch, and answer what is final.

        Args:
            storage: of the shard.
            batches: the events, in the order of arrival.
            watermark: in milliseconds; up to 0 there is none yet.
            is_behind: whether there may be an operator in front. Then a shard has to `begin`.
        """
        blocks, step = ShardBlocks(storage), Step()
        header = self._header(blocks)
        late = header.watermark if is_behind and header.watermark != NONE else watermark
        final = watermark
        with kernels_named(self._features):
            if header.history != NONE:
                # What the table makes final it has answered itself.
                self._move(blocks, header, [], 0, header.history, Step())
                late, final = (max(each, header.history) for each in (late, watermark))
            self._move(blocks, header, batches, late, final, step)
        header.watermark = max(header.watermark, watermark)
        return self._written(blocks, header, is_behind, step)

    def begin(
        self,
        storage: Storage,
        batches: Iterable[pa.Table],
        final: int = NONE,
        is_behind: bool = False,
    ) -> Step:
        """Take events of a table that the stream goes on from, before the first batch.

        The answers that are final by the watermark `final` are the table's own, and are not given.
        May be called several times; the highest watermark counts.
        """
        blocks, step = ShardBlocks(storage), Step()
        header = self._header(blocks)
        self._move(blocks, header, batches, 0, 0, step)
        header.history = max(header.history, final)
        header.watermark = 0
        return self._written(blocks, header, is_behind, step)

    def _move(
        self,
        blocks: ShardBlocks,
        header: ShardHeader,
        batches: Iterable[pa.Table],
        late: int,
        final: int,
        step: Step,
    ) -> None:
        """Take events that are not late, and let every group answer what is final."""
        columns = self._arrived(batches, self._frontiers(late), step)
        for group, state, frontier in zip(
            self._groups, header.groups, self._frontiers(final), strict=True
        ):
            waiting = WaitingEvents(
                blocks, group.number, self._waiting_schema, state, partial(self._slices, group)
            )
            if columns is not None:
                waiting.add(*group.held(columns, self._times(columns)))
            if frontier is not None and frontier > state.frontier:
                step.answers += group.move(state, blocks, waiting, frontier, self._times)
            waiting.merge()

    def _written(
        self, blocks: ShardBlocks, header: ShardHeader, is_behind: bool, step: Step
    ) -> Step:
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
            -(-(time - margin) * self._tick // _NANOSECONDS_IN_A_MILLISECOND)
            for group, state, margin in zip(self._groups, header.groups, self._margins, strict=True)
            for time in group.due(state, blocks)
        ]
        return min((time for time in due if time < LIMIT), default=None)

    # The state of a shard ------------------------------------------------------------------------

    def _header(self, blocks: ShardBlocks) -> ShardHeader:
        content = blocks.bytes_of(block_number(HEADER))
        if content is None:
            blocks.require_none(block_number(DESCRIPTION))
            blocks.write(block_number(DESCRIPTION), "\n".join(self.description).encode())
            layouts = {WAITING_SCHEMA: self._waiting_schema}
            for group in self._groups:
                layouts |= group.layouts
            for kind, schema in layouts.items():
                blocks.write(block_number(kind), schema.serialize().to_pybytes())
            for group in self._groups:
                told = [self._tick, group.slices.period, *group.slices.edges]
                blocks.write(block_number(SLICES, group.number), integers(told))
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

    # Events --------------------------------------------------------------------------------------

    def _prepared(self, columns: dict[str, pa.Array]) -> dict[str, pa.Array]:
        """The columns of events in the types in which they are kept."""
        return columns

    def _frontiers(self, watermark: int) -> list[int | None]:
        """For each group, the first slice that is not final by a watermark."""
        if watermark <= 0:
            return [None] * len(self._groups)
        reached = watermark * _NANOSECONDS_IN_A_MILLISECOND // self._tick
        return [
            group.slices.slice_at(reached + margin)
            for group, margin in zip(self._groups, self._margins, strict=True)
        ]

    def _times(self, columns: Columns) -> Array:
        return arrow.times(columns[self._order])

    def _slices(self, group: WindowGroup, columns: Columns) -> Array:
        return group.slices.slice_of(self._times(columns))

    def _arrived(
        self, batches: Iterable[pa.Table], frontiers: Sequence[int | None], step: Step
    ) -> Columns | None:
        """The events that are not late, if there are any; counts those that are.

        An event is in all of its windows or in none: it is late as soon as its slice in some group
        is final.
        """
        tables = [batch for batch in batches if batch.num_rows]
        if not tables:
            return None
        table = pa.concat_tables(tables)
        columns = self._prepared({name: arrow.whole(table[name]) for name in self._columns})
        timed = columns[self._order].is_valid().to_numpy(zero_copy_only=False)
        late = np.zeros(len(timed), np.bool_)
        times = self._times(columns)
        for group, frontier in zip(self._groups, frontiers, strict=True):
            if frontier is not None:
                late |= timed & (group.slices.slice_of(times) < frontier)
        step.events, step.late = len(timed), int(late.sum())
        step.untimed = step.events - int(timed.sum())
        kept = timed & ~late
        if kept.all():
            return columns
        mask = pa.array(kept)
        return {name: column.filter(mask) for name, column in columns.items()}


# What a query asks for ---------------------------------------------------------------------------


def _require_time(order: str, data_type: pa.DataType) -> None:
    if not (pa.types.is_timestamp(data_type) or pa.types.is_date(data_type)):
        raise InvalidArgument(
            f"order: a stream is ordered by a timestamp or a date, which its watermark is about, "
            f"and {order!r} is {data_type}"
        )
