"""Small frames of built-in functions are Spark's own, and answer as windrow's do."""

import contextlib
import math
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import windrow as wr
from tests.support.over import oracle
from tests.support.over.events import random_events
from windrow.aggregations import CATALOGUE
from windrow.algebra.aggregation import Measure
from windrow.algebra.kinds import Kind
from windrow.planning import placement
from windrow.planning.choose import Wish
from windrow.planning.over_plan import resolve_over
from windrow.planning.placement import (
    MOST_ROWS_FOR_SPARK,
    SPARK_FUNCTIONS,
    depends_on_keys,
    place_over,
)
from windrow.spark.batch import samples
from windrow.spark.bridge import scans
from windrow.work import sizes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCHEMA = pa.schema(
    {
        "k": pa.string(),
        "ts": pa.timestamp("us", "UTC"),
        "x": pa.float64(),
        "single": pa.float32(),
        "small": pa.int32(),
        "n": pa.int64(),
        "day": pa.date32(),
        "price": pa.decimal128(10, 2),
        "flag": pa.bool_(),
        "s": pa.string(),
        "list": pa.list_(pa.int64()),
    }
)


def where(*aggs: Any, windows: Any = None, wish: Wish | None = None, **arguments: Any) -> str:
    arguments = {"key": "k", "order": "ts", **arguments}
    plan = resolve_over(
        SCHEMA, windows=windows or wr.rows(8), aggs=aggs, wish=wish or Wish(), **arguments
    )
    return place_over(plan).where


def test_small_frames_are_left_to_spark() -> None:
    assert where(wr.max("x")) == "spark"
    assert where(wr.max("x"), wr.mean("small")) == "spark"
    assert where(wr.count(), windows=wr.rows(MOST_ROWS_FOR_SPARK)) == "spark"
    assert where(wr.count(), windows=wr.rows(MOST_ROWS_FOR_SPARK + 1)) == "chunks"
    assert where(wr.max("x"), wr.min("x"), wr.mean("x")) == "chunks"


def test_keys_of_few_rows_fill_no_large_frame() -> None:
    plan = resolve_over(
        SCHEMA, key="k", order="ts", windows=wr.rows(100), aggs=wr.max("x"), wish=Wish()
    )
    assert depends_on_keys(plan)
    assert [place_over(plan, rows).where for rows in (1, 30, 40, math.inf)] == [
        "spark", "spark", "chunks", "chunks",
    ]  # fmt: skip
    many = [wr.max("x", alias=str(number)) for number in range(MOST_ROWS_FOR_SPARK + 1)]
    others = resolve_over(SCHEMA, key="k", order="ts", windows=wr.rows(100), aggs=many, wish=Wish())
    assert not depends_on_keys(others)


@pytest.mark.spark
def test_rows_of_a_key_are_counted_where_they_decide(spark: "SparkSession") -> None:
    def operator(frame: Any) -> str:
        answer = wr.over(frame, key="k", order="id", windows=wr.rows(100), aggs=wr.max("id"))
        plan = answer._jdf.queryExecution().optimizedPlan().toString()
        return "Spark" if "Window [" in plan else "windrow" if "windrow over" in plan else plan

    rows = spark.range(20_000)
    small, large = (rows.withColumn("k", rows.id % keys) for keys in (2_000, 4))
    assert operator(small) == "Spark"
    assert operator(large) == "windrow"
    # Behind a shuffle a look would take as long as the work.
    assert operator(small.repartition(2)) == "windrow"
    spark.conf.set(scans.SETTING, "false")
    try:
        assert operator(small) == "windrow"
    finally:
        spark.conf.unset(scans.SETTING)


@pytest.mark.spark
@pytest.mark.parametrize("less", [1, 4])
def test_rows_of_a_key_are_told_by_all_of_the_table(spark: "SparkSession", less: int) -> None:
    """In the order of time, few rows of each key are among the first."""
    rows = spark.range(400_000)
    with sizes.using(small_data=400_000 * 8 // less):
        found = samples.rows_of_a_key(rows, [rows.id % 4_000])
    assert 80 < found < 125


def test_the_user_may_ask_for_an_algorithm() -> None:
    assert where(wr.max("x"), wish=Wish("two_stacks_lite")) == "chunks"


def test_spark_loses_digits_of_variance_only_where_that_is_admitted() -> None:
    aggs = [wr.stddev("x"), wr.variance("small", population=True)]
    assert where(*aggs) == "chunks"
    assert where(*aggs, wish=Wish(exact=False)) == "spark"
    assert where(wr.stddev("n"), wish=Wish(exact=False)) == "chunks"


def test_without_a_key_spark_would_use_one_core() -> None:
    assert where(wr.max("x"), key=None) == "chunks"


def test_windows_of_time_hold_any_number_of_rows() -> None:
    assert where(wr.max("x"), windows=wr.time("1 second")) == "chunks"


@pytest.mark.parametrize(
    "measure",
    [
        wr.sum("n"),  # Spark's may overflow on the way to a sum that fits
        wr.mean("n"),  # Spark rounds before it adds
        wr.stddev("x"),  # Spark loses digits far from zero
        wr.variance("n"),
        wr.sum("price"),  # another type
        wr.mean("price"),
        wr.sum("flag"),  # refused by Spark
        wr.max("s"),  # a collation may order it otherwise
        wr.arg_max("x", "s"),  # any of equals
        wr.collect("s"),  # of no values, an empty list
    ],
    ids=str,
)
def test_what_spark_answers_otherwise_is_not_left_to_it(measure: Any) -> None:
    assert where(measure) != "spark"


def test_an_aggregation_of_ones_own_is_not_taken_for_a_built_in() -> None:
    own = wr.aggregation(
        name="max", identity=-math.inf, lift=float, combine=max, lower=lambda partial: -partial
    )
    assert where(own("x")) == "chunks"


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"key": None}, "rows are cut by order into chunks, a task for each"),
        (
            {},
            "every key is answered by one task, unless a sample shows that it has too many rows; "
            "if it shows that keys have few rows, Spark's own operator answers them",
        ),
        (
            {"windows": wr.time("1 hour")},
            "every key is answered by one task, unless a sample shows that it has too many rows",
        ),
        (
            {"order": "s", "key": None},
            "all rows are answered by one task: 's' is string, and only numbers and times are cut "
            "into chunks",
        ),
        (
            {"windows": {"visit": wr.session("1 hour")}},
            "every key is answered by one task: the events, and not its range, say how far back "
            "the window 'visit' reaches",
        ),
    ],
)
def test_a_placement_says_why(arguments: dict[str, Any], why: str) -> None:
    given: dict[str, Any] = {"key": "k", "order": "ts", "windows": wr.rows(1000), **arguments}
    plan = resolve_over(SCHEMA, aggs=wr.max("x"), wish=Wish(), **given)
    assert place_over(plan).why == why


@pytest.mark.parametrize(
    "measure",
    [
        wr.sum("x").where("flag"),
        wr.count().where("x > 0"),
        wr.sum("x").over_distinct(),
        wr.first("x").where("s = 'a'"),
    ],
    ids=str,
)
def test_a_condition_or_distinct_values_make_another_aggregation(measure: Any) -> None:
    assert where(measure) != "spark"


@pytest.mark.parametrize(("rows", "place"), [(2**31 - 1, "spark"), (2**31, "chunks")])
def test_frames_of_spark_are_counted_in_32_bits(rows: int, place: str) -> None:
    plan = resolve_over(
        SCHEMA, key="k", order="ts", windows=wr.rows(rows), aggs=wr.max("x"), wish=Wish()
    )
    assert place_over(plan, rows_of_a_key=1).where == place


def test_frames_that_end_elsewhere_are_left_to_spark_too() -> None:
    for windows in (wr.rows(8, current=False), wr.rows(before=4, after=4), wr.rows(after=3)):
        assert where(wr.max("x"), windows=windows) == "spark"
    for windows in (wr.time(after="1 second"), wr.expanding(), wr.whole(), wr.rows(after=2**31)):
        assert where(wr.max("x"), windows=windows) != "spark"


#: frames of any rows, and some that do not end at their row
FRAMES = {
    "all": wr.rows(2**31 - 1),
    "before": wr.rows(2, current=False),
    "around": wr.rows(before=1, after=2),
}


def every_measure(events: pa.Table) -> list[Measure]:
    """Every aggregation of every column that it takes, plain, of some rows, of distinct values."""
    found: list[Measure] = [wr.count()]
    for aggregation in CATALOGUE.values():
        if len(aggregation.inputs) == 1 and not aggregation.current:
            kinds = aggregation.inputs[0].accepts
            of = [each.name for each in events.schema if Kind.of(each.type) in kinds]
            found += [aggregation(column) for column in of]
    found += [measure.where("n > 0 or flag") for measure in found]
    for measure in list(found):
        with contextlib.suppress(wr.WindrowError):  # not of values that cannot be told apart
            found.append(measure.over_distinct())
    return [measure.alias(f"answer_{place}") for place, measure in enumerate(found)]


@pytest.mark.spark
def test_whatever_is_left_to_spark_is_answered_as_in_the_process(
    spark: "SparkSession", monkeypatch: pytest.MonkeyPatch, interpreted: None
) -> None:
    events = random_events(seed=5, cases=6)
    small = pc.cast(events["n"], pa.int16())
    for name, column in {
        "flag": pc.equal(events["n"], 1),
        "small": small,
        "single": events["x"].cast(pa.float32()),
        "day": events["ts"].cast(pa.date32()),
        "price": small.cast(pa.decimal128(9, 2)),
        "binary": events["c"].cast(pa.binary()),
        "list": pa.array([[row] for row in range(len(events))]),
    }.items():
        events = events.append_column(name, column)
    arguments: dict[str, Any] = {
        "key": ["case"], "order": ["ts", "id"], "windows": FRAMES,
    }  # fmt: skip
    monkeypatch.setattr(placement, "MOST_ROWS_FOR_SPARK", math.inf)

    def is_left(measure: Measure) -> bool:
        try:
            plan = resolve_over(events.schema, aggs=measure, wish=Wish(exact=False), **arguments)
        except wr.WindrowError:
            return False
        return place_over(plan).where == "spark"

    left = [measure for measure in every_measure(events) if is_left(measure)]
    assert len(left) > 40
    answers = wr.over(spark.createDataFrame(events), aggs=left, exact=False, **arguments)
    assert "Window [" in answers._jdf.queryExecution().optimizedPlan().toString()
    expected = wr.over(events, aggs=left, **arguments).sort_by("id").select(_names(left))
    found = answers.toArrow().sort_by("id").select(_names(left))
    assert found.schema.types == expected.schema.types
    near = {name: list(map(_near, column)) for name, column in expected.to_pydict().items()}
    oracle.assert_agrees(near, found)


def _names(measures: list[Measure]) -> list[str]:
    return [f"{measure.name}_{frame}" for measure in measures for frame in FRAMES]


def _near(answer: Any) -> Any:
    """Sums of floats are added up in another order."""
    if isinstance(answer, float) and math.isfinite(answer):
        return oracle.Near(answer, 1e-9 * max(1, abs(answer)))
    return answer


@pytest.mark.spark
def test_spark_answers_as_windrow_does(
    spark: "SparkSession", monkeypatch: pytest.MonkeyPatch
) -> None:
    events = random_events(seed=11, cases=12)
    events = events.append_column("single", events["x"].cast(pa.float32()))
    events = events.append_column("small", events["n"].cast(pa.int32()))
    events = events.append_column("price", events["n"].cast(pa.decimal128(21, 2)))
    floats = [CATALOGUE[name] for name in SPARK_FUNCTIONS]
    rougher = [
        aggregation(column, population=population)
        for column in ("x", "small")
        for aggregation in (wr.variance, wr.stddev)
        for population in (False, True)
    ]
    aggs = [
        *(aggregation(column) for column in ("x", "single") for aggregation in floats),
        *(aggregation("small") for aggregation in (wr.sum, wr.mean, wr.min, wr.max)),
        *(
            aggregation(column)
            for column in ("ts", "price", "u")
            for aggregation in (wr.min, wr.max)
        ),
        *(aggregation("c") for aggregation in (wr.count, wr.first, wr.last)),
        wr.count(),
        *rougher,
    ]
    arguments: dict[str, Any] = {
        "key": ["case", "name", "level"], "order": ["ts", "id"],
        "windows": {"4": wr.rows(4, min_rows=3)},
    }  # fmt: skip
    monkeypatch.setattr(placement, "MOST_ROWS_FOR_SPARK", 10_000)
    frame = spark.createDataFrame(events)
    answer = wr.over(frame, aggs=aggs, exact=False, **arguments)
    plan = resolve_over(events.schema, aggs=aggs, wish=Wish(exact=False), **arguments)
    assert place_over(plan).where == "spark"
    found = answer.toArrow().sort_by("id")
    in_order = events.sort_by("id")
    oracle.assert_agrees(oracle.over(in_order, aggs=aggs, **arguments), found)
    added = found.schema.names[events.num_columns :], found.schema.types[events.num_columns :]
    fields = plan.output_fields
    assert added == ([field.name for field in fields], [field.type for field in fields])
