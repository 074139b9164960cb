"""When events of a stream are final: by the watermark that it has, or by how late they may come."""

from __future__ import annotations

from datetime import timedelta

from pyspark.sql.types import StructType

from windrow.algebra.durations import nanoseconds
from windrow.errors import InvalidArgument

#: where Spark notes that a column has a watermark
_NOTED = "spark.watermarkDelayMs"
_MILLISECOND = 1_000_000


def lateness_of(schema: StructType, order: str, lateness: str | timedelta | None) -> str | None:
    """How late events may come, as Spark takes it; None if the stream has said so itself."""
    marked = [field.name for field in schema.fields if _NOTED in (field.metadata or {})]
    if marked and order not in marked:
        raise InvalidArgument(
            f"order: the watermark of data is on {marked[0]!r}, and windows end by {order!r}; put "
            f"it there with withWatermark({order!r}, ...)"
        )
    if marked:
        if lateness is not None:
            raise InvalidArgument(
                f"lateness: data has a watermark on {order!r} already, and Spark does not take a "
                "second; leave one of them out"
            )
        return None
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
    return f"{delay // _MILLISECOND} milliseconds"
