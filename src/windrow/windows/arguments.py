"""Checks of what users give to windows, and of the columns that windows look at."""

from __future__ import annotations

from datetime import timedelta
from numbers import Integral

import pyarrow as pa

from windrow.algebra.durations import nanoseconds
from windrow.errors import InvalidArgument


def row_count(count: int, argument: str) -> int:
    """A number of rows; it is at least one."""
    if isinstance(count, bool) or not isinstance(count, Integral):
        raise InvalidArgument(f"{argument}: a number of rows is an integer, not {count!r}")
    if count < 1:
        raise InvalidArgument(f"{argument}: a window holds at least 1 row, not {count}")
    return int(count)


def distance_in_rows(count: int | None, argument: str) -> int:
    """How many rows lie before or after the current one; none if it is not said."""
    if count is None:
        return 0
    if isinstance(count, bool) or not isinstance(count, Integral):
        raise InvalidArgument(f"{argument}: a number of rows is an integer, not {count!r}")
    if count < 0:
        raise InvalidArgument(f"{argument}: it is 0 rows or more, not {count}")
    return int(count)


def distance_in_time(duration: str | timedelta | None, argument: str) -> int:
    """How many nanoseconds lie before or after the current time; none if it is not said."""
    found = 0 if duration is None else nanoseconds(duration, argument)
    if found < 0:
        raise InvalidArgument(f"{argument}: it is zero or more, not {duration!r}")
    return found


def length(duration: str | timedelta, argument: str) -> int:
    """A duration in nanoseconds; it is more than zero."""
    found = nanoseconds(duration, argument)
    if found <= 0:
        raise InvalidArgument(
            f"{argument}: a window's {argument} is more than zero, not {duration!r}"
        )
    return found


def require_name(column: str) -> None:
    """Refuse what is not the name of a column."""
    if not isinstance(column, str) or not column:
        raise InvalidArgument(f"column: the name of a column is needed, not {column!r}")


def require_column(schema: pa.Schema, argument: str, name: str, table: str = "") -> None:
    """Refuse a name that is not the name of exactly one column; `table` says of which table."""
    found = schema.names.count(name)
    if found == 0:
        where = f" in {table}" if table else ""
        raise InvalidArgument(
            f"{argument}: there is no column {name!r}{where}; there are {', '.join(schema.names)}"
        )
    if found > 1:
        raise InvalidArgument(f"{argument}: {found} columns are called {name!r}; rename them")


def require_time(schema: pa.Schema, order: tuple[str, ...], argument: str = "order") -> None:
    """Refuse to measure time by a column that holds none."""
    if not order:
        raise InvalidArgument("order: a time window needs a timestamp column to measure by")
    data_type = schema.field(order[0]).type
    if not (pa.types.is_timestamp(data_type) or pa.types.is_date(data_type)):
        raise InvalidArgument(
            f"{argument}: a time window measures by a timestamp or a date, and {order[0]!r} is "
            f"{data_type}; use wr.rows(...) or cast the column"
        )
