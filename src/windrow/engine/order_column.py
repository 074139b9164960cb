"""The order column of `slide`, between its own type and the type in which windows are measured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.algebra.kinds import plain_type
from windrow.planning.slide_plan import SlidePlan
from windrow.windows.sorted_rows import in_time_type

Array = np.ndarray[Any, Any]


def in_order_type(order: pa.Array, plan: SlidePlan) -> pa.Array:
    """The order column in a type in which windows begin and end at whole ticks.

    Windows measure by it, and their begins and ends have this type. Aggregations read the column as
    it is: their answers have its unit.
    """
    return in_time_type(order, plan.order[0], plan.order_type)


def in_own_type(columns: Mapping[str, pa.Array], plan: SlidePlan) -> dict[str, pa.Array]:
    """The columns as aggregations read them, where the order column is in the type of windows."""
    order = plan.order[0]
    own = plain_type(plan.schema.field(order).type)
    return {**columns, order: columns[order].cast(own)}


def times_to_arrow(times: Array, data_type: pa.DataType) -> pa.Array:
    """Times in ticks as a column of the order column's type."""
    width = pa.int64() if data_type.bit_width == 64 else pa.int32()
    return pa.array(times).cast(width).view(data_type)
