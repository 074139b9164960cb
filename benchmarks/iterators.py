"""A stream in one process: against a table of the same events, Spark, and Pathway.

Every event is one second after the one before of its key, so that a slide of a second has an answer
for every key: as many answers as events, as in `streaming`. Events come in the order of time.

Spark runs the same query in a steady state: what its batches took without the first, which starts
workers and compiles. Pathway runs in an interpreter of its own, on fewer events: set
`WINDROW_PATHWAY_PYTHON` to the path of a Python that has it, as for `windrow bench`. It asks for
other versions of packages than windrow does, so it cannot be installed beside windrow.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

import windrow as wr
from benchmarks.harness import Comparison
from benchmarks.spark_events import session
from benchmarks.streaming import SCHEMA, SETTINGS
from windrow.experiments.rounds import median_times

EVENTS = 4_000_000
KEYS = 1_000
BATCH = 50_000
SMALL_BATCH = 1_000
#: batches of `SMALL_BATCH` that warm up, and that are measured
SMALL_BATCHES = 5, 15
#: a file is a batch on Spark
SPARK_BATCH = 1_000_000
PATHWAY_EVENTS = 200_000
LATENESS = "10 seconds"
SLIDE: dict[str, Any] = {
    "key": "k", "order": "ts", "windows": wr.time("60 seconds", every="1 second"),
    "aggs": [wr.max("x"), wr.mean("x")],
}  # fmt: skip
OVER: dict[str, Any] = {**SLIDE, "windows": wr.rows(1_000)}
_NO_EMPTY_BATCHES = {"spark.sql.streaming.noDataMicroBatches.enabled": "false"}
_SECOND = 10**6
_BEGIN = 10**9  # seconds

Call = Callable[..., Any]


def run(events: int = EVENTS, rounds: int = 5) -> list[Comparison]:
    """Throughput of both calls, and the time of a small batch."""
    table = events_of(events)
    slide = against_table(wr.slide, SLIDE, table, rounds)
    over = against_table(wr.over, OVER, table, rounds)
    small = small_batch(table)
    with session(**SETTINGS, **_NO_EMPTY_BATCHES) as spark:
        per_event = spark_batch(spark, table, SPARK_BATCH, 1, None) / SPARK_BATCH
        micro_batch = spark_batch(spark, table, SMALL_BATCH, *SMALL_BATCHES)
    size = f"{events:,} events in batches of {BATCH:,}"
    found = [
        Comparison(f"slide 60:1, {size}", "the table", slide["stream"], slide["table"], 1 / 3),
        Comparison(f"slide 60:1, {size}", "Spark, steady", slide["stream"], per_event * events, 5),
        Comparison(f"over 1,000 rows, {size}", "the table", over["stream"], over["table"], 1 / 3),
        Comparison(f"slide 60:1, a batch of {SMALL_BATCH:,}", "Spark", small, micro_batch, 20),
    ]
    interpreter = pathway()
    if interpreter is None:
        print("  no Pathway: set WINDROW_PATHWAY_PYTHON to a Python that has it")
        return found
    seconds = pathway_slide(interpreter, PATHWAY_EVENTS)
    part = table.slice(0, PATHWAY_EVENTS)
    own = against_table(wr.slide, SLIDE, part, rounds)["stream"]
    return [
        *found,
        Comparison(f"slide 60:1, {PATHWAY_EVENTS:,} events", "Pathway", own, seconds, 20),
    ]


def events_of(count: int) -> pa.Table:
    """Events in the order of time."""
    ids = np.arange(count)
    times = (_BEGIN + ids // KEYS) * _SECOND + ids % KEYS
    values = np.random.default_rng(3).random(count)
    instants = pa.array(times).view(pa.timestamp("us", "UTC"))
    return pa.table({"k": ids % KEYS, "ts": instants, "x": values})


def answered(call: Call, asked: dict[str, Any], table: pa.Table, batch: int = BATCH) -> int:
    """How many answers a stream of batches gives."""
    stream = call(iter(table.to_batches(max_chunksize=batch)), **asked, lateness=LATENESS)
    return sum(answers.num_rows for answers in stream)


def against_table(
    call: Call, asked: dict[str, Any], table: pa.Table, rounds: int
) -> dict[str, float]:
    """The time of a stream, and of the same call on the whole table."""
    assert answered(call, asked, table) == call(table, **asked).num_rows
    return median_times(
        {"stream": lambda: answered(call, asked, table), "table": lambda: call(table, **asked)},
        rounds,
    )


def small_batch(table: pa.Table) -> float:
    """The time of a small batch, from asking for its answers to having them.

    A batch is a second, so windows are full after 60; the first answers wait for the lateness.
    """
    _warm, measured = SMALL_BATCHES
    batches = table.slice(0, 200 * SMALL_BATCH).to_batches(max_chunksize=SMALL_BATCH)
    stream = wr.slide(iter(batches), **SLIDE, lateness=LATENESS)
    times = []
    for _ in range(100 + measured):
        started = time.perf_counter()
        next(stream)
        times.append(time.perf_counter() - started)
    return statistics.median(times[-measured:])


# Spark -------------------------------------------------------------------------------------------


def spark_batch(
    spark: SparkSession, table: pa.Table, size: int, warm: int, measured: int | None
) -> float:
    """The median time of a micro-batch of so many events, behind some that warm up."""
    with tempfile.TemporaryDirectory() as name:
        folder, count = Path(name) / "events", table.num_rows // size
        folder.mkdir()
        for number in range(count if measured is None else warm + measured):
            part = table.slice(number * size, size)
            pq.write_table(part, folder / f"{number:05}.parquet")
        stream = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
        answers: DataFrame = wr.slide(stream.parquet(str(folder)), **SLIDE, lateness=LATENESS)
        query = (
            answers.writeStream.format("noop")
            .option("checkpointLocation", str(Path(name) / "checkpoint"))
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
        durations = [
            each["durationMs"]["triggerExecution"] / 1000
            for each in query.recentProgress
            if each["numInputRows"]
        ]
    return statistics.median(durations[warm:])


# Pathway -----------------------------------------------------------------------------------------


def pathway() -> str | None:
    """A Python interpreter that has Pathway."""
    return os.environ.get("WINDROW_PATHWAY_PYTHON") or None


def pathway_slide(interpreter: str, events: int) -> float:
    """The seconds that Pathway takes for the same windows, without its start."""
    program = Path(__file__).with_name("pathway_slide.py")
    printed = subprocess.run(
        [interpreter, str(program), str(events), str(KEYS)],
        check=True,
        capture_output=True,
        text=True,
    )
    return float(json.loads(printed.stdout.splitlines()[-1])["seconds"])
