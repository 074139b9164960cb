"""Tables and streams on Spark, in a session on this machine.

Workers run kernels as plain Python, unless told otherwise: each call would compile kernels of its
own.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import windrow as wr
from tests.fuzz import model
from tests.fuzz.calls import Call
from tests.fuzz.inside import Asked
from tests.fuzz.streams import MILLISECOND, by_id, splits
from tests.support.spark.state_store import PROVIDER, ROCKSDB

YEAR = 365 * 86_400 * 10**9


def session() -> Any:
    """The session of this process, started here if there is none."""
    from pyspark.sql import SparkSession

    from windrow.spark.session import local_session

    running = SparkSession.getActiveSession()
    if running is not None:
        return running
    folder = Path(tempfile.mkdtemp(prefix="windrow-fuzz-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return local_session(
        "windrow fuzz",
        cores=2,
        log_file=folder / "spark.log",
        **{"spark.sql.warehouse.dir": str(folder / "warehouse")},
    )


@contextmanager
def settled(spark: Any, random: Random) -> Iterator[None]:
    """Small batches, few partitions, workers that compile nothing; and all as before again."""
    settings = {
        PROVIDER: ROCKSDB,
        "spark.sql.shuffle.partitions": str(random.randint(1, 3)),
        "spark.sql.execution.arrow.maxRecordsPerBatch": str(random.choice((1, 5, 10_000))),
    }
    before = {name: spark.conf.get(name, None) for name in settings}
    environment = spark.sparkContext.environment
    for name, value in settings.items():
        spark.conf.set(name, value)
    environment["NUMBA_DISABLE_JIT"] = "1"
    try:
        yield
    finally:
        del environment["NUMBA_DISABLE_JIT"]
        for name, old in before.items():
            spark.conf.unset(name) if old is None else spark.conf.set(name, old)


def spark_table(call: Call, random: Random) -> Asked:
    """`wr.over` and `wr.slide` of a DataFrame."""
    spark = session()
    with settled(spark, random):
        frame = spark.createDataFrame(call.table())
        if random.random() < 0.3:
            frame = frame.repartition(random.randint(1, 3))
        result = getattr(wr, call.function)(frame, **call.arguments()).toArrow()
    return call, by_id(call, result) if call.function == "over" else result


def spark_stream(call: Call, random: Random) -> Asked:
    """The same of a streaming DataFrame: a file for each batch, and an event that ends it all."""
    from tests.support.stream.files import answers_in, read_stream, run_to_end, write_batches

    spark = session()
    batches = splits(call, random)
    ended = _with_an_end(call)
    table = ended.table()
    tables = [table.take(rows) for rows in [*batches, [call.size]] if rows]
    with settled(spark, random), tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_batches(folder / "events", tables)
        stream = read_stream(spark, folder / "events")
        arguments = {**call.arguments(), "lateness": f"{_lateness(call, batches)} milliseconds"}
        answers = getattr(wr, call.function)(stream, **arguments)
        run_to_end(answers, folder / "answers")
        result = answers_in(spark, folder / "answers").select(answers.columns)
    return call, by_id(call, result) if call.function == "over" else result


def _lateness(call: Call, batches: list[list[int]]) -> int:
    """By how many milliseconds events come after later ones of batches before."""
    times = model.times(call)
    newest, behind = None, 0
    for batch in batches:
        if newest is not None:
            behind = max([behind, *(newest - times[row] for row in batch)])
        newest = max(
            [times[row] for row in batch] + ([] if newest is None else [newest]), default=0
        )
    return behind // MILLISECOND + 1


def _with_an_end(call: Call) -> Call:
    """One event more, so long after all others that they are final."""
    latest = max(model.times(call), default=0)
    columns = {}
    for name, column in call.columns.items():
        last: Any = column.values[-1] if column.values else None
        if name == "o0":
            last = max(latest, 0) // column.tick + 20 * YEAR // column.tick
        if name == "id":
            last = call.size
        columns[name] = replace(column, values=(*column.values, last))
    return replace(call, columns=columns)
