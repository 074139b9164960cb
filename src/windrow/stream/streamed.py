"""What a plan must be like for its answers to become final on a stream."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from windrow.errors import InvalidArgument
from windrow.planning.over_plan import OverPlan
from windrow.planning.slide_plan import SlidePlan


def require_streamed(plan: SlidePlan | OverPlan, types: Mapping[str, pa.DataType]) -> None:
    """Refuse an order without time, and windows whose answers are never final on a stream."""
    _require_time(plan.order[0], types[plan.order[0]])
    for name, window in plan.windows.items():
        if window.why_not_streamed is not None:
            raise InvalidArgument(f"windows: {name!r} {window.why_not_streamed}")


def _require_time(order: str, data_type: pa.DataType) -> None:
    if not (pa.types.is_timestamp(data_type) or pa.types.is_date(data_type)):
        raise InvalidArgument(
            f"order: a stream is ordered by a timestamp or a date, which its watermark is about, "
            f"and {order!r} is {data_type}"
        )
