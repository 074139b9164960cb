"""What every environment is asked: the same calls, on the same events."""

from typing import Any

import pyarrow as pa

import windrow as wr

SIZE = 400
EVENTS = pa.table(
    {
        "id": range(SIZE),
        "k": [f"k{row * 7 % 5}" for row in range(SIZE)],
        "ts": pa.array([row * 1_500_000 for row in range(SIZE)], pa.timestamp("us", "UTC")),
        "x": [float(row * 37 % 101) if row % 9 else None for row in range(SIZE)],
        "s": [f"s{row * 11 % 17}" for row in range(SIZE)],
    }
)


def asked(*own: wr.Measure) -> dict[str, dict[str, Any]]:
    """The arguments of `wr.over`, by the name of a question; `own` are measures of the user's.

    Both take the same kernels: compiling takes longer than all the rest.
    """
    aggs = [wr.max("x"), wr.arg_max("x", "s"), wr.max("s"), *own]
    windows = {"r7": wr.rows(7), "1m": wr.time("1 minute")}
    return {
        "keyed": {"key": "k", "order": ["ts", "id"], "windows": windows, "aggs": aggs},
        "one_window": {"order": "id", "windows": wr.rows(100), "aggs": aggs},
    }


def by_id(table: pa.Table) -> pa.Table:
    return table.sort_by("id")
