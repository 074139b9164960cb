"""The examples with Kafka, all in one session: `python -m tests.support.sources.job SETTINGS`.

SETTINGS is a file of JSON: the broker, the topic, the jars, a folder, and by the name of an example
where its answers go. The queries answer what is in the topic and end. With `hang_in`, the number of
a batch, they do not: once a sink has the batch, they wait to be killed, before Spark commits it.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming import DataStreamWriter

EXAMPLES = Path(__file__).parents[3] / "examples"


def main(settings: dict[str, Any]) -> None:
    from windrow.spark.session import local_session

    sys.path.insert(0, str(EXAMPLES))
    shared = import_module("kafka_payments")
    folder = Path(settings["folder"])
    session = local_session(
        "windrow sources",
        cores=2,
        log_file=folder / "spark.log",
        **{
            **shared.SETTINGS,
            "spark.jars": settings["jars"],
            "spark.python.daemon.module": "tests.support.spark.daemon",
            "spark.sql.shuffle.partitions": "1",
        },
    )
    # One after the other: five queries at once would wait for each other's Python workers.
    for name, target in settings["targets"].items():
        events = shared.payments(
            session, settings["brokers"], settings["topic"], maxOffsetsPerTrigger=300
        )
        answers = shared.spending(events, lateness=settings["lateness"])
        writer = answers.writeStream.option("checkpointLocation", str(folder / f"{name}-state"))
        writer = writer.trigger(availableNow=True)
        sign = folder / f"{name}-hangs"
        if settings["hang_in"] is not None and name != "kafka_to_parquet":
            writer = Hanging(writer, settings["hang_in"], sign)
        query = import_module(name).start(writer, target)
        while not query.awaitTermination(0.05):
            if settings["hang_in"] is not None and sign.exists():
                break


class Hanging:
    """A writer whose sink gets a batch and never says so."""

    def __init__(self, writer: DataStreamWriter, batch: int, sign: Path) -> None:
        self._writer, self._batch, self._sign = writer, batch, sign

    def foreachBatch(self, sink: Callable[[DataFrame, int], None]) -> DataStreamWriter:
        def hang(answers: DataFrame, number: int) -> None:
            sink(answers, number)
            if number == self._batch:
                self._sign.touch()
                time.sleep(3600)

        return self._writer.foreachBatch(hang)


if __name__ == "__main__":
    main(json.loads(Path(sys.argv[1]).read_text()))
