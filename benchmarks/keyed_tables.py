"""Tables with keys: `wr.over` against Polars, `wr.slide` against DuckDB, all on all cores."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

import windrow as wr
from benchmarks.harness import Comparison
from benchmarks.slides import sliding
from benchmarks.tables import WINDOWS
from windrow.experiments.rounds import median_times

ROWS = 4_000_000
KEYS = 10
ROUNDS = 7
NAMES = {"max": "max", "min": "min", "mean": "mean", "stddev": "std"}
#: how rows lie, and the least ratio
ORDERS = {
    "sorted by key and time": 4.0,
    "keys in turns, in the order of time": 3.0,
    "shuffled": 3.0,
}
#: keys, and seconds in which the events are; a key has about an event a second
SLIDES = ((10, 400_000), (1_000, 4_000))


def run() -> list[Comparison]:
    """Twenty features of rows in three orders, and 600:1 of few and of many keys."""
    features = [_features(order, bar) for order, bar in ORDERS.items()]
    slides = [_slide(keys, seconds, bar=5.0) for keys, seconds in SLIDES]
    # A hundred events in a slice: then hardly more than a group by is left to do.
    return [*features, *slides, _slide(10, 4_000, bar=None)]


def keyed_rows(order: str, rows: int = ROWS) -> pa.Table:
    """Rows of a few keys with a time `t` and a number `x`."""
    random = np.random.default_rng(2)
    times, keys = np.arange(rows), random.integers(0, KEYS, rows)
    table = pa.table({"key": keys, "t": times, "x": random.normal(size=rows)})
    if order == "shuffled":
        return table.take(pa.array(random.permutation(rows)))
    if order == "sorted by key and time":
        return table.take(pa.array(np.argsort(keys, kind="stable")))
    return table


def _features(order: str, bar: float) -> Comparison:
    table = keyed_rows(order)
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    by = {"order_by": "t"} if order == "shuffled" else {}

    def windrow() -> pa.Table:
        return wr.over(
            table,
            key="key",
            order="t",
            windows={str(extent): wr.rows(extent) for extent in WINDOWS},
            aggs=[getattr(wr, name)("x") for name in NAMES],
        )

    def polars() -> pl.DataFrame:
        return frame.with_columns(
            getattr(pl.col("x"), f"rolling_{theirs}")(extent, min_samples=1)
            .over("key", **by)
            .alias(f"{ours}_x_{extent}")
            for ours, theirs in NAMES.items()
            for extent in WINDOWS
        )

    _require_agreement(windrow(), polars())
    times = median_times({"windrow": windrow, "polars": polars}, ROUNDS)
    work = f"over, 4M rows, {KEYS} keys, 20 features, {order}"
    return Comparison(work, "Polars rolling_*().over", times["windrow"], times["polars"], bar)


def _require_agreement(ours: pa.Table, theirs: pl.DataFrame) -> None:
    mine = pl.from_arrow(ours)
    assert isinstance(mine, pl.DataFrame)
    for name in ours.column_names[3:]:
        far = (mine[name] - theirs[name]).abs().max()
        assert isinstance(far, float)
        assert far < 1e-6, f"other answers: {name}"


def _slide(keys: int, seconds: int, bar: float | None) -> Comparison:
    def measured(contestants: Mapping[str, Callable[[], Any]]) -> dict[str, float]:
        return median_times({name: contestants[name] for name in ("windrow", "DuckDB")}, ROUNDS)

    times = sliding(keys, seconds, measured)
    work = f"slide, 4M rows, {keys:,} keys, {4_000_000 // keys // seconds} events a slice, 600:1"
    return Comparison(work, "DuckDB, slices by hand", times["windrow"], times["DuckDB"], bar)
