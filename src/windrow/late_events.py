"""`wr.late` and `wr.on_time`: the rows of a stream that was asked for with `late="side"`.

      window_start | ... | final | late
      10:00        |     | false | null                   an answer: `wr.on_time`
      null         |     | null  | {ts: 09:12, x: 4.0}    a late event: `wr.late`

Both kinds of rows come in one stream, so one query and one checkpoint give each of them once.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from windrow.api import is_spark
from windrow.engine.columns import whole
from windrow.errors import InvalidArgument
from windrow.planning.delivery import LATE
from windrow.tables.choose import to_table


def late(data: Any) -> Any:
    """The late events among the rows of a stream, with the columns that they came with.

    Args:
        data: a DataFrame of Spark, streaming or not, or a batch of a stream in this process, from a
            call with `late="side"`.

    Returns:
        A DataFrame, or a `pyarrow.Table`. Dictionaries, runs and views come as plain values.

    Raises:
        InvalidArgument: if the data has no column `late`.

    Example:
        >>> import windrow as wr
        >>> from datetime import datetime
        >>> batches = [{"ts": [datetime(2026, 5, 4, 9, minute)]} for minute in (1, 5, 2)]
        >>> every = wr.time("1 minute", every="1 minute")
        >>> for batch in wr.slide(
        ...     batches,
        ...     order="ts",
        ...     windows=every,
        ...     aggs=wr.count(),
        ...     lateness="1 second",
        ...     late="side",
        ... ):
        ...     print(
        ...         wr.on_time(batch)["window_start"].to_pylist(), wr.late(batch)["ts"].to_pylist()
        ...     )
        [datetime.datetime(2026, 5, 4, 9, 1)] []
        [] [datetime.datetime(2026, 5, 4, 9, 2)]
        [datetime.datetime(2026, 5, 4, 9, 5)] []
    """
    if is_spark(data):
        _require_column(data.columns)
        return data.where(f"{LATE} IS NOT NULL").select(f"{LATE}.*")
    held = whole(_table(data)[LATE])
    if not pa.types.is_struct(held.type):
        raise _not_of_a_stream()
    events = held.filter(held.is_valid())
    return pa.table(events.flatten(), names=[field.name for field in events.type])


def on_time(data: Any) -> Any:
    """The answers among the rows of a stream, without late events.

    Args:
        data: as in `wr.late`.

    Returns:
        A DataFrame, or a `pyarrow.Table`.

    Raises:
        InvalidArgument: if the data has no column `late`.

    Example:
        >>> import windrow as wr
        >>> from datetime import datetime
        >>> batches = [{"ts": [datetime(2026, 5, 4, 9, minute)]} for minute in (1, 5, 2)]
        >>> for batch in wr.over(
        ...     batches,
        ...     order="ts",
        ...     windows=wr.rows(2),
        ...     aggs=wr.count(),
        ...     lateness="0 s",
        ...     late="side",
        ... ):
        ...     print(wr.on_time(batch)["count"].to_pylist())
        [1]
        []
        [2]
    """
    if is_spark(data):
        _require_column(data.columns)
        return data.where(f"{LATE} IS NULL").drop(LATE)
    table = _table(data)
    wanted = table[LATE].is_null()
    rest = table.drop_columns([LATE])
    return pa.table([_filtered(each, wanted) for each in rest.columns], names=rest.column_names)


def _filtered(column: pa.ChunkedArray, wanted: pa.ChunkedArray) -> pa.ChunkedArray | pa.Array:
    """Some rows of a column; in its plain type if Arrow cannot filter its own."""
    try:
        return column.filter(wanted)
    except pa.ArrowNotImplementedError:
        return whole(column).filter(whole(wanted))


def _table(data: Any) -> pa.Table:
    table = to_table(data)
    _require_column(table.column_names)
    return table


def _require_column(names: list[str]) -> None:
    if LATE not in names:
        raise _not_of_a_stream()


def _not_of_a_stream() -> InvalidArgument:
    return InvalidArgument(
        "data: it has no column 'late' of events; give what a stream with late='side' gave"
    )
