"""Features as of moments: `wr.as_of` against DuckDB, 1 million queries over 10 million events.

Events come in the order of time, as they are logged, of 10,000 users over 30 days. Queries come in
no order. Both are Arrow tables, and so are the answers.

Where windows are wanted, DuckDB has two ways. It joins each query with the events of its longest
window, and aggregates with a filter for each window; or it puts queries among the events, and asks
window functions. The faster of them in one run each is compared with windrow. Where one event is
wanted, it has an as-of join. The answers of all are the same: counts, largest and newest values
exactly, sums and means up to rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

import windrow as wr
from benchmarks.harness import Comparison
from windrow.experiments.rounds import median_times, times_in_turns

EVENTS, QUERIES, USERS = 10_000_000, 1_000_000, 10_000
DAYS = 30
#: how many times as fast as DuckDB
BAR = 3.0
#: those in which windows are wanted take DuckDB half a minute each
ROUNDS, LONG_ROUNDS = 7, 3

#: each window, and how long it is in DuckDB
WINDOWS = {"hour": "1 HOUR", "day": "1 DAY", "week": "7 DAYS"}
#: each aggregation's name, and what it is in DuckDB
MEASURES = {
    "count_amount": "count(amount)",
    "sum_amount": "sum(amount)",
    "mean_amount": "avg(amount)",
    "max_amount": "max(amount)",
}
#: the answers that are equal up to rounding
ROUNDED = ("sum", "mean")

Contestant = Callable[[], pa.Table]


def run() -> list[Comparison]:
    """The newest event, and windows."""
    queries, events = tables()
    # The newest event first: windows take DuckDB minutes and gigabytes.
    newest_event = _compared("the newest event", newest(queries, events), ROUNDS)
    many = _compared("4 aggregations x 3 windows", windows(queries, events), LONG_ROUNDS)
    return [many, newest_event]


def _compared(work: str, contestants: Mapping[str, Contestant], rounds: int) -> Comparison:
    answers: dict[str, pa.Table] = {}
    keeping = {name: partial(_keep, name, each, answers) for name, each in contestants.items()}
    once = times_in_turns(keeping, rounds=1, warm_up=0)
    for name, found in answers.items():
        _require_same(name, answers["windrow"], found)
    answers.clear()
    fastest = min((name for name in once if name != "windrow"), key=once.__getitem__)
    faced = {name: contestants[name] for name in ("windrow", fastest)}
    times = median_times(faced, rounds, warm_up=0)
    return Comparison(work, f"DuckDB, {fastest}", times["windrow"], times[fastest], BAR)


def _keep(name: str, contestant: Contestant, answers: dict[str, pa.Table]) -> None:
    answers[name] = contestant()


def _require_same(name: str, expected: pa.Table, found: pa.Table) -> None:
    """Refuse to compare those that do not answer the same."""
    expected, found = expected.sort_by("id"), found.sort_by("id")
    assert found["id"].equals(expected["id"]), name
    assert set(found.column_names) == set(expected.column_names), name
    for column in found.column_names[1:]:
        ours, theirs = (
            table[column].combine_chunks().to_numpy(zero_copy_only=False).astype(np.float64)
            for table in (expected, found)
        )
        near = 1e-9 if column.startswith(ROUNDED) else 0
        assert np.allclose(ours, theirs, rtol=near, atol=near, equal_nan=True), (name, column)


def tables() -> tuple[pa.Table, pa.Table]:
    """The queries, and the events."""
    random = np.random.default_rng(18)
    span = DAYS * 86_400 * 10**6

    def moments(count: int) -> pa.Array:
        return pa.array(random.integers(0, span, count)).cast(pa.timestamp("us"))

    queries = pa.table(
        {
            "id": np.arange(QUERIES),
            "user": random.integers(0, USERS, QUERIES),
            "ts": moments(QUERIES),
        }
    )
    events = pa.table(
        {
            "user": random.integers(0, USERS, EVENTS),
            "ts": moments(EVENTS).sort(),
            "amount": random.uniform(0, 100, EVENTS),
        }
    )
    return queries, events


def windows(queries: pa.Table, events: pa.Table) -> dict[str, Contestant]:
    """Four aggregations over three windows of time that hold the event of their moment."""
    longest = list(WINDOWS.values())[-1]
    conditions = {
        name: f"events.ts >= queries.ts - INTERVAL {length}" for name, length in WINDOWS.items()
    }
    joined = [
        f"{call} FILTER ({conditions[name]}) AS {measure}_{name}"
        for measure, call in MEASURES.items()
        for name in WINDOWS
    ]
    frames = {
        name: f"(PARTITION BY user ORDER BY ts RANGE BETWEEN INTERVAL {length} PRECEDING "
        "AND CURRENT ROW)"
        for name, length in WINDOWS.items()
    }
    framed = [
        f"{call} OVER {frames[name]} AS {measure}_{name}"
        for measure, call in MEASURES.items()
        for name in WINDOWS
    ]
    return {
        "windrow": lambda: _answers(
            wr.as_of(
                queries,
                events,
                key="user",
                order="ts",
                windows={name: wr.time(each, closed="both") for name, each in WINDOWS.items()},
                aggs=[wr.count("amount"), wr.sum("amount"), wr.mean("amount"), wr.max("amount")],
            )
        ),
        "range join": _sql(
            queries,
            events,
            f"""SELECT queries.id, {", ".join(joined)} FROM queries LEFT JOIN events
            ON queries.user = events.user AND events.ts <= queries.ts
            AND events.ts >= queries.ts - INTERVAL {longest} GROUP BY queries.id""",
        ),
        "window functions": _sql(
            queries,
            events,
            f"""SELECT * FROM (SELECT id, {", ".join(framed)} FROM (
            SELECT NULL AS id, user, ts, amount FROM events
            UNION ALL SELECT id, user, ts, NULL FROM queries)) WHERE id IS NOT NULL""",
        ),
    }


def newest(queries: pa.Table, events: pa.Table) -> dict[str, Contestant]:
    """The amount of the newest event; those of one user and moment are too few to matter."""
    return {
        "windrow": lambda: _answers(
            wr.as_of(
                queries, events, key="user", order="ts", windows=wr.rows(1), aggs=wr.last("amount")
            )
        ),
        "as-of join": _sql(
            queries,
            events,
            """SELECT id, amount AS last_amount FROM queries ASOF LEFT JOIN events
            ON queries.user = events.user AND queries.ts >= events.ts""",
        ),
    }


def _answers(table: pa.Table) -> pa.Table:
    return table.drop_columns(["user", "ts"])


def _sql(queries: pa.Table, events: pa.Table, text: str) -> Contestant:
    connection = duckdb.connect()
    connection.register("queries", queries)
    connection.register("events", events)
    result: Any = connection.sql
    return lambda: result(text).to_arrow_table()
