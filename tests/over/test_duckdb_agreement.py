"""`wr.over`, the oracle and DuckDB's window functions agree.

DuckDB refuses infinities and NaN in variances, so those are of the column `y`, which has none.
"""

from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import windrow as wr
from tests.support.over import oracle
from tests.support.over.events import random_events

pytestmark = [
    pytest.mark.usefixtures("interpreted"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]

#: windrow's measure, and the same in SQL; `{w}` is where the frame goes
MEASURES = [
    (wr.count(), "count(*) OVER {w}"),
    (wr.count("x"), "count(x) OVER {w}"),
    (wr.sum("x"), "sum(x) OVER {w}"),
    (wr.mean("x"), "avg(x) OVER {w}"),
    (wr.product("y"), "product(y) OVER {w}"),
    (wr.geometric_mean("y"), "geomean(y) OVER {w}"),
    (wr.min("x"), "min(x) OVER {w}"),
    (wr.max("x"), "max(x) OVER {w}"),
    (wr.value_range("n"), "max(n) OVER {w} - min(n) OVER {w}"),
    (wr.variance("y"), "var_samp(y) OVER {w}"),
    (wr.variance("y", population=True), "var_pop(y) OVER {w}"),
    (wr.stddev("y"), "stddev_samp(y) OVER {w}"),
    (wr.stddev("y", population=True), "stddev_pop(y) OVER {w}"),
    (wr.sum("n"), "(sum(n) OVER {w})::BIGINT"),
    (wr.max("c"), "max(c) OVER {w}"),
]
#: these depend on the order of rows, which RANGE frames do not know among rows of equal time
ORDERED_MEASURES = [
    (wr.first("c"), "first_value(c IGNORE NULLS) OVER {w}"),
    (wr.last("c"), "last_value(c IGNORE NULLS) OVER {w}"),
    (wr.collect("c"), "list(c) FILTER (c IS NOT NULL) OVER {w}"),
    (wr.concat("c"), "string_agg(c, '') OVER {w}"),
    (wr.arg_max("u", "c"), "arg_max_null(c, u) OVER {w}"),
    (wr.arg_min("u", "c"), "arg_min_null(c, u) OVER {w}"),
]
ORDER = "PARTITION BY {key} ORDER BY ts NULLS FIRST"
ROWS = f"({ORDER}, id ROWS BETWEEN {{older}} PRECEDING AND CURRENT ROW)"
RANGE = f"({ORDER} RANGE BETWEEN INTERVAL 5 SECONDS PRECEDING AND CURRENT ROW)"


def events(seed: int, cases: int) -> pa.Table:
    table = random_events(seed, cases)
    moments = table["ts"].cast(pa.timestamp("us"))
    table = table.set_column(table.column_names.index("ts"), "ts", moments)
    finite = pc.if_else(pc.is_finite(table["x"]), pc.add(pc.abs(table["x"]), 0.01), None)
    return table.append_column("y", finite)


def in_sql(
    table: pa.Table, key: list[str], frame: str, measures: list[tuple[Any, str]]
) -> pa.Table:
    by = ", ".join(f'"{name}"' for name in key) or "true"
    columns = [
        expression.replace("{w}", frame.replace("{key}", by)) + f' AS "{measure.name}"'
        for measure, expression in measures
    ]
    connection = duckdb.connect()
    connection.register("events", table)
    query = f"SELECT id, {', '.join(columns)} FROM events"
    return connection.sql(query).to_arrow_table().sort_by("id")


def check(table: pa.Table, key: list[str], window: Any, frame: str, measures: Any) -> None:
    arguments: dict[str, Any] = {"key": key, "order": ["ts", "id"]}
    aggs = [measure for measure, _ in measures]
    ours = wr.over(table, **arguments, windows=window, aggs=aggs).sort_by("id")
    expected = oracle.over(table.sort_by("id"), **arguments, windows={"": window}, aggs=aggs)
    oracle.assert_agrees(expected, ours)
    oracle.assert_agrees(expected, in_sql(table, key, frame, measures))


@pytest.mark.parametrize("key", [["case", "name", "level"], ["case"], []], ids=str)
def test_all_agree(key: list[str]) -> None:
    @given(st.integers(0, 2**32), st.integers(1, 30))
    @settings(max_examples=3, phases=[Phase.generate], database=None)
    def run(seed: int, extent: int) -> None:
        table = events(seed, cases=20 if key else 3)
        rows = ROWS.replace("{older}", str(extent - 1))
        check(table, key, wr.rows(extent), rows, [*MEASURES, *ORDERED_MEASURES])
        check(table, key, wr.time("5 seconds", closed="both", ties="peers"), RANGE, MEASURES)

    run()
