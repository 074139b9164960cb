"""Measures of rows that meet a condition, and of different values."""

from typing import Any

import pyarrow as pa
import pytest

import windrow as wr
from tests.support.algebra.conditions import TABLE, true_of

# Measures of some rows --------------------------------------------------------------------------

MEASURES: list[Any] = [
    wr.sum("n").where("ok"),
    wr.sum("n").alias("all"),
    wr.count().where("x > 0").alias("rows"),
    wr.count("n").where("x > 0"),
    wr.mean("x").where("n is not null").where("n > 1"),
    wr.max("name").where("n > 0"),
    wr.first("name").where("ok is not null"),
    wr.collect("n").where("x < 3"),
    wr.arg_max("x", "name").where("name <> 'c'"),
    wr.m4("x", "ts").where("n > 0"),
    wr.count("ok").over_distinct().where("n is not null"),
]


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("measure", MEASURES, ids=repr)
@pytest.mark.parametrize("together", [False, True])
def test_a_measure_of_some_rows_is_that_of_a_table_of_null_elsewhere(measure, together):
    aggs = MEASURES if together else [measure]
    found = wr.over(TABLE, windows=wr.rows(3), aggs=aggs)[measure.name].to_pylist()
    rows = range(TABLE.num_rows)
    if measure.condition is not None:
        rows = true_of(str(measure.condition))
    kept = TABLE.append_column("one", pa.array([1] * TABLE.num_rows))
    columns = measure.columns or ("one",)
    for column in columns:
        values = [kept[column][row].as_py() if row in rows else None for row in range(len(found))]
        place = kept.column_names.index(column)
        kept = kept.set_column(place, column, pa.array(values, kept[column].type))
    plain = measure.aggregation(*columns).alias("plain")
    assert found == wr.over(kept, windows=wr.rows(3), aggs=plain)["plain"].to_pylist()


@pytest.mark.usefixtures("interpreted")
def test_conditions_hold_in_slides_and_plans():
    answers = wr.slide(
        TABLE, order="ts", windows=wr.time("2 days", every="1 day"), aggs=wr.sum("n").where("x > 0")
    )
    assert answers["sum_n"].to_pylist() == [1, 1, None, 4, 4, None]
    guessed = "name = 'a' and ok and seen - ts < interval '1 hour' and 2 * x < n and t like 'a%'"
    plan = wr.plan(order="ts", windows=wr.rows(3), aggs=wr.sum("n").where(guessed))
    assert f"sum(n) where {guessed}" in str(plan)


def test_a_window_has_no_columns_to_name():
    some = wr.sum("n").where("ok")
    for refused in (
        lambda: wr.Window(some),
        lambda: wr.Window([some]),
        lambda: wr.policy(lambda total, oldest: total > 3, of=some),
    ):
        with pytest.raises(wr.InvalidArgument, match="leave out the events that do not count"):
            refused()


# Different values -------------------------------------------------------------------------------


@pytest.mark.usefixtures("interpreted")
def test_over_different_values():
    table = pa.table(
        {
            "n": [3, 3, None, 2, 3],
            "x": [0.0, -0.0, float("nan"), float("nan"), 1.0],
            "t": [*"abaab"],
        }
    )
    aggs = [
        wr.count("n").over_distinct(),
        wr.sum("n").over_distinct(),
        wr.mean("n").over_distinct(),
        wr.count("x").over_distinct(),
        wr.concat("t").over_distinct(),
        wr.max("t").over_distinct().alias("largest"),
    ]
    last = wr.over(table, windows=wr.rows(5), aggs=aggs).to_pylist()[-1]
    assert last["count_distinct_n"] == 2
    assert last["sum_distinct_n"] == 5
    assert last["mean_distinct_n"] == 2.5
    assert last["count_distinct_x"] == 3
    assert last["concat_distinct_t"] == "ab"
    assert last["largest"] == "b"
    nothing = pa.table({"n": pa.array([None, None], pa.int64())})
    found = wr.over(nothing, windows=wr.rows(2), aggs=aggs[:2]).to_pylist()[-1]
    assert (found["count_distinct_n"], found["sum_distinct_n"]) == (0, None)


@pytest.mark.parametrize("aggregation", [wr.arg_max, wr.first, wr.rank, wr.slope])
def test_what_makes_no_sense_over_different_values_is_refused(aggregation):
    with pytest.raises(wr.InvalidArgument, match="over_distinct: it is for aggregations of the"):
        aggregation().over_distinct()
