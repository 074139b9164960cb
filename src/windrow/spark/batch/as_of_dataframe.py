"""`as_of` on batch DataFrames: events and queries in one, shuffled and sorted as `over` does it.

      queries -\
                } -> [shuffle by key, or into chunks] -> sort -> windows, a task for each partition
      events  -/     chunks.py                                   engine/as_of_batches.py

At the same moment events come before queries. Of events only the columns that are read go along.
The columns of queries that are not read stay in the JVM. Several sources answer one after the
other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from windrow.engine.as_of_batches import as_of_batches, inputs_of
from windrow.planning.as_of_plan import AsOfPlan
from windrow.planning.placement import why_moments_uncut
from windrow.spark.batch.as_of_bins import answered_in_bins
from windrow.spark.batch.chunks import Reaches, chunked, furthest, has_heavy_key
from windrow.spark.bridge.answer_columns import read_columns
from windrow.spark.bridge.arrow_batches import BatchFunction, answers_to_some_rows
from windrow.spark.bridge.column_names import Names, new_names, plain_names, renamed
from windrow.spark.bridge.schema import nullable_columns
from windrow.spark.bridge.source import Source, title


def as_of_dataframe(queries: Source, sources: Sequence[Source], plans: Sequence[AsOfPlan]) -> Any:
    """The queries with the columns of `wr.as_of` added."""
    found = queries
    for events, plan in zip(sources, plans, strict=True):
        found = _with_answers(found, events, plan, queries)
    return found.frame


@dataclass(frozen=True)
class _Both:
    """Queries and events as rows of one DataFrame.

    Attributes:
        frame: the rows.
        key: the columns of the key.
        order: the columns that sort the rows of a key: the moment, queries last, ties of events.
        asks: the column that is true for queries.
        read: the columns that tasks read, as `as_of_batches` takes them.
    """

    frame: Any
    key: Sequence[Any]
    order: Sequence[Any]
    asks: Any
    read: Sequence[str]


def _with_answers(queries: Source, events: Source, plan: AsOfPlan, asked: Source) -> Source:
    """The queries with the answers of one source; `asked` are those before any answers."""
    added = from_arrow_schema(pa.schema(plan.output_fields))
    result = StructType([*queries.schema.fields, *added.fields])
    names = plain_names(result.names)
    given, new = names[: len(queries.schema)], names[len(queries.schema) :]
    unused, called = new_names(names), title("as_of", plan.features, plan.windows)
    is_even = _is_even(plan, asked, events)
    if is_even:
        frame = answered_in_bins(queries, events, plan, renamed(result, names), called)
        return replace(queries, frame=frame.toDF(*result.names), schema=result)
    both = _together(queries, given, events, plan, unused)
    is_cut = why_moments_uncut(plan) is None and (
        is_even is False or (not plan.key and events.may_ask)
    )
    arranged = _arranged(both, plan, is_cut)
    answers = answers_to_some_rows(
        arranged,
        both.read,
        _answer_partition(plan, nullable_columns(events), new),
        len(plan.key) + 1,
        renamed(added, new),
        called,
    )
    lists = unused("answers")
    answered = arranged.select(*given, answers.alias(lists)).select(*given, F.inline(lists))
    return replace(queries, frame=answered.toDF(*result.names), schema=result)


def _together(
    queries: Source, given: Sequence[str], events: Source, plan: AsOfPlan, unused: Names
) -> _Both:
    """Queries and events in one; key and moment in the types in which they compare."""
    compared = [*plan.key, plan.order[0]]
    types = from_arrow_schema(
        pa.schema(list(zip(compared, (*plan.key_types, plan.order_type), strict=True)))
    )
    own = dict(zip(queries.schema.names, given, strict=False))
    plain = plain_names(events.schema.names)
    told_as = dict(zip(events.schema.names, plain, strict=False))
    ask, tell, shared = [], [], {}
    for place, name in enumerate(compared):
        data_type = types[name].dataType
        if queries.schema[name].dataType == data_type:
            shared[name] = own[name]
        else:
            shared[name] = unused(f"compared_{place}")
            ask.append(F.col(own[name]).cast(data_type).alias(shared[name]))
        tell.append(F.col(told_as[name]).cast(data_type).alias(shared[name]))
    inputs = inputs_of(plan)
    told = {
        name: unused(f"event_{place}")
        for place, name in enumerate(dict.fromkeys([*inputs, *plan.order[1:]]))
        # Whether it is the column of queries or of events is the same if it is compared as it is.
        if name not in shared or events.schema[name].dataType != types[name].dataType
    }
    tell += [F.col(told_as[name]).alias(column) for name, column in told.items()]
    found = shared | told
    asks = unused("asks")
    timed = F.col(told_as[plan.order[0]]).isNotNull()
    asked = _stated(queries).toDF(*given).select(*given, *ask, F.lit(True).alias(asks))
    happened = _stated(events).toDF(*plain).where(timed).select(*tell, F.lit(False).alias(asks))
    *key, moment = (F.col(shared[name]) for name in compared)
    return _Both(
        asked.unionByName(happened, allowMissingColumns=True),
        key,
        [moment, F.col(asks), *(F.col(found[name]) for name in plan.order[1:])],
        F.col(asks),
        [*(shared[name] for name in compared), asks, *(found[name] for name in inputs)],
    )


def _stated(source: Source) -> Any:
    """The rows; Spark refuses here what is not as the user stated it."""
    return source.frame if source.may_ask else source.frame.to(source.schema)


def _is_even(plan: AsOfPlan, asked: Source, events: Source) -> bool | None:
    """Whether no key has so many rows that its task would take longer; None if nobody knows."""
    if not plan.key or not (asked.may_sample and events.may_sample):
        return None
    asking, telling = (read_columns(each, plan.key).frame for each in (asked, events))
    return not has_heavy_key(asking.union(telling), asking.columns)


def _arranged(both: _Both, plan: AsOfPlan, is_cut: bool) -> Any:
    """The rows of each task in order."""
    frame = both.frame
    if is_cut:
        order, reaches = both.order[0], _reaches_of(plan)
        arranged, _own = chunked(frame, both.key, order, plan.order_type, reaches, ~both.asks)
    else:
        arranged = frame.repartition(*both.key) if both.key else frame.repartition(1)
    return arranged.sortWithinPartitions(*both.key, *both.order)


def _reaches_of(plan: AsOfPlan) -> Reaches:
    """How far windows reach from moments."""
    found = []
    for name, window in plan.windows.items():
        begin, end = plan.edges_of(name)
        back = -begin.ticks if begin.since is None else window.most_ticks_back(plan.tick) or 0
        found.append(Reaches(-min(begin.rows, 0), max(back, 0), max(end.rows, 0), end.ticks + 1))
    return furthest(found)


def _answer_partition(plan: AsOfPlan, nullable: set[str], names: Sequence[str]) -> BatchFunction:
    def answer(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for answered in as_of_batches(batches, plan, nullable):
            yield answered.rename_columns(names)

    return answer
