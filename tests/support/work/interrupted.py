"""A process that works for hours until it is interrupted: see `test_interrupts.py`.

It says on a line of its own when each call has begun, and when it was interrupted.
"""

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

import windrow as wr

#: an event costs as much as its window is long
SLOW: dict[str, Any] = {"order": "t", "aggs": wr.sum("x"), "algorithm": "recompute"}
RANGE = 100_000


def table(size: int) -> pa.Table:
    return pa.table({"t": np.arange(size), "x": np.arange(size)})


def interrupted(call: Callable[[pa.Table], Any]) -> None:
    call(table(10))  # compiles
    print("begun", flush=True)
    try:
        call(table(20 * RANGE))
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    else:
        sys.exit("it was to take hours")


if __name__ == "__main__":
    interrupted(lambda data: wr.over(data, windows=wr.rows(RANGE), **SLOW))
    interrupted(lambda data: wr.slide(data, windows=wr.rows(RANGE, every=1), **SLOW))
