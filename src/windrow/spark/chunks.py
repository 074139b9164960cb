"""Rows of a DataFrame to the chunks that they belong to (see `windrow.runtime.chunks`).

Where to cut is found by a look at a sample of the key and order columns. The look is a subquery of
the job that needs it: nothing runs before the job does, and each job looks at its own data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, LongType, StructField, StructType

from windrow.planning.resolve import OverPlan
from windrow.runtime.chunks import STRETCHES, Cutting, Edge, from_ranks, gathered, summarise
from windrow.runtime.program import Program
from windrow.windows import RowsWindow, TimeWindow

#: fewer rows than this are not worth a task
SMALLEST_CHUNK = 65_536
#: the share of rows that the look takes
SAMPLE = 0.1
#: of windows of more rows than this all rows are looked at, so that fillers stay few
LARGEST_SAMPLED = 1_000
#: tasks for each processor
_TASKS_PER_CORE = 3


def chunked(
    frame: Any, key: Sequence[Any], order: Any, plan: OverPlan, program: Program
) -> Any:
    """The rows, one chunk per partition, and a last column that marks fillers."""
    chunks = _number_of_chunks(frame.sparkSession)
    place = F.struct((F.xxhash64(*key) if key else F.lit(0).cast("long")).alias("key"),
                     order.alias("order"))
    cutting = _cutting(plan, program, chunks)
    edges = _look(frame, place, cutting, plan.schema.field(plan.order[0]).type).scalar()
    names = _new_names(frame.columns)
    kept = [F.col(name) for name in frame.columns]
    searched, chunk = _searched(
        frame.select(*kept, place.alias(names("place")), edges.alias(names("edges"))), chunks, names
    )
    fills_next = F.get(F.col(names("edges")).getField("since"), chunk) <= F.col(names("place"))
    target, filler = names("target"), names("filler")
    copies = F.when(fills_next, F.array(chunk, chunk + 1)).otherwise(F.array(chunk))
    routed = searched.select(*kept, chunk.alias(names("own")), F.explode(copies).alias(target))
    routed = routed.select(*kept, target, (F.col(target) != F.col(names("own"))).alias(filler))
    return routed.repartitionById(chunks, target).select(*kept, filler)


def _number_of_chunks(session: Any) -> int:
    wanted = session.conf.get("spark.sql.shuffle.partitions")
    chunks = int(wanted) if wanted.isdigit() else 200
    if hasattr(type(session), "sparkContext") and session.conf.get("spark.dynamicAllocation.enabled", "false") != "true":
        chunks = min(chunks, _TASKS_PER_CORE * session.sparkContext.defaultParallelism)
    return chunks


def _cutting(plan: OverPlan, program: Program, chunks: int) -> Cutting:
    extents = {
        kind: max((program.extents[n] for n, w in plan.windows.items() if isinstance(w, kind)), default=0)
        for kind in (RowsWindow, TimeWindow)
    }
    rows = max(extents[RowsWindow] - 1, 0)
    fraction = SAMPLE if rows <= LARGEST_SAMPLED else 1.0
    return Cutting(chunks, SMALLEST_CHUNK, fraction, rows, extents[TimeWindow])


def _look(frame: Any, place: Any, cutting: Cutting, order_type: pa.DataType) -> Any:
    """One row: the edges, and since where rows fill the windows behind them."""

    def decide(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield _edges_to_arrow(cutting.edges(gathered(batches)), order_type)

    seen = frame.select(place.getField("key").alias("key"), place.getField("order").alias("order"))
    if cutting.fraction < 1:
        seen = seen.sample(fraction=cutting.fraction, seed=0)
    places = ArrayType(StructType([StructField("key", LongType()), seen.schema["order"]]))
    decided = StructType([StructField("edges", StructType([StructField("place", places), StructField("since", places)]))])
    stretches = StructType([StructField(name, LongType()) for name in STRETCHES])
    return seen.mapInArrow(summarise, stretches).repartition(1).mapInArrow(decide, decided)


def _edges_to_arrow(edges: Sequence[Edge], order_type: pa.DataType) -> pa.RecordBatch:
    def column(places):
        structs = pa.StructArray.from_arrays(
            [pa.array([key for key, _ in places], pa.int64()), from_ranks([rank for _, rank in places], order_type)],
            ["key", "order"],
        )
        return pa.ListArray.from_arrays([0, len(places)], structs)

    both = [column([edge.place for edge in edges]), column([edge.since for edge in edges])]
    return pa.RecordBatch.from_arrays([pa.StructArray.from_arrays(both, ["place", "since"])], ["edges"])


def _searched(frame: Any, chunks: int, names: Callable[[str], str]) -> tuple[Any, Any]:
    """The number of edges that a row is not before, by bisection: a column for each halving."""
    edges, place = F.col(names("edges")).getField("place"), F.col(names("place"))
    passed = F.lit(0)
    for bit in reversed(range((chunks - 1).bit_length())):
        step = names(f"step_{bit}")
        reached = F.get(edges, passed + (2**bit - 1)) <= place
        frame = frame.withColumn(step, passed + F.when(reached, 2**bit).otherwise(0))
        passed = F.col(step)
    return frame, passed


def _new_names(taken: Sequence[str]) -> Callable[[str], str]:
    """Names of columns that differ from those taken, which Spark, blind to case, compares."""
    prefix = "windrow"
    while any(name.lower().startswith(prefix) for name in taken):
        prefix += "_"
    return lambda name: f"{prefix}_{name}"
