"""Asks a session of its own, as a process: a process has one kind of session, or the other.

What is defined here lives in `__main__`, like what a user types into a notebook: executors cannot
import it.
"""

import json
import os
import socket
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

import windrow as wr
from tests.support.spark.questions import EVENTS, SIZE, STREAMED, asked, in_order
from tests.support.spark.state_store import PROVIDER, ROCKSDB
from tests.support.stream.files import run_to_end, write_batches
from windrow.spark.bridge.progress import job_description


def wider(older: Any, newer: Any) -> Any:
    return min(older[0], newer[0]), max(older[1], newer[1])


spread = wr.aggregation(
    name="spread",
    identity=(float("inf"), float("-inf")),
    lift=lambda x: (x, x),
    combine=wider,
    lower=lambda partial: partial[1] - partial[0],
)


def cluster(folder: Path) -> dict[str, Any]:
    """Two executors with a process and a Python worker each."""
    spark = _session(SparkSession.builder.master("local-cluster[2,1,1024]"), folder, partitions=4)
    _answer(spark, folder)
    loaded = [json.loads(row.kernels) for row in _of_workers(spark)]
    spark.stop()
    return {"workers": loaded}


def _of_workers(spark: SparkSession) -> list[Any]:
    """The kernels that each worker has loaded, and whether it compiled them itself."""

    def report(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from windrow.compiler.machine_code import COMPILED, LOADED

        for _ in batches:
            own = {each.name for each in COMPILED}
            compiled = {name: name in own for name in LOADED}
            report = json.dumps({"process": os.getpid(), "compiled": compiled})
            yield pa.RecordBatch.from_pydict({"kernels": [report]})

    return spark.range(8, numPartitions=8).mapInArrow(report, "kernels string").collect()


def connect(folder: Path) -> dict[str, Any]:
    """A client of Spark Connect, and a pipeline, which is defined by such a client."""
    spark = _session(_served_at_a_free_port(), folder, partitions=2)
    _answer(spark, folder)
    _answer_stream(spark, folder)
    refused = _run_pipeline(spark, folder)
    for name in ("keyed", "slid", "streamed"):
        _keep(spark.table(name).toArrow(), folder, f"pipeline_{name}")
    with job_description(spark, "keys, counted"):
        tags = sorted(spark.getTags())
    left = sorted(spark.getTags())
    spark.stop()
    return {"refused": refused, "tags": tags, "left": left}


def _served_at_a_free_port() -> Any:
    """A server of this process, which another process's does not keep from starting.

    Clients look for a server of their process at one port, whatever the server is told.
    """
    from pyspark.sql.connect.client import DefaultChannelBuilder

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    DefaultChannelBuilder.default_port = staticmethod(lambda: port)  # type: ignore[method-assign]
    builder = SparkSession.builder.remote("local[2]")
    return builder.config("spark.connect.grpc.binding.port", str(port))


def _run_pipeline(spark: SparkSession, folder: Path) -> str:
    """A pipeline of three tables, as the command `spark-pipelines` runs it, which needs PyYAML."""
    from pyspark import pipelines
    from pyspark.pipelines.block_session_mutations import block_session_mutations
    from pyspark.pipelines.graph_element_registry import graph_element_registration_context
    from pyspark.pipelines.spark_connect_graph_element_registry import (
        SparkConnectGraphElementRegistry,
    )
    from pyspark.pipelines.spark_connect_pipeline import (
        create_dataflow_graph,
        handle_pipeline_events,
        start_run,
    )

    graph = create_dataflow_graph(spark, None, None, {})
    registry = SparkConnectGraphElementRegistry(spark, graph)
    schema = _columns()
    questions = asked(spread("x"))
    refused = ""
    with graph_element_registration_context(registry), block_session_mutations():

        @pipelines.materialized_view
        def events() -> Any:
            return spark.createDataFrame(EVENTS)

        @pipelines.materialized_view
        def keyed() -> Any:
            nonlocal refused
            try:
                questions["keyed"](spark.table("events"))
            except wr.InvalidArgument as error:
                refused = str(error)
            return questions["keyed"](spark.table("events"), schema=schema)

        @pipelines.materialized_view
        def slid() -> Any:
            return questions["slid"](spark.table("events"), schema=schema)

        @pipelines.table
        def streamed() -> Any:
            return STREAMED(_stream(spark, folder, schema), schema=schema)

    storage = (folder / "storage").as_uri()
    events_of_run = start_run(spark, graph, [], False, [], dry=False, storage=storage)
    handle_pipeline_events(events_of_run)
    return refused


def _columns() -> StructType:
    schema = StructType().add("id", "long").add("k", "string").add("ts", "timestamp")
    return schema.add("x", "double").add("s", "string")


def _stream(spark: SparkSession, folder: Path, schema: StructType) -> Any:
    stream = spark.readStream.format("parquet").schema(schema).option("maxFilesPerTrigger", 1)
    return stream.load(str(folder / "stream"))


def _answer_stream(spark: SparkSession, folder: Path) -> None:
    """A stream that goes on from a table, over Connect, in batches that come as they can."""
    write_batches(folder / "stream", [EVENTS.slice(0, SIZE // 2), EVENTS.slice(SIZE // 2)])
    write_batches(folder / "rest", [EVENTS.slice(SIZE // 2)])
    stream = spark.readStream.schema(_columns()).parquet(str(folder / "rest"))
    before = spark.createDataFrame(EVENTS.slice(0, SIZE // 2))
    run_to_end(STREAMED(stream, history=before), folder / "answers")
    _keep(spark.read.parquet(str(folder / "answers")).toArrow(), folder, "history")


def _session(builder: Any, folder: Path, partitions: int) -> SparkSession:
    settings = {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.executor.memory": "512m",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": str(partitions),
        # Each of the tasks is a job for a worker of its own.
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "30",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.ui.enabled": "false",
        PROVIDER: ROCKSDB,
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()  # type: ignore[no-any-return]


def _answer(spark: SparkSession, folder: Path) -> None:
    frame = spark.createDataFrame(EVENTS)
    for name, ask in asked(spread("x")).items():
        _keep(ask(frame).toArrow(), folder, name)


def _keep(table: pa.Table, folder: Path, name: str) -> None:
    with pa.ipc.new_file(str(folder / f"{name}.arrow"), table.schema) as file:
        file.write_table(in_order(table))


if __name__ == "__main__":
    environment, kept = sys.argv[1], Path(sys.argv[2])
    found = {"cluster": cluster, "connect": connect}[environment](kept)
    (kept / "found.json").write_text(json.dumps(found))
