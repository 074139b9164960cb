"""`wr.as_of`, slow and plainly right: for each query, its events are picked out of all events."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime, time
from typing import Any

import pyarrow as pa

from tests.support import calendars
from tests.support.over import oracle
from windrow.algebra.aggregation import Measure
from windrow.windows import CalendarWindow, ExpandingWindow, RowsWindow, WholeWindow, Window


def as_of(
    queries: pa.Table,
    events: pa.Table,
    *,
    windows: dict[str, Window],
    aggs: Sequence[Measure],
    order: Sequence[str],
    key: Sequence[str] = (),
) -> dict[str, list[Any]]:
    """The columns that `wr.as_of` adds, in the order of the queries."""
    columns = {name: events[name].to_pylist() for name in events.column_names}
    asked = {name: queries[name].to_pylist() for name in queries.column_names}
    moments, times = _comparable(queries[order[0]]), _comparable(events[order[0]])
    zone = getattr(queries[order[0]].type, "tz", None)
    windows = {name: calendars.in_zone(window, zone) for name, window in windows.items()}
    answers: dict[str, list[Any]] = {
        oracle.column_name(measure, name): [] for measure in aggs for name in windows
    }
    for query in range(queries.num_rows):
        wanted = [_key(asked[name][query]) for name in key]
        rows = [
            row
            for row in range(events.num_rows)
            if times[row] is not None and [_key(columns[name][row]) for name in key] == wanted
        ]
        # Sorted one column after the other, from the last.
        for name in reversed(order[1:]):
            rows.sort(key=lambda row: oracle.sort_key(columns[name][row]))
        rows.sort(key=lambda row: oracle.sort_key(times[row]))
        for name, window in windows.items():
            held = [] if moments[query] is None else in_window(window, rows, times, moments[query])
            for measure in aggs:
                inputs = [[columns[c][row] for c in measure.columns] for row in held]
                answer = oracle.aggregate(measure.aggregation.name, inputs)
                if not oracle.is_enough(window, measure, inputs) and not oracle.overflows(answer):
                    answer = None
                answers[oracle.column_name(measure, name)].append(answer)
    return answers


def _key(value: Any) -> Any:
    """A value by which keys are told apart; a date is a midnight, as where tables are joined."""
    if isinstance(value, date) and not isinstance(value, datetime):
        return datetime.combine(value, time())
    return oracle.grouped(value)


def _comparable(column: pa.ChunkedArray) -> list[Any]:
    """Times in nanoseconds, other values as they are."""
    if pa.types.is_timestamp(column.type) or pa.types.is_date(column.type):
        return oracle.ticks(column)
    return column.to_pylist()


def in_window(window: Window, rows: list[int], times: list[Any], moment: Any) -> list[int]:
    """The events of the window of a moment, of those of its key in their order."""
    now = oracle.sort_key(moment)
    before = [row for row in rows if oracle.sort_key(times[row]) < now]
    up_to = [row for row in rows if oracle.sort_key(times[row]) <= now]
    if isinstance(window, RowsWindow):
        if window.later < 0:
            return before[-window.range :]
        older = up_to[max(len(up_to) - (window.range - window.later), 0) :]
        return older + rows[len(up_to) : len(up_to) + window.later]
    if isinstance(window, ExpandingWindow):
        return up_to
    if isinstance(window, WholeWindow):
        return rows
    if isinstance(window, CalendarWindow):
        span = calendars.written(window.range)
        since = min(calendars.back(moment, span, window.timezone), moment - 1)
        return [row for row in up_to if times[row] > since]
    # All events of one time are held, or none.
    window = replace(window, ties="peers")
    return [row for row in rows if oracle.reaches(window, times[row] - moment, 0)]  # type: ignore[arg-type]
