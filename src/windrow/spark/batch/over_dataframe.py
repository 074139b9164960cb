"""`over` on batch DataFrames: one shuffle by key, one sort, one pass over Arrow batches.

Where `planning/placement.py` says so, rows are shuffled into chunks of key and order instead, or
Spark's own window functions do the work. Of few stored rows, the tasks sort (`python_sort.py`).

      rows -> [shuffle by key, or into chunks] -> sort -> windows, a task for each partition
              chunks.py                                   engine/over_batches.py
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from windrow.engine.over_batches import over_batches
from windrow.planning.over_plan import OverPlan
from windrow.planning.placement import depends_on_keys, place_over
from windrow.spark.batch.chunks import chunked, has_heavy_key, reaches_of
from windrow.spark.batch.python_sort import answers_as_table, over_rows
from windrow.spark.batch.samples import rows_of_a_key
from windrow.spark.batch.spark_windows import with_window_functions
from windrow.spark.bridge.arrow_batches import BatchFunction, answers_by_row
from windrow.spark.bridge.column_names import new_names, plain_names, renamed
from windrow.spark.bridge.schema import nullable_columns
from windrow.spark.bridge.source import Source, title


def over_dataframe(source: Source, plan: OverPlan) -> Any:
    """The DataFrame with the columns of `wr.over` added."""
    schema, nullable = source.schema, nullable_columns(source)
    added = from_arrow_schema(pa.schema(plan.output_fields))
    result = StructType([*schema.fields, *added.fields])
    names = plain_names(result.names)
    given, new = names[: len(schema)], names[len(schema) :]
    named = source.frame.toDF(*given)
    # Of columns that share a name only one is here, and the plan refers to none of them.
    plain = dict(zip(schema.names, given, strict=False))
    column = {name: F.col(each) for name, each in plain.items()}
    key, order = ([column[name] for name in wanted] for wanted in (plan.key, plan.order))
    where = _where(source, plan, named, key)
    if where == "spark":
        return with_window_functions(named, plan, column, new).toDF(*result.names)
    is_cut = where == "chunks" and (not key or has_heavy_key(named, key))
    as_table = not is_cut and answers_as_table(source, plan)
    arranged, own = _arranged(named, key, order, plan, is_cut)
    read = list(dict.fromkeys((*plan.columns, *plan.order))) if as_table else plan.columns
    if not as_table:
        arranged = arranged.sortWithinPartitions(*key, *order)
    answers = answers_by_row(
        arranged,
        [plain[name] for name in read],
        source.checked(_answer_partition(plan, nullable, read, new, as_table), read),
        renamed(added, new),
        title("over", plan.features, plan.windows),
    )
    together = new_names(names)("answers")
    answered = arranged.select("*", answers.alias(together)).where(own)
    return answered.select(*given, f"{together}.*").toDF(*result.names)


def _where(source: Source, plan: OverPlan, named: Any, key: Sequence[Any]) -> str:
    """Where the plan runs, after a sample of the keys if that decides."""
    may_sample = source.may_sample
    rows = {}
    if depends_on_keys(plan) and may_sample:
        rows["rows_of_a_key"] = rows_of_a_key(named, key)
    return place_over(plan, **rows, may_ask=source.may_ask, may_sample=may_sample).where


def _arranged(
    named: Any, key: Sequence[Any], order: Sequence[Any], plan: OverPlan, is_cut: bool
) -> tuple[Any, Any]:
    """The rows of each task, and whether a row is the task's own or only fills windows."""
    own = F.lit(True)
    if is_cut:
        order_type = plan.schema.field(plan.order[0]).type
        arranged, own = chunked(named, key, order[0], order_type, reaches_of(plan))
    else:
        arranged = named.repartition(*key) if key else named.repartition(1)
    return arranged, own


def _answer_partition(
    plan: OverPlan, nullable: set[str], read: Sequence[str], names: Sequence[str], as_table: bool
) -> BatchFunction:
    def answer(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        named = (batch.rename_columns(read) for batch in batches)
        answers = over_rows(named, plan) if as_table else over_batches(named, plan, nullable)
        for answered in answers:
            yield answered.rename_columns(names)

    return answer
