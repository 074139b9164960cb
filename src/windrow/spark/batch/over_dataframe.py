"""`over` on batch DataFrames: one shuffle by key, one sort, one pass over Arrow batches.

Where `planning/placement.py` says so, rows are shuffled into chunks of key and order instead, or
the work is left to Spark's own window functions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from typing import Any

import pyarrow as pa
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from windrow.engine.over_batches import over_batches
from windrow.errors import InvalidArgument
from windrow.planning.over_plan import OverPlan, require_final, resolve_over
from windrow.planning.placement import depends_on_keys, place_over
from windrow.spark.batch.chunks import chunked, has_heavy_key
from windrow.spark.batch.samples import rows_of_a_key
from windrow.spark.batch.spark_windows import with_window_functions
from windrow.spark.bridge.arrow_batches import Function, answers_by_row
from windrow.spark.bridge.collations import require_bytes
from windrow.spark.bridge.column_names import new_names, plain_names, renamed, require_new_names
from windrow.spark.bridge.schema import arrow_schema, nullable_columns
from windrow.spark.bridge.source import Source, source_of, title


def over_dataframe(
    data: Any,
    *,
    schema: StructType | None,
    lateness: str | timedelta | None,
    shards: int | None,
    history: Any,
    **arguments: Any,
) -> Any:
    """The DataFrame with the columns of `wr.over` added."""
    source = source_of(data, schema, as_stream=lateness is not None)
    frame, schema = source.frame, source.schema
    plan = resolve_over(arrow_schema(source), **arguments)
    if not plan.order:
        raise InvalidArgument(
            "order: rows of a Spark DataFrame have no order of their own; name a column"
        )
    require_bytes(schema, plan)
    if source.is_streaming:
        # These need pandas and protobuf.
        from windrow.spark.streaming.dataflow import Told
        from windrow.spark.streaming.over_query import over_stream

        return over_stream(source, plan, Told(lateness, shards, history))
    require_final(lateness=lateness, shards=shards, history=history)
    nullable = nullable_columns(source)
    # What a task would refuse is refused here, when the call is made.
    over_batches((), plan, nullable)
    added = from_arrow_schema(pa.schema(plan.output_fields))
    require_new_names(frame, schema.names, added.names)
    result = StructType([*schema.fields, *added.fields])
    names = plain_names(result.names)
    given, new = names[: len(schema)], names[len(schema) :]
    named = frame.toDF(*given)
    # Of columns that share a name only one is here, and the plan refers to none of them.
    plain = dict(zip(schema.names, given, strict=False))
    column = {name: F.col(each) for name, each in plain.items()}
    key, order = ([column[name] for name in wanted] for wanted in (plan.key, plan.order))
    where = _where(source, plan, named, key)
    if where == "spark":
        return with_window_functions(named, plan, column, new).toDF(*result.names)
    may_cut = where == "chunks" and source.may_ask
    is_cut = may_cut and (not key or (source.may_look and has_heavy_key(named, key)))
    arranged, own = _arranged(named, key, order, plan, is_cut)
    answers = answers_by_row(
        arranged,
        [plain[name] for name in plan.columns],
        source.checked(_answer_partition(plan, nullable, new), plan.columns),
        renamed(added, new),
        title("over", plan.features, plan.windows),
    )
    together = new_names(names)("answers")
    answered = arranged.select("*", answers.alias(together)).where(own)
    return answered.select(*given, f"{together}.*").toDF(*result.names)


def _where(source: Source, plan: OverPlan, named: Any, key: Sequence[Any]) -> str:
    """Where the plan runs, after a look at keys if that decides."""
    if depends_on_keys(plan) and source.may_look:
        return place_over(plan, rows_of_a_key(named, key)).where
    return place_over(plan).where


def _arranged(
    named: Any, key: Sequence[Any], order: Sequence[Any], plan: OverPlan, is_cut: bool
) -> tuple[Any, Any]:
    """The rows of each task in order, and whether a row is the task's own or fills windows only."""
    own = F.lit(True)
    if is_cut:
        arranged, own = chunked(named, key, order[0], plan)
    else:
        arranged = named.repartition(*key) if key else named.repartition(1)
    return arranged.sortWithinPartitions(*key, *order), own


def _answer_partition(plan: OverPlan, nullable: set[str], names: Sequence[str]) -> Function:
    columns = plan.columns

    def answer(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        named = (batch.rename_columns(columns) for batch in batches)
        for answered in over_batches(named, plan, nullable):
            yield answered.rename_columns(names)

    return answer
