"""What `wr.as_of` is asked in practice: sources, joins of others, and what it refuses."""

from datetime import datetime
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import windrow as wr
from windrow.planning.as_of_plan import resolve_events
from windrow.planning.choose import Wish

pytestmark = pytest.mark.usefixtures("interpreted")

EVENTS = pa.table(
    {
        "k": ["a", "a", "b", "a", None],
        "t": pa.array([1, 3, 3, 5, 2], pa.timestamp("s")),
        "x": [1.0, 2.0, 4.0, 8.0, 16.0],
    }
)
QUERIES = pa.table(
    {"k": ["b", "a", None, "a", "z"], "t": pa.array([9, 3, 9, 5, 9], pa.timestamp("s"))}
)
ASKED: dict[str, Any] = {"key": "k", "order": "t"}


def sums(window: Any, queries: pa.Table = QUERIES, **asked: Any) -> list[Any]:
    found = wr.as_of(queries, EVENTS, **ASKED | asked, windows=window, aggs=wr.sum("x"))
    return found["sum_x"].to_pylist()


# Joins of others ---------------------------------------------------------------------------------


def random_tables(seed: int) -> tuple[pa.Table, pa.Table]:
    """Quotes, no two of a key at one time, and trades, of which some have times of quotes."""
    random = np.random.default_rng(seed)
    times = np.sort(random.choice(400, 200, replace=False))
    quotes = {"k": random.integers(0, 5, 200), "t": times, "x": random.random(200)}
    trades = {"k": random.integers(0, 6, 80), "t": np.sort(random.integers(0, 420, 80))}
    return tuple(
        pa.table({**table, "t": pa.array(table["t"]).cast(pa.timestamp("s"))})
        for table in (trades, quotes)
    )  # type: ignore[return-value]


@pytest.mark.parametrize("exact", [True, False])
def test_pandas_and_duckdb_join_as_of(exact: bool) -> None:
    trades, quotes = random_tables(7)
    window = wr.rows(1) if exact else wr.rows(1, current=False)
    found = wr.as_of(trades, quotes, **ASKED, windows=window, aggs=wr.last("x"))
    ours = found["last_x"].to_pylist()
    frames = trades.to_pandas(), quotes.to_pandas()
    theirs = pd.merge_asof(*frames, on="t", by="k", allow_exact_matches=exact)["x"]
    assert ours == theirs.astype(object).where(theirs.notna(), None).to_list()
    joined = f"""
        SELECT quotes.x FROM (SELECT *, row_number() OVER () AS row FROM trades) AS trades
        ASOF LEFT JOIN quotes ON trades.k = quotes.k AND trades.t {">=" if exact else ">"} quotes.t
        ORDER BY row
    """
    assert ours == [row[0] for row in duckdb.sql(joined).fetchall()]


@pytest.mark.parametrize("closed", ["right", "left", "both", "neither"])
def test_duckdb_joins_ranges(closed: str) -> None:
    trades, quotes = random_tables(8)
    found = wr.as_of(
        trades,
        quotes,
        **ASKED,
        windows=wr.time("50 seconds", closed=closed),
        aggs=[wr.count(), wr.max("x"), wr.median("x")],
    )
    older = ">=" if closed in ("left", "both") else ">"
    newer = "<=" if closed in ("right", "both") else "<"
    joined = f"""
        SELECT count(quotes.x), max(quotes.x), median(quotes.x)
        FROM (SELECT *, row_number() OVER () AS row FROM trades) AS trades
        LEFT JOIN quotes ON trades.k = quotes.k AND quotes.t {newer} trades.t
            AND quotes.t {older} trades.t - INTERVAL 50 SECONDS
        GROUP BY row ORDER BY row
    """
    columns = [found[name].to_pylist() for name in ("count", "max_x", "median_x")]
    assert list(zip(*columns, strict=True)) == duckdb.sql(joined).fetchall()


# Events, keys and moments ------------------------------------------------------------------------


def test_queries_keep_their_rows_columns_and_order() -> None:
    queries = QUERIES.append_column("id", pa.array(range(5)))
    repeated = pa.concat_tables([queries, queries])
    found = wr.as_of(repeated, EVENTS, **ASKED, windows=wr.expanding(), aggs=wr.sum("x"))
    assert found.drop_columns("sum_x") == repeated
    assert found["sum_x"].to_pylist() == 2 * [4.0, 3.0, 16.0, 11.0, None]


def test_events_are_those_of_all_keys_without_a_key() -> None:
    assert sums(wr.rows(2), key=None) == [12.0, 6.0, 12.0, 12.0, 12.0]


def test_a_month_as_of_days_that_fall_back() -> None:
    # One month before March 28 and before March 31 is February 28: windows begin earlier again.
    days = [datetime(2023, 2, 28, hour) for hour in (1, 12, 23)]
    events = pa.table({"k": [1, 1, 1], "t": days, "x": [1, 2, 4]})
    asked = [datetime(2023, 3, 28, 13), datetime(2023, 3, 29, 2), datetime(2023, 3, 30, 0)]
    queries = pa.table({"k": [1, 1, 1], "t": asked})
    found = wr.as_of(
        queries, events, **ASKED, windows=wr.calendar("1 month"), aggs=[wr.sum("x"), wr.median("x")]
    )
    assert found["sum_x"].to_pylist() == [4, 6, 7]
    assert found["median_x"].to_pylist() == [4.0, 3.0, 2.0]


def test_sources_have_keys_orders_and_aggregations_of_their_own() -> None:
    queries = pa.table({"k": ["a", "b"], "n": [1, 1], "t": [5, 5], "u": [9, 9]})
    one = pa.table({"k": ["a", "b"], "t": [5, 6], "x": [1, 2]})
    other = pa.table({"k": ["a", "b"], "n": [1, 2], "u": [9, 9], "x": [3, 4]})
    found = wr.as_of(
        queries,
        {"one": one, "other": other},
        key={"one": "k", "other": ["k", "n"]},
        order={"one": "t", "other": "u"},
        windows={"all": wr.expanding(), "last": wr.rows(1)},
        aggs={"one": wr.sum("x"), "other": [wr.count()]},
    )
    assert found.select(range(4, 8)).to_pydict() == {
        "one_sum_x_all": [1, None],
        "one_sum_x_last": [1, None],
        "other_count_all": [1, 0],
        "other_count_last": [1, 0],
    }
    columns = {"k": ["a"], "t": pa.array([9], pa.timestamp("s")), "x": [1.0]}
    assert sums(wr.rows(1), pa.table(columns)) == [8.0]


def test_answers_wait_for_rows_and_conditions() -> None:
    found = wr.as_of(
        QUERIES,
        EVENTS,
        **ASKED,
        windows=wr.expanding(min_rows=2),
        aggs=[wr.sum("x"), wr.count().where("x > 1").alias("many")],
    )
    assert found["sum_x"].to_pylist() == [None, 3.0, None, 11.0, None]
    assert found["many"].to_pylist() == [None, 1, None, 2, None]


def test_the_plan_says_what_runs() -> None:
    asked: dict[str, Any] = {"windows": wr.time("1 hour"), "aggs": wr.sum("x")}
    plan = wr.plan(EVENTS, **ASKED, **asked, call="as_of")
    assert plan.to_dict()["call"] == "as_of"
    assert "sort queries and events by k and t, unless they are" in plan.steps
    assert str(wr.plan(**ASKED, **asked, call="as_of")).startswith("as_of: 1 window, for each k")
    with pytest.raises(wr.InvalidArgument, match=r"^call: 'as_of' is explained for tables"):
        wr.plan(**ASKED, **asked, call="as_of", lateness="1 hour")


# What is refused ---------------------------------------------------------------------------------


def test_arguments_that_are_refused() -> None:
    def refused(expected: str, queries: Any = QUERIES, events: Any = EVENTS, **asked: Any) -> None:
        given = {**ASKED, "windows": wr.rows(1), "aggs": wr.sum("x")} | asked
        with pytest.raises(wr.InvalidArgument, match=f"^{expected}"):
            wr.as_of(queries, events, **given)

    for window in [wr.session("1 hour"), wr.delta("x", 1), wr.policies.at_most_events(2)]:
        refused("windows: where .* depends on its events.*wr.over", windows=window)
    refused("windows: 'rows_5' says every=.*wr.as_of answers every query", windows=wr.rows(5, 1))
    for late in ({}, {"lateness": "1 hour"}):
        refused("queries: .*iterator of batches; collect", iter(QUERIES.to_batches()), **late)
        refused("events: .*iterator of batches; collect", events=iter(EVENTS.to_batches()), **late)
    refused("order: a time window measures", order="k", windows=wr.time("1 hour"))
    refused("key: there is no column 'x'.*in the queries.*rename", key="x")
    elsewhere = {"a": EVENTS, "b": EVENTS.drop_columns("k")}
    refused("key: there is no column 'k'.*in 'b'.*rename", events=elsewhere)
    refused("order: name the column", order=[])
    refused("key: a dict is for several sources", key={"a": "k"})
    refused("aggs: the queries have a column 'k' already", aggs=wr.sum("x").alias("k"))
    sources = {"a": EVENTS, "b": EVENTS}
    refused(
        "key: a dict has an entry for each source.*'b' is missing", events=sources, key={"a": "k"}
    )
    refused("aggs: .*'c' is none", events=sources, aggs={"a": [], "b": [], "c": wr.count()})
    refused("events: at least one source", events={})
    refused("queries: give a DataFrame", queries=5)
    refused(r"events\['b'\]: columns need", events={"a": EVENTS, "b": {"k": ["a"], "t": []}})
    text = QUERIES.set_column(0, "k", pa.array(range(5)))
    refused("key: 'k' is int64 in the queries and string in the events.*cast", queries=text)
    zoned = QUERIES.set_column(1, "t", QUERIES["t"].cast(pa.timestamp("s", "UTC")))
    refused("order: 't' is .*which do not compare", queries=zoned)
    refused("aggs: .* looks ahead", aggs=wr.lead("x"))
    assert resolve_events(EVENTS.schema, **ASKED, windows=wr.rows(1), aggs=wr.count(), wish=Wish())
