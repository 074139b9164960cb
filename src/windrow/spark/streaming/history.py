"""The table of earlier events that a stream goes on from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyspark.sql.types import StructType

from windrow.errors import InvalidArgument
from windrow.planning.stream_arguments import require_dataframe
from windrow.spark.bridge.column_names import ColumnFinder
from windrow.spark.bridge.source import Source, source_of


def history_of(history: Any, source: Source, columns: Sequence[str]) -> Source:
    """The table as a source; refuses one without the columns of the stream that are read."""
    require_dataframe(history)
    known = source_of(
        history, None if source.may_ask else _only(source.schema, columns), argument="history"
    )
    if known.is_streaming:
        raise InvalidArgument("history: give a table; this DataFrame is a stream, too")
    finder = ColumnFinder(known.frame, known.schema.names)
    found = [finder.find("history", name) for name in columns]
    if found != list(columns):
        return history_of(
            history.withColumnsRenamed(dict(zip(found, columns, strict=True))), source, columns
        )
    for name in columns:
        if name not in known.schema.names:
            raise InvalidArgument(f"history: there is no column {name!r}, which data has")
        if known.schema.names.count(name) > 1:
            raise InvalidArgument(f"history: several columns are called {name!r}; rename them")
        has, wanted = known.schema[name].dataType, source.schema[name].dataType
        if has != wanted:
            raise InvalidArgument(
                f"history: {name!r} is {has.simpleString()}, and in data {wanted.simpleString()}"
            )
    return known


def _only(schema: StructType, columns: Sequence[str]) -> StructType:
    return StructType([schema[name] for name in columns])
