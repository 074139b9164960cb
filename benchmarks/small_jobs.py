"""A small job from pandas: the mean delay per carrier over 24 hours, of 300,000 flights.

The frame is one as `pd.read_csv` makes it: texts are Python strings, times are in order, as pandas
and Polars need them, and some delays are missing. All of a call counts: reading the frame, the
windows, the answers as a column. Polars has a frame of its own, and two ways to ask; both count.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

import windrow as wr
from benchmarks.harness import Comparison
from windrow.experiments.rounds import median_times

FLIGHTS, ROUNDS = 300_000, 21
CARRIERS = [
    "9E",
    "AA",
    "AS",
    "B6",
    "DL",
    "EV",
    "F9",
    "FL",
    "HA",
    "MQ",
    "OO",
    "UA",
    "US",
    "VX",
    "WN",
]
#: windrow takes at most as long as pandas, and at most 1.5 times as long as Polars
BARS = {"pandas": 1.0, "Polars rolling": 1 / 1.5, "Polars rolling_mean_by": 1 / 1.5}


def flights() -> pd.DataFrame:
    """A year of flights in the order of their times."""
    random = np.random.default_rng(13)
    minutes = np.sort(random.integers(0, 365 * 24 * 60, FLIGHTS))
    delays = np.where(random.random(FLIGHTS) < 0.02, np.nan, random.normal(12, 40, FLIGHTS).round())
    written = pd.DataFrame(
        {
            "ts": np.datetime64("2013-01-01") + minutes.astype("timedelta64[m]"),
            "carrier": np.array(CARRIERS)[random.integers(0, len(CARRIERS), FLIGHTS)],
            "delay": delays,
        }
    ).to_csv(index=False)
    return pd.read_csv(io.StringIO(written), parse_dates=["ts"])


def contestants(frame: pd.DataFrame) -> dict[str, Callable[[], Any]]:
    """The ways to ask, each from a frame of its own library."""
    polars = pl.from_pandas(frame)
    mean = pl.col("delay").mean().alias("mean_delay")
    rolling = pl.col("delay").rolling_mean_by("ts", window_size="24h")
    return {
        "windrow": lambda: wr.over(
            frame, key="carrier", order="ts", windows=wr.time("24 hours"), aggs=wr.mean("delay")
        ),
        "pandas": lambda: frame.groupby("carrier").rolling("24h", on="ts")["delay"].mean(),
        "Polars rolling": lambda: polars.rolling(
            index_column="ts", period="24h", group_by="carrier"
        ).agg(mean),
        "Polars rolling_mean_by": lambda: polars.with_columns(
            rolling.over("carrier").alias("mean_delay")
        ),
    }


def require_same_answers(ways: dict[str, Callable[[], Any]]) -> None:
    """Refuse to compare ways that do not answer the same, carrier by carrier, to 9 digits.

    Polars counts flights of the same minute as peers, so only the last of each minute is compared.
    """
    answers: dict[str, pd.Series] = {}
    for name, ask in ways.items():
        found = ask()
        if isinstance(found, pd.Series):
            found = found.rename("mean_delay").reset_index()
        frame = found.to_pandas() if isinstance(found, pl.DataFrame) else found
        answers[name] = frame.groupby(["carrier", "ts"])["mean_delay"].last()
    for name, found in answers.items():
        pd.testing.assert_series_equal(found, answers["windrow"], rtol=1e-9, obj=name)


def run() -> list[Comparison]:
    """The small job against pandas and Polars."""
    ways = contestants(flights())
    require_same_answers(ways)
    times = median_times(ways, ROUNDS, warm_up=2)
    return [
        Comparison(
            "mean per carrier over 24 hours, 300,000 rows", name, times["windrow"], taken, bar
        )
        for name, bar in BARS.items()
        for taken in [times[name]]
    ]
