"""Make a table of sensor readings and compute rolling features over it on local Spark.

The steps, each of which says what it does and how long it took: readings to Parquet, the features
by one call of `wr.over`, a look at the answers, a chart.
"""

from __future__ import annotations

import argparse
import inspect
import shutil
import textwrap
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

import windrow as wr
from windrow.cli import chart, sensors

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from rich.console import Console
    from rich.table import Table

# A stretch with a silence, a spike and loads of all three levels (of the default seed).
CHART_MACHINE = "press-3"
CHART_FROM = timedelta(minutes=3, seconds=45)
CHART_RANGE = timedelta(minutes=6)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `windrow demo`."""
    parser.add_argument(
        "--rows", type=_at_least_one, default=3_000_000, help="readings to make (default: 3000000)"
    )
    parser.add_argument(
        "--machines", type=_at_least_one, default=8, help="machines that report (default: 8)"
    )
    parser.add_argument(
        "--seed", type=int, default=2012, help="of the random numbers (default: 2012)"
    )
    parser.add_argument(
        "--output",
        type=Path,
        default=Path("demo-output"),
        help="folder to write to (default: demo-output)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Run the demo."""
    from rich.console import Console

    from windrow.spark.session import local_session

    console = Console(highlight=False)
    output: Path = arguments.output
    output.mkdir(parents=True, exist_ok=True)
    readings_path, features_path = output / "readings", output / "features"
    chart_path, log_path = output / "chart.png", output / "spark.log"

    _make_readings(console, readings_path, arguments)

    with _step(console, "Starting Spark on this machine"):
        # Spark writes timestamps without their zone unless told otherwise.
        timestamps: dict[str, Any] = {"spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS"}
        spark = local_session("windrow demo", log_file=log_path, **timestamps)
    try:
        console.print("\nThe features of every reading, in one call:\n")
        _show_source(console, rolling_features)
        with _step(console, "Computing them and writing them to Parquet") as step:
            features = rolling_features(spark.read.parquet(str(readings_path)))
            added = len(features.columns) - len(sensors.SCHEMA)
            features.write.mode("overwrite").option("compression", "zstd").parquet(
                str(features_path)
            )
        console.print(
            f"  {added} features of {arguments.rows:,} readings:"
            f" [bold]{arguments.rows / step.seconds:,.0f} readings a second[/bold]\n"
        )
        spans = _show_machines(console, spark, features_path)
    finally:
        spark.stop()

    machine, excerpt = _excerpt(features_path, spans)
    _show_readings(console, machine, excerpt)
    with _step(console, f"Drawing {machine}"):
        chart.draw(excerpt, machine=machine, path=chart_path)

    _say_what_next(console, readings_path, features_path, chart_path, log_path)
    return 0


def rolling_features(readings: Any) -> Any:
    """The features the demo computes, of a Spark DataFrame or of an Arrow table."""
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


def _make_readings(console: Console, path: Path, arguments: argparse.Namespace) -> None:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

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
            f"Making the readings of {arguments.machines} machines", total=arguments.rows
        )
        tables = sensors.readings(arguments.rows, machines=arguments.machines, seed=arguments.seed)
        # One file a chunk: Spark reads them side by side.
        for number, table in enumerate(tables):
            pq.write_table(table, path / f"part-{number:05}.parquet", compression="zstd")
            progress.advance(task, table.num_rows)


def _show_source(console: Console, function: Any) -> None:
    """Show the body of a function as it is written: what is shown is what runs."""
    from rich.syntax import Syntax

    source = inspect.getsource(function)
    body = textwrap.dedent(source[source.index("    return ") :])
    console.print(Syntax(body, "python", theme="ansi_dark", background_color="default"))


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
    table = _table("The machines (power on phase 1, kW)")
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
            _kw(row["busiest"]),
            _clock(row["busiest_at"], "seconds"),
            _kw(row["roughest"]),
            _kw(row["peak"]),
            _clock(row["peak_at"], "seconds"),
        )
    console.print(table)
    return {row["machine"]: (row["first"], row["last"]) for row in rows.to_pylist()}


def _show_readings(console: Console, machine: str, excerpt: pa.Table) -> None:
    table = _table(f"Some readings of {machine}, with some of their features (kW)")
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
                _clock(value, "milliseconds") if isinstance(value, datetime) else _kw(value)
                for value in row.values()
            )
        )
    console.print(table)


def _excerpt(
    features_path: Path, spans: dict[str, tuple[datetime, datetime]]
) -> tuple[str, pa.Table]:
    """A few minutes of one machine: the chosen ones if the table goes that far."""
    machine = CHART_MACHINE if CHART_MACHINE in spans else next(iter(spans))
    first, last = spans[machine]
    begin = max(first, min(first + CHART_FROM, last - CHART_RANGE))
    excerpt = pq.read_table(
        features_path,
        filters=[("machine", "=", machine), ("ts", ">=", begin), ("ts", "<=", begin + CHART_RANGE)],
    )
    return machine, excerpt.sort_by("ts")


def _say_what_next(
    console: Console, readings: Path, features: Path, chart_path: Path, log: Path
) -> None:
    console.print(
        f"""
Written:
  [bold]{chart_path}[/bold]: the chart; look at it first
  {features}: the features, Parquet ({_size(features)})
  {readings}: the readings, Parquet ({_size(readings)})
  {log}: what Spark had to say

To try next:
  make demo DEMO_ARGS="--rows 20000000"
  the same call without Spark: wr.over(pyarrow.parquet.read_table(...), ...)
  an aggregation of your own, and the window as a data structure: README.md
""",
        soft_wrap=True,
    )


class _Step:
    seconds = 0.0


@contextmanager
def _step(console: Console, title: str) -> Iterator[_Step]:
    """Show that something is going on, then how long it took."""
    step, start = _Step(), time.perf_counter()
    with console.status(f"{title} ..."):
        yield step
    step.seconds = time.perf_counter() - start
    console.print(f"{title}: {step.seconds:.1f} s")


def _table(title: str) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    return Table(
        title=title,
        title_justify="left",
        title_style="bold",
        box=SIMPLE_HEAD,
        pad_edge=False,
        collapse_padding=True,
    )


def _kw(value: float | None) -> str:
    return "null" if value is None else f"{value:.2f}"


def _clock(moment: datetime | None, precision: str) -> str:
    return "null" if moment is None else moment.time().isoformat(precision)


def _size(folder: Path) -> str:
    return f"{sum(file.stat().st_size for file in folder.glob('*.parquet')) / 1e6:,.0f} MB"


def _at_least_one(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is less than 1")
    return number
