"""What is a stream of batches and what is a table, and the call on a stream.

a table                          a stream, with lateness=
---------------------------      ---------------------------------------------------
pyarrow, pandas, Polars ...      an iterator or a generator of tables
a RecordBatchReader              an async iterator or an async generator of tables
a list of dicts (rows)           a list or another iterable of tables
                                 a RecordBatchReader
                                 a function from an offset to one of these
"""

from __future__ import annotations

from collections.abc import AsyncIterable, Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from windrow.errors import InvalidArgument
from windrow.iterators.checkpoint import checkpoint_of
from windrow.planning.over_plan import OverPlan
from windrow.planning.slide_plan import SlidePlan
from windrow.planning.stream_arguments import StreamArguments, delay_of, require_shards

if TYPE_CHECKING:
    from windrow.iterators.stream import AsyncStream, Stream
    from windrow.planning.explain import Plan


def is_stream(data: Any, lateness: object) -> bool:
    """Whether a call is about a stream of batches in this process."""
    if isinstance(data, AsyncIterable):
        return _with_lateness(data, lateness)
    if hasattr(data, "__arrow_c_stream__"):
        return lateness is not None and isinstance(data, Iterator)
    if isinstance(data, Iterator):
        return _with_lateness(data, lateness)
    if _is_function(data):
        return _with_lateness(data, lateness)
    if lateness is None or not isinstance(data, Iterable):
        return False
    return not isinstance(data, Mapping | str | bytes)


def stream_of(
    data: Any,
    schema: Any,
    arguments: StreamArguments,
    resolve: Callable[[pa.Schema], OverPlan | SlidePlan],
) -> Stream | AsyncStream:
    """The answers to a stream of batches; nothing is pulled from it yet.

    Args:
        data: the batches.
        schema: their columns, if the call states them.
        arguments: what the call says about its stream.
        resolve: makes the plan of the call for a schema.
    """
    # Calls on tables load nothing of this.
    from windrow.iterators.open_checkpoint import OpenCheckpoint
    from windrow.iterators.run import Call
    from windrow.iterators.stream import AsyncStream, Stream

    _require_schema(schema)
    assert arguments.lateness is not None
    delay_of(arguments.lateness)
    if arguments.shards is not None:
        require_shards(arguments.shards, "any")
    if isinstance(data, list | tuple) and data and _is_row(data[0]):
        raise InvalidArgument(
            "data: a list of rows is a table, and a table is final: leave lateness= out, or give a "
            "list of batches"
        )
    checkpoint = checkpoint_of(arguments.checkpoint)
    call = Call(resolve, arguments)
    kept = None if checkpoint is None else OpenCheckpoint(checkpoint)
    try:
        if _is_function(data):
            data = _called(data, None if kept is None else kept.offset)
        if schema is None and isinstance(data, pa.RecordBatchReader):
            schema = data.schema
        make = AsyncStream if isinstance(data, AsyncIterable) else Stream
        return make(data, call, schema, kept)
    except BaseException:
        if kept is not None:
            kept.close()
        raise


def plan_of_stream(
    data: Any,
    schema: Any,
    arguments: StreamArguments,
    resolve: Callable[[pa.Schema], OverPlan | SlidePlan],
) -> Plan:
    """What `stream_of` would do with the same arguments; pulls nothing."""
    from windrow.iterators.run import nullable_columns
    from windrow.planning.explain import Plan
    from windrow.stream.plan_stream import plan_stream

    _require_schema(schema)
    if schema is None and isinstance(data, pa.RecordBatchReader):
        schema = data.schema
    if schema is None:
        raise InvalidArgument(
            "schema: a plan pulls no batch of data; state its columns as a pyarrow.Schema"
        )
    assert arguments.lateness is not None
    plan = resolve(schema)
    if arguments.shards is not None:
        require_shards(arguments.shards, plan.key)
    nullable = nullable_columns(schema)
    stream = plan_stream(
        plan,
        nullable,
        arguments.shards or 1,
        "one works best in one process" if arguments.shards is None else "shards= says so",
        delay=delay_of(arguments.lateness),
        is_own=False,
        has_history=arguments.history is not None,
        in_process=True,
        keeps_state=arguments.checkpoint is not None,
        delivery=arguments.delivery,
    )
    return Plan(plan, nullable, stream=stream)


def _require_schema(schema: Any) -> None:
    if schema is not None and not isinstance(schema, pa.Schema):
        raise InvalidArgument(
            f"schema: state the columns of batches as a pyarrow.Schema, not {type(schema).__name__}"
        )


def _is_function(data: Any) -> bool:
    """Whether this makes a stream of batches when it is called with an offset."""
    return callable(data) and not isinstance(data, Iterable | AsyncIterable)


def _called(source: Callable[[Any], Any], offset: Any) -> Any:
    """The stream of batches behind an offset; None stands for the beginning."""
    data = source(offset)
    if not isinstance(data, Iterable | AsyncIterable):
        raise InvalidArgument(
            "data: a function of a stream takes an offset and returns an iterator of the batches "
            f"behind it, not {type(data).__name__}"
        )
    return data


def _is_row(batch: Any) -> bool:
    """Whether this is one event as a dict: its values are no columns."""
    return isinstance(batch, Mapping) and not any(
        hasattr(each, "__len__") and not isinstance(each, str | bytes) for each in batch.values()
    )


def _with_lateness(data: Any, lateness: object) -> bool:
    if lateness is None:
        raise InvalidArgument(
            "lateness: data is an iterator of batches, a stream; say how late events may come, as "
            f"in lateness='10 seconds', or give a table instead of {type(data).__name__}"
        )
    return True
