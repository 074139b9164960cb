"""Aggregations that look back or ahead from the current row, and the windows that suit them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from windrow.algebra.aggregation import Aggregation, Measure
from windrow.errors import InvalidArgument
from windrow.windows import Window


def require_current_row(windows: Mapping[str, Window], measures: Iterable[Measure]) -> None:
    """Refuse windows of `wr.over` in which an aggregation does not find the current row."""
    for aggregation in (measure.aggregation for measure in measures):
        for name, window in windows.items():
            if aggregation.current == "newest" and not window.ends_at_row:
                raise InvalidArgument(
                    f"aggs: {aggregation.name} looks back from the current row, and the window "
                    f"{name!r} does not end there; give it one that does, such as "
                    f"wr.rows({max(aggregation.least_rows, 100)})"
                )
            if aggregation.current == "oldest" and not window.begins_at_row:
                raise InvalidArgument(
                    f"aggs: {aggregation.name} looks ahead from the current row, and the window "
                    f"{name!r} does not begin there; give it wr.rows(before=0, "
                    f"after={aggregation.least_rows - 1})"
                )
            _require_room(aggregation, name, window)


def require_newest_row(
    windows: Mapping[str, Window], measures: Iterable[Measure], call: str
) -> None:
    """Refuse aggregations that `wr.slide` or `wr.as_of` cannot ask of a window's newest row."""
    for aggregation in (measure.aggregation for measure in measures):
        if aggregation.current == "oldest":
            raise InvalidArgument(
                f"aggs: {aggregation.name} looks ahead from a row, and answers of {call} look "
                "back; use wr.over, or wr.nth for a value by its place in the window"
            )
        for name, window in windows.items():
            _require_room(aggregation, name, window)


def _require_room(aggregation: Aggregation, name: str, window: Window) -> None:
    """Refuse a window of too few rows for an aggregation to ever answer."""
    least, most = aggregation.least_rows, window.most_rows
    if most is not None and most < least:
        raise InvalidArgument(
            f"aggs: {aggregation.name} needs a window of {least} rows or more, and {name!r} holds "
            f"at most {most}"
        )
