"""When events of a stream are final: by the watermark that it has, or by how late they may come."""

from __future__ import annotations

from datetime import timedelta
from typing import NamedTuple

from pyspark.sql.types import StructType

from windrow.algebra.durations import nanoseconds
from windrow.errors import InvalidArgument

#: where Spark notes that a column has a watermark
_NOTED = "spark.watermarkDelayMs"
_MILLISECOND = 1_000_000


class Lateness(NamedTuple):
    """How late events may come, and whether the stream has a watermark that says so."""

    milliseconds: int
    marked: bool


def lateness_of(schema: StructType, order: str, lateness: str | timedelta | None) -> Lateness:
    """How late events may come, as the stream or the call says it."""
    noted = {field.name: (field.metadata or {}).get(_NOTED) for field in schema.fields}
    marked = {name: delay for name, delay in noted.items() if delay is not None}
    if marked and order not in marked:
        other = next(iter(marked))
        raise InvalidArgument(
            f"order: the watermark of data is on {other!r}, and windows end by {order!r}; put it "
            f"there with withWatermark({order!r}, ...)"
        )
    if marked:
        if lateness is not None:
            raise InvalidArgument(
                f"lateness: data has a watermark on {order!r} already, and Spark does not take a "
                "second; leave one of them out"
            )
        return Lateness(int(marked[order]), marked=True)
    if lateness is None:
        raise InvalidArgument(
            "lateness: say how late events may come, as in lateness='10 seconds', or give data a "
            f"watermark, withWatermark({order!r}, '10 seconds')"
        )
    delay = nanoseconds(lateness, "lateness")
    if delay < 0 or delay % _MILLISECOND:
        raise InvalidArgument(
            f"lateness: a number of milliseconds, none of them negative, not {lateness!r}"
        )
    return Lateness(delay // _MILLISECOND, marked=False)
