"""Where a call on a Spark table runs: one chain, in one place.

It looks at the plan and never at Spark, so it can be tested without a session.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import pyarrow as pa

from windrow.aggregations import CATALOGUE
from windrow.planning.as_of_plan import AsOfPlan
from windrow.planning.features import Feature
from windrow.planning.over_plan import OverPlan
from windrow.planning.wording import listed
from windrow.windows import Window

#: Spark's functions that answer as windrow does, by windrow's names: tested in
#: tests/over/test_spark_native.py
SPARK_FUNCTIONS = {
    "count": "count",
    "sum": "sum",
    "mean": "avg",
    "min": "min",
    "max": "max",
    "first": "first",
    "last": "last",
}
#: the functions that `exact=False` admits: for ten values around 1e9, Spark's variance has 7 right
#: digits, and windrow's has 9 or more
ROUGHER_FUNCTIONS = {
    "variance": "var_samp",
    "variance_pop": "var_pop",
    "stddev": "stddev_samp",
    "stddev_pop": "stddev_pop",
}
_OF_ANYTHING = {"count", "first", "last"}
_OF_ORDERED = {"min", "max"}
_SUMS = {"sum", "mean", *ROUGHER_FUNCTIONS}

#: Spark adds up every row of every window; beyond so many for each row of the table it is slower
MOST_ROWS_FOR_SPARK = 16
#: Spark counts the rows of a frame in 32 bits
_LONGEST_FRAME_OF_SPARK = 2**31 - 1


@dataclass(frozen=True)
class Placement:
    """Where a plan runs, and why.

    Attributes:
        where: "spark" for Spark's own window operator, "chunks" for tasks that may each answer a
            part of a key's rows, "keys" for tasks that each answer whole keys, "slices" for `slide`
            with rows combined into slices before the shuffle.
        why: the reason, in a sentence.
        work: what is done, step by step.
    """

    where: Literal["spark", "chunks", "keys", "slices"]
    why: str
    work: tuple[str, ...] = ()


def place_over(
    plan: OverPlan,
    rows_of_a_key: float = math.inf,
    *,
    may_ask: bool = True,
    may_sample: bool = True,
) -> Placement:
    """Where `over` runs; never in Spark's own operator if the call names an algorithm.

    Args:
        plan: the plan.
        rows_of_a_key: about how many rows a key has, if that is known.
        may_ask: whether Spark may be asked about the data when the call is made.
        may_sample: whether a sample of the rows may be taken then.
    """
    placement = _place_over(plan, rows_of_a_key, may_ask, may_sample)
    return replace(placement, work=_work_of_over(plan, placement.where))


def _place_over(plan: OverPlan, rows_of_a_key: float, may_ask: bool, may_sample: bool) -> Placement:
    if _is_spark_faster(plan, rows_of_a_key):
        return Placement(
            "spark", "adding up so few rows again costs less than the way to Python and back"
        )
    obstacle = _why_uncut(plan)
    if obstacle is None and not may_ask:
        obstacle = "with schema=, nothing is asked about the data before the job runs"
    if obstacle is None and plan.key and not may_sample:
        obstacle = "its rows are not sampled, so a key with too many is not found"
    if obstacle is not None:
        whole = "every key is" if plan.key else "all rows are"
        return Placement("keys", f"{whole} answered by one task: {obstacle}")
    if not plan.key:
        return Placement("chunks", "rows are cut by order into chunks, a task for each")
    why = "every key is answered by one task, unless a sample shows that it has too many rows"
    if depends_on_keys(plan) and math.isinf(rows_of_a_key):
        why += "; if it shows that keys have few rows, Spark's own operator answers them"
    return Placement("chunks", why)


def _work_of_over(plan: OverPlan, where: str) -> tuple[str, ...]:
    """The work of Spark and of windrow's tasks, step by step."""
    key, order = listed(plan.key), listed(plan.order)
    if where == "spark":
        return (
            f"shuffle the rows by {key} and sort them by {order}",
            "answer each row by Spark's own window functions",
        )
    if where == "keys" or plan.key:
        shuffle = f"shuffle the rows by {key}" if key else "bring all rows to one task"
        if where == "chunks":
            shuffle += "; if one has too many rows, by chunks of keys and order"
    else:
        shuffle = f"find by a sample where to cut, and shuffle the rows by chunks of {order}"
    by = " and ".join(part for part in (key, order) if part)
    return (
        shuffle,
        f"sort the rows of each task by {by}",
        "go over them in Arrow batches, all windows in one pass",
    )


def depends_on_keys(plan: OverPlan) -> bool:
    """Whether the number of rows in a key decides where a plan runs."""
    return not _is_spark_faster(plan, math.inf) and _is_spark_faster(plan, 1)


def _is_spark_faster(plan: OverPlan, rows_of_a_key: float) -> bool:
    """Whether Spark's own functions give the same answers, and sooner."""
    if not plan.key or plan.wish.algorithm is not None:
        return False
    rows = 0.0
    asked = [(output.window, output.feature) for output in plan.outputs]
    asked += dict.fromkeys((name, gate.feature) for (name, _), gate in plan.gates.items())
    for name, place in asked:
        window, feature = plan.windows[name], plan.features[place]
        if not _is_frame_of_rows(window):
            return False
        if not _is_same_in_spark(feature, plan):
            return False
        assert window.most_rows is not None
        rows += _rows_of_a_frame(window.most_rows, rows_of_a_key)
    return rows <= MOST_ROWS_FOR_SPARK


def _is_frame_of_rows(window: Window) -> bool:
    """Whether a window is a frame of rows that Spark can count."""
    back, ahead = window.rows_back, window.ahead(1)
    if back is None or ahead.ticks is not None:
        return False
    return max(back, abs(ahead.rows)) < _LONGEST_FRAME_OF_SPARK


def _rows_of_a_frame(most: int, rows_of_a_key: float) -> float:
    """How many rows a frame of at most `most` holds on average; a key's first frames hold fewer.

    >>> _rows_of_a_frame(100, 40), _rows_of_a_frame(2, 40), _rows_of_a_frame(100, math.inf)
    (20.5, 1.975, 100.0)
    """
    full = min(most, rows_of_a_key)
    return full - full * (full - 1) / (2 * rows_of_a_key)


def is_plain(feature: Feature) -> bool:
    """Whether a feature is what its name says: the catalogue's aggregation, over all rows.

    Ask this before you rely on the name: a condition or a parameter changes what it computes.
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
        # Not for text: Spark may compare it by a collation.
        return is_measured(data_type) or pa.types.is_decimal(data_type)
    if pa.types.is_integer(data_type):
        # Spark adds 64-bit integers as they are: a partial sum that does not fit raises or wraps
        # around, although the whole sum fits. For a mean it rounds them to floats first.
        return name in _SUMS and data_type.bit_width < 64
    return bool(pa.types.is_floating(data_type))


def why_moments_uncut(plan: AsOfPlan) -> str | None:
    """Why events and queries of a key cannot be cut into chunks in `as_of`, or None if they can."""
    for name in plan.windows:
        if any(edge.is_at_end for edge in plan.edges_of(name)):
            return f"{name!r} reaches as far as there are events of its key"
    return _why_not_measured(plan.order[0], plan.order_type)


def _why_uncut(plan: OverPlan) -> str | None:
    """Why a key's rows cannot be cut into chunks, or None if they can."""
    for name, window in plan.windows.items():
        if window.rows_back is None and window.most_ticks_back(1) is None:
            return f"the events, and not its range, say how far back the window {name!r} reaches"
    return _why_not_measured(plan.order[0], plan.schema.field(plan.order[0]).type)


def _why_not_measured(order: str, data_type: pa.DataType) -> str | None:
    if is_measured(data_type):
        return None
    return f"{order!r} is {data_type}, and only numbers and times are cut into chunks"


def is_measured(data_type: pa.DataType) -> bool:
    """Whether values are numbers or times that one can subtract."""
    types = pa.types
    return bool(
        types.is_integer(data_type)
        or types.is_float32(data_type)
        or types.is_float64(data_type)
        or types.is_timestamp(data_type)
        or types.is_date(data_type)
    )
