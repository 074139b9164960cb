"""A DataFrame and what is known of it before its job runs.

Spark is asked for the columns of a DataFrame, except where it refuses: in the functions of
`pyspark.pipelines`, whose tables do not exist yet when they are called. There the user states the
columns, and nothing is asked, not even by `mapInArrow`, which asks for them too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import functions as F
from pyspark.sql.pandas.functions import arrow_udf
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import ArrayType, StructField, StructType

from windrow.errors import InvalidArgument
from windrow.planning.resolve import Feature

#: from the batches of a partition to those of the result
Function = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]

#: Spark cuts plans off at some length of their own
_LONGEST_TITLE = 120
_REFUSED = "ATTEMPT_ANALYSIS_IN_PIPELINE_QUERY_FUNCTION"


@dataclass(frozen=True)
class Source:
    """A DataFrame.

    Attributes:
        frame: the DataFrame.
        schema: its columns.
        may_ask: whether Spark may be asked about the data now, in small jobs too.
        is_streaming: whether it is a stream, as far as is known.
    """

    frame: Any
    schema: StructType
    may_ask: bool
    is_streaming: bool = False

    def map_in_arrow(self, arranged: Any, function: Function, result: StructType, name: str) -> Any:
        """What `mapInArrow` makes of the source's columns, once they are arranged.

        Args:
            arranged: a DataFrame made of the source's, with columns of the same types.
            function: from the batches of a partition to those of the result.
            result: the columns that come out.
            name: what Spark's plans and its UI say that is done.
        """
        if self.may_ask:
            function.__name__ = name
            return arranged.mapInArrow(function, result)
        by_lists = _in_lists(_checked(function, self.schema))
        by_lists.__name__ = name
        # Were it deterministic, Spark would take filters of the result into the windows, and sorts
        # away from below them.
        lists = arrow_udf(by_lists, ArrayType(result))  # type: ignore[call-overload]
        rows = lists.asNondeterministic()(F.struct("*")).alias("rows")
        return arranged.select(rows).select(F.inline("rows"))


def source_of(frame: Any, schema: StructType | None, as_stream: bool = False) -> Source:
    """The DataFrame that a user gave, with the columns that they stated, if they did.

    `as_stream` tells whether the rest of the call takes it for a stream, where Spark may not be
    asked.
    """
    if not hasattr(type(frame), "mapInArrow"):
        raise InvalidArgument(f"data: give a Spark DataFrame, not {type(frame).__name__}")
    if schema is None:
        return _asked(frame)
    if not isinstance(schema, StructType):
        raise InvalidArgument(
            f"schema: give the columns of data as a StructType, not {type(schema).__name__}"
        )
    selected = frame.select(*(quoted(name) for name in schema.names))
    fields = [StructField(each.name, each.dataType, metadata=each.metadata) for each in schema]
    return Source(selected, StructType(fields), may_ask=False, is_streaming=as_stream)


def _asked(frame: Any) -> Source:
    try:
        schema, is_streaming = frame.schema, frame.isStreaming
    except PySparkException as error:
        if error.getCondition() != _REFUSED:
            raise
        raise InvalidArgument(
            "schema: in a function of pyspark.pipelines Spark cannot be asked for the columns of "
            "data; state them, as in schema=StructType().add('ts', 'timestamp')"
        ) from None
    return Source(frame, schema, may_ask=True, is_streaming=is_streaming)


def title(operation: str, features: Iterable[Feature], windows: Iterable[str]) -> str:
    """What an operation does, in a few words."""
    measures = ", ".join(f"{each.aggregation.name}({', '.join(each.columns)})" for each in features)
    text = f"windrow {operation}: {measures} in {', '.join(windows)}"
    return text if len(text) <= _LONGEST_TITLE else text[: _LONGEST_TITLE - 4] + " ..."


def quoted(name: str) -> str:
    """A column's name, with nothing in it taken for a path into a struct."""
    return "`" + name.replace("`", "``") + "`"


def _checked(function: Function, stated: StructType) -> Function:
    """The function on batches that are what the user said."""

    def require(batch: pa.RecordBatch) -> pa.RecordBatch:
        found = from_arrow_schema(batch.schema)
        for given, field in zip(found, stated, strict=True):
            if given.dataType.jsonValue() != field.dataType.jsonValue():
                raise InvalidArgument(
                    f"schema: {field.name!r} is {given.dataType.simpleString()}, not "
                    f"{field.dataType.simpleString()}"
                )
        return batch

    return lambda batches: function(require(batch) for batch in batches)


def _in_lists(function: Function) -> Callable[[Iterator[pa.Array]], Iterator[pa.Array]]:
    """The function as one that gives a list of result rows for every row.

    A list holds all that has been answered since the list before, so nearly all lists are empty.
    One row always waits, for what the function answers when there are no more rows.
    """

    def answer(rows: Iterator[pa.Array]) -> Iterator[pa.Array]:
        waiting = 0
        answered: list[pa.RecordBatch] = []

        def batches() -> Iterator[pa.RecordBatch]:
            nonlocal waiting
            for each in rows:
                waiting += len(each)
                yield pa.RecordBatch.from_struct_array(each)

        for batch in function(batches()):
            answered.append(batch)
            if waiting > 1:
                yield _list_and_empty_ones(answered, waiting - 1)
                waiting, answered = 1, []
        if waiting:
            yield _list_and_empty_ones(answered, waiting)

    return answer


def _list_and_empty_ones(batches: Sequence[pa.RecordBatch], lists: int) -> pa.Array:
    if not batches:
        return pa.nulls(lists)
    values = pa.concat_batches(batches).to_struct_array()
    offsets = pa.array([0] + [len(values)] * lists, pa.int32())
    return pa.ListArray.from_arrays(offsets, values)
