"""What every environment is asked: the same calls, on the same events."""

from collections.abc import Callable
from functools import partial
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


def asked(*own: wr.Measure) -> dict[str, Callable[..., Any]]:
    """Questions to data of any kind, by name; `own` are measures of the user's.

    Those of `wr.over` take the same kernels: compiling takes longer than all the rest.
    """
    aggs = [wr.max("x"), wr.arg_max("x", "s"), wr.max("s"), *own]
    over = partial(wr.over, order=["ts", "id"], aggs=aggs)
    return {
        "keyed": partial(over, key="k", windows={"r7": wr.rows(7), "1m": wr.time("1 minute")}),
        "one_window": partial(over, windows=wr.rows(100)),
        "slid": partial(
            wr.slide,
            key="k",
            order="ts",
            windows=wr.time("1 minute", every="20 seconds"),
            aggs=[wr.max("s"), wr.collect("s")],
        ),
        "as_of": _as_of_themselves,
    }


def _as_of_themselves(data: Any) -> Any:
    """Events are queries too: each sees those before its moment."""
    windows = wr.time("1 minute", closed="left")
    return wr.as_of(data, data, key="k", order="ts", windows=windows, aggs=wr.collect("s"))


#: the question to a stream
STREAMED = partial(
    wr.slide,
    key="k",
    order="ts",
    windows=wr.time("1 minute", every="20 seconds"),
    aggs=[wr.max("x"), wr.arg_max("x", "s")],
    lateness="5 seconds",
)


def in_order(table: pa.Table) -> pa.Table:
    """Answers of Spark come in no particular order."""
    by = ["id"] if "id" in table.column_names else ["k", "window_start"]
    return table.sort_by([(name, "ascending") for name in by])
