"""Rows of a DataFrame into chunks, so that several tasks share one key (see `chunk_cuts`).

A sample of the key and order columns says where to cut. The sample is a subquery of the job that
needs it: nothing runs before the job, and each job samples its own data.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import pyarrow as pa
from pyspark.sql import SparkSession as ClassicSession
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, LongType, StructField, StructType

from windrow.engine.chunk_cuts import (
    SUMMARY,
    ChunkCut,
    Cutting,
    Place,
    from_ranks,
    gathered,
    summarise,
)
from windrow.planning.over_plan import OverPlan
from windrow.spark.batch import samples
from windrow.spark.bridge.arrow_batches import map_partitions
from windrow.spark.bridge.column_names import Names, new_names
from windrow.spark.bridge.scans import is_small
from windrow.windows.ticks import nanoseconds_per_tick
from windrow.work import sizes

#: for windows of more rows, all rows are looked at and not a sample, so that fillers stay few
LARGEST_SAMPLED = 1_000
_TASKS_PER_CORE = 3
_MOST_CHUNKS = 1024
#: Spark's own default; some platforms set a word in place of a number
_USUAL_PARTITIONS = 200
#: the attributes of a cut
_SIDES = ("place", "since", "until")


def has_heavy_key(frame: Any, key: Sequence[Any]) -> bool:
    """Whether some key has so many rows that its task would take longer than all others.

    For data that is not small this runs a job over a sample of the key columns. The caller knows
    that it may sample.
    """
    chunks = number_of_chunks(frame.sparkSession)
    if chunks == 1 or is_small(frame):
        return False
    most, rows = samples.largest_key(frame, key)
    size = sizes.current()
    return most > max(rows / chunks, size.key_sample * size.smallest_chunk) / 2


class Reaches(NamedTuple):
    """How far windows reach from the place of an answer (see `Cutting`)."""

    rows: int = 0
    ticks: int = 0
    rows_ahead: int = 0
    ticks_ahead: int = 0


def reaches_of(plan: OverPlan) -> Reaches:
    """How far the windows of `over` reach from their rows."""
    found = [Reaches()]
    for window in plan.windows.values():
        if window.rows_back is not None:
            found.append(Reaches(rows=window.rows_back, rows_ahead=window.ahead(1).rows))
        else:
            tick = nanoseconds_per_tick(plan.schema.field(plan.order[0]).type)
            back, ahead = window.most_ticks_back(tick), window.ahead(tick).ticks
            found.append(Reaches(ticks=back or 0, ticks_ahead=ahead or 0))
    return furthest(found)


def furthest(reaches: Sequence[Reaches]) -> Reaches:
    """As far as any of them reaches."""
    return Reaches(*map(max, zip(*reaches, strict=True)))


def chunked(
    frame: Any,
    key: Sequence[Any],
    order: Any,
    order_type: pa.DataType,
    reaches: Reaches,
    fills: Any = None,
) -> tuple[Any, Any]:
    """The rows, one chunk per partition, and whether a row is the chunk's own.

    The others are fillers: copies of rows of the chunks beside that windows reach to.

    Args:
        frame: the rows.
        key, order: the columns of the key, and the one that orders them.
        order_type: the type of the order column.
        reaches: how far windows reach.
        fills: which rows are in windows of others; None for all.
    """
    chunks = number_of_chunks(frame.sparkSession)
    hashed = F.xxhash64(*key) if key else F.lit(0).cast("long")
    names = new_names(frame.columns)
    kept = [F.col(f"`{name}`") for name in frame.columns]
    cutting = _cutting(reaches, chunks)
    # Windows of rows count those that fill them, and no others.
    counted = (
        frame if fills is None or not max(reaches.rows, reaches.rows_ahead) else frame.where(fills)
    )
    cuts = _sampled_cuts(counted, hashed, order, cutting, order_type).scalar()
    placed = frame.select(
        *kept, hashed.alias(names("key")), order.alias(names("order")), cuts.alias(names("cuts"))
    )
    searched, chunk = _searched(placed, chunks, names)
    may_fill = F.lit(True) if fills is None else fills
    fills_next = may_fill & _reached("since", chunk, names)
    # One number says where a copy of a row goes and whether it is a filler there: every column of
    # a shuffle costs.
    own, copy = chunk * 2, chunk * 2 + 3
    target = names("target")
    copies = F.when(fills_next, F.array(own, copy)).otherwise(F.array(own))
    if cutting.rows_ahead or cutting.ticks_ahead > 1:
        fills_before = may_fill & _fills_before(chunk, names)
        copies = F.when(fills_before, F.concat(copies, F.array(chunk * 2 - 1))).otherwise(copies)
    routed = searched.select(*kept, F.explode(copies).alias(target))
    arranged = routed.repartitionById(chunks, F.shiftright(target, 1))
    return arranged, F.col(target).bitwiseAND(1) == 0


def number_of_chunks(session: Any) -> int:
    """As many as a shuffle has partitions, but no more than a few for each processor."""
    wanted = session.conf.get("spark.sql.shuffle.partitions")
    chunks = int(wanted) if wanted.isdigit() else _USUAL_PARTITIONS
    grows = session.conf.get("spark.dynamicAllocation.enabled", "false") == "true"
    if isinstance(session, ClassicSession) and not grows:
        chunks = min(chunks, _TASKS_PER_CORE * session.sparkContext.defaultParallelism)
    return min(chunks, _MOST_CHUNKS)


def _cutting(reaches: Reaches, chunks: int) -> Cutting:
    size = sizes.current()
    is_sampled = max(reaches.rows, reaches.rows_ahead) < LARGEST_SAMPLED
    return Cutting(chunks, size.smallest_chunk, size.key_sample if is_sampled else 1.0, *reaches)


def _sampled_cuts(
    frame: Any, hashed: Any, order: Any, cutting: Cutting, order_type: pa.DataType
) -> Any:
    """One row with the cuts between chunks, found in a sample."""

    def decide(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield _cuts_to_arrow(cutting.cuts(gathered(batches)), order_type)

    seen = frame.select(hashed.alias("key"), order.alias("order"))
    if cutting.fraction < 1:
        seen = seen.sample(fraction=cutting.fraction, seed=0)
    orders = ArrayType(seen.schema["order"].dataType)
    cuts = StructType(
        [
            StructField(f"{side}_{part}", values)
            for side in _SIDES
            for part, values in (("key", ArrayType(LongType())), ("order", orders))
        ]
    )
    summaries = StructType([StructField(name, LongType()) for name in SUMMARY])
    found = map_partitions(seen, seen.columns, summarise, summaries, "windrow over: where rows are")
    return map_partitions(
        found.repartition(1),
        summaries.names,
        decide,
        StructType([StructField("cuts", cuts)]),
        "windrow over: where to cut",
    )


def _cuts_to_arrow(cuts: Sequence[ChunkCut], order_type: pa.DataType) -> pa.RecordBatch:
    columns = {}
    for side in _SIDES:
        places: list[Place] = [getattr(cut, side) for cut in cuts]
        columns[f"{side}_key"] = pa.array([key for key, _rank in places], pa.int64())
        columns[f"{side}_order"] = from_ranks([rank for _key, rank in places], order_type)
    lists = [pa.ListArray.from_arrays([0, len(cuts)], values) for values in columns.values()]
    row = pa.StructArray.from_arrays(lists, list(columns))
    return pa.RecordBatch.from_arrays([row], ["cuts"])


def _searched(frame: Any, chunks: int, names: Names) -> tuple[Any, Any]:
    """The number of cuts at or before a row, by bisection: one column for each halving."""
    passed = F.lit(0)
    for bit in reversed(range((chunks - 1).bit_length())):
        step = names(f"step_{bit}")
        reached = _reached("place", passed + (2**bit - 1), names)
        frame = frame.withColumn(step, passed + F.when(reached, 2**bit).otherwise(0))
        passed = F.col(step)
    return frame, passed


def _fills_before(chunk: Any, names: Names) -> Any:
    """Whether a row fills windows of the chunk before; it is at or after the chunk's cut."""
    cuts, key, order = (F.col(names(each)) for each in ("cuts", "key", "order"))
    last = F.get(cuts.getField("until_order"), chunk - 1)
    is_same_key = F.get(cuts.getField("until_key"), chunk - 1) == key
    # Null is before all values.
    return is_same_key & (order.isNull() | (order <= last))


def _reached(side: str, cut: Any, names: Names) -> Any:
    """Whether a row is at or after a side of a cut; never true if there is no such cut.

    It compares number by number. To compare structs, Spark makes two for every row, and routing 4M
    rows took 2.4 s.
    """
    cuts, key, order = (F.col(names(each)) for each in ("cuts", "key", "order"))
    cut_key = F.get(cuts.getField(f"{side}_key"), cut)
    cut_order = F.get(cuts.getField(f"{side}_order"), cut)
    # Null is before all values.
    not_before = cut_order.isNull() | (cut_order <= order)
    return (cut_key < key) | ((cut_key == key) & not_before)
