"""Windows that leave out the current row, or hold rows after it, against trailing ones.

Of the same total range: 1,000 rows, or 1,000 seconds, of 1 million rows. Times are irregular: none
to three rows come in a second. Where rows come at a fixed pace, a trailing window of time takes
less time, because how many rows leave can be predicted.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

import windrow as wr
from benchmarks.harness import Comparison, times_by_round
from windrow.windows import Window
from windrow.work import sizes

ROWS = 1_000_000
ROUNDS = 15
#: they may take at most 1.2 times the time of trailing windows
BAR = round(1 / 1.2, 2)
#: how many threads work at once; None for one on every core
THREADS = {"1 thread": 1, "all cores": None}
TRAILING: dict[str, Window] = {"rows": wr.rows(1000), "time": wr.time("1000 seconds")}
OTHERS: dict[str, dict[str, Window]] = {
    "rows": {
        "without the current row": wr.rows(1000, current=False),
        "centred": wr.rows(before=500, after=499),
    },
    "time": {
        "without the current row": wr.time("1000 seconds", closed="left"),
        "without its peers": wr.time("1000 seconds", closed="left", ties="peers"),
        "with its peers": wr.time("1000 seconds", ties="peers"),
        "centred": wr.time(before="500 seconds", after="500 seconds"),
    },
}


def run() -> list[Comparison]:
    """Sum, max and mean, with and without threads."""
    chance = np.random.default_rng(1)
    moments = np.cumsum(chance.integers(0, 3, ROWS)).astype("datetime64[s]")
    table = pa.table({"t": pa.array(moments), "x": chance.normal(size=ROWS)})
    found = []
    for label, threads in THREADS.items():
        with sizes.using(cores=threads):
            for kind in TRAILING:
                for aggregation in (wr.sum, wr.max, wr.mean):
                    found += _compared(table, label, kind, aggregation)
    return found


def _compared(table: pa.Table, label: str, kind: str, aggregation: Any) -> list[Comparison]:
    windows = {"trailing": TRAILING[kind], **OTHERS[kind]}

    def over(window: Window) -> Any:
        return lambda: wr.over(table, order="t", windows=window, aggs=aggregation("x"))

    rounds = times_by_round({name: over(each) for name, each in windows.items()}, ROUNDS, 1)
    best = {name: min(each[name] for each in rounds) for name in windows}
    return [
        Comparison(
            f"{aggregation.name}, {kind}, {name}, {label}",
            "trailing",
            best[name],
            best["trailing"],
            BAR,
        )
        for name in OTHERS[kind]
    ]
