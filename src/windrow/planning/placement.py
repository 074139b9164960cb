"""Where `over` runs on Spark: one chain, in one place.

Pure: it looks at the plan and never at Spark, so that it can be explained without a session.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import pyarrow as pa

from windrow.aggregations import CATALOGUE
from windrow.planning.over_plan import Feature, OverPlan

#: Spark's names of the functions that answer as windrow does; tests/over/test_spark_native.py
SPARK_FUNCTIONS = {
    "count": "count",
    "sum": "sum",
    "mean": "avg",
    "min": "min",
    "max": "max",
    "first": "first",
    "last": "last",
}
#: those that `exact=False` admits: of ten values around 1e9 Spark's variance has 7 right digits,
#: windrow's 9 and more
ROUGHER_FUNCTIONS = {
    "variance": "var_samp",
    "variance_pop": "var_pop",
    "stddev": "stddev_samp",
    "stddev_pop": "stddev_pop",
}
_OF_ANYTHING = {"count", "first", "last"}
_OF_ORDERED = {"min", "max"}
_SUMS = {"sum", "mean", *ROUGHER_FUNCTIONS}

#: Spark adds up every row of every frame; beyond so many for each row of the table it is slower
MOST_ROWS_FOR_SPARK = 16
#: Spark counts the rows of a frame in 32 bits
_LONGEST_FRAME_OF_SPARK = 2**31 - 1


@dataclass(frozen=True)
class Placement:
    """Where a plan runs, and why.

    Attributes:
        where: "spark" for Spark's own window operator, "chunks" for tasks that each answer a
            stretch of keys and order, "keys" for tasks that each answer whole keys.
        why: the reason, in a sentence.
    """

    where: Literal["spark", "chunks", "keys"]
    why: str


def place_over(plan: OverPlan, rows_of_a_key: float = math.inf) -> Placement:
    """Where `over` runs; never in Spark's own operator if an algorithm was asked for by name.

    `rows_of_a_key` says how many rows a key has, about, if that is known.
    """
    if _is_spark_faster(plan, rows_of_a_key):
        return Placement(
            "spark", "adding up so few rows afresh costs less than the way to Python and back"
        )
    obstacle = _why_uncut(plan)
    if obstacle is not None:
        whole = "every key is" if plan.key else "all rows are"
        return Placement("keys", f"{whole} answered by one task: {obstacle}")
    if not plan.key:
        return Placement("chunks", "rows are cut by order into chunks, a task for each")
    why = "every key is answered by one task, unless it has too many rows"
    if depends_on_keys(plan):
        why += "; keys of few rows are left to Spark's own operator"
    return Placement("chunks", why)


def depends_on_keys(plan: OverPlan) -> bool:
    """Whether it takes the number of rows in a key to tell where a plan runs."""
    return not _is_spark_faster(plan, math.inf) and _is_spark_faster(plan, 1)


def _is_spark_faster(plan: OverPlan, rows_of_a_key: float) -> bool:
    """Whether Spark's own functions give the same answers, and sooner."""
    if not plan.key or plan.wish.algorithm is not None:
        return False
    rows = 0.0
    for output in plan.outputs:
        window, feature = plan.windows[output.window], plan.features[output.feature]
        if window.newest is None or window.newest > _LONGEST_FRAME_OF_SPARK:
            return False
        if not _is_same_in_spark(feature, plan):
            return False
        rows += _rows_of_a_frame(window.newest, rows_of_a_key)
    return rows <= MOST_ROWS_FOR_SPARK


def _rows_of_a_frame(most: int, rows_of_a_key: float) -> float:
    """How many rows a frame of at most so many holds on average; those of a key's first hold few.

    >>> _rows_of_a_frame(100, 40), _rows_of_a_frame(2, 40), _rows_of_a_frame(100, math.inf)
    (20.5, 1.975, 100.0)
    """
    full = min(most, rows_of_a_key)
    return full - full * (full - 1) / (2 * rows_of_a_key)


def is_plain(feature: Feature) -> bool:
    """Whether a feature is what its name says: the catalogue's aggregation, of all rows.

    Whoever goes by the name asks this first: a condition, or a parameter, makes another of it.
    """
    aggregation = feature.aggregation
    return CATALOGUE.get(aggregation.name) is aggregation and feature.condition is None


def _is_same_in_spark(feature: Feature, plan: OverPlan) -> bool:
    name = feature.aggregation.name
    admitted = SPARK_FUNCTIONS if plan.wish.exact else SPARK_FUNCTIONS | ROUGHER_FUNCTIONS
    if name not in admitted or not is_plain(feature):
        return False
    if name in _OF_ANYTHING:
        return True
    data_type = plan.schema.field(feature.columns[0]).type
    if name in _OF_ORDERED:
        # Not of text, which Spark may compare by a collation.
        return _is_measured(data_type) or pa.types.is_decimal(data_type)
    if pa.types.is_integer(data_type):
        # Spark adds 64-bit integers up as they are: on the way to a sum that fits, one that does
        # not raises or wraps around, and for a mean they are rounded to floats first.
        return name in _SUMS and data_type.bit_width < 64
    return bool(pa.types.is_floating(data_type))


def _why_uncut(plan: OverPlan) -> str | None:
    """Why a key's rows cannot be cut into chunks, or None if they can."""
    for name, window in plan.windows.items():
        if window.newest is None and window.behind(1) is None:
            return f"how far back the window {name!r} reaches is not known in advance"
    order = plan.schema.field(plan.order[0])
    if not _is_measured(order.type):
        return f"{order.name!r} is {order.type}, and only numbers and times are cut into chunks"
    return None


def _is_measured(data_type: pa.DataType) -> bool:
    types = pa.types
    return bool(
        types.is_integer(data_type)
        or types.is_float32(data_type)
        or types.is_float64(data_type)
        or types.is_timestamp(data_type)
        or types.is_date(data_type)
    )
