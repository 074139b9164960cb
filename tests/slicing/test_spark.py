"""The windows of `F.window`, as Spark itself cuts them."""

from typing import TYPE_CHECKING

import pytest

from windrow.slicing import PeriodicWindow

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SECOND = 1_000_000
TIMES = [
    -62_135_596_800 * SECOND,  # the year 1
    -SECOND - 1,
    -SECOND,
    -1,
    0,
    1,
    6_999_999,
    7 * SECOND,
    1_700_000_000 * SECOND + 123_456,
    253_402_300_799 * SECOND,  # the end of 9999
]


@pytest.mark.spark
@pytest.mark.parametrize(
    ("extent", "slide", "offset"),
    [(10, 3, 0), (10, 5, 2), (7, 7, 0), (7, 7, 6), (3600, 600, 0)],
)
def test_time_windows_are_those_of_spark(
    spark: "SparkSession", extent: int, slide: int, offset: int
) -> None:
    from pyspark.sql import functions as F

    window = PeriodicWindow(extent * SECOND, slide * SECOND, offset * SECOND)
    found = (
        spark.createDataFrame([(time,) for time in TIMES], "time long")
        .withColumn(
            "window",
            F.window(
                F.timestamp_micros("time"),
                f"{extent} seconds",
                f"{slide} seconds",
                f"{offset} seconds",
            ),
        )
        .select(
            "time",
            F.unix_micros("window.start").alias("start"),
            F.unix_micros("window.end").alias("end"),
        )
        .collect()
    )
    expected = [
        (time, start, start + window.range)
        for time in TIMES
        for start in window.window_starts_of(time).tolist()
    ]
    assert sorted(map(tuple, found)) == sorted(expected)
