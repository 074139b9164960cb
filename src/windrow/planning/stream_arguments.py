"""What a call says of streams alone: `lateness`, `shards` and `history`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from windrow.algebra.durations import nanoseconds
from windrow.errors import InvalidArgument

_MILLISECOND = 1_000_000

#: what a plan notes of a stream
STREAMED = (
    "This is the plan of a table. Over a stream, windows are kept in shards of keys from batch to "
    "batch, and every answer is given when it is final; it is the table's.",
)


def delay_of(lateness: str | timedelta) -> int:
    """How late events may come, in milliseconds."""
    delay = nanoseconds(lateness, "lateness")
    if delay < 0 or delay % _MILLISECOND:
        raise InvalidArgument(
            f"lateness: a number of milliseconds, none of them negative, not {lateness!r}"
        )
    return delay // _MILLISECOND


def require_shards(shards: object, key: str | Sequence[str] | None) -> None:
    """Refuse what is no number of shards."""
    if isinstance(shards, bool) or not isinstance(shards, int) or shards < 1:
        raise InvalidArgument(f"shards: a number of at least 1, not {shards!r}")
    if not key and shards > 1:
        raise InvalidArgument("shards: without a key there is one window, and one shard")


def require_dataframe(history: object) -> None:
    """Refuse a history that is not Spark's, told without importing pyspark."""
    if not type(history).__module__.startswith("pyspark."):
        raise InvalidArgument(
            f"history: give a Spark DataFrame, as data is, not {type(history).__name__}"
        )


def require_told(
    key: str | Sequence[str] | None,
    *,
    lateness: str | timedelta | None,
    shards: int | None,
    history: Any,
) -> bool:
    """Refuse what cannot be right of any stream; whether something is said of one."""
    if lateness is not None:
        delay_of(lateness)
    if shards is not None:
        require_shards(shards, key)
    if history is not None:
        require_dataframe(history)
    return not (lateness is None and shards is None and history is None)
