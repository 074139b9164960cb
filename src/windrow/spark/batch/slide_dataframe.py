"""`slide` on batch DataFrames: one shuffle by key, one sort, one pass over Arrow batches.

If slices have many rows, rows are combined into slices first, so that fewer rows are shuffled and
sorted.

      rows -> slices -> [shuffle by key] -> sort -> windows, a task for each partition
              slices_first.py                       engine/slide_batches.py
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

import pyarrow as pa

from windrow.engine.slice_partials import at_begin
from windrow.engine.slide_batches import slide_batches
from windrow.planning.placement import Placement
from windrow.planning.slide_plan import SlidePlan
from windrow.planning.wording import listed
from windrow.spark.batch.python_sort import in_order, sorts_in_python
from windrow.spark.batch.slices_first import SlicesFirst, slices_of, why_no_slices
from windrow.spark.bridge.answer_columns import (
    answer_batches,
    answers_in_bulk,
    in_microseconds,
    read_columns,
    result_columns,
)
from windrow.spark.bridge.arrow_batches import BatchMaker, map_partitions
from windrow.spark.bridge.column_names import plain_names, renamed
from windrow.spark.bridge.schema import nullable_columns
from windrow.spark.bridge.source import Source, title

Prepare = Callable[[pa.RecordBatch, SlidePlan], pa.RecordBatch]


def slide_dataframe(source: Source, plan: SlidePlan) -> Any:
    """The answers of `wr.slide` as a DataFrame."""
    nullable, result = nullable_columns(source), result_columns(source.schema, plan)
    read, work = read_columns(source, plan.columns), title("slide", plan.features, plan.windows)
    names = dict(zip(plan.columns, read.schema.names, strict=True))
    key, order = [[names[name] for name in wanted] for wanted in (plan.key, plan.order)]
    arranged, prepare = read.frame, None
    sorts = sorts_in_python(source, plan)
    slices = slices_of(read, plan, nullable)
    if slices is not None and _are_worth_making(slices, source, plan):
        plan, nullable, prepare = slices.plan, slices.nullable, at_begin
        arranged, order = slices.frame(), list(plan.order)
        read, sorts = replace(read, schema=slices.schema), False
    arranged = arranged.repartition(*key) if key else arranged.repartition(1)
    if not sorts:
        arranged = arranged.sortWithinPartitions(*key, *order)
    columns = read.schema.names
    answered = map_partitions(
        arranged,
        columns,
        read.checked(_answer_partition(plan, nullable, prepare, sorts), columns),
        renamed(result, plain_names(result.names)),
        work,
    )
    return answered.toDF(*result.names)


def _are_worth_making(slices: SlicesFirst, source: Source, plan: SlidePlan) -> bool:
    """Whether rows are combined into slices before they are shuffled by key.

    1M rows in 100 keys, range to slide 10:1, on 2 busy cores: with sixty rows in a slice, slices
    first took 0.6 s and rows by key 3.1 s (F.window 2.7 s); with one row, 8.7 s and 4.7 s (F.window
    9.4 s). So slices go first where nothing is known.
    """
    return not _is_sampled(source, plan) or slices.are_dense


def _is_sampled(source: Source, plan: SlidePlan) -> bool:
    """Whether a sample decides if slices are made; without a key they always are."""
    return bool(plan.key) and source.may_sample


def place_slide(source: Source, plan: SlidePlan) -> Placement:
    """Where `slide` runs, for `wr.plan`; no job runs."""
    slices = slices_of(read_columns(source, plan.columns), plan, nullable_columns(source))
    key, order = listed(plan.key), listed(plan.order)
    by = " and ".join(part for part in (key, order) if part)
    shuffle = f"shuffle the {{}} by {key}" if key else "bring all {} to one task"
    if slices is None:
        return Placement(
            "keys",
            f"{'every key is' if key else 'all rows are'} answered by one task: "
            f"{why_no_slices(plan)}",
            (
                shuffle.format("rows"),
                f"sort the rows of each task by {by}",
                "go over them in Arrow batches: rows into slices, slices into answers",
            ),
        )
    combine = f"combine the rows of each {f'{key} and ' if key else ''}slice by {slices.combines}"
    why = "far fewer slices than rows are shuffled and sorted"
    if _is_sampled(source, plan):
        combine += ", if the first rows show that slices have many"
        why += "; if the first rows show that slices have few rows, rows are shuffled as they are"
    return Placement(
        "slices",
        why,
        (
            combine,
            shuffle.format("slices"),
            f"sort the slices of each task by {f'{key} and ' if key else ''}time",
            "go over them in Arrow batches: slices into answers",
        ),
    )


def _answer_partition(
    plan: SlidePlan, nullable: set[str], prepare: Prepare | None, sorts: bool
) -> BatchMaker:
    columns, schema = plan.columns, in_microseconds(plan.output_schema)

    def answer(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch | None]:
        def read(batch: pa.RecordBatch) -> list[pa.RecordBatch]:
            named = batch.rename_columns(columns)
            return [prepare(named, plan) if prepare else named]

        if sorts:
            batches = in_order(batches, columns, plan)
        for table in slide_batches(answers_in_bulk(batches, read), plan, nullable):
            if table is None:
                yield None
            else:
                yield from answer_batches(table, schema)

    return answer
