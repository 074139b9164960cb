"""A small stream, and what one process answers to it that was never interrupted."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import cache
from typing import Any

import pyarrow as pa

import windrow as wr

START = datetime(2026, 5, 1)
COUNT = 9
QUERY: dict[str, Any] = {
    "key": "k",
    "order": "ts",
    "windows": {"time": wr.time("8 seconds", every="4 seconds"), "rows": wr.rows(3, every=2)},
    "aggs": [wr.sum("v"), wr.count()],
    "lateness": "2 seconds",
}


def batch(number: int, key: pa.DataType | None = None) -> pa.RecordBatch:
    """Six events of three keys, two seconds behind those of the batch before; one is late."""
    times = [2 * number + place / 4 for place in range(5)] + [2 * number - 9]
    return pa.record_batch(
        {
            "k": pa.array([place % 3 for place in range(6)], key or pa.int64()),
            "ts": [START + timedelta(seconds=second) for second in times],
            "v": [float(number * place) for place in range(6)],
        }
    )


def source(offset: int | None, count: int = COUNT) -> Iterator[tuple[pa.RecordBatch, int]]:
    """Batches from an offset on, each with the offset behind it."""
    for number in range(offset or 0, count):
        yield batch(number), number + 1


def stream_of(data: Any, checkpoint: Any, **changes: Any) -> Any:
    return wr.slide(data, checkpoint=checkpoint, **{**QUERY, **changes})


@cache
def expected() -> list[pa.RecordBatch]:
    """The batches of answers of one process."""
    return list(stream_of(source(None), None))
