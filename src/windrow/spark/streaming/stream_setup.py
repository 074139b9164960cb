"""What a call on a stream needs to know before Spark gets any work: shards, watermark, history.

`over_stream` and `slide_stream` go on from it, and `wr.plan` explains it.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from windrow.algebra.compilable import frames_inside
from windrow.errors import InvalidArgument, SettingWarning
from windrow.planning.delivery import Delivery
from windrow.planning.over_plan import OverPlan
from windrow.planning.slide_plan import SlidePlan
from windrow.planning.stream_arguments import StreamArguments, require_shards
from windrow.planning.stream_plan import StreamPlan
from windrow.spark.bridge.schema import nullable_columns
from windrow.spark.bridge.source import Source
from windrow.spark.streaming.history import history_of
from windrow.spark.streaming.watermark import Watermark, find_watermark
from windrow.stream.plan_stream import plan_stream, query_of

_PARTITIONS = "spark.sql.shuffle.partitions"
_PROVIDER = "spark.sql.streaming.stateStore.providerClass"
_CHANGELOG = "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled"
_ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


@dataclass(frozen=True)
class StreamSetup:
    """A call on a stream, checked.

    Attributes:
        source: the events.
        plan: what is asked.
        columns: the columns of an event that are kept, the key in front.
        watermark: how late events may come.
        shards: the number of parts that keys are kept in.
        why_shards: the reason for this number.
        history: the table that the stream goes on from, if there is one.
        nullable: the columns that may hold nulls.
        delivery: how answers are given.
    """

    source: Source
    plan: SlidePlan | OverPlan
    columns: Sequence[str]
    watermark: Watermark
    shards: int
    why_shards: str
    history: Source | None
    nullable: set[str]
    delivery: Delivery

    def explained(self) -> StreamPlan:
        """What `wr.plan` says about the stream."""
        return plan_stream(
            self.plan,
            self.nullable,
            self.shards,
            self.why_shards,
            delay=self.watermark.delay,
            is_own=self.watermark.is_own,
            has_history=self.history is not None,
            delivery=self.delivery,
        )


def set_up(source: Source, plan: SlidePlan | OverPlan, arguments: StreamArguments) -> StreamSetup:
    """Check what a call says about its stream, and the session that it runs in."""
    session = source.frame.sparkSession
    delivery = arguments.delivery
    # Late events are given with all their columns.
    reads_some = isinstance(plan, SlidePlan) and not delivery.side
    columns = plan.columns if reads_some else plan.schema.names
    watermark = find_watermark(source, plan.order[0], arguments.lateness)
    shards, why_shards = shards_of(session, plan.key, arguments.shards)
    nullable = nullable_columns(source)
    history = None
    if arguments.history is not None:
        history = history_of(arguments.history, source, columns)
        nullable |= nullable_columns(history)
    query_of(plan, nullable, shards, delivery=delivery)  # refuses what a task would refuse
    require_rocksdb(session)
    return StreamSetup(
        source, plan, columns, watermark, shards, why_shards, history, nullable, delivery
    )


def shards_of(session: Any, key: Sequence[str], wanted: int | None) -> tuple[int, str]:
    """The number of shards, and the reason for it."""
    if wanted is not None:
        require_shards(wanted, key)
        return wanted, "shards= says so"
    if not key:
        return 1, "without a key there is one window"
    return _partitions(session), f"{_PARTITIONS} says so; shards= sets another number"


def _partitions(session: Any) -> int:
    partitions = session.conf.get(_PARTITIONS)
    if not partitions.isdecimal():
        raise InvalidArgument(
            f"shards: {_PARTITIONS} is {partitions!r}, and state needs a fixed number of shards; "
            "give one, as in shards=64"
        )
    return int(partitions)


def require_rocksdb(session: Any) -> None:
    """Refuse a session that keeps state elsewhere, and warn if it writes more than changed."""
    provider = session.conf.get(_PROVIDER)
    if not provider.endswith("RocksDBStateStoreProvider"):
        raise InvalidArgument(
            f"data: windows over a stream are kept in RocksDB; set {_PROVIDER} to {_ROCKSDB} in "
            f"the session's configuration, where it is {provider}"
        )
    if session.conf.get(_CHANGELOG, "false").lower() != "true":
        warnings.warn(
            f"{_CHANGELOG} is off, so each batch copies files of the state store, and the commit "
            "of a small batch takes twice as long. Set it to true in the session's configuration; "
            "queries go on from their checkpoints",
            SettingWarning,
            stacklevel=frames_inside(),
        )
