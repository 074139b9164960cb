"""Filters and computed columns of queries as text, on Spark's DataFrames.

Spark evaluates them with the functions that tables in process use, as functions over Arrow columns:
the same answers, nulls and NaNs everywhere. Other columns keep their watermark.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import functions as F
from pyspark.sql.pandas.functions import arrow_udf
from pyspark.sql.pandas.types import from_arrow_type

from windrow.algebra.condition_expressions import Column
from windrow.algebra.conditions import Condition
from windrow.spark.bridge.schema import arrow_schema
from windrow.spark.bridge.workers import own_python, sent


def with_step(
    frame: Any, filters: Sequence[Condition], columns: Mapping[str, Condition], keeps: bool
) -> Any:
    """The DataFrame with the rows that stay and the columns that are computed.

    Args:
        frame: the DataFrame.
        filters: conditions; rows stay of which all are true.
        columns: expressions by the name of the column that they make.
        keeps: whether all columns stay that were there; else those that are computed alone.
    """
    schema = arrow_schema(frame)
    with own_python(frame.sparkSession):
        for condition in filters:
            frame = frame.where(_column(condition, schema))
        if not columns:
            return frame
        computed = [_column(each, schema).alias(name) for name, each in columns.items()]
        kept = [_named(name) for name in schema.names] if keeps else []
        return frame.select(*kept, *computed)


def _column(expression: Condition, schema: pa.Schema) -> Any:
    if isinstance(expression.root, Column):
        return _named(expression.root.name)
    answer = from_arrow_type(expression.type_in(schema), prefer_timestamp_ntz=True)
    if not expression.columns:
        return F.lit(expression.evaluate({}).as_py()).cast(answer)
    function: Any = arrow_udf(_evaluating(expression), answer)  # type: ignore[call-overload]
    return function(*(_named(name) for name in expression.columns))


def _evaluating(expression: Condition) -> Callable[..., Any]:
    names = expression.columns

    def evaluate(*columns: Any) -> Any:
        return expression.evaluate(dict(zip(names, columns, strict=True)))

    there = sent(evaluate)

    def evaluated(*columns: Any) -> Any:
        return there(*columns)

    # Spark reads the hints of a function of columns.
    evaluated.__annotations__ = {"columns": pa.Array, "return": pa.Array}
    return evaluated


def _named(name: str) -> Any:
    return F.col("`" + name.replace("`", "``") + "`")
