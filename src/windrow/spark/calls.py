"""`over`, `slide` and `plan` on Spark: check the call, then answer it on a table or on a stream.

      api.py -> calls.py -> batch/over_dataframe.py     or  streaming/over_stream.py
                            batch/slide_dataframe.py        streaming/slide_stream.py

`wr.plan` goes through the same checks as the calls, so it refuses what they refuse.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pyarrow as pa
from pyspark.sql.types import StructType

from windrow.engine.as_of_batches import as_of_batches
from windrow.engine.over_batches import over_batches
from windrow.engine.slide_batches import slide_batches
from windrow.errors import InvalidArgument
from windrow.planning.as_of_plan import resolve_as_of
from windrow.planning.explain import Plan
from windrow.planning.features import measures_of
from windrow.planning.over_plan import OverPlan, names_given, resolve_over
from windrow.planning.placement import place_over
from windrow.planning.slide_plan import SlidePlan, resolve_slide
from windrow.planning.stream_arguments import StreamArguments
from windrow.spark.batch.as_of_dataframe import as_of_dataframe
from windrow.spark.batch.over_dataframe import over_dataframe
from windrow.spark.batch.slide_dataframe import place_slide, slide_dataframe
from windrow.spark.bridge.answer_columns import result_columns
from windrow.spark.bridge.collations import refuse_collated, refuse_collations
from windrow.spark.bridge.column_names import (
    ColumnFinder,
    renamed,
    require_distinct_names,
    require_new_names,
)
from windrow.spark.bridge.schema import arrow_schema, nullable_columns
from windrow.spark.bridge.source import Source, source_of

Arguments = Mapping[str, Any]
#: the arguments of `as_of` that name columns of queries and events
_COMPARED = ("key", "order")


def over_spark(
    data: Any, schema: StructType | None, stream: StreamArguments, arguments: Arguments
) -> Any:
    """The DataFrame with the columns of `wr.over` added.

    Args:
        data: the DataFrame.
        schema: its columns, if the user states them.
        stream: what the call says about a stream.
        arguments: all other arguments, as `resolve_over` takes them.
    """
    source, plan = _checked_over(data, schema, stream, arguments)
    if source.is_streaming:
        # This needs pandas and protobuf.
        from windrow.spark.streaming.over_stream import over_stream

        return over_stream(source, plan, stream)
    return over_dataframe(source, plan)


def slide_spark(
    data: Any, schema: StructType | None, stream: StreamArguments, arguments: Arguments
) -> Any:
    """The answers of `wr.slide` as a DataFrame; the arguments are like those of `over_spark`."""
    source, plan = _checked_slide(data, schema, stream, arguments)
    if source.is_streaming:
        # This needs pandas and protobuf.
        from windrow.spark.streaming.slide_stream import slide_stream

        return slide_stream(source, plan, stream)
    return slide_dataframe(source, plan)


def as_of_spark(
    queries: Any,
    events: Mapping[str | None, Any],
    schemas: Mapping[str, StructType] | None,
    stream: StreamArguments,
    arguments: Arguments,
) -> Any:
    """The queries with the columns of `wr.as_of` added.

    Args:
        queries: the DataFrame of queries.
        events: the DataFrame of each source by its name, which is None if there is one.
        schemas: the columns of "queries" and "events", or of each source by its name, if the user
            states them.
        stream: what the call says about streams.
        arguments: all other arguments, as `resolve_as_of` takes them.
    """
    stated = _stated_schemas(schemas, events)
    is_stream = stream.lateness is not None
    asked = source_of(queries, stated.get("queries"), as_stream=is_stream, argument="queries")
    sources = {
        name: source_of(each, stated.get(name or "events"), as_stream=is_stream, argument="events")
        for name, each in events.items()
    }
    finder = ColumnFinder(asked.frame, asked.schema.names)
    named = {argument: _found(finder, argument, arguments[argument]) for argument in _COMPARED}
    sources = {name: _alike(each, named, name) for name, each in sources.items()}
    measures = {name: _measured(each, arguments["aggs"], name) for name, each in sources.items()}
    named["aggs"] = measures.get(None, measures)
    known = {name: arrow_schema(each, "events") for name, each in sources.items()}
    plans = resolve_as_of(arrow_schema(asked, "queries"), known, **{**arguments, **named})
    told = list(sources.values())
    for each, plan in zip(told, plans, strict=True):
        refuse_collations(each.schema, plan)
        refuse_collated(asked.schema, {"key": plan.key, "order": plan.order[:1]})
        as_of_batches((), plan, nullable_columns(each))  # refuses what a task would refuse
    added = [output.name for plan in plans for output in plan.outputs]
    require_new_names(asked.frame, asked.schema.names, added)
    _require_one_kind(asked, told)
    if asked.is_streaming:
        require_distinct_names(asked.schema.names)
        # This needs pandas and protobuf.
        from windrow.spark.streaming.as_of_stream import as_of_stream

        return as_of_stream(asked, told, plans, stream)
    stream.require_none()
    return as_of_dataframe(asked, told, plans)


def _found(finder: ColumnFinder, argument: str, given: Any) -> Any:
    """The names that an argument gives, for all sources or for each, as the queries spell them."""
    if isinstance(given, Mapping):
        return {source: finder.names(argument, names) for source, names in given.items()}
    return finder.names(argument, given)


def _alike(source: Source, named: Mapping[str, Any], name: str | None) -> Source:
    """The events of a source with its columns of key and order as the queries spell them."""
    names = list(source.schema.names)
    finder = ColumnFinder(source.frame, names)
    for argument, given in named.items():
        own = given.get(name) if isinstance(given, Mapping) else given
        for wanted in names_given(argument, own):
            there = finder.find(argument, wanted)
            names = [wanted if each == there else each for each in names]
    if names == source.schema.names:
        return source
    return replace(source, frame=source.frame.toDF(*names), schema=renamed(source.schema, names))


def _measured(source: Source, aggs: Any, name: str | None) -> Any:
    """The aggregations over a source, with columns as its events spell them."""
    own = aggs[name] if isinstance(aggs, Mapping) and name in aggs else aggs
    find = partial(ColumnFinder(source.frame, source.schema.names).find, "aggs")
    return [each.with_columns(find) for each in measures_of(own, ())]


def _stated_schemas(
    schemas: Any, events: Mapping[str | None, Any]
) -> Mapping[str, StructType | None]:
    """The columns that the user states, of queries and of each source."""
    if schemas is None:
        return {}
    wanted = ["queries", *(name or "events" for name in events)]
    if not isinstance(schemas, Mapping) or set(schemas) != set(wanted):
        entries = ", ".join(f"{name!r}: StructType(...)" for name in wanted)
        raise InvalidArgument(
            f"schema: state the columns of all DataFrames, as in schema={{{entries}}}"
        )
    return schemas


def _require_one_kind(queries: Source, events: Sequence[Source]) -> None:
    """Refuse a table with a stream: nothing says when answers are final."""
    if queries.is_streaming and not all(each.is_streaming for each in events):
        raise InvalidArgument(
            "events: queries are a stream and these are a table; answer each batch of queries as a "
            "table, as in queries.writeStream.foreachBatch(lambda batch, number: wr.as_of(batch, "
            "events, ...).write...), or give events as a stream, too"
        )
    if not queries.is_streaming and any(each.is_streaming for each in events):
        raise InvalidArgument(
            "queries: events are a stream and these are a table; give queries as a stream, too, or "
            "write the events out and give them as a table"
        )


def plan_spark(
    call: str,
    data: Any,
    schema: StructType | None,
    stream: StreamArguments,
    arguments: Arguments,
) -> Plan:
    """What `over_spark` or `slide_spark` would do; no job runs."""
    checked = _checked_slide if call == "slide" else _checked_over
    source, plan = checked(data, schema, stream, arguments)
    if source.is_streaming:
        from windrow.spark.streaming.stream_setup import set_up

        setup = set_up(source, plan, stream)
        return Plan(plan, setup.nullable, stream=setup.explained())
    nullable = nullable_columns(source)
    if isinstance(plan, SlidePlan):
        return Plan(plan, nullable, placement=place_slide(source, plan))
    where = place_over(plan, may_ask=source.may_ask, may_sample=source.may_sample)
    return Plan(plan, nullable, placement=where)


def _checked_over(
    data: Any, schema: StructType | None, stream: StreamArguments, arguments: Arguments
) -> tuple[Source, OverPlan]:
    """Refuse what `over` cannot answer, before anything runs."""
    source = source_of(data, schema, as_stream=stream.lateness is not None)
    plan = resolve_over(arrow_schema(source), **_spelled(source, arguments))
    if not plan.order:
        raise InvalidArgument(
            "order: rows of a Spark DataFrame have no order of their own; name a column"
        )
    refuse_collations(source.schema, plan)
    if source.is_streaming:
        require_distinct_names(source.schema.names)
    else:
        stream.require_none()
        over_batches((), plan, nullable_columns(source))  # refuses what a task would refuse
    added = [output.name for output in plan.outputs]
    require_new_names(source.frame, source.schema.names, added)
    return source, plan


def _checked_slide(
    data: Any, schema: StructType | None, stream: StreamArguments, arguments: Arguments
) -> tuple[Source, SlidePlan]:
    """Refuse what `slide` cannot answer, before anything runs."""
    source = source_of(data, schema, as_stream=stream.lateness is not None)
    plan = resolve_slide(arrow_schema(source), **_spelled(source, arguments))
    if plan.order_type == pa.timestamp("ns", getattr(plan.order_type, "tz", None)):
        raise InvalidArgument(
            "windows: they begin or end between two microseconds, and Spark's times are whole "
            "microseconds"
        )
    refuse_collations(source.schema, plan)
    if source.is_streaming and stream.delivery.side:
        require_distinct_names(source.schema.names)
    if not source.is_streaming:
        stream.require_none()
        slide_batches((), plan, nullable_columns(source))  # refuses what a task would refuse
    outputs = [name for name, _place in plan.outputs]
    present = result_columns(source.schema, plan).names[: -len(outputs)]
    require_new_names(source.frame, present, outputs)
    return source, plan


def _spelled(source: Source, arguments: Arguments) -> dict[str, Any]:
    return ColumnFinder(source.frame, source.schema.names).spelled(arguments)
