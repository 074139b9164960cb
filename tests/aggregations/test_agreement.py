"""DuckDB and Spark answer the same, for what they have of the catalogue."""

import math
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

import windrow as wr
from windrow.algebra.equality import close

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROWS = 120
ORDERED = "(PARTITION BY k ORDER BY id)"
BEFORE = "(PARTITION BY k ORDER BY id ROWS BETWEEN 6 PRECEDING AND 1 PRECEDING)"
FRAME = "(PARTITION BY k ORDER BY id ROWS BETWEEN 6 PRECEDING AND CURRENT ROW)"


def table() -> pa.Table:
    """Numbers near zero and far from it, ties, constants, nulls, a key of only one row."""
    chance = np.random.default_rng(11)
    constant = chance.random(ROWS) < 0.3
    x = np.where(constant, 5.0, chance.integers(-40, 40, ROWS) / 8)
    return pa.table(
        {
            "id": np.arange(ROWS),
            "k": np.where(np.arange(ROWS) == 7, 9, chance.integers(0, 3, ROWS)),
            "ts": pa.array(np.arange(ROWS) * 1500, pa.timestamp("ms")),
            "x": pa.array(x, mask=chance.random(ROWS) < 0.2),
            "y": pa.array(chance.normal(1e6, 1.0, ROWS), mask=chance.random(ROWS) < 0.2),
            "n": pa.array(chance.integers(0, 64, ROWS), mask=chance.random(ROWS) < 0.1),
            "flag": pa.array(chance.random(ROWS) < 0.5, mask=chance.random(ROWS) < 0.2),
            "c": pa.array(chance.choice(["a", "b", "c"], ROWS)),
            "d": pa.array(chance.integers(-9, 99, ROWS), pa.duration("us")),
        }
    )


SOME = "x > 0 and c in ('a', 'b')"
#: windrow's measure, and the same in SQL; `@` is where the frame goes
BOTH: list[tuple[Any, str]] = [
    (wr.count_if("flag"), "count(CASE WHEN flag THEN 1 END)@"),
    (wr.weighted_mean("x", "n"), "sum(x * n)@ / nullif(sum(CASE WHEN x < 1e9 THEN n END)@, 0)"),
    (wr.harmonic_mean("y"), "count(y)@ / sum(1 / y)@"),
    (wr.sum_of_squares("n"), "CAST(sum(n * n)@ AS BIGINT)"),
    (wr.root_mean_square("x"), "sqrt(avg(x * x)@)"),
    (wr.covariance("x", "y"), "covar_samp(x, y)@"),
    (wr.covariance("x", "y", population=True), "covar_pop(x, y)@"),
    (wr.bit_and("n"), "bit_and(n)@"),
    (wr.bit_or("n"), "bit_or(n)@"),
    (wr.bit_xor("n"), "bit_xor(n)@"),
    (wr.all("flag"), "bool_and(flag)@"),
    (wr.any("flag"), "bool_or(flag)@"),
    (wr.nth("c", n=2), "nth_value(c, 2)@"),
    (wr.max("c").where("flag"), "max(CASE WHEN flag THEN c END)@"),
    (wr.sum("n").where(SOME), f"CAST(sum(CASE WHEN {SOME} THEN n END)@ AS BIGINT)"),
    (wr.change("id"), "last_value(id)@ - first_value(id)@"),
    (wr.all_equal("n"), "min(n)@ = max(n)@"),
    (wr.lag("c", 2), f"lag(c, 2) OVER {ORDERED}"),
    (wr.lag("x"), f"lag(x) OVER {ORDERED}"),
    (wr.time_since_last("flag", "id"), "id - max(CASE WHEN flag THEN id END)@"),
    (wr.time_since_last(SOME, "id"), f"id - max(CASE WHEN {SOME} THEN id END)@"),
]  # fmt: skip
DUCKDB: list[tuple[Any, str]] = [
    # It takes NaN for no slope at all.
    (wr.slope("x", "y"), "nullif(regr_slope(x, y)@, 'nan'::DOUBLE)"),
    (wr.top_k("n", k=2), "max(n, 2)@"),
    (wr.bottom_k("n", k=2), "min(n, 2)@"),
    (wr.count("c").over_distinct(), "count(DISTINCT c)@"),
    (wr.previous("x"), f"last_value(x IGNORE NULLS) OVER {BEFORE}"),
]
SPARK: list[tuple[Any, str]] = [
    (wr.slope("x", "y"), "regr_slope(x, y)@"),
    (wr.previous("x"), f"last_value(x) IGNORE NULLS OVER {BEFORE}"),
    (wr.skewness("x"), "skewness(x)@"),
    (wr.kurtosis("x"), "kurtosis(x)@"),
    (wr.correlation("x", "y"), "corr(x, y)@"),
]


def ours(measures: list[tuple[Any, str]]) -> pa.Table:
    question: dict[str, Any] = {"key": "k", "order": "id", "windows": wr.rows(7)}
    return wr.over(table(), **question, aggs=[measure for measure, _ in measures])


def query(measures: list[tuple[Any, str]]) -> str:
    columns = [f"{sql.replace('@', f' OVER {FRAME}')} AS {each.name}" for each, sql in measures]
    return f"SELECT id, {', '.join(columns)} FROM numbers ORDER BY id"


def assert_same(found: pa.Table, expected: pa.Table) -> None:
    for name in expected.column_names:
        for row, pair in enumerate(
            zip(found[name].to_pylist(), expected[name].to_pylist(), strict=True)
        ):
            assert near(*pair), f"{name} in row {row}: {pair}"


def near(found: Any, expected: Any) -> bool:
    # At 1e6 DuckDB and Spark themselves lose digits of covariances.
    if isinstance(found, float) and isinstance(expected, float):
        return math.isclose(found, expected, rel_tol=1e-6, abs_tol=1e-8)
    return close(found, expected)


@pytest.mark.usefixtures("interpreted")
def test_duckdb_agrees():
    with duckdb.connect() as connection:
        connection.register("numbers", table())
        expected = connection.sql(query([*BOTH, *DUCKDB])).to_arrow_table()
    assert_same(ours([*BOTH, *DUCKDB]), expected)


@pytest.mark.spark
def test_spark_agrees(spark: "SparkSession"):
    spark.createDataFrame(table()).createOrReplaceTempView("numbers")
    expected = spark.sql(query([*BOTH, *SPARK])).toArrow()
    assert_same(ours([*BOTH, *SPARK]), expected)


@pytest.mark.spark
def test_answers_on_spark_have_the_same_types_and_values(spark: "SparkSession"):
    aggs = [
        wr.m4("x", "ts"),
        wr.longest_increasing_run("x", "ts"),
        wr.top_k("n", k=3),
        wr.mode("c"),
        wr.nth("c", n=-2),
        wr.ewm_mean("x", "ts", half_life="10 seconds"),
        wr.rate("n", "ts"),
        wr.slope("x", "ts"),
        wr.collect_distinct("c").where("x > 0"),
        wr.all("flag"),
        wr.all_equal("c"),
        wr.ohlc("x"),
        wr.sum("d"),
        wr.mean("d"),
        wr.lag("c", 2),
        wr.previous("x").where("flag"),
        wr.count_since_last("flag"),
        wr.time_since_last("x > 0", "ts"),
        wr.count("n").over_distinct(),
        wr.arg_max("n", key=math.cos),
    ]
    question: dict[str, Any] = {"key": "k", "order": "id", "windows": wr.rows(7), "aggs": aggs}
    data = table().set_column(2, "ts", table()["ts"].cast(pa.timestamp("us", "UTC")))
    here = wr.over(data, **question)
    there = wr.over(spark.createDataFrame(data), **question).toArrow().sort_by("id")
    for measure in aggs:
        name = measure.name
        assert there.schema.field(name).type == here.schema.field(name).type, name
        found, expected = (str(each[name].to_pylist()) for each in (there, here))
        assert found == expected, name
