"""Rows to Python and back: all that a function gives comes out, and only what it reads goes in."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import windrow as wr
from windrow.spark.bridge.arrow_batches import BatchMaker, in_lists, map_partitions

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

SIZE = 50


@pytest.fixture(params=["1", "7", "10000"], ids="batches of {}".format)
def frame(spark: "SparkSession", request: pytest.FixtureRequest) -> Iterator["DataFrame"]:
    setting = "spark.sql.execution.arrow.maxRecordsPerBatch"
    usual = spark.conf.get(setting)
    spark.conf.set(setting, request.param)
    rows = spark.range(SIZE, numPartitions=2)
    yield rows.select("id", (rows.id * 2).alias("twice"))
    spark.conf.set(setting, usual)


def by_batch(times: int) -> BatchMaker:
    """Every batch so many times."""

    def function(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for _ in range(times):
                yield batch

    return function


def at_the_end(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """All batches, and none of them before the last has been seen."""
    yield from list(batches)


def now_and_then(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch | None]:
    """Every third batch with the two before it."""
    held = []
    for batch in batches:
        held.append(batch)
        if len(held) == 3:
            yield pa.concat_batches(held)
            held = []
        else:
            yield None
    yield from held


def nothing(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield from (batch for batch in batches if not batch.num_rows)


@pytest.mark.parametrize("read", [["id"], ["twice", "id"]], ids=", ".join)
@pytest.mark.parametrize(
    ("function", "times"),
    [(by_batch(1), 1), (by_batch(12), 12), (at_the_end, 1), (now_and_then, 1), (nothing, 0)],
    ids=["batch by batch", "more than there are rows", "at the end", "now and then", "nothing"],
)
def test_all_rows_of_the_result(
    frame: "DataFrame", read: list[str], function: BatchMaker, times: int
) -> None:
    result = frame.select(*read).schema
    rows = map_partitions(frame, read, function, result, "copied").collect()
    expected = [(2 * row, row)[-len(read) :] for row in range(SIZE) for _ in range(times)]
    assert sorted(map(tuple, rows)) == expected


@pytest.mark.parametrize("sizes", [[2, 0], [0, 2], [2, 0, 0, 1, 0], [0]], ids=str)
def test_a_batch_without_rows_takes_no_place(sizes: list[int]) -> None:
    def last(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch | None]:
        for _batch in batches:
            yield None
        yield pa.RecordBatch.from_pydict({"x": [7]})

    columns = iter([(pa.array(range(size), pa.int64()),) for size in sizes])
    lists = [each for array in in_lists(last, ["x"])(columns) for each in array.to_pylist()]
    assert len(lists) == sum(sizes)
    assert [row for rows in lists if rows for row in rows] == [{"x": 7}][: sum(sizes)]


def test_only_what_windows_need_goes_to_python(spark: "SparkSession", capsys: Any) -> None:
    frame = spark.range(10).selectExpr("id", "id AS k", "cast(id AS double) AS x", "'y' AS other")
    wr.over(frame, key="k", order="id", windows=wr.rows(100), aggs=wr.max("x")).explain()
    (line,) = [each for each in capsys.readouterr().out.splitlines() if "windrow over" in each]
    assert "max(x) in rows_100(k#" in line
    assert "other" not in line.split("[pythonUDF0")[0]
