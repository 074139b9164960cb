"""`wr.over` and `wr.slide`, slow and plainly right, from section 2 of the design and docs/.

Nothing of windrow is used. A window's rows are found by asking of every row whether it belongs, in
whole nanoseconds, and every aggregate is computed from them anew.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, NamedTuple

from tests.fuzz import aggregates
from tests.fuzz.agreement import agree
from tests.fuzz.calls import Call, Condition, Measure, Nanoseconds, Window
from tests.support import calendars
from tests.support.over import policies

Leaving = Callable[[list[Any]], int]


class Answer(NamedTuple):
    """An answer of `slide`: its rows, oldest first, and where it begins and ends."""

    rows: list[int]
    begin: Any
    end: Any


# Rows of a key -----------------------------------------------------------------------------------


def is_nan(value: Any) -> bool:
    """Whether a value is NaN."""
    return isinstance(value, float) and math.isnan(value)


def as_key(value: Any) -> Any:
    """What tells keys apart: null is a key, NaN is one key, -0.0 is 0.0."""
    if is_nan(value):
        return "not a number"
    return repr(value) if isinstance(value, list | dict) else value


def in_order(value: Any) -> tuple[int, Any]:
    """Nulls first, NaN last."""
    if value is None:
        return (0, 0)
    return (2, 0) if is_nan(value) else (1, value)


class Group:
    """The rows of a key in their order, and what windows measure by."""

    def __init__(self, call: Call, rows: list[int]) -> None:
        self.call = call
        self.rows = rows
        self.order = times(call)

    def column(self, name: str) -> tuple[Any, ...]:
        """The values of a column, by row."""
        return self.call.columns[name].values

    def without(self, missing: Callable[[int], bool]) -> Group:
        """The same without some rows."""
        return Group(self.call, [row for row in self.rows if not missing(row)])


def times(call: Call) -> list[Any]:
    """The order column: of times, nanoseconds."""
    if not call.order:
        return [None] * call.size
    column = call.columns[call.order[0]]
    if column.kind != "temporal":
        return list(column.values)
    return [None if ticks is None else ticks * column.tick for ticks in column.values]


def groups(call: Call) -> list[list[int]]:
    """The rows of each key, in order; rows of equal order stay as they came."""
    found: dict[Any, list[int]] = {}
    for row in range(call.size):
        key = tuple(as_key(call.columns[name].values[row]) for name in call.key)
        found.setdefault(key, []).append(row)
    ordered = [call.columns[name].values for name in call.order]
    return [
        sorted(rows, key=lambda row: [in_order(values[row]) for values in ordered])
        for rows in found.values()
    ]


# Which rows a window holds -----------------------------------------------------------------------


def held(window: Window, group: Group, place: int) -> list[int]:
    """The rows of the window of a row that is at a place of its group."""
    rows = group.rows[: place + 1]
    if window.kind == "rows":
        return _around_in_rows(window, group, place)
    if window.kind == "expanding":
        return rows
    if window.kind == "whole":
        return group.rows
    if window.kind == "delta":
        return _less_behind(group, rows, *window.arguments)
    if window.kind == "punctuated":
        marks = group.column(window.arguments[0])
        ends = [index for index, row in enumerate(rows[:-1]) if marks[row]]
        return rows[ends[-1] + 1 :] if ends else rows
    if window.kind == "session":
        return _since_gap(group, rows, window.arguments[0])
    if window.kind == "time":
        return _in_time(window, group, place)
    if window.kind == "calendar":
        return _by_calendar(window, group, rows)
    return _by_policy(window, group, rows)


def _less_behind(group: Group, rows: list[int], column: str, amount: Any) -> list[int]:
    """Rows leave oldest first, as each row comes; one without a number is not there."""
    values = group.column(column)
    if values[rows[-1]] is None or is_nan(values[rows[-1]]):
        return []
    found: list[int] = []
    for row in rows:
        if values[row] is not None and not is_nan(values[row]):
            found.append(row)
            while _distance(values[row], values[found[0]]) >= amount:
                found.pop(0)
    return found


def _distance(newer: Any, older: Any) -> Any:
    if newer == older:
        return 0
    return newer - older if isinstance(newer, float) else Fraction(newer) - Fraction(older)


def _since_gap(group: Group, rows: list[int], gap: int) -> list[int]:
    found: list[int] = []
    after = group.order[rows[-1]]
    for row in reversed(rows):
        time = group.order[row]
        if time is None or after is None or after - time > gap:
            break
        found.append(row)
        after = time
    return found[::-1]


def _around_in_rows(window: Window, group: Group, place: int) -> list[int]:
    if not window.arguments:
        begin, end = place - (window.get("before") or 0), place + (window.get("after") or 0)
    else:
        end = place - (window.get("current") is False)
        begin = end - window.arguments[0] + 1
    return [row for at, row in enumerate(group.rows) if begin <= at <= end]


def _in_time(window: Window, group: Group, place: int) -> list[int]:
    now = group.order[group.rows[place]]
    found = []
    for other, row in enumerate(group.rows):
        then = group.order[row]
        if (now is None) != (then is None):
            continue
        # A null is no time: its peers are the other nulls, and no distance leads to it.
        distance = 0 if now is None else then - now
        if _is_in_time(window, distance, other - place):
            found.append(row)
    return found


def _is_in_time(window: Window, distance: int, rows: int) -> bool:
    """Whether a row so much later, and so many rows later, is in a window of time."""
    closed = window.get("closed") or "right"
    begin, end = window.get("before") or 0, window.get("after") or 0
    if window.arguments:
        begin = window.arguments[0]
        if not distance and window.get("ties") != "peers":
            return rows <= 0 if closed in ("right", "both") else rows < 0
    is_after_begin = distance > -begin or (distance == -begin and closed in ("left", "both"))
    return is_after_begin and (distance < end or (distance == end and closed in ("right", "both")))


def _by_calendar(window: Window, group: Group, rows: list[int]) -> list[int]:
    """The rows since the same time of day, some days or months before."""
    now = group.order[rows[-1]]
    if now is None:
        return [row for row in rows if group.order[row] is None]
    span, zone = window.arguments[0], _zone(window, group)
    since = min(calendars.back(now, (span.number, span.unit), zone), now - 1)
    return [row for row in rows if group.order[row] is not None and group.order[row] > since]


def _zone(window: Window, group: Group) -> str | None:
    order_type = group.call.columns[group.call.order[0]].type
    own = order_type.split("', '")[1].rstrip("')") if "', '" in order_type else None
    return window.get("timezone") or own


def _by_policy(window: Window, group: Group, rows: list[int]) -> list[int]:
    """What has left does not come back."""
    leaving = _leaving(window, group)
    found: list[int] = []
    for row in rows:
        found.append(row)
        found = found[leaving(found) :]
    return found


def _leaving(window: Window, group: Group) -> Callable[[list[int]], int]:
    kind = window.kind.removeprefix("policies.")
    if kind == "joined":
        return policies.first_of(*(_leaving(each, group) for each in window.arguments))
    if kind == "at_most_events":
        return policies.too_many(window.arguments[0])
    rule: Leaving
    if kind == "at_most_sum":
        rule = policies.too_large_a_sum(window.arguments[0])
    else:
        rule = {"since_max": policies.before_largest}.get(kind, policies.before_longest_run)
    values = group.column(window.arguments[-1])
    return lambda rows: rule([values[row] for row in rows])


# When it answers ---------------------------------------------------------------------------------


def answers(window: Window, group: Group) -> Iterator[Answer]:
    """The answers of a window that slides, for a key; those of no rows between others too."""
    every = window.get("every")
    if window.kind in ("time", "session", "calendar") or isinstance(every, Nanoseconds):
        group = group.without(lambda row: group.order[row] is None)
    if window.kind == "delta":
        values = group.column(window.arguments[0])
        group = group.without(lambda row: values[row] is None or is_nan(values[row]))
    if not group.rows:
        return
    if window.kind == "session":
        yield from _sessions(window, group)
    elif window.kind == "calendar":
        yield from _between_rows(_by_days(window, group))
    elif window.kind == "time" and isinstance(every, Nanoseconds):
        yield from _between_rows(_periodic(window, group))
    else:
        for place in _triggered(window, group):
            rows = held(window, group, place)
            yield Answer(rows, group.order[rows[0]], group.order[rows[-1]])


def _between_rows(windows: Iterator[Answer]) -> list[Answer]:
    """The windows that hold a row, and those between them that hold none."""
    all_of_them = list(windows)
    held = [place for place, each in enumerate(all_of_them) if each.rows]
    return all_of_them[held[0] : held[-1] + 1] if held else []


def _sessions(window: Window, group: Group) -> Iterator[Answer]:
    gap = int(window.arguments[0])
    for place, row in enumerate(group.rows):
        after = group.rows[place + 1 : place + 2]
        if not after or group.order[after[0]] - group.order[row] > gap:
            rows = held(window, group, place)
            yield Answer(rows, group.order[rows[0]], group.order[row] + gap)


def _by_days(window: Window, group: Group) -> Iterator[Answer]:
    """All windows of the calendar."""
    span = window.arguments[0]
    every = window.get("every") or span
    start = calendars.WEEKDAYS.index(window.get("week_start") or "monday")
    oldest, newest = group.order[group.rows[0]], group.order[group.rows[-1]]
    spans = (span.number, span.unit), (every.number, every.unit)
    for begin, end in calendars.windows(oldest, newest, *spans, _zone(window, group), start):
        yield Answer([row for row in group.rows if begin <= group.order[row] < end], begin, end)


def _periodic(window: Window, group: Group) -> Iterator[Answer]:
    """All windows of the clock."""
    extent, every = int(window.arguments[0]), int(window.get("every"))
    offset = int(window.get("offset") or 0)
    oldest, newest = group.order[group.rows[0]], group.order[group.rows[-1]]
    begin = offset + (oldest - extent - offset) // every * every
    while begin <= newest:
        rows = [row for row in group.rows if begin <= group.order[row] < begin + extent]
        yield Answer(rows, begin, begin + extent)
        begin += every


def _triggered(window: Window, group: Group) -> list[int]:
    """The places of the newest rows of all answers."""
    every = window.get("every")
    if window.kind == "whole":
        return [len(group.rows) - 1]
    if window.kind == "punctuated":
        marks = group.column(window.arguments[0])
        return [place for place, row in enumerate(group.rows) if marks[row]]
    if not isinstance(every, Nanoseconds):
        return [place for place in range(len(group.rows)) if (place + 1) % every == 0]
    ticks = [group.order[row] // int(every) for row in group.rows]
    return [
        place
        for place, tick in enumerate(ticks)
        if place + 1 == len(ticks) or ticks[place + 1] != tick
    ]


# Conditions --------------------------------------------------------------------------------------


def holds(condition: Condition, call: Call, row: int) -> bool | None:
    """Whether a condition is true of a row, by SQL's logic; None where it is not known."""
    operator, operands = condition.operator, condition.operands
    if operator in ("and", "or", "not"):
        found = [holds(each, call, row) for each in operands]
        if operator == "not":
            return None if found[0] is None else not found[0]
        deciding = operator == "or"
        return deciding if deciding in found else None if None in found else not deciding
    value = call.columns[operands[0]].values[row]
    if operator == "is null":
        return value is None
    if value is None or operator == "column":
        return value  # type: ignore[no-any-return]
    if operator == "in":
        return value in operands[1:]
    if operator == "like":
        pattern = re.escape(operands[1]).replace("%", ".*").replace("_", ".")
        return re.fullmatch(pattern, value, re.DOTALL) is not None
    if operator == "remainder":
        size = math.nan if isinstance(value, float) and math.isinf(value) else abs(value) % 3
        return operands[1] == (-size if value < 0 else size)  # type: ignore[no-any-return]
    if operator == "between":
        return operands[1] <= value <= operands[2]  # type: ignore[no-any-return]
    other = operands[1]
    return {
        "=": value == other, "<": value < other, "<=": value <= other,
        ">": value > other, ">=": value >= other,
    }[operator]  # fmt: skip


# The whole result --------------------------------------------------------------------------------


def computed(call: Call, measure: Measure, rows: list[int]) -> Any:
    """An aggregate of some rows."""
    columns = [call.columns[name] for name in measure.columns]

    def inputs_of(row: int) -> tuple[Any, ...] | None:
        found = tuple(column.values[row] for column in columns)
        if measure.where is None or holds(measure.where, call, row) is True:
            return found
        return (None, *found[1:]) if measure.name in aggregates.OF_ROWS else None

    inputs = [each for each in map(inputs_of, rows) if each is not None]
    return aggregates.answer(measure, inputs, columns)


def gated(call: Call, window: Window, measure: Measure, rows: list[int]) -> Any:
    """An aggregate of the rows of a window; null if they are fewer than `min_rows`."""
    answer = computed(call, measure, rows)
    least = window.get("min_rows")
    if least is not None:
        counted = rows
        if window.get("of") == "values":
            where = measure.where
            counted = [row for row in rows if where is None or holds(where, call, row) is True]
            columns = [call.columns[name].values for name in aggregates.skipped_in(measure)]
            counted = [row for row in counted if all(each[row] is not None for each in columns)]
        if len(counted) < least:
            return None
    return answer


def over(call: Call) -> dict[str, list[Any]]:
    """The columns that `wr.over` adds, by row."""
    found: dict[str, list[Any]] = {
        _column(measure, name, call): [None] * call.size
        for measure in call.aggs
        for name in call.names
    }
    for name, window in zip(call.names, call.windows, strict=True):
        for rows in groups(call):
            group = Group(call, rows)
            for place, row in enumerate(rows):
                members = held(window, group, place)
                for measure in call.aggs:
                    found[_column(measure, name, call)][row] = gated(call, window, measure, members)
    return found


def _column(measure: Measure, window: str, call: Call) -> str:
    return f"{measure.alias}_{window}" if call.shows_names else measure.alias


def slide(call: Call) -> list[dict[str, Any]]:
    """The rows that `wr.slide` answers; begins and ends of times are nanoseconds."""
    found = []
    for name, window in zip(call.names, call.windows, strict=True):
        for rows in groups(call):
            before: Any = None
            for answer in answers(window, Group(call, rows)):
                if not answer.rows and call.options.get("empty") != "emit":
                    before = None  # nothing was answered, so whatever comes is news
                    continue
                values = {each.alias: gated(call, window, each, answer.rows) for each in call.aggs}
                if call.options.get("changes_only") and _same(before, values):
                    continue
                before = values
                found.append(
                    {
                        **({"window": name} if call.shows_names else {}),
                        **{each: call.columns[each].values[rows[0]] for each in call.key},
                        "window_start": answer.begin,
                        "window_end": answer.end,
                        **values,
                    }
                )
    return found


def _same(before: dict[str, Any] | None, values: dict[str, Any]) -> bool:
    if before is None:
        return False
    return all(agree(before[each], values[each]) for each in values)
