"""A DataFrame, and what windrow knows about it before its job runs.

windrow asks Spark for the columns of a DataFrame. In the functions of `pyspark.pipelines` Spark
refuses: their tables do not exist yet when they are called. There the user states the columns, and
windrow asks nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructField, StructType

from windrow.errors import InvalidArgument
from windrow.planning.features import Feature
from windrow.spark.bridge.scans import allows_samples, is_scan

#: Spark cuts longer names off
_LONGEST_TITLE = 120
_Answers = TypeVar("_Answers")
_REFUSED = "ATTEMPT_ANALYSIS_IN_PIPELINE_QUERY_FUNCTION"


@dataclass(frozen=True)
class Source:
    """A DataFrame that a user gave.

    Attributes:
        frame: the DataFrame.
        schema: its columns.
        may_ask: whether Spark may be asked about the data now.
        is_streaming: whether it is a stream; if Spark may not be asked, whether the call says so.
    """

    frame: Any
    schema: StructType
    may_ask: bool
    is_streaming: bool = False

    @property
    def may_sample(self) -> bool:
        """Whether a small job may sample rows when the call is made (see `scans`)."""
        return self.may_ask and allows_samples(self.frame.sparkSession) and is_scan(self.frame)

    def checked(
        self, function: Callable[[Iterable[pa.RecordBatch]], _Answers], read: Sequence[str]
    ) -> Callable[[Iterable[pa.RecordBatch]], _Answers]:
        """The function, which first checks the types of its columns if the user stated them."""
        if self.may_ask:
            return function
        stated = [self.schema[name] for name in read]

        def require(batch: pa.RecordBatch) -> pa.RecordBatch:
            for given, field in zip(from_arrow_schema(batch.schema), stated, strict=True):
                if given.dataType.jsonValue() != field.dataType.jsonValue():
                    raise InvalidArgument(
                        f"schema: {field.name!r} is {given.dataType.simpleString()}, not "
                        f"{field.dataType.simpleString()}"
                    )
            return batch

        return lambda batches: function(require(batch) for batch in batches)


def source_of(
    frame: Any, schema: StructType | None, as_stream: bool = False, argument: str = "data"
) -> Source:
    """The DataFrame that a user gave, as a source.

    Args:
        frame: what the user gave.
        schema: its columns, if the user states them.
        as_stream: with a stated schema, whether the call takes the data for a stream.
        argument: the name of the call's argument, for messages.
    """
    if type(frame).__module__.startswith("pyspark.pandas."):
        raise InvalidArgument(
            f"{argument}: it is a {type(frame).__name__} of pandas on Spark; give the Spark "
            "DataFrame behind it, .to_spark(), and turn the answer back with .pandas_api()"
        )
    if not hasattr(type(frame), "mapInArrow"):
        library = type(frame).__module__.partition(".")[0]
        raise InvalidArgument(
            f"{argument}: give a Spark DataFrame, not {type(frame).__name__} of {library}"
        )
    if schema is None:
        return _source_by_asking(frame)
    if not isinstance(schema, StructType):
        raise InvalidArgument(
            f"schema: give the columns of data as a StructType, not {type(schema).__name__}"
        )
    selected = frame.select(*(quoted(name) for name in schema.names))
    fields = [StructField(each.name, each.dataType, metadata=each.metadata) for each in schema]
    return Source(selected, StructType(fields), may_ask=False, is_streaming=as_stream)


def _source_by_asking(frame: Any) -> Source:
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
    """What an operation does, as Spark's plans show it."""
    measures = ", ".join(f"{each.aggregation.name}({', '.join(each.columns)})" for each in features)
    text = f"windrow {operation}: {measures} in {', '.join(windows)}"
    return text if len(text) <= _LONGEST_TITLE else text[: _LONGEST_TITLE - 4] + " ..."


def quoted(name: str) -> str:
    """A column's name in backticks, so that Spark takes no dot in it for a path into a struct."""
    return "`" + name.replace("`", "``") + "`"
