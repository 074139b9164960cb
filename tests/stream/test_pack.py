"""Events in payloads: nothing is lost, and every shard learns what it has to."""

from typing import Any

import pyarrow as pa

from tests.support.stream.events import events
from windrow.spark.streaming import payloads as packing
from windrow.spark.streaming.shards import labels
from windrow.work import sizes

EVENTS = events(1, 100, 160, 300).combine_chunks()
SHARDS = 3


def packed(shards: list[int], **arguments: Any) -> list[dict[str, Any]]:
    """The rows that come of all events in batches of 100, each event in one of these shards."""
    numbers = pa.array([shards[row % len(shards)] for row in range(len(EVENTS))], pa.int32())
    table = EVENTS.add_column(0, "shard", numbers)
    pack = packing.pack(EVENTS.schema, "ts", SHARDS, **arguments)
    packed = pack(table.to_batches(100))
    return [row for batch in packed if batch is not None for row in batch.to_pylist()]


def unpacked(rows: list[dict[str, Any]]) -> pa.Table:
    payloads = [pa.py_buffer(row["payload"]) for row in rows if row["payload"]]
    return pa.Table.from_batches(
        [pa.ipc.read_record_batch(each, EVENTS.schema) for each in payloads]
    )


def test_a_payload_for_each_shard_that_has_events_and_for_label_0() -> None:
    rows = packed([1, 2])
    assert [row["shard"] for row in rows] == [0, labels(SHARDS)[1], labels(SHARDS)[2]]
    assert not rows[0]["payload"]
    assert {row["newest"] for row in rows} == {max(EVENTS["ts"].to_pylist())}
    assert unpacked(rows).num_rows == len(EVENTS)


def test_wide_events_are_packed_in_parts() -> None:
    with sizes.using(payload_bytes=1):
        rows = packed([0, 1, 2])
    assert len([row for row in rows if row["payload"]]) == 3 * SHARDS
    by = [(name, "ascending") for name in EVENTS.column_names]
    assert unpacked(rows).sort_by(by).equals(EVENTS.sort_by(by))


def test_every_shard_is_told_how_new_a_history_is() -> None:
    with sizes.using(payload_bytes=1):
        rows = packed([1], history=True)
    for label in labels(SHARDS):
        told = [row["newest"] for row in rows if row["shard"] == label]
        assert max(told) == max(EVENTS["ts"].to_pylist())
