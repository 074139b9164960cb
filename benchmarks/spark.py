"""`wr.over` on Spark against Spark's own window functions, and against doing nothing at all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import Window as SparkWindow
from pyspark.sql import functions as F

import windrow as wr
from benchmarks.harness import Comparison, best_times
from windrow.spark.session import local_session

ROWS = 1_000_000
KEYS = 100
WINDOWS = (10, 100, 1_000, 3_000, 9_000)


def run() -> list[Comparison]:
    """Twenty features of a million rows in a hundred keys."""
    spark = local_session("windrow benchmarks", **{"spark.sql.shuffle.partitions": "4"})
    frame = spark.range(ROWS).select(
        (F.col("id") % KEYS).alias("k"),
        F.timestamp_micros(F.col("id") * 10_000).alias("ts"),
        (F.rand(3) * 100).alias("x"),
    )
    frame = frame.cache()
    frame.count()
    contestants = {
        "windrow": _to_nowhere(lambda: _windrow(frame)),
        "untouched": _to_nowhere(lambda: _untouched(frame)),
    }
    times = best_times(contestants, rounds=4)
    own = best_times({"own": _to_nowhere(lambda: _window_functions(spark, frame))}, rounds=1)
    spark.stop()
    work = "over, 1M rows, 100 keys, 20 features"
    return [
        Comparison(work, "window functions, segment tree", times["windrow"], own["own"], bar=3.0),
        Comparison(
            work,
            "shuffle, sort, mapInArrow, no work",
            times["windrow"],
            times["untouched"],
            bar=round(1 / 1.5, 2),
        ),
    ]


def _to_nowhere(make: Callable[[], DataFrame]) -> Callable[[], None]:
    return lambda: make().write.format("noop").mode("overwrite").save()


def _windrow(frame: DataFrame) -> DataFrame:
    features: DataFrame = wr.over(
        frame,
        key="k",
        order="ts",
        windows={str(extent): wr.rows(extent) for extent in WINDOWS},
        aggs=[wr.max("x"), wr.min("x"), wr.mean("x"), wr.stddev("x")],
    )
    return features


def _untouched(frame: DataFrame) -> DataFrame:
    """The same shuffle, sort and columns, with the input in place of every answer."""
    schema = _windrow(frame).schema
    names = schema.names

    def answer(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            copies = [batch["x"]] * (len(names) - batch.num_columns)
            yield pa.RecordBatch.from_arrays([*batch.columns, *copies], names=names)

    return frame.repartition("k").sortWithinPartitions("k", "ts").mapInArrow(answer, schema)


def _window_functions(spark: SparkSession, frame: DataFrame) -> DataFrame:
    spark.conf.set("spark.sql.window.segmentTree.enabled", "true")
    columns = [
        function("x")
        .over(SparkWindow.partitionBy("k").orderBy("ts").rowsBetween(-(extent - 1), 0))
        .alias(f"{function.__name__}_{extent}")
        for extent in WINDOWS
        for function in (F.max, F.min, F.mean, F.stddev)
    ]
    return frame.select("*", *columns)
