"""`over` on batch DataFrames: one shuffle by key, one sort, one pass over Arrow batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import StructType

from windrow.errors import InvalidArgument
from windrow.planning.resolve import OverPlan, resolve_over
from windrow.runtime.program import Program
from windrow.runtime.rolling import Rolling, whole_peers


def over_dataframe(frame: Any, **arguments: Any) -> Any:
    """The DataFrame with the columns of `wr.over` added."""
    if frame.isStreaming:
        raise InvalidArgument("data: over on a streaming DataFrame is not supported yet")
    schema = frame.schema
    plan = resolve_over(to_arrow_schema(schema, timezone="UTC"), **arguments)
    if not plan.order:
        raise InvalidArgument(
            "order: rows of a Spark DataFrame have no order of their own; name a column"
        )
    nullable = {field.name for field in schema.fields if field.nullable}
    added = from_arrow_schema(pa.schema(plan.output_fields))
    key, order = [[F.col(f"`{name}`") for name in names] for names in (plan.key, plan.order)]
    # Without a key all rows go to one task; splitting them by order is its own piece of work.
    arranged = frame.repartition(*key) if key else frame.repartition(1)
    return arranged.sortWithinPartitions(*key, *order).mapInArrow(
        _answer_partition(plan, nullable), StructType([*schema.fields, *added.fields])
    )


def _answer_partition(plan: OverPlan, nullable: set[str]) -> Any:
    def answer(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rolling = Rolling(Program(plan, nullable))
        filled = (batch for batch in batches if batch.num_rows)
        if plan.has_peers:
            filled = whole_peers(filled, (*plan.key, plan.order[0]))  # type: ignore[assignment]
        for batch in filled:
            yield rolling.advance(batch)

    return answer
