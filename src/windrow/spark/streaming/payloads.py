"""Events into payloads, one for each shard.

Spark's stateful operator calls Python for every row and key. A payload is a row that holds many
events of one shard as the bytes of an Arrow batch, so that it is called for shards, and with few
rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.types import StructType

from windrow.spark.bridge.answer_columns import answers_to_many
from windrow.spark.bridge.arrow_batches import Maker
from windrow.spark.streaming.shards import labels

PACKED = StructType().add("shard", "integer").add("newest", "timestamp").add("payload", "binary")
_PACKED = pa.schema(
    [("shard", pa.int32()), ("newest", pa.timestamp("us", "UTC")), ("payload", pa.binary())]
)
#: so many events are packed at once, fewer if they are wide: a payload is one value of a row
_EVENTS_AT_ONCE = 2**18
_BYTES_AT_ONCE = 2**26


def pack(schema: pa.Schema, order: str, shards: int, history: bool = False) -> Maker:
    """What packs the events of a task.

    Args:
        schema: the columns of an event. The batches have the number of its shard in front.
        order: the column that says when an event was.
        shards: how many there are.
        history: whether they go before a stream. All shards are then told of all events how new
            they are, so that each finds out how far time is final.
    """
    stands_for = np.array(labels(shards), np.int32)
    told = stands_for.tolist() if history else [0]

    def packed(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        numbers = batch.column(0).to_numpy()
        events = pa.RecordBatch.from_arrays(
            [
                column.cast(field.type)
                for column, field in zip(batch.columns[1:], schema, strict=True)
            ],
            schema=schema,
        )
        yield _payloads(events, numbers, events[order], stands_for, told)

    return lambda batches: answers_to_many(batches, packed, _EVENTS_AT_ONCE, _BYTES_AT_ONCE)


def _payloads(
    events: pa.RecordBatch, numbers: Any, times: pa.Array, stands_for: Any, told: Sequence[int]
) -> pa.RecordBatch:
    """One row for each shard that has events, and an empty one for those that are told anyway.

    Label 0 is always told. By that row a query is told from the one that its state was made by,
    also when the keys of the first batch lie in other shards.
    """
    arranged = events.take(pa.array(np.argsort(numbers, kind="stable")))
    ends = np.cumsum(np.bincount(numbers, minlength=len(stands_for))).tolist()
    shards, payloads, begin = list(told), [b""] * len(told), 0
    for label, end in zip(stands_for.tolist(), ends, strict=True):
        if end > begin:
            shards.append(label)
            payloads.append(arranged.slice(begin, end - begin).serialize().to_pybytes())
        begin = end
    newest = [_instant(times)] * len(shards)
    return pa.RecordBatch.from_arrays(
        [pa.array(shards, pa.int32()), pa.array(newest, _PACKED.field("newest").type),
         pa.array(payloads, pa.binary())],
        schema=_PACKED,
    )  # fmt: skip


def _instant(times: pa.Array) -> int:
    """The newest time, in microseconds; clocks without a zone are taken to be in UTC."""
    newest = pc.max(times.cast(pa.timestamp("us")))
    return newest.value if newest.is_valid else 0
