"""`over` on batch DataFrames: one shuffle by key, one sort, one pass over Arrow batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from windrow.errors import InvalidArgument
from windrow.planning.resolve import OverPlan, resolve_over
from windrow.runtime.program import Program
from windrow.runtime.rolling import Rolling, whole_peers
from windrow.spark.frames import plain_names, renamed, require_new_names
from windrow.spark.schema import arrow_schema, nullable_columns
from windrow.spark.source import source_of, title


def over_dataframe(data: Any, *, schema: StructType | None, **arguments: Any) -> Any:
    """The DataFrame with the columns of `wr.over` added."""
    source = source_of(data, schema)
    if source.is_streaming:
        raise InvalidArgument("data: a streaming DataFrame is not supported yet")
    frame, schema = source.frame, source.schema
    plan = resolve_over(arrow_schema(source), **arguments)
    if not plan.order:
        raise InvalidArgument(
            "order: rows of a Spark DataFrame have no order of their own; name a column"
        )
    nullable = nullable_columns(source)
    Program(plan, nullable)  # what a task would refuse is refused here, when the call is made
    added = from_arrow_schema(pa.schema(plan.output_fields))
    require_new_names(frame, schema.names, added.names)
    result = StructType([*schema.fields, *added.fields])
    names = plain_names(result.names)
    key, order = [
        [F.col(names[schema.names.index(name)]) for name in wanted]
        for wanted in (plan.key, plan.order)
    ]
    named = frame.toDF(*names[: len(schema)])
    # Without a key all rows go to one task; splitting them by order is its own piece of work.
    arranged = named.repartition(*key) if key else named.repartition(1)
    answered = source.map_in_arrow(
        arranged.sortWithinPartitions(*key, *order),
        _answer_partition(plan, nullable, names),
        renamed(result, names),
        title("over", plan.features, plan.windows),
    )
    return answered.toDF(*result.names)


def _answer_partition(plan: OverPlan, nullable: set[str], names: Sequence[str]) -> Any:
    def answer(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rolling = Rolling(Program(plan, nullable))
        own = plan.schema.names
        filled = (batch.rename_columns(own) for batch in batches if batch.num_rows)
        if plan.has_peers:
            filled = whole_peers(filled, (*plan.key, plan.order[0]))  # type: ignore[assignment]
        for batch in filled:
            yield rolling.advance(batch).rename_columns(names)

    return answer
