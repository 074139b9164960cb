"""Queries in front of and behind others of one Spark query answer what they answer on tables.

Each composition is a function of events. It runs over a stream, together with others in one Spark
query, and over a table of the same events.
"""

import random
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import windrow as wr
from tests.support.stream.files import read_stream, write_batches

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

#: from a function that gives the events, each time with a watermark of their own, to answers
Composition = Callable[[Callable[[], "DataFrame"]], "DataFrame"]
#: the last event makes all others final, in the batch after its own
LAST = 100_000


def batches() -> list[pa.Table]:
    """Events of three keys out of order, at whole seconds too; some come twice, under one id."""
    draw, made, number = random.Random(5), [], 0
    for batch in range(2):
        rows = []
        for _ in range(14):
            number += 1
            time = (
                1000 + 20 * batch + draw.choice([draw.randrange(20), draw.randrange(20_000) / 1000])
            )
            rows.append(
                {"ts": time, "k": draw.randrange(3), "x": draw.randrange(100), "id": number}
            )
        made.append([*rows, *rows[:2]])
    made[-1].append({"ts": LAST, "k": 0, "x": 0, "id": 0})
    schema = pa.schema(
        [
            ("ts", pa.timestamp("us", "UTC")),
            ("k", pa.int64()),
            ("x", pa.int64()),
            ("id", pa.int64()),
        ]
    )
    moments = [
        [{**row, "ts": datetime.fromtimestamp(row["ts"], UTC)} for row in rows] for rows in made
    ]
    return [pa.Table.from_pylist(rows, schema) for rows in moments]


# What is composed: from rows of a key `k`, a time `ts` and a value `x` to the same ---------------


def slide(rows: "DataFrame", **told: Any) -> "DataFrame":
    answers = wr.slide(
        rows, key="k", order="ts", windows=wr.time("10 seconds", every="5 seconds"),
        aggs=wr.sum("x", alias="total"), **told,
    )  # fmt: skip
    return answers.selectExpr("k", "window_end AS ts", "total AS x")


def over(rows: "DataFrame", **told: Any) -> "DataFrame":
    """Peers, because rows of one time come in no order."""
    answers = wr.over(
        rows, key="k", order="ts", windows=wr.time("10 seconds", ties="peers"),
        aggs=wr.sum("x", alias="total"), **told,
    )  # fmt: skip
    return answers.selectExpr("k", "ts", "total AS x")


def window(rows: "DataFrame") -> "DataFrame":
    from pyspark.sql import functions as F

    return _windowed(rows, F.window("ts", "4 seconds"), "window")


def session(rows: "DataFrame") -> "DataFrame":
    from pyspark.sql import functions as F

    return _windowed(rows, F.session_window("ts", "2 seconds"), "session_window")


def _windowed(rows: "DataFrame", by: Any, name: str) -> "DataFrame":
    from pyspark.sql import functions as F

    summed = rows.groupBy("k", by).agg(F.sum("x").alias("x"))
    return summed.select("k", F.window_time(name).alias("ts"), "x")


def distinct(rows: "DataFrame") -> "DataFrame":
    """Spark has this for streams only."""
    names = ["k", "ts", "x"]
    if rows.isStreaming:
        return rows.dropDuplicatesWithinWatermark(names)
    return rows.dropDuplicates(names)


def joined(kind: str) -> Callable[["DataFrame", "DataFrame"], "DataFrame"]:
    def join(rows: "DataFrame", others: "DataFrame") -> "DataFrame":
        from pyspark.sql import functions as F

        right = others.where("x % 4 = 0").selectExpr("k AS other", "ts AS time", "x AS y")
        near = "k = other AND time BETWEEN ts - INTERVAL 3 SECONDS AND ts + INTERVAL 3 SECONDS"
        rows = rows.join(right, F.expr(near), kind)
        return rows.selectExpr("k", "ts", "x + coalesce(y, 1000) AS x")

    return join


#: Spark's operators over one stream, and over two
ALONE = {"window": window, "session": session, "distinct": distinct}
PAIRED = {"inner": joined("inner"), "left": joined("left"), "union": lambda a, b: a.union(b)}


def _behind(query: Callable[["DataFrame"], "DataFrame"]) -> dict[str, Composition]:
    """A windrow query behind everything."""

    def behind(step: Any) -> Composition:
        return lambda events: query(step(events()))

    def behind_two(step: Any) -> Composition:
        return lambda events: query(step(events(), events()))

    return {
        **{name: behind(step) for name, step in (ALONE | {"slide": slide, "over": over}).items()},
        **{name: behind_two(step) for name, step in PAIRED.items()},
    }


def _in_front_of(query: Callable[["DataFrame"], "DataFrame"]) -> dict[str, Composition]:
    """A windrow query in front of Spark's operators."""

    def in_front(step: Any) -> Composition:
        return lambda events: step(query(events()))

    def in_front_of_one(step: Any) -> Composition:
        rows = ("k", "ts", "x")
        return lambda events: step(query(events()), events().select(*rows))

    return {
        **{name: in_front(step) for name, step in ALONE.items()},
        **{name: in_front_of_one(step) for name, step in PAIRED.items()},
    }


def _of_one_stream(events: Callable[[], "DataFrame"]) -> "DataFrame":
    """Queries that read the same, and one that is used twice."""
    both = events()
    once = slide(both)
    return once.union(over(both)).union(once).union(window(once))


#: those of a name run in one Spark query; to plan more in one takes Spark longer than two
COMPOSITIONS = {
    "slide behind": _behind(slide),
    "slide in front of": {**_in_front_of(slide), "queries of one stream": _of_one_stream},
    "over behind": _behind(over),
    "over in front of": _in_front_of(over),
}


@pytest.fixture
def one_partition(streaming: "SparkSession") -> Iterator["SparkSession"]:
    before = streaming.conf.get("spark.sql.shuffle.partitions")
    streaming.conf.set("spark.sql.shuffle.partitions", "1")
    yield streaming
    streaming.conf.set("spark.sql.shuffle.partitions", before or "2")


@pytest.mark.parametrize("together", COMPOSITIONS)
def test_as_on_a_table(one_partition: "SparkSession", tmp_path: Path, together: str) -> None:
    from pyspark.sql import functions as F

    came = batches()
    write_batches(tmp_path / "events", came)
    stream = read_stream(one_partition, tmp_path / "events")
    table = one_partition.createDataFrame(pa.concat_tables(came))

    def all_of(events: Callable[[], "DataFrame"]) -> "DataFrame":
        composed = [
            compose(events).select(F.lit(name).alias("composition"), "k", "ts", "x")
            for name, compose in COMPOSITIONS[together].items()
        ]
        return reduce(lambda one, other: one.union(other), composed)

    found: list[dict[str, Any]] = []
    query = (
        all_of(lambda: stream.withWatermark("ts", "1 second"))
        .writeStream.foreachBatch(lambda rows, _number: found.extend(rows.toArrow().to_pylist()))
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    wanted = all_of(lambda: table).toArrow().to_pylist()
    for name in COMPOSITIONS[together]:
        ours, theirs = (_final(rows, name) for rows in (found, wanted))
        assert ours == theirs, name
        assert theirs, name


def _final(rows: list[dict[str, Any]], name: str) -> list[tuple[Any, ...]]:
    """The answers that the last event makes final."""
    chosen = [row for row in rows if row["composition"] == name]
    return sorted(
        (row["ts"], row["k"], row["x"]) for row in chosen if row["ts"].timestamp() < LAST / 2
    )
