"""The arguments of a call that only streams take: `lateness`, `shards`, `history`, `checkpoint`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from typing import Any

from windrow.algebra.durations import NANOSECONDS, nanoseconds
from windrow.errors import InvalidArgument
from windrow.planning.delivery import FINAL_ONLY, Delivery, Emit, Late

#: nanoseconds; watermarks are in milliseconds
MILLISECOND = NANOSECONDS["millisecond"]


@dataclass(frozen=True)
class StreamArguments:
    """What a call says about a stream; None where it says nothing."""

    lateness: str | timedelta | None = None
    shards: int | None = None
    history: Any = None
    checkpoint: Any = None
    emit: Emit = "final"
    allowed_lateness: str | timedelta | None = None
    late: Late = "drop"

    def __post_init__(self) -> None:
        """Refuse what is wrong with them by themselves."""
        self.delivery  # noqa: B018

    @cached_property
    def delivery(self) -> Delivery:
        """How the stream gives its answers."""
        return Delivery.of(self.emit, self.allowed_lateness, self.late)

    @property
    def are_given(self) -> bool:
        """Whether the call says anything about a stream."""
        given = (self.lateness, self.shards, self.history, self.checkpoint)
        return any(each is not None for each in given) or self.delivery != FINAL_ONLY

    def require_valid(self, key: str | Sequence[str] | None) -> None:
        """Refuse what is wrong for every stream."""
        if self.lateness is not None:
            delay_of(self.lateness)
        if self.shards is not None:
            require_shards(self.shards, key)
        if self.history is not None:
            require_dataframe(self.history)
        if self.checkpoint is not None:
            raise InvalidArgument(
                "checkpoint: is for iterators of batches; Spark keeps the state of a query in the "
                "checkpointLocation that you give to writeStream"
            )

    def require_none(self) -> None:
        """Refuse all of them, because the data is a table."""
        given = [
            name
            for name in ("lateness", "shards", "history", "checkpoint", "allowed_lateness")
            if getattr(self, name) is not None
        ]
        given += ["emit"] * self.delivery.updates + ["late"] * self.delivery.side
        if given:
            raise InvalidArgument(
                f"{given[0]}: is for streams: streaming DataFrames and iterators of batches, such "
                "as table.to_batches(); a table is final"
            )


def delay_of(lateness: str | timedelta) -> int:
    """How late events may come, in milliseconds."""
    delay = nanoseconds(lateness, "lateness")
    if delay < 0 or delay % MILLISECOND:
        raise InvalidArgument(
            f"lateness: give a number of milliseconds that is not negative, not {lateness!r}"
        )
    return delay // MILLISECOND


def require_shards(shards: object, key: str | Sequence[str] | None) -> None:
    """Refuse what is not a number of shards."""
    if isinstance(shards, bool) or not isinstance(shards, int) or shards < 1:
        raise InvalidArgument(f"shards: give an integer of at least 1, not {shards!r}")
    if not key and shards > 1:
        raise InvalidArgument("shards: without a key there is one window, and one shard")


def require_dataframe(history: object) -> None:
    """Refuse a history that is not Spark's; this does not import pyspark."""
    if not type(history).__module__.startswith("pyspark."):
        raise InvalidArgument(
            f"history: give a Spark DataFrame, as data is, not {type(history).__name__}"
        )
