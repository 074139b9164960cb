"""Random calls.

A table has keys (`k0`, `k1`), an order (`o0`, and `o1` or `id` to break ties), values of any types
(`a`, `b`, `c`), a text (`s`), a mark (`p`), a number that is not negative (`n`) and a number that
windows measure by (`d`). Aggregations take whatever column fits, keys and order among them.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from tests.fuzz.calls import CalendarLength, Call, Nanoseconds, Window
from tests.fuzz.columns import (
    KINDS,
    TIMES,
    TYPES,
    Column,
    draw_column,
    draw_cuts,
    step_of,
)
from tests.fuzz.measures import draw_measures
from windrow import algorithms
from windrow.algorithms import FORMS

ALL = tuple(name for kind in TYPES.values() for name in kind)
#: what Spark has as well
SPARK_TYPES = (
    *("pa.bool_()", "pa.int64()", "pa.int32()", "pa.int16()", "pa.int8()", "pa.float64()"),
    *("pa.float32()", "pa.decimal128(6, 2)", "pa.string()", "pa.binary()", "pa.date32()"),
    *("pa.timestamp('us', 'UTC')", "pa.list_(pa.int64())"),
)
NAMES = ("a b", "a.b", "UPPER", "Shard", "é", "a`b", "key", "order", "count", "_c", "position")
#: by the name of all its forms where an algorithm has several, without those for a second core
ALGORITHMS = (
    *FORMS,
    *(
        name
        for name, each in algorithms.ALGORITHMS.items()
        if each not in itertools.chain(*FORMS.values()) and not hasattr(each, "HELPER")
    ),
)


#: clocks that change, by half an hour too, and over midnight
ZONES = ("Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/St_Johns", "UTC")
HOUR = 3600 * 10**9


@dataclass(frozen=True)
class Profile:
    """Which calls a backend takes.

    Attributes:
        types: of keys and values.
        times: of order columns that are times.
        ordered: whether an order is needed that leaves no ties, by a column `id`.
        timed: whether the order is a time without nulls.
        algorithms: whether some calls name an algorithm.
        most_rows: the size of the largest table.
        chunked: whether columns lie in several chunks or have dictionaries.
        pace: how many ticks lie between two timestamps of the order column, with windows of whole
            microseconds; 0 for one tick, with windows of parts of it.
        ahead: whether windows may hold rows that are so many behind their own, or all of a key: a
            stream has no answers for the last rows of its keys.
    """

    types: tuple[str, ...] = ALL
    times: tuple[str, ...] = TIMES
    ordered: bool = False
    timed: bool = False
    algorithms: bool = True
    most_rows: int = 24
    chunked: bool = True
    pace: int = 0
    ahead: bool = True


def draw_call(random: Random, profile: Profile) -> Call:
    """Any call."""
    while True:
        call = _try(random, profile)
        if call.aggs:
            return call


def _try(random: Random, profile: Profile) -> Call:
    function = random.choice(("over", "slide"))
    # Now and then by the calendar: then times lie hours or days apart, not ticks.
    by_calendar = random.random() < 0.1
    few = (0, 1, *(random.randint(2, profile.most_rows) for _ in range(6)))
    size = random.choice(few) if random.random() < 0.97 else 5 * profile.most_rows
    keys = _keys(random, profile, size)
    order = _order(random, profile, function, size, by_calendar)
    columns = {**keys, **order, **_values(random, profile, size)}
    names = tuple(order)
    if not profile.ordered and len(names) > 1 and random.random() < 0.5:
        names = names[:1]
    options = _options(random, profile, function)
    windows = tuple(
        _waiting(
            random,
            _calendar(random, function, columns[names[0]].type)
            if by_calendar
            else _window(random, profile, function, columns, names),
        )
        for _ in range(random.choice((1, 1, 2, 3)))
    )
    if function == "over" and profile.ahead and random.random() < 0.05:
        windows = (_made("rows", (), {"before": 0, "after": random.choice((1, 3, 30))}),)
    named = random.random() < 0.2
    if function == "slide" and random.random() < 0.3 and all(map(_may_be_empty, windows)):
        options["empty"] = "emit"
    call = Call(function, columns, tuple(keys), names, windows, (), options, named)
    call = replace(call, aggs=draw_measures(random, call))
    call = _renamed(random, call)
    return _stored(random, call) if profile.chunked else call


def _renamed(random: Random, call: Call) -> Call:
    """Now and then a value is called by a name that is hard to quote, or that windrow uses."""
    if random.random() < 0.8:
        return call
    old, new = random.choice(("b", "c")), random.choice(NAMES)
    columns = {new if name == old else name: column for name, column in call.columns.items()}
    aggs = tuple(
        replace(each, columns=tuple(new if name == old else name for name in each.columns))
        for each in call.aggs
    )
    return replace(call, columns=columns, aggs=aggs)


def _keys(random: Random, profile: Profile, size: int) -> dict[str, Column]:
    found = {}
    for index in range(random.choice((0, 1, 1, 1, 2))):
        kinds = ("boolean", "integer", "text", "temporal", "float", "decimal", "nested")
        kind = random.choice(kinds)
        allowed = [name for name in profile.types if KINDS[name] == kind]
        column = draw_column(random, random.choice(allowed or ["pa.int64()"]), size, "special")
        few = column.values[:3]
        found[f"k{index}"] = replace(column, values=tuple(random.choice(few) for _ in range(size)))
    return found


def _order(
    random: Random, profile: Profile, function: str, size: int, by_calendar: bool = False
) -> dict[str, Column]:
    found: dict[str, Column] = {}
    if by_calendar or profile.timed or random.random() < 0.65:
        name = random.choice(profile.times)
        pace = max(profile.pace, 1) if "timestamp" in name else 1
        if by_calendar:
            pace = max(random.choice((5, 31, 216)) * HOUR // step_of(name), 1)
        column = draw_column(random, name, size, pace=pace)
        if profile.timed or random.random() < 0.7:
            known = [value for value in column.values if value is not None] or [0]
            filled = (random.choice(known) if each is None else each for each in column.values)
            column = replace(column, values=tuple(filled))
        found["o0"] = column
    elif function == "slide" or random.random() < 0.7 or profile.ordered:
        kind = random.choice(("integer", "float", "text", "decimal"))
        allowed = [name for name in profile.types if KINDS[name] == kind]
        found["o0"] = draw_column(random, random.choice(allowed or ["pa.int64()"]), size, "special")
    if profile.ordered:
        ids = random.sample(range(size), size)
        found["id"] = Column("pa.int64()", tuple(ids))
    elif found and random.random() < 0.4:
        found["o1"] = draw_column(random, "pa.int16()", size, "plain")
    return found


def _values(random: Random, profile: Profile, size: int) -> dict[str, Column]:
    numbers = tuple(name for name in profile.types if KINDS[name] in ("integer", "float"))
    found = {
        "a": draw_column(random, random.choice(numbers), size),
        "b": draw_column(random, random.choice(profile.types), size),
        "c": draw_column(random, random.choice(profile.types), size),
        "s": draw_column(random, "pa.string()", size),
        "p": draw_column(random, "pa.bool_()", size),
    }
    natural = tuple(None if random.random() < 0.1 else random.randint(0, 12) for _ in range(size))
    found["n"] = Column("pa.int64()", natural)
    measured = random.choice(("pa.int64()", "pa.float64()"))
    found["d"] = draw_column(random, measured, size, random.choice(("plain", "special")))
    return found


def _stored(random: Random, call: Call) -> Call:
    """The same values in chunks, some of them by dictionary."""
    columns = {}
    for name, column in call.columns.items():
        encoded = column.kind == "text" and "view" not in column.type and random.random() < 0.3
        columns[name] = replace(column, cuts=draw_cuts(random, call.size), encoded=encoded)
    return replace(call, columns=columns)


def _options(random: Random, profile: Profile, function: str) -> dict[str, Any]:
    options: dict[str, Any] = {}
    if profile.algorithms and random.random() < 0.3:
        options["algorithm"] = random.choice(ALGORITHMS)
    if random.random() < 0.1:
        options["exact"] = False
    if random.random() < 0.2:
        options["prefer"] = random.choice(("latency", "memory"))
    if function == "slide" and random.random() < 0.15:
        options["changes_only"] = True
    return options


# Windows -----------------------------------------------------------------------------------------


def _calendar(random: Random, function: str, order_type: str) -> Window:
    """A window by the calendar; times without a zone take none."""
    options: dict[str, Any] = {}
    if function == "slide" and random.random() < 0.6:
        options["every"] = _span(random)
    if "', '" in order_type and random.random() < 0.8:
        options["timezone"] = random.choice(ZONES)
    if random.random() < 0.3:
        options["week_start"] = random.choice(("sunday", "wednesday"))
    return _made("calendar", (_span(random),), options)


def _span(random: Random) -> CalendarLength:
    unit = random.choice(("day", "day", "week", "month", "month", "quarter", "year"))
    return CalendarLength(random.choice((1, 1, 2, 3, 10 if unit == "day" else 1)), unit)


def _window(
    random: Random,
    profile: Profile,
    function: str,
    columns: dict[str, Column],
    order: tuple[str, ...],
) -> Window:
    is_time = bool(order) and columns[order[0]].kind == "temporal"
    kinds = ["rows", "rows", "delta", "expanding", "punctuated", "policy"]
    kinds += ["time", "time", "time", "session"] if is_time else []
    kinds += ["whole"] if profile.ahead else []
    kind = random.choice(kinds)
    step = step_of(columns[order[0]].type) if is_time else 0
    if profile.pace and is_time and "timestamp" in columns[order[0]].type:
        step *= profile.pace
    options: dict[str, Any] = {}
    if function == "slide" and kind not in ("punctuated", "session", "whole"):
        by_clock = is_time and random.random() < 0.6
        options["every"] = _duration(random, profile, step) if by_clock else random.randint(1, 5)
    if kind == "rows":
        return _rows(random, profile, options)
    if kind in ("expanding", "whole"):
        return _made(kind, (), options)
    if kind == "delta":
        amount = random.choice((1, 2, 3, 0.5, 2.25, 2**70))
        return _made("delta", ("d", amount), options)
    if kind == "punctuated":
        return _made("punctuated", ("p",), options)
    if kind == "session":
        return _made("session", (_duration(random, profile, step),), options)
    if kind == "policy":
        return _policy(random, options)
    if function == "slide":
        if isinstance(options["every"], Nanoseconds) and random.random() < 0.4:
            options["offset"] = Nanoseconds(
                _duration(random, profile, step) * random.choice((1, -1))
            )
    else:
        options["closed"] = random.choice(("right", "both", "left", "neither"))
        if random.random() < 0.4:
            for name in random.choice((("before", "after"), ("before",), ("after",))):
                options[name] = _duration(random, profile, step)
            return _made("time", (), options)
        options["ties"] = random.choice(("rows", "peers"))
    return _made("time", (_duration(random, profile, step),), options)


def _rows(random: Random, profile: Profile, options: dict[str, Any]) -> Window:
    counts = (*range(1, 8), 30, 2**40)
    if not options and random.random() < 0.5:
        if not profile.ahead or random.random() < 0.5:
            return _made("rows", (random.choice(counts),), {"current": False})
        # Often from the current row on, as `lead` wants it.
        around = {"before": random.choice((0, 0, 0, *counts)), "after": random.choice((0, *counts))}
        return _made("rows", (), around)
    return _made("rows", (random.choice(counts),), options)


def _may_be_empty(window: Window) -> bool:
    """Whether a clock or a calendar says when windows begin, or rows say when they answer."""
    every = window.get("every")
    if isinstance(every, Nanoseconds):
        return window.kind == "time"
    return window.kind == "calendar" or every is not None


def _waiting(random: Random, window: Window) -> Window:
    """Now and then a window waits for some rows or values."""
    if window.kind == "policies.joined" or random.random() < 0.7:
        return window
    most = 4
    if window.kind == "rows":
        around = 1 + (window.get("before") or 0) + (window.get("after") or 0)
        most = window.arguments[0] if window.arguments else around
    options: dict[str, Any] = {"min_rows": random.randint(1, min(most, 4))}
    if random.random() < 0.5:
        options["of"] = "values"
    return replace(window, options=(*window.options, *options.items()))


def _policy(random: Random, options: dict[str, Any]) -> Window:
    if not options and random.random() < 0.25:
        return _made("policies.joined", (_policy(random, {}), _policy(random, {})), {})
    kind = random.choice(("at_most_events", "at_most_sum", "since_max", "since_longest_run"))
    arguments: tuple[Any, ...] = ("n",)
    if kind == "at_most_events":
        arguments = (random.randint(1, 6),)
    if kind == "at_most_sum":
        # No event alone is too large where answers are named after their events.
        arguments = (random.randint(12 if options else 5, 30), "n")
    return _made(f"policies.{kind}", arguments, options)


def _made(kind: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> Window:
    return Window(kind, arguments, tuple(options.items()))


def _duration(random: Random, profile: Profile, step: int) -> Nanoseconds:
    """Some steps of the order column, or some thirds of one."""
    if random.random() < 0.7:
        return Nanoseconds(random.randint(1, 8) * step)
    parts = max(1, random.randint(1, 24) * step // 3)
    return Nanoseconds(max(1, parts // 1000) * 1000 if profile.pace else parts)
