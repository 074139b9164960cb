"""Asks a session that was made without a word about Python, as a process; see test_workers.py."""

import json
import os
import sys
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

import windrow as wr
from tests.support.spark.questions import EVENTS, SIZE, STREAMED
from tests.support.spark.state_store import PROVIDER, ROCKSDB
from tests.support.stream.files import read_stream, run_to_end, write_batches

SETTINGS = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "1g",
    "spark.executor.memory": "512m",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "2",
    "spark.task.maxFailures": "1",
    "spark.ui.enabled": "false",
    PROVIDER: ROCKSDB,
}


def over(spark: SparkSession, _folder: Path) -> DataFrame:
    frame = spark.createDataFrame(EVENTS)
    return wr.over(frame, key="k", order="id", windows=wr.rows(99), aggs=wr.concat("s"))


def slide(spark: SparkSession, _folder: Path) -> DataFrame:
    windows = wr.time("1 minute", every="20 seconds")
    return wr.slide(spark.createDataFrame(EVENTS), order="ts", windows=windows, aggs=wr.max("x"))


def stream(spark: SparkSession, folder: Path) -> DataFrame:
    write_batches(folder / "events", [EVENTS.slice(0, SIZE // 2), EVENTS.slice(SIZE // 2)])
    # Lists leave by a function of their own.
    aggs = [wr.max("x"), wr.collect("s")]
    answers = STREAMED.func(
        read_stream(spark, folder / "events"), **{**STREAMED.keywords, "aggs": aggs}
    )
    run_to_end(answers, folder / "answers")
    return spark.read.parquet(str(folder / "answers"))


ASKED = {"over": over, "slide": slide, "stream": stream}


def main(master: str, folder: Path, questions: list[str]) -> None:
    builder = SparkSession.builder.master(master)
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    found: dict[str, Any] = {}
    for question in questions:
        try:
            found[question] = len(ASKED[question](spark, folder).collect())
        except Exception as error:
            found[question] = str(error)
    found["python"] = spark.sparkContext.pythonExec
    (folder / "found.json").write_text(json.dumps(found))
    spark.stop()


if __name__ == "__main__":
    assert "PYTHONPATH" not in os.environ, "workers would find windrow in any case"
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3:])
