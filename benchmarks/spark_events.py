"""What the Spark suites share: a session, tables of events, and how contestants run."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from windrow.experiments.rounds import median_times
from windrow.spark.session import local_session

#: what a contestant makes of a table of events
Query = Callable[[DataFrame], DataFrame]

#: rows of the small table on which contestants must give the same answers
_COMPARED = 5_000


@contextmanager
def session(**conf: str) -> Iterator[SparkSession]:
    """A session of its own for a suite."""
    # windrow's own functions need no word of it; those that they are measured against do.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    spark = local_session("windrow benchmarks", **{"spark.sql.shuffle.partitions": "4", **conf})
    try:
        yield spark
    finally:
        spark.stop()


def events(spark: SparkSession, rows: int, keys: int) -> DataFrame:
    """Events a hundredth of a second apart: `id`, the key `k`, the time `ts`, a number `x`."""
    return spark.range(rows).select(
        "id",
        (F.col("id") % keys).alias("k"),
        F.timestamp_micros(F.col("id") * 10_000).alias("ts"),
        (F.rand(3) * 100).alias("x"),
    )


@contextmanager
def cached(frame: DataFrame) -> Iterator[DataFrame]:
    """The events in memory, so that no contestant pays for making them."""
    kept = frame.cache()
    kept.count()
    try:
        yield kept
    finally:
        kept.unpersist()


def by_segment_tree(enabled: bool, query: Query) -> Query:
    """A query of window functions with Spark's segment tree switched on or off."""

    def switched(frame: DataFrame) -> DataFrame:
        frame.sparkSession.conf.set("spark.sql.window.segmentTree.enabled", str(enabled).lower())
        return query(frame)

    return switched


def only_shuffled(like: Query) -> Query:
    """The same shuffle, sort and columns as a query of windrow, with no answer computed."""

    def shuffled(frame: DataFrame) -> DataFrame:
        given, schema = frame.schema, like(frame).schema
        by_type = {field.dataType: field.name for field in given}
        copied = [by_type[field.dataType] for field in schema.fields[len(given) :]]

        def copy(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                columns = [*batch.columns, *(batch[name] for name in copied)]
                yield pa.RecordBatch.from_arrays(columns, names=schema.names)

        return frame.repartition("k").sortWithinPartitions("k", "ts").mapInArrow(copy, schema)

    return shuffled


def race(
    frame: DataFrame, queries: Mapping[str, Query], rounds: int, warm_up: int = 1
) -> dict[str, float]:
    """The median time of each query over the whole table; they take turns."""
    return median_times(contestants(frame, queries), rounds, warm_up)


def contestants(frame: DataFrame, queries: Mapping[str, Query]) -> dict[str, Callable[[], None]]:
    """Queries as runs over the whole table, whose answers go nowhere."""

    def to_nowhere(query: Query) -> Callable[[], None]:
        return lambda: query(frame).write.format("noop").mode("overwrite").save()

    return {name: to_nowhere(query) for name, query in queries.items()}


def require_agreement(frame: DataFrame, ours: Query, *others: Query) -> None:
    """All queries give the same answers, in columns of the same order, for the oldest events."""
    few = frame.where(F.col("id") < _COMPARED)
    expected = _answers(ours(few), frame.columns)
    for other in others:
        for one, another in zip(expected, _answers(other(few), frame.columns), strict=True):
            assert all(
                math.isclose(mine, theirs, rel_tol=1e-9, abs_tol=1e-9)
                for mine, theirs in zip(one, another, strict=True)
                if mine is not None or theirs is not None
            ), "other answers"


def _answers(result: DataFrame, given: list[str]) -> list[list[float]]:
    table = result.toArrow().sort_by("id")
    return [
        column.to_pylist()
        for name, column in zip(table.column_names, table.columns, strict=True)
        if name not in given
    ]
