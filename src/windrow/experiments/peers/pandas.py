"""pandas: `Series.rolling`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from windrow.experiments.peers import required

NAME = "pandas"


def rolling(function: str, values: Any, extent: int) -> Callable[[], Any]:
    """`rolling(extent, min_periods=1)`."""
    series = required("pandas").Series(values)
    return lambda: getattr(series.rolling(extent, min_periods=1), function)()
