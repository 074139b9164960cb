"""The paths inside windrow that Spark's workers take, without Spark: sorted batches of a table."""

from __future__ import annotations

from random import Random
from typing import Any

import pyarrow as pa

from tests.fuzz import model
from tests.fuzz.calls import Call
from windrow.engine.over_batches import over_batches
from windrow.engine.slide_batches import slide_batches
from windrow.planning.choose import Wish
from windrow.planning.over_plan import OverPlan, resolve_over
from windrow.planning.slide_plan import SlidePlan, resolve_slide

#: a result, and the call that it is the answer to
Asked = tuple[Call, pa.Table]
WISHES = ("algorithm", "prefer", "exact")


def planned(call: Call, schema: pa.Schema) -> Any:
    """The plan of a call."""
    given = call.arguments()
    wish = Wish(**{name: given.pop(name) for name in WISHES if name in given})
    if call.function == "over":
        return resolve_over(schema, **given, wish=wish)
    return resolve_slide(schema, **{"changes_only": False, **given}, wish=wish)


def by_key(call: Call) -> Call:
    """The same call, its rows key by key and in order."""
    return call.take([row for rows in model.groups(call) for row in rows])


def batches(call: Call, random: Random) -> Asked:
    """The answers over the rows of a sorted table, batch by batch."""
    call = by_key(call)
    table = call.table()
    plan = planned(call, table.schema)
    cut = _cut(table, random)
    if call.function == "slide":
        return call, _slid(plan, cut, table.schema)
    added = _rolled(plan, cut, table.schema)
    schema = pa.schema([*table.schema, *added.schema])
    return call, pa.table([*table.columns, *added.columns], schema)


def _cut(table: pa.Table, random: Random) -> list[pa.RecordBatch]:
    """Batches of random sizes."""
    found, row = [], 0
    while row < table.num_rows:
        size = random.randint(1, 7)
        found.append(table.slice(row, size).combine_chunks().to_batches()[0])
        row += size
    return found


def _rolled(plan: OverPlan, cut: list[pa.RecordBatch], schema: pa.Schema) -> pa.Table:
    batches = [batch.select(plan.columns) for batch in cut]
    answers = over_batches(batches, plan, set(schema.names))
    return pa.Table.from_batches(answers, pa.schema(plan.output_fields))


def _slid(plan: SlidePlan, cut: list[pa.RecordBatch], schema: pa.Schema) -> pa.Table:
    batches = [batch.select(plan.columns) for batch in cut]
    answers = slide_batches(batches, plan, set(schema.names))
    given = [each for each in answers if each is not None]  # None only gives others a turn
    return pa.concat_tables([plan.output_schema.empty_table(), *given])
