"""Watch windows over a live stream of sensor readings on local Spark; a chart at the end.

A process writes the readings as files (`plant.py`), Structured Streaming reads them beside it
(`live.py`), the terminal shows how it goes (`view.py`). With `--kafka` the readings go through a
broker (`kafka_broker.py`). `--table` is about a table instead (`table.py`): features of every
reading, by one call.
"""

from __future__ import annotations

import argparse
import shutil
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from windrow.cli import live, table
from windrow.cli.kafka_broker import KafkaBroker
from windrow.cli.kafka_jars import kafka_jars
from windrow.cli.kafka_topic import Topic
from windrow.cli.page.server import PageServer
from windrow.cli.page.watched import Watched
from windrow.cli.plant import Pace
from windrow.cli.steps import step
from windrow.errors import WindrowError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from rich.console import Console

#: the extra that installs the packages that it needs
EXTRA = "demo"
EXAMPLES = """examples:
  windrow demo
  windrow demo --page --forever
  windrow demo --kafka
  windrow demo --table --rows 1000000
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `windrow demo`."""
    parser.add_argument(
        "--seconds", type=_positive(float), default=45.0, help="how long it runs (default: 45)"
    )
    parser.add_argument(
        "--forever", action="store_true", help="go on until Ctrl-C, then draw the chart"
    )
    parser.add_argument(
        "--machines",
        type=_positive(int),
        help="machines that report (default: 40; 8 with --kafka and --table)",
    )
    parser.add_argument(
        "--speed",
        type=_positive(float),
        default=10.0,
        help="times as fast as real machines, which report 100 times a second (default: 10)",
    )
    parser.add_argument(
        "--kafka",
        action="store_true",
        help="send the readings through a Kafka broker, which runs as long as the demo",
    )
    parser.add_argument(
        "--table", action="store_true", help="features of a table in place of a stream"
    )
    parser.add_argument(
        "--page", action="store_true", help="show the stream on a page of this machine as well"
    )
    parser.add_argument(
        "--rows",
        type=_positive(int),
        default=3_000_000,
        help="readings of the table (default: 3000000)",
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

    import windrow.spark.session  # noqa: F401  # fails without pyspark, before a folder is made

    console = Console(highlight=False)
    output: Path = arguments.output
    try:
        output.mkdir(parents=True, exist_ok=True)
        if arguments.table:
            size = table.Size(arguments.rows, arguments.machines or 8, arguments.seed)
            table.make_readings(console, output, size)
            with spark_session(console, output) as spark:
                table.show(console, spark, output, size)
        else:
            machines = arguments.machines or (8 if arguments.kafka else 40)
            pace = Pace(machines, arguments.seed, arguments.speed)
            seconds = None if arguments.forever else arguments.seconds
            with (
                page(console, output) if arguments.page else nullcontext(),
                topic_of(console, arguments) as (topic, settings),
                spark_session(console, output, **live.SETTINGS, **settings) as spark,
            ):
                live.show(console, spark, output, pace, seconds, topic)
    except OSError as error:
        raise WindrowError(f"{output}: {error}") from error
    return 0


@contextmanager
def page(console: Console, output: Path) -> Iterator[None]:
    """The page of `windrow watch` about a folder, while the demo runs."""
    with PageServer(Watched([output])) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        console.print(f"Open [bold]{server.address}[/bold] in a browser of this machine")
        try:
            yield
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def topic_of(
    console: Console, arguments: argparse.Namespace
) -> Iterator[tuple[Topic | None, dict[str, str]]]:
    """A topic on a broker that was started for it, and what Spark needs to read it; or neither."""
    if not arguments.kafka:
        yield None, {}
        return
    with step(console, "Fetching Kafka's jars, unless they are there"):
        jars = kafka_jars()
    with ExitStack() as ending:
        with step(console, "Starting a Kafka broker on this machine"):
            folder = arguments.output.resolve() / "kafka"
            shutil.rmtree(folder, ignore_errors=True)
            broker = ending.enter_context(KafkaBroker(folder, jars))
            topic = Topic(broker.address, "readings")
            topic.make()
        yield topic, {"spark.jars": jars.of_connector()}


@contextmanager
def spark_session(console: Console, output: Path, **settings: Any) -> Iterator[SparkSession]:
    """A Spark session on this machine, with its log beside the results."""
    from windrow.spark.session import STREAMING, local_session

    log = output / "spark.log"
    with step(console, "Starting Spark on this machine"):
        settings |= STREAMING
        # By default Spark writes timestamps without their zone.
        settings["spark.sql.parquet.outputTimestampType"] = "TIMESTAMP_MICROS"
        try:
            spark = local_session("windrow demo", log_file=log, **settings)
        except Exception as error:
            said = log.read_text(errors="replace").split("\n") if log.exists() else []
            last = next((line for line in reversed(said) if line.strip()), str(error))
            raise WindrowError(
                "Spark did not start. It needs Java 17 or newer, which it finds by JAVA_HOME or on "
                f"the PATH. Its log, {log}, ends with: {last.strip()}"
            ) from error
    try:
        yield spark
    finally:
        spark.stop()


def _positive(kind: type) -> Any:
    def number(text: str) -> Any:
        value = kind(text)
        if not value >= (1 if kind is int else 0.1):
            raise argparse.ArgumentTypeError(f"{text} is too little")
        return value

    number.__name__ = kind.__name__  # in argparse's messages
    return number
