"""A query over a stream: what every kind of window does with a batch of one shard's events.

Time is cut into slices. The watermark says how far time is final: a slice that ends by then gets no
more events. Events in slices that are final are late: they are counted and dropped. The others
wait, as they are, until their slice is final, because combining has to follow the order of events.
What is done with slices that have become final is the business of groups, the windows that share
slices.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from windrow.algebra.kinds import plain_type
from windrow.errors import IncompatibleState, InvalidArgument
from windrow.planning.resolve import OverPlan
from windrow.planning.slide import SlidePlan
from windrow.runtime import columns as arrow
from windrow.runtime.features import Features, overflow_named
from windrow.runtime.stream.forest import MapForest
from windrow.runtime.stream.maps import Maps
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
from windrow.slicing import LIMIT, Slices

Array: TypeAlias = "np.ndarray[Any, Any]"
Columns = Mapping[str, pa.Array]
Times = Callable[[Columns], Array]

_NANOSECONDS_IN_A_MILLISECOND = 1_000_000


@dataclass
class Step:
    """What came of a batch.

    Attributes:
        answers: as tables.
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


class Group(ABC):
    """Windows that share slices.

    Attributes:
        number: tells it from the other groups of the query.
        names: of its windows.
        maps: how its cells are laid out.
        slices: in ticks of the order column.
    """

    number: int
    names: Sequence[str]
    maps: Maps
    slices: Slices

    def held(self, columns: Columns, times: Array) -> tuple[Columns, Array]:
        """The events that some window holds, and their slices."""
        return columns, self.slices.slice_of(times)

    @abstractmethod
    def due(self, state: GroupState) -> Iterator[int]:
        """How far time has to be final for the next answers, in ticks; nothing if none wait."""

    @abstractmethod
    def move(
        self, state: GroupState, forest: MapForest, waiting: WaitingEvents, edge: int, times: Times
    ) -> list[pa.Table]:
        """Make the slices before an edge final: the answers that this completes."""


class StreamQuery:
    """A plan over a stream; what is remembered lies in each shard's storage."""

    def __init__(
        self,
        plan: SlidePlan | OverPlan,
        types: Mapping[str, pa.DataType],
        features: Features,
        groups: Sequence[Group],
        shards: int,
    ) -> None:
        """`types` are those of the columns of an event that are kept."""
        self._columns, self._order = list(types), plan.order[0]
        self._tick = arrow.nanoseconds_per_tick(types[self._order])
        self._waiting_schema = pa.schema(list(types.items()))
        self._groups = groups
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
        with overflow_named():
            if header.history != NONE:
                # What the table makes final it has answered itself.
                self._move(blocks, header, [], header.history, Step())
                watermark = max(watermark, header.history)
            self._move(blocks, header, batches, watermark, step)
        return self._written(blocks, header, step)

    def begin(self, storage: Storage, batches: Iterable[pa.Table], watermark: int) -> Step:
        """Take events of a table that the stream goes on from, before the first batch.

        The answers that are final by the watermark are the table's own, and are not given. May be
        called several times; the highest watermark counts.
        """
        blocks, step = Blocks(storage), Step()
        header = self._header(blocks)
        self._move(blocks, header, batches, 0, step)
        header.history = max(header.history, watermark)
        return self._written(blocks, header, step)

    def _move(
        self,
        blocks: Blocks,
        header: Header,
        batches: Iterable[pa.Table],
        watermark: int,
        step: Step,
    ) -> None:
        """Take events, and let every group answer what is final."""
        final = self._ticks_of(watermark)
        edges_now = [
            None if final is None else group.slices.slice_at(final) for group in self._groups
        ]
        columns = self._arrived(batches, edges_now, step)
        for group, state, edge in zip(self._groups, header.groups, edges_now, strict=True):
            waiting = WaitingEvents(blocks, group.number, self._waiting_schema, state)
            if columns is not None:
                waiting.add(*group.held(columns, self._times(columns)))
            if edge is not None and edge > state.edge:
                forest = MapForest(group.maps, blocks, group.number, state)
                step.answers += group.move(state, forest, waiting, edge, self._times)

    def _written(self, blocks: Blocks, header: Header, step: Step) -> Step:
        """Write the header, and say when there may be more answers."""
        due = [
            -(-time * self._tick // _NANOSECONDS_IN_A_MILLISECOND)
            for group, state in zip(self._groups, header.groups, strict=True)
            for time in group.due(state)
        ]
        step.timer = min((time for time in due if time < LIMIT), default=None)
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
                (CELLS_SCHEMA, self._groups[0].maps.schema), (WAITING_SCHEMA, self._waiting_schema)
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
                f"{differences(before, self.description)}. Go on with the query that it was made "
                "for; or give a new checkpoint, with history= the events so far, to go on from them"
            )
        return header

    # Events --------------------------------------------------------------------------------------

    def _prepared(self, columns: dict[str, pa.Array]) -> dict[str, pa.Array]:
        """The columns of events in the types in which they are kept."""
        return columns

    def _ticks_of(self, watermark: int) -> int | None:
        """How far time is final, in ticks of the order column."""
        if watermark <= 0:
            return None
        return watermark * _NANOSECONDS_IN_A_MILLISECOND // self._tick

    def _times(self, columns: Columns) -> Array:
        return arrow.times(columns[self._order])

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
        columns = self._prepared({name: arrow.whole(table[name]) for name in self._columns})
        timed = columns[self._order].is_valid().to_numpy(zero_copy_only=False)
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


# What a query is ---------------------------------------------------------------------------------


def column_types(plan: SlidePlan | OverPlan, columns: Iterable[str]) -> dict[str, pa.DataType]:
    """The types in which columns are kept."""
    return {name: plain_type(plan.schema.field(name).type) for name in columns}


def compiled_features(plan: SlidePlan | OverPlan, nullable: AbstractSet[str]) -> Features:
    """The features of a plan, all of whose partials are numbers; refuses others."""
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
    features = Features(plan.features, nullable)
    if features.product.holds_rows:
        raise InvalidArgument(
            f"aggs: {_names(features.compiled)} cannot be kept in the state of a stream yet: some "
            "of their partials are rows of arrays"
        )
    return features


def _names(features: Iterable[Any]) -> str:
    return ", ".join(map(str, features))


def _description(
    plan: SlidePlan | OverPlan, types: Mapping[str, pa.DataType], features: Features, shards: int
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
