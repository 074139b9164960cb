"""A query over batches in this process: the watermark, the shards, and what was counted.

What Spark does for a stream is done here, batch by batch:

1. The events of a batch go to their shards, by the hash of their key.
2. They are late by the watermark of the batches before. Then the watermark moves, and what it makes
   final is answered in the same step. Spark answers it in the batch behind.
3. At the end of the input everything is final.

      batch              1           2           3        end
      late before                    w1          w2
      answered up to     w1          w2          w3       everything
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.algebra.kinds import plain_type
from windrow.engine.columns import whole
from windrow.errors import InvalidArgument
from windrow.iterators.batches import Conforming
from windrow.iterators.open_checkpoint import OpenCheckpoint
from windrow.planning.delivery import late_rows
from windrow.planning.over_plan import OverPlan
from windrow.planning.slide_plan import SlidePlan
from windrow.planning.stream_arguments import (
    MILLISECOND,
    StreamArguments,
    delay_of,
    require_shards,
)
from windrow.stream.batch_result import BatchResult
from windrow.stream.key_hashes import hashes_of
from windrow.stream.live_blocks import LiveBlocks
from windrow.stream.plan_stream import query_of
from windrow.stream.state import NONE
from windrow.tables.choose import to_table
from windrow.windows import ticks
from windrow.work.threads import in_threads


@dataclass(frozen=True)
class Call:
    """A call on a stream, before the columns of its batches are known.

    Attributes:
        resolve: makes the plan of the call for a schema.
        stream: what the call says about its stream.
    """

    resolve: Callable[[pa.Schema], OverPlan | SlidePlan]
    stream: StreamArguments


@dataclass
class Progress:
    """How far a stream has come: with the blocks of its shards, all that a restart needs.

    Attributes:
        watermark: of the batches so far, in milliseconds; like Spark's it begins at 0.
        batches: batches that came, empty ones too.
        events: events that came.
        late: events that were dropped because they were late.
        untimed: events that were dropped because they have no time.
        is_over: whether the input has ended and what was left is answered.
        offset: the newest that came with a batch: where to go on behind it.
        sequence: batches of answers that were given.
    """

    watermark: int = 0
    batches: int = 0
    events: int = 0
    late: int = 0
    untimed: int = 0
    is_over: bool = False
    offset: Any = None
    sequence: int = 0

    def add(self, step: BatchResult) -> None:
        """Count what a shard did."""
        self.events += step.events
        self.late += step.late
        self.untimed += step.untimed


class StreamRun:
    """A query over batches. State lies in the blocks of its shards."""

    def __init__(
        self, schema: pa.Schema, call: Call, progress: Progress, kept: OpenCheckpoint | None = None
    ) -> None:
        """Refuses what is wrong with the call for batches of this schema.

        With a checkpoint, the run goes on from what was committed, if that was the same query.
        """
        self.columns = schema
        self.plan = plan = call.resolve(schema)
        if not plan.order:
            raise InvalidArgument(
                "order: events of a stream have no order of their own; name a column"
            )
        wanted = call.stream.shards
        if wanted is not None:
            require_shards(wanted, plan.key)
        shards = wanted or 1
        nullable = nullable_columns(schema)
        self._delivery = delivery = call.stream.delivery
        self.query = query_of(plan, nullable, shards, kept is None, delivery)
        assert call.stream.lateness is not None
        # An event that comes as late as it may is newer than the watermark.
        self._delay = delay_of(call.stream.lateness) + self.query.is_of_moments
        is_slide = isinstance(plan, SlidePlan)
        columns = plan.columns if is_slide and not delivery.side else schema.names
        self._columns = Conforming(schema, columns, takes_more=is_slide)
        self.schema = delivery.columns(_answered_schema(plan, schema), schema)
        self.progress = progress
        self._tick = ticks.nanoseconds_per_tick(plain_type(schema.field(plan.order[0]).type))
        if kept is None:
            self.shards = [LiveBlocks() for _ in range(shards)]
        else:
            self.shards = kept.shards(shards)
        if kept is None or kept.is_new:
            self._begin(call.stream.history)
        else:
            for blocks in self.shards:
                self.query.require_own(blocks)

    def conformed(self, table: pa.Table) -> pa.Table:
        """A batch in the columns of the first; refuses what cannot be brought to them."""
        self.progress.batches += 1
        return self._columns.table(table, f"data: batch {self.progress.batches}")

    def take(self, table: pa.Table) -> list[pa.RecordBatch]:
        """Take a batch, conformed, and answer what became final."""
        self.progress.watermark = max(self.progress.watermark, self._reached(table))
        parts = self._parts(table)

        def advance(shard: int) -> BatchResult:
            return self.query.advance(
                self.shards[shard], [parts[shard]], self.progress.watermark, is_behind=True
            )

        return self._answers(in_threads(advance, range(len(parts))))

    def finish(self) -> list[pa.RecordBatch]:
        """Answer what is left, as on a table."""
        self.progress.is_over = True
        return self._answers(in_threads(self.query.finish, self.shards))

    @property
    def watermark(self) -> datetime | None:
        """How far time is final; None as long as nothing is."""
        if self.progress.watermark <= 0:
            return None
        zone = getattr(self.plan.schema.field(self.plan.order[0]).type, "tz", None)
        try:
            moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(
                milliseconds=self.progress.watermark
            )
        except OverflowError:
            moment = datetime.max.replace(tzinfo=UTC)
        return moment if zone is not None else moment.replace(tzinfo=None)

    # Shards --------------------------------------------------------------------------------------

    def _begin(self, history: Any) -> None:
        """Take the events of a table before the first batch."""
        table, final = self._columns.schema.empty_table(), NONE
        if history is not None:
            table = self._columns.table(to_table(history), "history: it")
            final = self._reached(table) if table.num_rows else NONE
        for blocks, part in zip(self.shards, self._parts(table), strict=True):
            self.query.begin(blocks, [part], final, is_behind=True)
        self.progress.watermark = max(final, 0)

    def _parts(self, table: pa.Table) -> list[pa.Table]:
        """The events of each shard."""
        count = len(self.shards)
        if count == 1:
            return [table]
        hashes = hashes_of([whole(table[name]) for name in self.plan.key], table.num_rows)
        numbers = (hashes % np.uint64(count)).astype(np.int64)
        arranged = table.take(pa.array(np.argsort(numbers, kind="stable")))
        ends = np.cumsum(np.bincount(numbers, minlength=count))
        begins = [0, *ends.tolist()[:-1]]
        return [arranged.slice(begin, end - begin) for begin, end in zip(begins, ends, strict=True)]

    def _reached(self, table: pa.Table) -> int:
        """The watermark behind the newest event of a batch, in milliseconds."""
        order = whole(table[self.plan.order[0]])
        if order.null_count == len(order):
            return 0
        newest = pc.max(order)
        return newest.value * self._tick // MILLISECOND - self._delay  # type: ignore[no-any-return]

    # Answers -------------------------------------------------------------------------------------

    def _answers(self, steps: Iterable[BatchResult]) -> list[pa.RecordBatch]:
        """The answers of all shards, in one batch if they fit into one."""
        tables = []
        for step in steps:
            self.progress.add(step)
            answers = [self._delivery.rows(each, self.schema) for each in step.answers]
            tables += [_in_types(table, self.schema) for table in answers if table.num_rows]
            tables += [late_rows(each, self.schema) for each in step.late_events]
        if not tables:
            return []
        found: list[pa.RecordBatch] = pa.concat_tables(tables).combine_chunks().to_batches()
        return found


def nullable_columns(schema: pa.Schema) -> set[str]:
    """The columns that may hold nulls, in batches to come too."""
    return {field.name for field in schema if field.nullable}


def _answered_schema(plan: OverPlan | SlidePlan, events: pa.Schema) -> pa.Schema:
    if isinstance(plan, SlidePlan):
        return plan.output_schema
    return pa.schema([*events, *plan.output_fields])


def _in_types(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """Answers in the types that were promised: events wait in plain types."""
    if table.schema.equals(schema):
        return table
    columns = [
        column if column.type == field.type else _cast(column, field.type)
        for column, field in zip(table.select(schema.names).columns, schema, strict=True)
    ]
    return pa.table(columns, schema=schema)


def _cast(column: pa.ChunkedArray, data_type: pa.DataType) -> pa.ChunkedArray:
    if pa.types.is_dictionary(data_type):
        encoded = _cast(column, data_type.value_type).combine_chunks().dictionary_encode()
        return pa.chunked_array([encoded.cast(data_type)])
    if pa.types.is_run_end_encoded(data_type):
        ends = pc.run_end_encode(column, run_end_type=data_type.run_end_type)
        return ends if ends.type == data_type else ends.cast(data_type)
    return column.cast(data_type)
