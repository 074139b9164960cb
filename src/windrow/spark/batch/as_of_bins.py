"""Queries and events in bins, which tasks sort and answer as tables in process.

      queries -> [ bin | bytes of an Arrow batch ] \
                                                       } -> [shuffle] -> a table of each, one bin
      events  -> [ bin | bytes of an Arrow batch ] /                  after the other

Keys are spread over bins by their hash. A bin holds all rows of its keys and fits in memory.
So Spark shuffles a few large values in place of many rows, and sorts none of them: for 10 million
events and 1 million queries, the way of the rows took a third of the time that it takes to shuffle
and sort them one by one (`as_of_dataframe.py`), which is for keys that are too large.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from windrow.engine.as_of_batches import inputs_of
from windrow.engine.as_of_block import AsOfKernels
from windrow.engine.as_of_table import answers_to
from windrow.planning.as_of_plan import AsOfPlan
from windrow.spark.batch.chunks import number_of_chunks
from windrow.spark.bridge.answer_columns import ROWS_AT_ONCE, answers_in_bulk, read_columns
from windrow.spark.bridge.arrow_batches import BatchMaker, map_partitions, mapped
from windrow.spark.bridge.scans import estimated_bytes
from windrow.spark.bridge.schema import arrow_schema, nullable_columns, spark_schema, under_names
from windrow.spark.bridge.source import Source
from windrow.work import sizes

_PACKED = StructType().add("bin", "integer").add("asks", "boolean").add("payload", "binary")
#: rows that are packed at once
_ROWS_PACKED = 2**18
#: about how many bytes of the data a bin holds, by Spark's estimate
_BIN_BYTES = 2**25
#: fewer bytes are not worth a task
_TASK_BYTES = 2**20


def answered_in_bins(
    queries: Source, events: Source, plan: AsOfPlan, result: StructType, name: str
) -> Any:
    """The queries with the answers of one source.

    Args:
        queries, events: both; Spark may be asked about them.
        plan: what is asked.
        result: the columns of the answers, under names that Spark does not misread.
        name: what Spark's plans and its UI show.
    """
    tasks, bins = _numbers(queries, events)
    inputs = list(dict.fromkeys([*plan.key, *plan.order, *inputs_of(plan)]))
    read = read_columns(events, inputs)
    timed = F.col(read.schema.names[inputs.index(plan.order[0])]).isNotNull()
    told = replace(read, frame=read.frame.where(timed))
    asked, happened = arrow_schema(queries), under_names(arrow_schema(told), inputs)
    partition = F.pmod(F.col("bin"), F.lit(tasks)).cast("int")
    together = (
        _packed(queries, asked, True, plan, bins)
        .union(_packed(told, happened, False, plan, bins))
        .repartitionById(tasks, partition)
    )
    answer = _Bins(plan, nullable_columns(events), asked, happened, result.names)
    return mapped(together.sortWithinPartitions("bin"), answer.answers, result, name)


def _numbers(queries: Source, events: Source) -> tuple[int, int]:
    """How many tasks there are to be, and how many bins."""
    size = estimated_bytes(queries.frame) + estimated_bytes(events.frame)
    tasks = min(number_of_chunks(queries.frame.sparkSession), -(-size // _TASK_BYTES))
    return tasks, tasks * min(-(-size // (tasks * _BIN_BYTES)), 64)


def _packed(source: Source, schema: pa.Schema, asks: bool, plan: AsOfPlan, bins: int) -> Any:
    """The rows of a source as payloads of their bins; `schema` are its columns."""
    names = [f"column_{place}" for place in range(len(schema))]
    types = spark_schema(pa.schema(list(zip(plan.key, plan.key_types, strict=True))))
    # Equal values of different types have one hash only in one type.
    key = [F.col(names[schema.names.index(name)]).cast(types[name].dataType) for name in plan.key]
    bin = F.pmod(F.xxhash64(*key), F.lit(bins)).cast("int").alias("bin")
    rows = source.frame.toDF(*names).select(bin, *names)
    title = f"windrow as_of: {'queries' if asks else 'events'} into bins"
    packing = _packing(schema, asks, bins)
    return map_partitions(rows, ["bin", *names], packing, _PACKED, title)


def _packing(schema: pa.Schema, asks: bool, bins: int) -> BatchMaker:
    """A function that packs the rows of a task; their first column says the bin."""

    def pack_rows(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        numbers = batch.column(0).to_numpy().astype(np.int16 if bins < 2**15 else np.int64)
        order = pa.array(np.argsort(numbers, kind="stable"))
        columns = [
            column.cast(field.type) for column, field in zip(batch.columns[1:], schema, strict=True)
        ]
        rows = pa.RecordBatch.from_arrays(columns, schema=schema).take(order)
        ends = np.cumsum(np.bincount(numbers, minlength=bins))
        found, payloads, begin = [], [], 0
        for bin, end in enumerate(ends.tolist()):
            if end > begin:
                found.append(bin)
                payloads.append(rows.slice(begin, end - begin).serialize().to_pybytes())
            begin = end
        packed = [
            pa.array(found, pa.int32()),
            pa.array([asks] * len(found), pa.bool_()),
            pa.array(payloads, pa.binary()),
        ]
        yield pa.RecordBatch.from_arrays(packed, _PACKED.names)

    most = sizes.current().payload_bytes
    return lambda batches: answers_in_bulk(batches, pack_rows, _ROWS_PACKED, most)


@dataclass(frozen=True)
class _Bins:
    """Answers the bins of a task.

    Attributes:
        plan: what is asked.
        nullable: the columns of events that may hold nulls.
        queries, events: the columns of payloads.
        names: the columns of the answers.
    """

    plan: AsOfPlan
    nullable: set[str]
    queries: pa.Schema
    events: pa.Schema
    names: Sequence[str]

    def answers(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The queries of each bin with their answers."""
        kernels = AsOfKernels(self.plan, self.nullable)
        for asked, told in self._tables(batches):
            if not asked.num_rows:
                continue
            places = [self.queries.names.index(name) for name in self._compared]
            queries = pa.table([asked.column(place) for place in places], self._compared)
            found = answers_to(queries, told, kernels, self.plan.order[1:])
            table = pa.table([*asked.columns, *found], list(self.names))
            yield from table.combine_chunks().to_batches(max_chunksize=ROWS_AT_ONCE)

    @property
    def _compared(self) -> list[str]:
        return [*self.plan.key, self.plan.order[0]]

    def _tables(self, batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[pa.Table, pa.Table]]:
        """The queries and the events of each bin; payloads are sorted by bin."""
        current, held = None, _nothing()
        for batch in batches:
            bins, asks = batch.column(0).to_pylist(), batch.column(1).to_pylist()
            for bin, is_asked, payload in zip(bins, asks, batch.column(2), strict=True):
                if bin != current:
                    yield self._joined(held)
                    current, held = bin, _nothing()
                schema = self.queries if is_asked else self.events
                held[is_asked].append(_read(payload.as_buffer(), schema))
        yield self._joined(held)

    def _joined(self, held: Mapping[bool, list[pa.RecordBatch]]) -> tuple[pa.Table, pa.Table]:
        return (
            pa.Table.from_batches(held[True], self.queries),
            pa.Table.from_batches(held[False], self.events),
        )


def _nothing() -> dict[bool, list[pa.RecordBatch]]:
    return {True: [], False: []}


def _read(payload: pa.Buffer, schema: pa.Schema) -> pa.RecordBatch:
    return pa.ipc.read_record_batch(payload, schema)
