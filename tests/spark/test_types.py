"""Types, nulls and clocks go through `wr.over` on Spark as they go through Spark's own windows."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

import windrow as wr
from tests.support.spark.types import EVERY_TYPE, ORDERED

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

pytestmark = pytest.mark.spark


@pytest.fixture
def setting(spark: "SparkSession") -> Iterator[Callable[[str, str], None]]:
    """Changes a setting of the session for one test."""
    usual: dict[str, str] = {}

    def change(name: str, value: str) -> None:
        usual[name] = spark.conf.get(name)  # type: ignore[assignment]
        spark.conf.set(name, value)

    yield change
    for name, value in usual.items():
        spark.conf.set(name, value)


@pytest.fixture(autouse=True)
def _small_batches(setting: Callable[[str, str], None]) -> None:
    setting("spark.sql.execution.arrow.maxRecordsPerBatch", "7")


def every_type(spark: "SparkSession") -> "DataFrame":
    columns = [f"{sql} AS `{name}`" for name, sql in EVERY_TYPE.items()]
    return spark.range(40).selectExpr("id", "id % 3 AS k", *columns)


def native(frame: "DataFrame", **answers: "Column") -> "DataFrame":
    """The columns of a DataFrame and answers of Spark's own window functions."""
    return frame.select("*", *(answer.alias(name) for name, answer in answers.items()))


def listed(numbers: "Column") -> "Column":
    """Spark knows of its lists that they hold no null; windrow does not say so of its own."""
    return numbers.cast("array<bigint>")


def rows_of(frame: "DataFrame") -> list[str]:
    """Rows by how they are written, in which NaN equals NaN; variants as JSON."""
    from pyspark.sql import functions as F

    readable = [
        F.to_json(f"`{field.name}`").alias(field.name)
        if field.dataType.typeName() == "variant"
        else F.col(f"`{field.name}`")
        for field in frame.schema
    ]
    return sorted(map(repr, frame.select(*readable).orderBy("id").collect()))


def assert_same(ours: "DataFrame", theirs: "DataFrame") -> None:
    assert [(f.name, f.dataType) for f in ours.schema] == [
        (f.name, f.dataType) for f in theirs.schema
    ]
    assert rows_of(ours) == rows_of(theirs)


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "America/St_Johns"])
def test_every_type_is_carried(
    spark: "SparkSession", setting: Callable[[str, str], None], zone: str
) -> None:
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    setting("spark.sql.session.timeZone", zone)
    frame = every_type(spark)
    ours = wr.over(
        frame,
        key="k",
        order="id",
        windows=wr.rows(4),
        aggs=[wr.max(name) for name in ORDERED] + [wr.last(name) for name in EVERY_TYPE],
    )
    window = Window.partitionBy("k").orderBy("id").rowsBetween(-3, 0)
    largest = {f"max_{name}": F.max(f"`{name}`").over(window) for name in ORDERED}
    newest = {
        f"last_{name}": F.last(f"`{name}`", ignorenulls=True).over(window) for name in EVERY_TYPE
    }
    assert_same(ours, native(frame, **largest, **newest))


@pytest.mark.parametrize("name", ["double", "cents", "text", "moment", "struct", "list"])
def test_keys_of_every_type(spark: "SparkSession", name: str) -> None:
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    # Several rows of each key: as many numbers as the columns are made of, but fewer of them.
    columns = [f"{EVERY_TYPE[name].replace('id', '(id % 9)')} AS `key.1`"]
    frame = spark.range(60).selectExpr("id", *columns)
    ours = wr.over(frame, key="key.1", order="id", windows=wr.rows(3), aggs=wr.collect("id"))
    window = Window.partitionBy("`key.1`").orderBy("id").rowsBetween(-2, 0)
    assert_same(ours, native(frame, collect_id=listed(F.collect_list("id").over(window))))


@pytest.mark.parametrize("name", ["double", "cents", "text", "bytes", "day", "moment", "span"])
def test_orders_of_every_type_with_nulls(spark: "SparkSession", name: str) -> None:
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    frame = spark.range(40).selectExpr(
        "(id * 17) % 40 AS id", f"IF(id % 4 = 1, NULL, {EVERY_TYPE[name]}) AS o", "id % 2 AS k"
    )
    ours = wr.over(frame, key="k", order=["o", "id"], windows=wr.rows(3), aggs=wr.collect("id"))
    window = Window.partitionBy("k").orderBy("o", "id").rowsBetween(-2, 0)
    assert_same(ours, native(frame, collect_id=listed(F.collect_list("id").over(window))))


CHANGES = {  # of the clock, an hour on and an hour back
    "spring": "2024-03-31 00:30:00",
    "autumn": "2024-10-27 00:30:00",
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", ["TIMESTAMP", "TIMESTAMP_NTZ"])
@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin"])
def test_windows_of_time_over_a_change_of_the_clock(
    spark: "SparkSession",
    setting: Callable[[str, str], None],
    zone: str,
    name: str,
    change: str,
) -> None:
    from pyspark.sql import functions as F

    setting("spark.sql.session.timeZone", zone)
    start = f"{name}'{CHANGES[change]}'"
    frame = spark.range(60).selectExpr("id", f"{start} + id * INTERVAL '7' MINUTE AS ts")
    # Local times that no clock showed are times like others, if the column has no time zone.
    ours = wr.over(
        frame,
        order="ts",
        windows=wr.time("1 hour", closed="both", ties="peers"),
        aggs=wr.collect("id"),
    )
    frames = "(ORDER BY ts RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND CURRENT ROW)"
    theirs = native(frame, collect_id=listed(F.expr(f"array_sort(collect_list(id) OVER {frames})")))
    assert_same(ours.withColumn("collect_id", F.array_sort("collect_id")), theirs)


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("INTERVAL '1' MONTH", "the column 'c' is interval month"),
        ("make_interval(1, 2, 3)", "the column 'c' is interval"),
    ],
)
def test_a_type_that_does_not_reach_python_is_named(
    spark: "SparkSession", sql: str, said: str
) -> None:
    frame = spark.range(3).selectExpr("id", f"{sql} AS c")
    with pytest.raises(wr.InvalidArgument, match=f"data: {said}, which Spark does not hand to"):
        wr.over(frame, order="id", windows=wr.rows(2), aggs=wr.count())


def test_a_frame_of_pandas_on_spark_is_told_what_to_give(spark: "SparkSession") -> None:
    frame = spark.range(3)
    arguments = {"order": "id", "windows": wr.rows(2), "aggs": wr.count()}
    for call in (wr.over, wr.plan):
        with pytest.raises(
            wr.InvalidArgument, match=r"^data: it is a DataFrame of pandas on Spark"
        ):
            call(frame.pandas_api(), **arguments)
    with pytest.raises(wr.InvalidArgument, match=r"give the Spark DataFrame .*, \.to_spark\(\)"):
        wr.slide(frame.pandas_api(), **{**arguments, "windows": wr.rows(2, every=1)})
    with pytest.raises(wr.InvalidArgument, match=r"^data: give a Spark DataFrame, not Column"):
        wr.over(frame["id"], **arguments)


CONDITIONS = [
    "tiny * 3 - whole > small % 7 + 60",
    "whole / 4 = cents and whole > 4", "cents * 3 > whole - 0.5",
    "cents % 0.5 = 0", "-huge < whole * -9.5 and whole > 7",
    "single * 3 > whole or double between 2 and 3.5",
    "text like 'ä1%' or text like '_2_'", r"text not like 'ä\_%' and text not in ('ä7', 'ä8')",
    "text is null or flag and not whole in (1, 2, 3)",
    "moment > '2024-03-31 01:30:00' and moment < '2024-03-31 03:10:00'",
    # Across a change of clocks Spark takes the difference of clocks, and windrow that of times.
    "moment - timestamp '2024-03-31 00:30:00' > interval '80 minutes'",
    "local + interval '1 hour' > '2024-03-31 03:10:00' and local < date '2024-04-01'",
    "day >= date '1582-10-04' and day + interval '1 day' <= '1582-10-20'",
    "span > interval '1 day' and span * 2 < interval '30 days' and -span < span / 2",
]  # fmt: skip


def test_conditions_hold_where_spark_says_they_do(
    spark: "SparkSession", setting: Callable[[str, str], None]
) -> None:
    setting("spark.sql.session.timeZone", "Europe/Berlin")
    frame = every_type(spark).where("not isnan(double)")
    counts = [wr.count().where(text).alias(f"c{at}") for at, text in enumerate(CONDITIONS)]
    names = [count.name for count in counts]
    ours = wr.over(frame, key="k", order="id", windows=wr.rows(1), aggs=counts)
    theirs = [f"int(coalesce({text}, false)) AS c{at}" for at, text in enumerate(CONDITIONS)]
    wanted = frame.selectExpr("id", *theirs).orderBy("id").collect()
    found = ours.select("id", *names).orderBy("id").collect()
    for name, text in zip(names, CONDITIONS, strict=True):
        assert [row[name] for row in found] == [row[name] for row in wanted], text
        assert {row[name] for row in found} == {0, 1}, f"{text} tells nothing apart"
