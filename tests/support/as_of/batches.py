"""Queries and events as batches of one sorted stream, as Spark hands them over."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from tests.support.as_of.strategies import Asked
from tests.support.over import oracle
from tests.support.over.batches import cut
from windrow.engine.as_of_batches import as_of_batches, inputs_of
from windrow.engine.columns import whole
from windrow.planning.as_of_plan import AsOfPlan, resolve_as_of
from windrow.planning.choose import Wish
from windrow.work import sizes


def answered(question: Asked, lengths: list[int]) -> tuple[list[int], pa.Table]:
    """The numbers of the queries in the order of the batches, and their answers."""
    schemas = question.queries.schema, {None: question.events.schema}
    (plan,) = resolve_as_of(*schemas, **question.arguments, wish=Wish())
    rows, asked = _sorted(question, plan)
    nullable = set(question.events.column_names)
    with sizes.using(smallest_block=1):  # so that events are held from batch to batch
        batches = list(as_of_batches(cut(rows, lengths), plan, nullable))
    return asked, pa.Table.from_batches(batches, pa.schema(plan.output_fields))


def _sorted(question: Asked, plan: AsOfPlan) -> tuple[pa.Table, list[int]]:
    """The rows of both as tasks get them, and the numbers of the queries in their order."""
    queries, events = (
        pa.table({name: whole(each[name]) for name in each.column_names})
        for each in (question.queries, question.events)
    )
    timed = pa.array([each is not None for each in events[plan.order[0]].to_pylist()], pa.bool_())
    events = events.filter(timed)
    inputs, size = inputs_of(plan), queries.num_rows
    columns: list[Any] = [
        pa.concat_arrays([whole(each[name]).cast(data_type) for each in (queries, events)])
        for name, data_type in zip(
            [*plan.key, plan.order[0]], [*plan.key_types, plan.order_type], strict=True
        )
    ]
    columns.append(pa.array([True] * size + [False] * events.num_rows))
    for name in inputs:
        told = whole(events[name])
        columns.append(pa.concat_arrays([pa.nulls(size, told.type), told]))
    rows = pa.table(columns, [f"column_{place}" for place in range(len(columns))])
    values = {name: rows[name].to_pylist() for name in rows.column_names}
    *keys, order, asks = list(values)[: len(plan.key) + 2]
    ties = [[None] * size + events[name].to_pylist() for name in plan.order[1:]]
    places: list[int] = []
    for group in oracle.groups(values, keys, [], rows.num_rows):
        for column in (*reversed(ties), values[asks], values[order]):
            group.sort(key=lambda row: oracle.sort_key(column[row]))
        places += group
    asked = [row for row in places if row < size]
    return rows.take(pa.array(places, pa.int64())), asked
