"""What `wr.plan` says of a DataFrame, after the checks of the calls; no job runs."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pyarrow as pa
from pyspark.sql.types import StructType

from windrow.planning.explain import Plan
from windrow.planning.over_plan import OverPlan, require_final
from windrow.planning.placement import place_over
from windrow.planning.slide_plan import SlidePlan
from windrow.planning.stream_arguments import STREAMED, require_shards
from windrow.spark.bridge.schema import arrow_schema, nullable_columns
from windrow.spark.bridge.source import source_of
from windrow.spark.streaming.history import history_of
from windrow.spark.streaming.watermark import lateness_of


def planned(
    data: Any,
    resolve: Callable[[pa.Schema], OverPlan | SlidePlan],
    *,
    schema: StructType | None,
    lateness: str | timedelta | None,
    shards: int | None,
    history: Any,
) -> Plan:
    """The plan of a call; `resolve` checks what is the same on all data."""
    source = source_of(data, schema, as_stream=lateness is not None)
    resolved = resolve(arrow_schema(source))
    nullable = nullable_columns(source)
    if not source.is_streaming:
        require_final(lateness=lateness, shards=shards, history=history)
        where = place_over(resolved) if isinstance(resolved, OverPlan) else None
        return Plan(resolved, nullable, (), where)
    lateness_of(source, resolved.order[0], lateness)
    if shards is not None:
        require_shards(shards, resolved.key)
    if history is not None:
        kept = isinstance(resolved, OverPlan)
        columns = resolved.schema.names if kept else resolved.columns
        nullable |= nullable_columns(history_of(history, source, columns))
    return Plan(resolved, nullable, STREAMED)
