"""Polars: `Series.rolling_sum` and its siblings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from windrow.experiments.peers import required

NAME = "Polars"


def rolling(function: str, values: Any, extent: int) -> Callable[[], Any]:
    """`rolling_sum(extent, min_samples=1)`."""
    series = required("polars").Series(values)
    return lambda: getattr(series, f"rolling_{function}")(extent, min_samples=1)
