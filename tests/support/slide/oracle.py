"""`wr.slide`, slow and plainly right: every window is enumerated, every aggregate recomputed.

A window's answers are found by asking of every row whether it belongs, in exact arithmetic on
nanoseconds. Aggregates and comparison are those of `tests.support.over.oracle`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import pyarrow as pa

from tests.support import calendars
from tests.support.over import oracle
from windrow.algebra.aggregation import Measure
from windrow.windows import (
    CalendarWindow,
    DeltaWindow,
    EveryRows,
    EveryTime,
    ExpandingWindow,
    PunctuatedWindow,
    RowsWindow,
    SessionWindow,
    TimeWindow,
    WholeWindow,
    Window,
)


class Found(NamedTuple):
    """One answer: its rows, oldest first, and where it begins and ends, in nanoseconds if timed."""

    rows: list[int]
    begin: Any
    end: Any


class Group:
    """The rows of a key in order, with what windows measure by."""

    def __init__(self, rows: list[int], columns: dict[str, list[Any]], times: Any, order: str):
        self.rows = rows
        self.columns = columns
        self.times = times
        self.order = order

    def without(self, missing: Callable[[int], bool]) -> Group:
        kept = [row for row in self.rows if not missing(row)]
        return Group(kept, self.columns, self.times, self.order)

    def named(self, rows: list[int]) -> Found:
        """An answer that is named after its oldest and newest row."""
        order = self.times if self.times is not None else self.columns[self.order]
        return Found(rows, order[rows[0]], order[rows[-1]])


def answers(window: Window, group: Group, empty: str) -> Iterator[Found]:
    """The answers of a window for a key."""
    if isinstance(window, TimeWindow | SessionWindow | CalendarWindow) or isinstance(
        getattr(window, "every", None), EveryTime
    ):
        group = group.without(lambda row: group.times[row] is None)
    if isinstance(window, DeltaWindow):
        values = group.columns[window.column]
        group = group.without(lambda row: values[row] is None or oracle.is_nan(values[row]))
    if not group.rows:
        return
    if isinstance(window, PunctuatedWindow):
        yield from punctuated(window, group)
    elif isinstance(window, WholeWindow):
        yield group.named(group.rows)
    elif isinstance(window, SessionWindow):
        yield from sessions(window, group)
    elif isinstance(window, CalendarWindow):
        yield from between_rows(by_calendar(window, group), empty)
    elif isinstance(window, TimeWindow) and isinstance(window.every, EveryTime):
        yield from between_rows(periodic(window, window.every, group), empty)
    else:
        assert window.every is not None
        for newest in triggered(window.every, group):
            yield group.named(held(window, group, newest))


def punctuated(window: PunctuatedWindow, group: Group) -> Iterator[Found]:
    rows: list[int] = []
    for row in group.rows:
        rows.append(row)
        if group.columns[window.column][row]:
            yield group.named(rows)
            rows = []


def sessions(window: SessionWindow, group: Group) -> Iterator[Found]:
    rows: list[int] = []
    for row in [*group.rows, None]:
        if rows and (row is None or group.times[row] - group.times[rows[-1]] > window.gap):
            yield Found(rows, group.times[rows[0]], group.times[rows[-1]] + window.gap)
            rows = []
        if row is not None:
            rows.append(row)


def by_calendar(window: CalendarWindow, group: Group) -> Iterator[Found]:
    """All windows of the calendar between the first row and the last."""
    oldest, newest = group.times[group.rows[0]], group.times[group.rows[-1]]
    spans = [calendars.written(each) for each in (window.range, window.slide or window.range)]
    for begin, end in calendars.windows(oldest, newest, *spans, window.timezone, window.week_start):
        yield Found([row for row in group.rows if begin <= group.times[row] < end], begin, end)


def periodic(window: TimeWindow, every: EveryTime, group: Group) -> Iterator[Found]:
    """All windows of the clock between the first row and the last."""
    oldest, newest = group.times[group.rows[0]], group.times[group.rows[-1]]
    begin = every.offset + (oldest - window.range - every.offset) // every.time * every.time
    while begin <= newest:
        end = begin + window.range
        yield Found([row for row in group.rows if begin <= group.times[row] < end], begin, end)
        begin += every.time


def between_rows(found: Iterator[Found], empty: str) -> list[Found]:
    """The windows that hold a row; with "emit", all from the first of them to the last."""
    windows = list(found)
    held = [place for place, each in enumerate(windows) if each.rows]
    if empty == "emit":
        return windows[held[0] : held[-1] + 1] if held else []
    return [windows[place] for place in held]


def triggered(every: EveryRows | EveryTime, group: Group) -> list[int]:
    """The places in a group of the newest rows of all answers."""
    if isinstance(every, EveryRows):
        return [place for place in range(len(group.rows)) if (place + 1) % every.rows == 0]
    ticks = [(group.times[row] - every.offset) // every.time for row in group.rows]
    return [
        place
        for place, tick in enumerate(ticks)
        if place + 1 == len(ticks) or ticks[place + 1] != tick
    ]


def held(window: Window, group: Group, newest: int) -> list[int]:
    """The rows of a window whose newest row is at a place of its group."""
    if isinstance(window, ExpandingWindow):
        return group.rows[: newest + 1]
    if isinstance(window, RowsWindow):
        return group.rows[max(0, newest - window.range + 1) : newest + 1]
    if isinstance(window, TimeWindow):
        now = group.times[group.rows[newest]]
        return [row for row in group.rows[: newest + 1] if now - group.times[row] < window.range]
    assert isinstance(window, DeltaWindow)
    values = group.columns[window.column]
    first = 0
    # Rows leave oldest first, as each row comes, and do not come back.
    for row in group.rows[: newest + 1]:
        while distance(values[row], values[group.rows[first]]) >= window.amount:
            first += 1
    return group.rows[first : newest + 1]


def distance(newer: Any, older: Any) -> Any:
    if newer == older:
        return 0
    return newer - older if isinstance(newer, float) else Fraction(newer) - Fraction(older)


# The whole result --------------------------------------------------------------------------------


def slide(
    table: pa.Table,
    *,
    key: Sequence[str],
    order: Sequence[str],
    windows: dict[str, Window],
    aggs: Sequence[Measure],
    changes_only: bool = False,
    empty: str = "skip",
    recompute: Callable[[str, Sequence[Sequence[Any]]], Any] = oracle.aggregate,
) -> list[dict[str, Any]]:
    """The rows that `wr.slide` answers, with bounds in nanoseconds where the order is a time."""
    columns = {name: table[name].to_pylist() for name in table.column_names}
    is_time = pa.types.is_timestamp(table[order[0]].type) or pa.types.is_date(table[order[0]].type)
    times = oracle.ticks(table[order[0]]) if is_time else None
    if is_time:
        zone = getattr(table[order[0]].type, "tz", None)
        windows = {name: calendars.in_zone(window, zone) for name, window in windows.items()}
    found = []
    for name, window in windows.items():
        for rows in oracle.groups(columns, key, order, table.num_rows):
            before: Any = None
            every = "emit" if changes_only else empty
            for answer in answers(window, Group(rows, columns, times, order[0]), every):
                if not answer.rows and empty == "skip":
                    before = None  # nothing was answered, so whatever comes is news
                    continue
                values = {}
                for measure in aggs:
                    inputs = [
                        [columns[each][row] for each in measure.columns] for row in answer.rows
                    ]
                    value = recompute(measure.aggregation.name, inputs)
                    enough = oracle.is_enough(window, measure, inputs) or oracle.overflows(value)
                    values[measure.name] = value if enough else None
                if changes_only and before is not None and same(before, values):
                    continue
                before = values
                found.append(
                    {
                        "window": name,
                        **{column: columns[column][rows[0]] for column in key},
                        "window_start": answer.begin,
                        "window_end": answer.end,
                        **values,
                    }
                )
    return found


def same(before: dict[str, Any], values: dict[str, Any]) -> bool:
    return all(_unchanged(before[name], value) for name, value in values.items())


def _unchanged(before: Any, value: Any) -> bool:
    """Whether two expected values are one; those of the oracle's own types are equal or not."""
    if isinstance(value, oracle.Near | oracle.DaysApart):
        return bool(before == value)
    return oracle.agree(before, value)


def rows_of(result: pa.Table) -> list[dict[str, Any]]:
    """The answers of `wr.slide` as the oracle gives them."""
    columns = {name: result[name].to_pylist() for name in result.column_names}
    for bound in ("window_start", "window_end"):
        if pa.types.is_timestamp(result[bound].type) or pa.types.is_date(result[bound].type):
            columns[bound] = oracle.ticks(result[bound])
    return [
        dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)
    ]


def assert_agrees(expected: list[dict[str, Any]], result: pa.Table, key: Sequence[str]) -> None:
    """The same answers; those of a window and key in the same order, keys in any order."""
    several = "window" in result.column_names
    wanted, given = (
        by_key(rows, ["window", *key] if several else key) for rows in (expected, rows_of(result))
    )
    assert wanted.keys() == given.keys()
    for group, rows in wanted.items():
        assert len(rows) == len(given[group]), f"{group}: {given[group]} are not {rows}"
        for row, answer in zip(rows, given[group], strict=True):
            for name, value in answer.items():
                if name not in key:
                    assert oracle.agree(row[name], value), f"{name}: {answer} is not {row}"


def by_key(rows: list[dict[str, Any]], key: Sequence[str]) -> dict[Any, list[dict[str, Any]]]:
    groups: dict[Any, list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault(tuple(oracle.grouped(row[name]) for name in key), []).append(row)
    return groups
