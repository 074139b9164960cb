"""Medians, quantiles and exact distinct counts of `wr.over` against pandas, Polars and DuckDB.

Each has its fastest way to ask: rolling functions of pandas and Polars, window functions of DuckDB.
The fastest of them in one run each is compared with windrow, by the median of 7 rounds. Polars has
no rolling count of different values: it computes each window anew, and takes part for the small
window only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa

import windrow as wr
from benchmarks.harness import Comparison
from windrow.experiments.rounds import median_times, times_in_turns

ROWS = 1_000_000
WINDOWS = (100, 1_000, 10_000, 100_000)
#: how many times as fast as the fastest of the others, from this window on and below
LARGE, BAR, BAR_BELOW = 1_000, 3.0, 1 / 1.5

Contestants = dict[str, Callable[[], Any]]


def run() -> list[Comparison]:
    """Each question over each window."""
    random = np.random.default_rng(11)
    table = pa.table(
        {
            "t": np.arange(ROWS),
            "x": random.normal(size=ROWS),
            "user": random.integers(0, 50_000, ROWS),
        }
    )
    return [
        _compared(f"{name}, window {window:,}", asked(table, window), window)
        for name, asked in QUESTIONS.items()
        for window in WINDOWS
    ]


def _compared(work: str, contestants: Contestants, window: int) -> Comparison:
    once = times_in_turns(contestants, rounds=1, warm_up=0)
    fastest = min((name for name in once if name != "windrow"), key=once.__getitem__)
    times = median_times({name: contestants[name] for name in ("windrow", fastest)}, rounds=7)
    bar = BAR if window >= LARGE else BAR_BELOW
    return Comparison(work, f"{fastest}, the fastest", times["windrow"], times[fastest], bar)


def _ours(table: pa.Table, window: int, measure: Any) -> Callable[[], Any]:
    return lambda: wr.over(table, order="t", windows=wr.rows(window), aggs=measure)


def _in_sql(table: pa.Table, window: int, function: str) -> Callable[[], Any]:
    connection = duckdb.connect()
    connection.register("events", table)
    frame = f"(order by t rows between {window - 1} preceding and current row)"
    query = f"select {function} over {frame} from events"
    return lambda: connection.sql(query).to_arrow_table()


def _median(table: pa.Table, window: int) -> Contestants:
    series = table["x"].to_pandas()
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    return {
        "windrow": _ours(table, window, wr.median("x")),
        "pandas": lambda: series.rolling(window, min_periods=1).median(),
        "Polars": lambda: frame.select(pl.col("x").rolling_median(window, min_samples=1)),
        "DuckDB": _in_sql(table, window, "median(x)"),
    }


def _quantile(table: pa.Table, window: int) -> Contestants:
    series = table["x"].to_pandas()
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    rolling = pl.col("x").rolling_quantile(0.9, "linear", window, min_samples=1)
    return {
        "windrow": _ours(table, window, wr.quantile("x", 0.9)),
        "pandas": lambda: series.rolling(window, min_periods=1).quantile(0.9),
        "Polars": lambda: frame.select(rolling),
        "DuckDB": _in_sql(table, window, "quantile_cont(x, 0.9)"),
    }


def _distinct(table: pa.Table, window: int) -> Contestants:
    series = table["user"].to_pandas()
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    contestants: Contestants = {
        "windrow": _ours(table, window, wr.count_distinct("user")),
        "DuckDB": _in_sql(table, window, "count(distinct user)"),
    }
    if hasattr(series.rolling(window), "nunique"):
        contestants["pandas"] = lambda: series.rolling(window, min_periods=1).nunique()
    if window < LARGE:
        different = pl.col("user").n_unique().rolling("t", period=f"{window}i")
        contestants["Polars"] = lambda: frame.select(different)
    return contestants


QUESTIONS: dict[str, Callable[[pa.Table, int], Contestants]] = {
    "median": _median,
    "quantile 0.9": _quantile,
    "exact distinct count": _distinct,
}
