"""Events into payloads, one for each shard.

Spark's stateful operator calls Python for every key, with its rows. A payload is one row that holds
many events of a shard as the bytes of an Arrow batch. So the operator's keys are shards, and it has
few rows to pass on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.types import StructType

from windrow.spark.bridge.answer_columns import answers_in_bulk
from windrow.spark.bridge.arrow_batches import BatchMaker
from windrow.spark.streaming.shards import labels
from windrow.work import sizes

PACKED = StructType().add("shard", "integer").add("newest", "timestamp").add("payload", "binary")
_PACKED = pa.schema(
    [("shard", pa.int32()), ("newest", pa.timestamp("us", "UTC")), ("payload", pa.binary())]
)
#: events that are packed at once, fewer if they are wide: a payload is one value of a row
_EVENTS_AT_ONCE = 2**18


def pack(schema: pa.Schema, order: str, shards: int, history: bool = False) -> BatchMaker:
    """A function that packs the events of a task.

    Args:
        schema: the columns of an event. Batches have the number of its shard in front.
        order: the column that has the time of an event.
        shards: the number of shards.
        history: whether the events come before the stream. Then every shard gets a payload, with
            the newest time of all events, so that it knows how far time is final.
    """
    label_of = np.array(labels(shards), np.int32)
    always = label_of.tolist() if history else [0]

    def packed(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        numbers = batch.column(0).to_numpy()
        events = pa.RecordBatch.from_arrays(
            [
                column.cast(field.type)
                for column, field in zip(batch.columns[1:], schema, strict=True)
            ],
            schema=schema,
        )
        yield _payloads(events, numbers, events[order], label_of, always)

    most = sizes.current().payload_bytes
    return lambda batches: answers_in_bulk(batches, packed, _EVENTS_AT_ONCE, most)


def _payloads(
    events: pa.RecordBatch, numbers: Any, times: pa.Array, label_of: Any, always: Sequence[int]
) -> pa.RecordBatch:
    """One row for each shard that has events, and an empty one for the labels in `always`.

    Label 0 is always among them. This row lets its shard detect state of another query, also if
    all keys of the first batch lie in other shards.
    """
    # numpy counts numbers of 16 bits, and sorts wider ones.
    narrow = numbers.astype(np.uint16) if len(label_of) <= 2**16 else numbers
    arranged = events.take(pa.array(np.argsort(narrow, kind="stable")))
    ends = np.cumsum(np.bincount(numbers, minlength=len(label_of))).tolist()
    shards, payloads, begin = list(always), [b""] * len(always), 0
    for label, end in zip(label_of.tolist(), ends, strict=True):
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
    """The newest time, in microseconds; times without a zone are taken to be in UTC."""
    newest = pc.max(times.cast(pa.timestamp("us")))
    return newest.value if newest.is_valid else 0
