"""The order column of `slide`, between its own type and the type in which windows are measured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.algebra.kinds import plain_type
from windrow.errors import InvalidArgument
from windrow.planning.slide_plan import SlidePlan

Array = np.ndarray[Any, Any]


def in_order_type(order: pa.Array, plan: SlidePlan) -> pa.Array:
    """The order column in a type in which windows begin and end at whole ticks.

    Windows measure by it, and their begins and ends have this type. Aggregations read the column as
    it is: their answers have its unit.
    """
    try:
        return order.cast(plan.order_type)
    except pa.ArrowInvalid as error:
        raise InvalidArgument(
            f"windows: they begin or end between two ticks of {plan.order[0]!r}, which is "
            f"{order.type}, and {plan.order_type} cannot hold its times: {error}"
        ) from None


def in_own_type(columns: Mapping[str, pa.Array], plan: SlidePlan) -> dict[str, pa.Array]:
    """The columns as aggregations read them, where the order column is in the type of windows."""
    order = plan.order[0]
    own = plain_type(plan.schema.field(order).type)
    return {**columns, order: columns[order].cast(own)}


def times_to_arrow(times: Array, data_type: pa.DataType) -> pa.Array:
    """Times in ticks as a column of the order column's type."""
    width = pa.int64() if data_type.bit_width == 64 else pa.int32()
    return pa.array(times).cast(width).view(data_type)
