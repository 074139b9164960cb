"""`wr.over` on an Arrow table against Polars' rolling functions, both on all cores."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

import windrow as wr
from benchmarks.harness import Comparison
from windrow.experiments.rounds import median_times

ROWS = 4_000_000
WINDOWS = (10, 100, 1_000, 3_000, 9_000)


def run() -> list[Comparison]:
    """Twenty features: max, min, mean and stddev over five windows of rows."""
    table = pa.table({"t": np.arange(ROWS), "x": np.random.default_rng(2).normal(size=ROWS)})
    frame = pl.from_arrow(table)

    def windrow() -> Any:
        return wr.over(
            table,
            order="t",
            windows={str(extent): wr.rows(extent) for extent in WINDOWS},
            aggs=[wr.max("x"), wr.min("x"), wr.mean("x"), wr.stddev("x")],
        )

    def polars() -> Any:
        column = pl.col("x")
        return frame.with_columns(  # type: ignore[union-attr]
            getattr(column, f"rolling_{name}")(extent, min_samples=1).alias(f"{name}_{extent}")
            for name in ("max", "min", "mean", "std")
            for extent in WINDOWS
        )

    times = median_times({"windrow": windrow, "polars": polars}, rounds=3)
    return [
        Comparison(
            "over, 4M rows, 4 aggregations x 5 windows",
            "Polars rolling_*",
            times["windrow"],
            times["polars"],
            bar=2.0,
        )
    ]
