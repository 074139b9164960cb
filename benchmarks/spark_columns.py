"""Columns that windows do not need: across to Python and back, or kept beside in the JVM.

All ways shuffle and sort the same rows, and copy a column in place of an answer. `mapInArrow`
takes whole rows. An Arrow function takes the columns that are needed, as `wr.over` does, or a
struct of them, and Spark keeps the others in a queue until the answers are back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import DoubleType, StructField, StructType

from benchmarks.harness import Comparison
from benchmarks.spark_events import Query, cached, events, race, session

ROWS, KEYS = 1_000_000, 100
FURTHER = (0, 4, 16)
NEEDED = ("k", "ts", "x")


def run(rows: int = ROWS) -> list[Comparison]:
    """With as many further columns, half of them text."""
    comparisons = []
    with session() as spark:
        for further in FURTHER:
            with cached(_wider(events(spark, rows, KEYS), further)) as frame:
                times = race(frame, WAYS, rounds=3)
            work = f"{rows:,} rows, {further} further columns, those needed as columns"
            comparisons += [
                Comparison(work, other, times[COLUMNS], times[other])
                for other in WAYS
                if other != COLUMNS
            ]
    return comparisons


def _wider(frame: DataFrame, further: int) -> DataFrame:
    text = F.concat(F.lit("payload-"), F.col("id").cast("string"))
    columns = [(text if number % 2 else F.col("x") + number) for number in range(further)]
    return frame.select("*", *(each.alias(f"c{number}") for number, each in enumerate(columns)))


def _arranged(frame: DataFrame) -> DataFrame:
    return frame.repartition("k").sortWithinPartitions("k", "ts")


def across(frame: DataFrame) -> DataFrame:
    result = StructType([*frame.schema.fields, StructField("answer", DoubleType())])

    def copy(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield batch.append_column("answer", batch["x"])

    return _arranged(frame).mapInArrow(copy, result)


def as_struct(frame: DataFrame) -> DataFrame:
    @F.arrow_udf(DoubleType())
    def copy(rows: Iterator[pa.Array]) -> Iterator[pa.Array]:
        for each in rows:
            yield each.field("x")

    return _beside(frame, copy, F.struct(*NEEDED))


def as_columns(frame: DataFrame) -> DataFrame:
    @F.arrow_udf(DoubleType())
    def copy(rows: Iterator[tuple[pa.Array, ...]]) -> Iterator[pa.Array]:
        for _key, _time, x in rows:
            yield x

    return _beside(frame, copy, *NEEDED)


def _beside(frame: DataFrame, copy: Any, *needed: Any) -> DataFrame:
    # Else Spark might drop the sort, on which a window depends and a copy does not.
    ordered = copy.asNondeterministic()
    return _arranged(frame).select("*", ordered(*needed).alias("answer"))


COLUMNS = "needed ones as columns"
WAYS: dict[str, Query] = {
    COLUMNS: as_columns,
    "needed ones as a struct": as_struct,
    "all across, by mapInArrow": across,
}
