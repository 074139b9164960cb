"""`wr.slide` on a table against Polars and DuckDB, and many windows in one call, on all cores."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa

import windrow as wr
from benchmarks.harness import Comparison
from windrow.experiments.rounds import median_times

ROWS = 4_000_000
#: a slice of one key and second holds about one event, or about forty
KEYS = (1_000, 25)
SECONDS = 4_000
QUERIES = 64


def run() -> list[Comparison]:
    """The two bars of sliding windows."""
    return [*(line for keys in KEYS for line in keyed_time(keys)), *many_queries()]


# A keyed table, 600 slides in a range ------------------------------------------------------------

#: partials per key and second, then a frame over them: what a careful user of SQL writes by hand
SLICED = """
WITH slices AS (
    SELECT key, date_trunc('second', ts) AS second, max(x) AS high, sum(x) AS total, count(x) AS n
    FROM events GROUP BY key, second
)
SELECT key, second, max(high) OVER newest AS high,
       sum(total) OVER newest / sum(n) OVER newest AS mean, sum(n) OVER newest AS n
FROM slices WINDOW newest AS (
    PARTITION BY key ORDER BY second RANGE BETWEEN INTERVAL 599 SECONDS PRECEDING AND CURRENT ROW
)
"""


def keyed_events(keys: int, seconds: int = SECONDS) -> pa.Table:
    """Events in the order of time, in so many seconds."""
    random = np.random.default_rng(4)
    start = 1_700_000_000_000_000
    times = start + np.sort(random.integers(0, seconds * 1_000_000, ROWS))
    return pa.table(
        {
            "key": random.integers(0, keys, ROWS),
            "ts": pa.array(times, pa.timestamp("us")),
            "x": random.normal(size=ROWS),
        }
    )


Times = Callable[[Mapping[str, Callable[[], Any]]], dict[str, float]]


def sliding(keys: int, seconds: int, measured: Times) -> dict[str, float]:
    """How long each contestant takes for range:slide 600:1; all give the same answers."""
    events = keyed_events(keys, seconds)
    frame = pl.from_arrow(events)
    assert isinstance(frame, pl.DataFrame)

    def windrow() -> pa.Table:
        return wr.slide(
            events,
            key="key",
            order="ts",
            windows=wr.time("600 seconds", every="1 second"),
            aggs=[wr.max("x"), wr.mean("x"), wr.count("x")],
        )

    def polars() -> pl.DataFrame:
        return frame.group_by_dynamic("ts", every="1s", period="600s", group_by="key").agg(
            pl.col("x").max().alias("high"),
            pl.col("x").mean().alias("mean"),
            pl.col("x").count().alias("n"),
        )

    def by_duckdb() -> pa.Table:
        with duckdb.connect() as connection:
            connection.register("events", events)
            return connection.sql(SLICED).to_arrow_table()

    _require_agreement(windrow(), polars(), by_duckdb())
    return measured({"windrow": windrow, "Polars": polars, "DuckDB": by_duckdb})


def keyed_time(keys: int) -> list[Comparison]:
    """Range:slide 600:1 over 4 million rows."""
    times = sliding(keys, SECONDS, lambda contestants: median_times(contestants, rounds=3))
    faster = min(("Polars", "DuckDB"), key=times.__getitem__)
    slower = "DuckDB" if faster == "Polars" else "Polars"
    names = {"Polars": "Polars group_by_dynamic", "DuckDB": "DuckDB, slices by hand"}
    work = f"slide, 4M rows, {keys:,} keys, 600:1"
    return [
        Comparison(work, names[faster], times["windrow"], times[faster], bar=1.5),
        Comparison(work, names[slower], times["windrow"], times[slower]),
    ]


def _require_agreement(ours: pa.Table, polars: pl.DataFrame, by_duckdb: pa.Table) -> None:
    """All three agree where they have the same windows.

    windrow has all windows that hold an event. Polars has only those that begin after a key's first
    event, and DuckDB only those whose newest second has an event.
    """
    mine = pl.from_arrow(ours)
    assert isinstance(mine, pl.DataFrame)
    theirs = pl.from_arrow(by_duckdb).with_columns(  # type: ignore[union-attr]
        window_start=pl.col("second") - pl.duration(seconds=599)
    )
    for other in (polars.rename({"ts": "window_start"}), theirs):
        joined = mine.join(other, on=["key", "window_start"])
        assert joined.height > 0.9 * min(other.height, mine.height), "few windows in common"
        assert (joined["max_x"] == joined["high"]).all(), "another max"
        assert (joined["count_x"] == joined["n"]).all(), "another count"
        assert ((joined["mean_x"] - joined["mean"]).abs() < 1e-9).all(), "another mean"


# Many queries over one stream --------------------------------------------------------------------


def many_queries() -> list[Comparison]:
    """64 windows of rows in one call, and one by one."""
    random = np.random.default_rng(6)
    table = pa.table({"t": np.arange(ROWS), "x": random.normal(size=ROWS)})
    ranges = np.geomspace(1_000, 1_000_000, QUERIES).round(-2).astype(int).tolist()
    slides = random.permutation(np.geomspace(100, 5_000, QUERIES).round(-2).astype(int)).tolist()
    windows: dict[str, Any] = {
        f"q{number}": wr.rows(extent, every=every)
        for number, (extent, every) in enumerate(zip(ranges, slides, strict=True))
    }
    arguments: dict[str, Any] = {
        "order": "t", "aggs": [wr.max("x"), wr.mean("x"), wr.count("x")]
    }  # fmt: skip

    def together() -> pa.Table:
        return wr.slide(table, windows=windows, **arguments)

    def one_by_one() -> list[pa.Table]:
        return [wr.slide(table, windows=window, **arguments) for window in windows.values()]

    alone = pa.concat_tables(one_by_one())
    assert together().drop_columns("window").select(alone.column_names[:3]) == alone.select(
        alone.column_names[:3]
    ), "other answers together than alone"
    times = median_times({"together": together, "one by one": one_by_one}, rounds=3)
    return [
        Comparison(
            "slide, 4M rows, 64 windows of rows in one call",
            "one by one",
            times["together"],
            times["one by one"],
            bar=10.0,
        )
    ]
