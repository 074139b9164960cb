"""Windows that leave out the current row, or hold rows after it, against trailing ones.

Of the same total range: 1,000 rows, or 1,000 seconds, of 1 million rows. Times are irregular, or a
row comes every second: then a trailing window of time takes less time, because how many rows leave
can be predicted. The median of all rounds counts.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

import windrow as wr
from benchmarks.harness import Comparison
from windrow.experiments.rounds import median_times
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
    values = chance.normal(size=ROWS)
    irregular = _table(np.cumsum(chance.integers(0, 3, ROWS)), values)
    regular = _table(np.arange(ROWS), values)
    tables = {"rows": irregular, "time": irregular, "time, regular": regular}
    found = []
    for label, threads in THREADS.items():
        with sizes.using(cores=threads):
            for kind, table in tables.items():
                for aggregation in (wr.sum, wr.max, wr.mean):
                    found += _compared(table, label, kind, aggregation)
    return found


def _table(seconds: Any, values: Any) -> pa.Table:
    return pa.table({"t": pa.array(seconds.astype("datetime64[s]")), "x": values})


def _compared(table: pa.Table, label: str, kind: str, aggregation: Any) -> list[Comparison]:
    ranged = kind.split(",")[0]
    windows = {"trailing": TRAILING[ranged], **OTHERS[ranged]}

    def over(window: Window) -> Any:
        return lambda: wr.over(table, order="t", windows=window, aggs=aggregation("x"))

    times = median_times({name: over(each) for name, each in windows.items()}, ROUNDS)
    return [
        Comparison(
            f"{aggregation.name}, {kind}, {name}, {label}",
            "trailing",
            times[name],
            times["trailing"],
            BAR,
        )
        for name in OTHERS[ranged]
    ]
