"""A query with 1 GiB of state, started again: its first batch against those before.

State is large because events carry a text each, and the last one of every key and second is kept
for as long as the windows reach back. Large batches fill it; then batches of five minutes are what
the query does every day. Started again, it has a store of its own that is read from the checkpoint:
that time is Spark's, and is allowed for. The session goes on, so that what starts anew is the query
and not Java. Spark makes no batches without events here: the first batch after the restart has the
answers to give that the last one before it made final.
"""

from __future__ import annotations

import os
import statistics
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

import windrow as wr
from benchmarks.harness import Comparison
from benchmarks.spark_events import session
from benchmarks.streaming import SETTINGS

STATE = 2**30
KEYS = 100
TEXT = 800  # bytes, which do not compress
#: seconds in a batch that fills state, and in one of every day
FILLING, USUAL = 1_000, 300
USUAL_BATCHES = 6
_SCHEMA = pa.schema([("k", pa.int64()), ("ts", pa.timestamp("us", "UTC")), ("text", pa.binary())])
_SPARK_SCHEMA = "k long, ts timestamp, text binary"
_BEGIN = 10**9  # seconds
_NO_EMPTY_BATCHES = {"spark.sql.streaming.noDataMicroBatches.enabled": "false"}


def run(state: int = STATE) -> list[Comparison]:
    """The first batch after a restart, against twice a usual one and the time to read the store."""
    seconds = -(-state // (KEYS * TEXT) // FILLING) * FILLING
    with session(**SETTINGS, **_NO_EMPTY_BATCHES) as spark, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "events").mkdir()
        now = _BEGIN
        for number in range(seconds // FILLING):
            now = _write(folder, number, now, FILLING)
        _run(spark, folder, seconds)
        for number in range(USUAL_BATCHES):
            now = _write(folder, 1_000 + number, now, USUAL)
        usual = [_seconds(each) for each in _run(spark, folder, seconds)][1:]
        _write(folder, 2_000, now, USUAL)
        first, *_rest = _run(spark, folder, seconds)
    metrics = first["stateOperators"][0]["customMetrics"]
    size = metrics["rocksdbSstFileSize"]
    # Partitions read their stores side by side, and Spark adds the times up.
    load = metrics["rocksdbLoadLatencyMs"] / 1000 / int(SETTINGS["spark.sql.shuffle.partitions"])
    normal = statistics.median(usual)
    print(
        f"  {size / 2**30:.2f} GiB of state; a usual batch {normal:.2f} s, the store {load:.2f} s"
    )
    assert size >= 0.8 * state, f"state of {size:,} bytes is not the one to measure"
    return [
        Comparison(
            "first batch after a restart", "two usual ones and the store",
            _seconds(first), 2 * normal + load, 1,
        )
    ]  # fmt: skip


def _write(folder: Path, number: int, begin: int, seconds: int) -> int:
    """An event of every key in every second; when the next begins."""
    random = np.random.default_rng(number)
    count = KEYS * seconds
    times = (begin + np.arange(count) // KEYS) * 10**6
    texts = pa.Array.from_buffers(
        pa.binary(),
        count,
        [
            None,
            pa.py_buffer(np.arange(0, (count + 1) * TEXT, TEXT, np.int32)),
            pa.py_buffer(random.bytes(count * TEXT)),
        ],
    )
    columns = [
        pa.array(np.arange(count) % KEYS),
        pa.array(times).view(_SCHEMA.field(1).type),
        texts,
    ]
    path = folder / "events" / f"{number:04}.parquet"
    pq.write_table(pa.table(columns, schema=_SCHEMA), path, compression="none")
    os.utime(path, (10**9 + number, 10**9 + number))
    return begin + seconds


def _run(spark: SparkSession, folder: Path, seconds: int) -> Sequence[Mapping[str, Any]]:
    """Start the query and wait until it has read all files; the progress of its batches."""
    stream = spark.readStream.schema(_SPARK_SCHEMA).option("maxFilesPerTrigger", 1)
    query = (
        wr.slide(
            stream.parquet(str(folder / "events")),
            key="k",
            order="ts",
            windows=wr.time(f"{seconds} seconds", every="1 second"),
            aggs=wr.last("text"),
            lateness="0 seconds",
        )
        .writeStream.format("noop")
        .option("checkpointLocation", str(folder / "checkpoint"))
        .start()
    )
    query.processAllAvailable()
    query.stop()
    return [each for each in query.recentProgress if each["numInputRows"]]


def _seconds(progress: Mapping[str, Any]) -> float:
    return float(progress["durationMs"]["triggerExecution"]) / 1000
