"""The demo of a table: readings to Parquet, features of each in one call, some shown, a chart."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

import windrow as wr
from windrow.cli import chart, sensors
from windrow.cli.steps import clock, kw, plain_table, show_source, size_of, step

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from rich.console import Console

# From here on there are a silence, a spike and loads of all three levels (for the default seed).
CHART_FROM = timedelta(minutes=3, seconds=45)


@dataclass(frozen=True)
class Size:
    """How many readings of how many machines; the same seed gives the same readings."""

    rows: int
    machines: int
    seed: int


def show(console: Console, spark: SparkSession, output: Path, size: Size) -> None:
    """Compute features of all readings, write them, and show some."""
    readings_path, features_path = output / "readings", output / "features"
    console.print("\nThe features of every reading, in one call:\n")
    show_source(console, rolling_features)
    with step(console, "Computing them and writing them to Parquet") as taken:
        features = rolling_features(spark.read.parquet(str(readings_path)))
        added = len(features.columns) - len(sensors.SCHEMA)
        features.write.mode("overwrite").option("compression", "zstd").parquet(str(features_path))
    console.print(
        f"  {added} features of {size.rows:,} readings:"
        f" [bold]{size.rows / taken.seconds:,.0f} readings a second[/bold]\n"
    )
    spans = _show_machines(console, spark, features_path)
    machine, excerpt = _excerpt(features_path, spans)
    _show_readings(console, machine, excerpt)
    with step(console, f"Drawing {machine}"):
        chart.draw(excerpt, excerpt, machine=machine, path=output / "chart.png")
    _say_what_next(console, output)


def rolling_features(readings: Any) -> Any:
    """The features that the demo computes, for a Spark DataFrame or an Arrow table."""
    return wr.over(
        readings,
        key="machine",
        order="ts",
        windows={
            "100": wr.rows(100),
            "10s": wr.time("10 seconds"),
            "1min": wr.time("1 minute"),
        },
        aggs=[
            wr.count("mf01"),
            wr.min("mf01"),
            wr.max("mf01"),
            wr.mean("mf01"),
            wr.stddev("mf01"),
            wr.arg_max("mf01", "ts"),
        ],
    )


def make_readings(console: Console, output: Path, size: Size) -> None:
    """Write the readings."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    path = output / "readings"
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir()
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console) as progress:
        task = progress.add_task(
            f"Making the readings of {size.machines} machines", total=size.rows
        )
        tables = sensors.readings(size.rows, machines=size.machines, seed=size.seed)
        # One file a chunk: Spark reads them side by side.
        for number, table in enumerate(tables):
            pq.write_table(table, path / f"part-{number:05}.parquet", compression="zstd")
            progress.advance(task, table.num_rows)


def _show_machines(
    console: Console, spark: SparkSession, features_path: Path
) -> dict[str, tuple[datetime, datetime]]:
    """Show a line for each machine; return when each reported first and last."""
    # A minute after a silence holds few readings: it does not count as a busy one.
    rows = spark.sql(
        f"""
        SELECT machine, min(ts) AS first, max(ts) AS last,
               count(*) AS readings, count(*) - count(mf01) AS nulls,
               max(mean_mf01_1min) FILTER (WHERE count_mf01_1min > 5000) AS busiest,
               max_by(ts, mean_mf01_1min) FILTER (WHERE count_mf01_1min > 5000) AS busiest_at,
               max(stddev_mf01_10s) AS roughest, max(mf01) AS peak, max_by(ts, mf01) AS peak_at
        FROM parquet.`{features_path}` GROUP BY machine ORDER BY machine
        """
    ).toArrow()
    table = plain_table("The machines (power on phase 1, kW)")
    table.add_column("machine", no_wrap=True)
    for heading in (
        "readings",
        "nulls",
        "busiest\nminute",
        "\nends at",
        "roughest\n10 s",
        "\npeak",
        "\nat",
    ):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows.to_pylist():
        table.add_row(
            row["machine"],
            f"{row['readings']:,}",
            f"{row['nulls']:,}",
            kw(row["busiest"]),
            clock(row["busiest_at"], "seconds"),
            kw(row["roughest"]),
            kw(row["peak"]),
            clock(row["peak_at"], "seconds"),
        )
    console.print(table)
    return {row["machine"]: (row["first"], row["last"]) for row in rows.to_pylist()}


def _show_readings(console: Console, machine: str, excerpt: pa.Table) -> None:
    table = plain_table(f"Some readings of {machine}, with some of their features (kW)")
    headings = {
        "ts": "reading at",
        "mf01": "\nmf01",
        "mean_mf01_100": "mean\n100 rows",
        "mean_mf01_10s": "mean\n10 s",
        "stddev_mf01_10s": "stddev\n10 s",
        "min_mf01_1min": "min\n1 min",
        "max_mf01_1min": "max\n1 min",
        "arg_max_mf01_ts_1min": "\nreached at",
    }
    for heading in headings.values():
        table.add_column(heading, justify="right", no_wrap=True)
    step = max(1, excerpt.num_rows // 8)
    shown = list(range(step // 2, excerpt.num_rows, step))
    for row in excerpt.select(list(headings)).take(shown).to_pylist():
        table.add_row(
            *(
                clock(value, "milliseconds") if isinstance(value, datetime) else kw(value)
                for value in row.values()
            )
        )
    console.print(table)


def _excerpt(
    features_path: Path, spans: dict[str, tuple[datetime, datetime]]
) -> tuple[str, pa.Table]:
    """A few minutes of one machine: the chosen ones if the table goes that far."""
    machine = chart.MACHINE if chart.MACHINE in spans else next(iter(spans))
    first, last = spans[machine]
    begin = max(first, min(first + CHART_FROM, last - chart.RANGE))
    excerpt = pq.read_table(
        features_path,
        filters=[("machine", "=", machine), ("ts", ">=", begin), ("ts", "<=", begin + chart.RANGE)],
    )
    return machine, excerpt.sort_by("ts")


def _say_what_next(console: Console, output: Path) -> None:
    readings, features = output / "readings", output / "features"
    console.print(
        f"""
Written:
  [bold]{output / "chart.png"}[/bold]: the chart; look at it first
  {features}: the features, Parquet ({size_of(features)})
  {readings}: the readings, Parquet ({size_of(readings)})
  {output / "spark.log"}: what Spark had to say

To try next:
  make demo DEMO_ARGS="--table --rows 20000000"
  the same call without Spark: wr.over(pyarrow.parquet.read_table(...), ...)
  an aggregation of your own, and the window as a data structure: README.md
""",
        soft_wrap=True,
    )
