"""Rows of a task in order: sorted by Spark, or by windrow where all of them fit in memory.

Spark compares rows one by one. windrow sorts by radix, and what is in order already it only looks
at: a million rows of 100 keys are sorted in a sixth of the time. But it has to hold all rows of the
task. So windrow sorts only rows that are stored and few (`bridge/scans.py`), and Spark all others.

`over` answers the rows of such a task as a table, in the order in which they came: Spark's own rows
need no order then. It has to hold all answers too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import pyarrow as pa

from windrow.engine.gathering import gather
from windrow.engine.over_table import over_table
from windrow.engine.sorting import arrange
from windrow.planning.over_plan import OverPlan
from windrow.planning.placement import is_measured
from windrow.planning.slide_plan import SlidePlan
from windrow.spark.bridge.answer_columns import ROWS_AT_ONCE
from windrow.spark.bridge.scans import fits_a_task
from windrow.spark.bridge.source import Source
from windrow.work import sizes

#: how many times the bytes of small data the answers of a task may have
_ANSWERS = 2
#: the fewest bits of a value of any length
_SHORTEST = 32


def answers_as_table(source: Source, plan: OverPlan) -> bool:
    """Whether windrow sorts the rows of a task of `over`, and holds all its answers."""
    answers = [field.type for field in plan.output_fields]
    # Values of any length, as of `collect`, may be many times larger than the rows.
    if not all(map(pa.types.is_primitive, answers)):
        return False
    growth = _bits(answers) / _bits(plan.schema.types)
    return sorts_in_python(source, plan, max(growth / _ANSWERS, 1))


def _bits(types: Iterable[pa.DataType]) -> int:
    """The fewest bits of a row."""
    return sum(each.bit_width if pa.types.is_primitive(each) else _SHORTEST for each in types)


def over_rows(batches: Iterable[pa.RecordBatch], plan: OverPlan) -> Iterator[pa.RecordBatch]:
    """The answers of `over` to all rows of a task, in the order in which they come."""
    held = list(batches)
    if not held:
        return
    with sizes.using(cores=1):  # the other cores have tasks of their own
        answered = over_table(pa.Table.from_batches(held), plan)
    yield from answered.to_batches(max_chunksize=ROWS_AT_ONCE)


def sorts_in_python(source: Source, plan: OverPlan | SlidePlan, growth: float = 1) -> bool:
    """Whether windrow sorts the rows of a task, which holds so many times their bytes."""
    fields = [plan.schema.field(name).type for name in (*plan.key, *plan.order)]
    return (
        source.may_ask
        and all(map(is_measured, fields[len(plan.key) :]))
        and not any(map(pa.types.is_nested, fields))
        and fits_a_task(source.frame, growth)
    )


def in_order(
    batches: Iterable[pa.RecordBatch], columns: Sequence[str], plan: OverPlan | SlidePlan
) -> Iterator[pa.RecordBatch]:
    """All rows of a task as one batch, sorted by key and order."""
    held = list(batches)
    if not held:
        return
    batch = pa.concat_batches(held)
    named = dict(zip(columns, batch.columns, strict=True))
    keys, order = [[named[name] for name in names] for names in (plan.key, plan.order)]
    with sizes.using(cores=1):  # the other cores have tasks of their own
        permutation, _starts = arrange(keys, order, batch.num_rows)
        if permutation is not None:
            sorted_columns = gather(batch.columns, permutation)
            batch = pa.RecordBatch.from_arrays(sorted_columns, names=batch.schema.names)
    yield batch
