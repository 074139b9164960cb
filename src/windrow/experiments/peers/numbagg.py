"""numbagg: `move_sum`, compiled by numba; it has no maximum."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from windrow.experiments.experiment import Missing
from windrow.experiments.peers import required

NAME = "numbagg"


def rolling(function: str, values: Any, extent: int) -> Callable[[], Any]:
    """`move_sum(values, window=extent, min_count=1)`."""
    move = getattr(required("numbagg"), f"move_{function}", None)
    if move is None:
        raise Missing(f"numbagg has no move_{function}")
    return lambda: move(values, window=extent, min_count=1)
