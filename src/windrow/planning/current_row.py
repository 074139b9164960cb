"""Aggregations that are about the current row, and the windows that suit them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from windrow.algebra.aggregation import Measure
from windrow.errors import InvalidArgument
from windrow.windows import Window


def require_current_row(windows: Mapping[str, Window], measures: Iterable[Measure]) -> None:
    """Refuse windows of `wr.over` in which an aggregation would not find the current row."""
    for measure in measures:
        for name, window in windows.items():
            _require_row(measure, name, window)


def _require_row(measure: Measure, name: str, window: Window) -> None:
    aggregation = measure.aggregation
    if aggregation.current == "newest" and not window.ends_at_row:
        raise InvalidArgument(
            f"aggs: {aggregation.name} looks back from the current row, and the window {name!r} "
            "does not end there; give it a window that does, such as "
            f"wr.rows({max(aggregation.least_rows, 2)})"
        )


def require_room(windows: Mapping[str, Window], measures: Iterable[Measure]) -> None:
    """Refuse windows of too few rows for an aggregation to ever answer."""
    for measure in measures:
        least = measure.aggregation.least_rows
        for name, window in windows.items():
            if window.newest is not None and window.newest < least:
                raise InvalidArgument(
                    f"aggs: {measure.aggregation.name} needs {least} rows, and the window "
                    f"{name!r} holds {window.newest}; give it wr.rows({least}) or more"
                )
