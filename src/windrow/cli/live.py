"""The live demo: a plant reports, and `wr.slide` answers on Structured Streaming beside it."""

from __future__ import annotations

import shutil
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import windrow as wr
from windrow.cli import chart, sensors
from windrow.cli.figures import Figures
from windrow.cli.kafka_topic import Topic
from windrow.cli.page.places import LOG
from windrow.cli.plant import Pace, PlantProcess
from windrow.cli.sink import CommittedFiles
from windrow.cli.steps import show_source, size_of, step
from windrow.cli.view import view_of
from windrow.errors import WindrowError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery
    from rich.console import Console

#: what the session needs beside what all streams do
SETTINGS = {
    # A shard for each of two tasks: there are few keys, and each shard costs calls to Python.
    "spark.sql.shuffle.partitions": "2",
}
_UPDATES_A_SECOND = 5


def show(
    console: Console,
    spark: SparkSession,
    output: Path,
    pace: Pace,
    seconds: float | None,
    topic: Topic | None = None,
) -> None:
    """Run the stream for some seconds, or until Ctrl-C, and draw the chart.

    Spark reads the files that the plant writes, or a topic.
    """
    readings, answers = output / "readings", output / "answers"
    for folder in (readings, answers, output / "checkpoint"):
        shutil.rmtree(folder, ignore_errors=True)
    (output / LOG).unlink(missing_ok=True)
    readings.mkdir()
    console.print(
        f"\n{pace.machines} presses report their power 100 times a second, {pace.speed:g} times as "
        "fast as real ones.\nTwo windows of each, every second, in one call:\n"
    )
    show_source(console, live_windows)
    wr.log_progress(spark, output / LOG)
    query = _started(spark, output, pace, topic)
    figures, files = Figures(), CommittedFiles(answers)
    with view_of(console, figures, seconds) as view:

        def update() -> None:
            figures.take(query, files)
            view.update()
            error = query.exception()
            if error is not None:
                reason = str(error).partition("\n")[0]
                raise WindrowError(f"the query failed; see {output / 'spark.log'}: {reason}")

        with PlantProcess(readings, pace, topic) as plant, _interruption() as interrupted:
            while not interrupted and not figures.is_over(seconds):
                plant.require_alive()
                update()
                time.sleep(1 / _UPDATES_A_SECOND)
        try:
            query.processAllAvailable()
        finally:
            update()
    query.stop()
    _finish(console, output, CommittedFiles(answers).take())


def live_windows(readings: Any, lateness: str | None) -> Any:
    """The answers that the demo computes, for a stream or for a table."""
    return wr.slide(
        readings,
        key="machine",
        order="ts",
        windows={
            "10s": wr.time("10 seconds", every="1 second"),
            "1min": wr.time("1 minute", every="1 second"),
        },
        aggs=[
            wr.count("mf01"),
            wr.mean("mf01"),
            wr.stddev("mf01"),
            wr.max("mf01"),
            wr.arg_max("mf01", "ts"),
        ],
        lateness=lateness,
    )


def _started(spark: SparkSession, output: Path, pace: Pace, topic: Topic | None) -> StreamingQuery:
    from windrow.spark.bridge.schema import spark_schema

    if topic is None:
        files = spark.readStream.schema(spark_schema(sensors.SCHEMA))
        stream = files.parquet(str(output / "readings"))
    else:
        stream = topic.stream(spark)
    return (  # type: ignore[no-any-return]
        live_windows(stream, pace.lateness)
        .writeStream.format("parquet")
        .option("checkpointLocation", str(output / "checkpoint"))
        .start(str(output / "answers"))
    )


@contextmanager
def _interruption() -> Iterator[list[int]]:
    """A list that Ctrl-C adds to; a second Ctrl-C interrupts as usual."""
    happened: list[int] = []

    def note(number: int, _frame: Any) -> None:
        happened.append(number)
        signal.signal(signal.SIGINT, before)

    before = signal.signal(signal.SIGINT, note)
    try:
        yield happened
    finally:
        signal.signal(signal.SIGINT, before)


# The end ------------------------------------------------------------------------------------------


def _finish(console: Console, output: Path, answers: pa.Table | None) -> None:
    readings = output / "readings"
    if answers is None:
        raise WindrowError("no window was answered; let it run for longer, as in --seconds 60")
    machines = answers["machine"].unique().to_pylist()
    machine = chart.MACHINE if chart.MACHINE in machines else min(machines)
    with step(console, f"Drawing {machine}"):
        features = _features(answers, machine)
        reported = pq.read_table(
            readings,
            filters=[
                ("machine", "=", machine),
                ("ts", ">=", features["ts"][0]),
                ("ts", "<=", features["ts"][-1]),
            ],
        )
        path = output / "chart.png"
        chart.draw(reported.sort_by("ts"), features, machine=machine, path=path)
    console.print(
        f"""
Written:
  [bold]{path}[/bold]: the chart; look at it first
  {output / "answers"}: the answers, Parquet ({size_of(output / "answers")})
  {readings}: the readings, Parquet ({size_of(readings)})
  {output / "spark.log"}: what Spark had to say

To try next:
  windrow state {output / "checkpoint"}: what is kept of the stream
  make demo DEMO_ARGS="--page --forever": the same on a page, until Ctrl-C
  windrow watch {output}: the page of a query, also after it has ended
  make demo DEMO_ARGS=--kafka: the readings go through a Kafka broker
  make demo DEMO_ARGS=--table: 18 features of every reading of a table
  streams in your own job: docs/streaming.md
""",
        soft_wrap=True,
    )


def _features(answers: pa.Table, machine: str) -> pa.Table:
    """The last minutes of one machine, a row for each second."""
    own = answers.filter(pc.equal(answers["machine"], machine))
    named = {
        "10s": {"mean_mf01": "mean_mf01_10s", "stddev_mf01": "stddev_mf01_10s"},
        "1min": {"max_mf01": "max_mf01_1min", "arg_max_mf01_ts": "arg_max_mf01_ts_1min"},
    }
    short, long = (
        own.filter(pc.equal(own["window"], window))
        .select(["window_end", *names])
        .rename_columns(["ts", *names.values()])
        for window, names in named.items()
    )
    features = long.join(short, "ts").sort_by("ts")
    begin = pc.subtract(features["ts"][-1], pa.scalar(chart.RANGE))
    return features.filter(pc.greater_equal(features["ts"], begin))
