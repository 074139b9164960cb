"""bottleneck: `move_sum`, compiled from C; its sums drift, as every event leaves by subtraction."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from windrow.experiments.peers import required

NAME = "bottleneck"


def rolling(function: str, values: Any, extent: int) -> Callable[[], Any]:
    """`move_sum(values, extent, min_count=1)`."""
    move = getattr(required("bottleneck"), f"move_{function}")
    return lambda: move(values, extent, min_count=1)
