"""Where `over` runs on Spark: one chain, in one place.

Pure: it looks at the plan and never at Spark, so that it can be explained without a session.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import pyarrow as pa

from windrow.planning.resolve import OverPlan
from windrow.windows import RowsWindow, TimeWindow


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


def place_over(plan: OverPlan, *, named: bool = False) -> Placement:
    """Where `over` runs; `named` says that the user chose the algorithm by hand."""
    obstacle = why_uncut(plan)
    if obstacle is None:
        return Placement("chunks", "rows are cut by key and order into chunks of equal work")
    if plan.key:
        return Placement("keys", f"every key is answered by one task: {obstacle}")
    return Placement("keys", f"all rows are answered by one task: {obstacle}")


def why_uncut(plan: OverPlan) -> str | None:
    """Why a key's rows cannot be cut into chunks, or None if they can."""
    for name, window in plan.windows.items():
        if not isinstance(window, RowsWindow | TimeWindow):
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
