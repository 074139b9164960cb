"""When events of a stream are final: by its own watermark, or by the call's lateness."""

from __future__ import annotations

from datetime import timedelta
from typing import NamedTuple

import pyarrow as pa

from windrow.errors import InvalidArgument
from windrow.planning.stream_arguments import delay_of
from windrow.spark.bridge.source import Source
from windrow.spark.streaming.upstream import upstream_of

#: the metadata in which Spark notes a column's watermark: how many milliseconds it is behind
MARK = "spark.watermarkDelayMs"
_WHICH = (
    "the column that has it: F.window_time(...) of a window of Spark's, window_end of wr.slide, "
    "the order column of wr.over"
)


class Watermark(NamedTuple):
    """When events are final.

    Attributes:
        delay: how far the watermark is behind the newest event, in milliseconds.
        is_own: whether the stream has it already; if not, the call's lateness makes one.
    """

    delay: int
    is_own: bool


def has_watermark(source: Source) -> bool:
    """Whether a column of the stream says that it has a watermark."""
    return any((field.metadata or {}).get(MARK) is not None for field in source.schema.fields)


def find_watermark(source: Source, order: str, lateness: str | timedelta | None) -> Watermark:
    """The watermark that the stream has, or that the call asks for."""
    noted = {field.name: (field.metadata or {}).get(MARK) for field in source.schema.fields}
    marked = {name: delay for name, delay in noted.items() if delay is not None}
    upstream = upstream_of(source)
    if upstream is not None:
        if upstream.has_another:
            raise InvalidArgument(
                "data: it has withWatermark(...) behind an operation with state, which has a "
                "watermark, and neither would ever move; leave the second out and order by "
                f"{_WHICH}"
            )
        if upstream.has_state and order not in marked:
            raise InvalidArgument(
                f"order: the watermark of the operation with state in front is not on {order!r}, "
                f"and a second one would never move; order by {_WHICH}. Or write out what the "
                "operation gives and start another query from that"
            )
        if not upstream.has_watermark:
            marked = {}
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
        return Watermark(int(marked[order]), is_own=True)
    if lateness is None:
        raise InvalidArgument(
            "lateness: say how late events may come, as in lateness='10 seconds', or give data a "
            f"watermark, withWatermark({order!r}, '10 seconds')"
        )
    return Watermark(delay_of(lateness), is_own=False)


def column_with_watermark(column: str, schema: pa.Schema) -> str | None:
    """The column, if it can have a watermark: Spark has none for dates."""
    return column if pa.types.is_timestamp(schema.field(column).type) else None
