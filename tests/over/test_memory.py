"""A stream of batches holds what is in its windows, and no more the more rows have passed."""

import gc
import tracemalloc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import windrow as wr
from windrow.engine.over_batches import over_batches
from windrow.planning.choose import Wish
from windrow.planning.over_plan import resolve_over

pytestmark = pytest.mark.compiled

ROWS = 40  # of a batch
#: more batches than kept values are joined after
LONG = 100 * ROWS


def batches(count: int) -> Iterator[pa.RecordBatch]:
    """Rows of one key, a second apart."""
    for number in range(count):
        ids = np.arange(number * ROWS, (number + 1) * ROWS)
        yield pa.RecordBatch.from_pydict(
            {
                "k": pa.array(np.zeros(ROWS, np.int64)),
                "ts": pa.array(ids * 1_000_000, pa.timestamp("us")),
                "x": pa.array(ids * 7 % 1_009, pa.float64()),
                "s": pa.array([f"value {each:08}" for each in ids]),
            }
        )


@pytest.mark.parametrize(
    ("window", "measure"),
    [
        (wr.rows(LONG), wr.max("x")),
        (wr.time(f"{LONG} seconds"), wr.arg_max("x", "s")),
        (wr.rows(LONG), wr.max("s")),
    ],
    ids=["numbers", "carried", "objects"],
)
def test_memory_is_the_window(window: Any, measure: wr.Measure) -> None:
    # Found: once a window spanned more than 64 batches, no carried value was ever given back.
    schema = next(batches(1)).schema
    plan = resolve_over(schema, key="k", order="ts", windows=window, aggs=measure, wish=Wish())
    for _answers in over_batches(batches(1), plan, nullable=set()):
        pass  # compiles the kernel, whose memory is not the window's
    held = np.zeros(400, np.int64)
    gc.freeze()  # so that collecting looks only at what comes now
    tracemalloc.start()
    before = pa.total_allocated_bytes()
    for number, _answers in enumerate(over_batches(batches(400), plan, nullable=set())):
        gc.collect()
        held[number] = pa.total_allocated_bytes() - before + tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    gc.unfreeze()
    # The window is full after 100 batches; what is joined now and then is held twice.
    assert max(held[200:]) <= 1.2 * max(held[:200])
