"""Tables cut into batches of a sorted stream, as Spark hands them over."""

from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from tests.support.over import oracle
from tests.support.over.strategies import Query
from windrow.engine.over_batches import over_batches
from windrow.planning.choose import Wish
from windrow.planning.over_plan import resolve_over
from windrow.work import sizes


def in_order(query: Query) -> pa.Table:
    """The rows key by key, each key's in order."""
    columns = query.table.to_pydict()
    groups = oracle.groups(columns, query.key, query.order, query.table.num_rows)
    rows = [row for group in groups for row in group]
    placed = [pa.array([columns[f.name][r] for r in rows], f.type) for f in query.table.schema]
    return pa.table(placed, query.table.schema)


def roll(batches: list[pa.RecordBatch], schema: pa.Schema, arguments: dict[str, Any]) -> pa.Table:
    plan = resolve_over(schema, **arguments, wish=Wish())
    read = [batch.select(plan.columns) for batch in batches]
    with sizes.using(smallest_block=1):  # so that rows are held from batch to batch
        answers = list(over_batches(read, plan, set(schema.names)))
    given, added = (
        pa.Table.from_batches(*each)
        for each in ((batches, schema), (answers, pa.schema(plan.output_fields)))
    )
    return pa.table([*given.columns, *added.columns], pa.schema([*given.schema, *added.schema]))


def cut(table: pa.Table, lengths: list[int]) -> list[pa.RecordBatch]:
    """Batches of these sizes, again and again until the rows are used up."""
    found, row = [], 0
    while row < table.num_rows:
        size = lengths[len(found) % len(lengths)]
        found.append(table.slice(row, size).combine_chunks().to_batches()[0])
        row += size
    return found


SIZES = st.lists(st.integers(1, 7), min_size=1, max_size=4)
