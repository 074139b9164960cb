"""`wr.over`, slow and plainly right: section 2 of the design, row by row, in plain Python.

Nothing here slides. For each row the oracle picks the rows of its window out of all rows of its
key, and computes each aggregate from them alone, in exact arithmetic where there is such a thing.
An answer that floating point has to round is `Near` the exact one: `within` is what adding up the
window from scratch may be off by, so an algorithm may not lose more than that.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

import pyarrow as pa

from tests.support import calendars
from windrow.algebra.aggregation import Measure
from windrow.windows import (
    CalendarWindow,
    DeltaWindow,
    ExpandingWindow,
    PunctuatedWindow,
    RowsWindow,
    SessionWindow,
    TimeWindow,
    WholeWindow,
    Window,
)

EPSILON = 2.0**-52
NANOSECONDS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
EXACT = Context(prec=200)


@dataclass(frozen=True)
class DaysApart:
    """The distance of two dates: an integer, or a duration where dates are in milliseconds."""

    days: int


@dataclass(frozen=True)
class Near:
    """A number that may be off by rounding, and by how much."""

    value: float
    within: float


# Rows and windows -------------------------------------------------------------------------------


def over(
    table: pa.Table,
    *,
    windows: dict[str, Window],
    aggs: Sequence[Measure],
    key: Sequence[str] = (),
    order: Sequence[str] = (),
) -> dict[str, list[Any]]:
    """The columns that `wr.over` adds, in the order of the table's rows; "" is no name."""
    columns = {name: table[name].to_pylist() for name in table.column_names}
    times = ticks(table[order[0]]) if order and pa.types.is_temporal(table[order[0]].type) else None
    if times is not None:
        zone = getattr(table[order[0]].type, "tz", None)
        windows = {name: calendars.in_zone(window, zone) for name, window in windows.items()}
    answers = {
        column_name(measure, name): [None] * table.num_rows for measure in aggs for name in windows
    }
    for group in groups(columns, key, order, table.num_rows):
        for place, row in enumerate(group):
            for name, window in windows.items():
                members = in_window(window, group, place, times, columns)
                for measure in aggs:
                    inputs = [[columns[c][member] for c in measure.columns] for member in members]
                    own = columns[measure.columns[0]][row] if measure.columns else None
                    current = own, row in members
                    answer = aggregate(measure.aggregation.name, inputs, current)
                    if not is_enough(window, measure, inputs) and not overflows(answer):
                        answer = None
                    answers[column_name(measure, name)][row] = answer
    return answers


def column_name(measure: Measure, window: str) -> str:
    """`alias` of a window that has no name, else `alias_window`."""
    return f"{measure.name}_{window}" if window else measure.name


def is_enough(window: Window, measure: Measure, rows: Sequence[Sequence[Any]]) -> bool:
    """Whether so many rows or values are in a window as its `min_rows` says."""
    if window.min_rows is None:
        return True
    if window.min_rows.of_values:
        watched = [place for place in measure.aggregation.watched if place < len(measure.columns)]
        rows = [inputs for inputs in rows if all(inputs[place] is not None for place in watched)]
    return len(rows) >= window.min_rows.count


def groups(
    columns: dict[str, list[Any]], key: Sequence[str], order: Sequence[str], size: int
) -> list[list[int]]:
    """The rows of each key, in order; rows of equal order stay as they came."""
    found: dict[Any, list[int]] = {}
    for row in range(size):
        found.setdefault(tuple(grouped(columns[name][row]) for name in key), []).append(row)
    return [
        sorted(rows, key=lambda row: [sort_key(columns[name][row]) for name in order])
        for rows in found.values()
    ]


def grouped(value: Any) -> Any:
    """A value by which keys are told apart: null is a key, NaN is one key, -0.0 is 0.0."""
    return "not a number" if is_nan(value) else repr(value) if isinstance(value, list) else value


def sort_key(value: Any) -> tuple[int, Any]:
    """Nulls first, NaN last, as Spark sorts."""
    if value is None:
        return (0, 0)
    return (2, 0) if is_nan(value) else (1, value)


def is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def ticks(column: pa.ChunkedArray) -> list[int | None]:
    """Times in nanoseconds."""
    if pa.types.is_timestamp(column.type):
        step, whole = NANOSECONDS[column.type.unit], column.cast(pa.int64())
    else:
        step, whole = 86_400 * 10**9, column.cast(pa.date32()).cast(pa.int32())
    return [None if time is None else time * step for time in whole.to_pylist()]


def in_window(
    window: Window,
    group: list[int],
    place: int,
    times: list[int | None] | None,
    columns: dict[str, list[Any]],
) -> list[int]:
    """The rows of the window of a place of its group, oldest first."""
    if isinstance(window, RowsWindow):
        stop = place + window.later + 1
        return group[max(0, stop - window.range) : stop]
    if isinstance(window, ExpandingWindow):
        return group[: place + 1]
    if isinstance(window, WholeWindow):
        return group
    if isinstance(window, DeltaWindow):
        return less_behind(window, group[: place + 1], columns[window.column])
    if isinstance(window, PunctuatedWindow):
        marked = [earlier for earlier in range(place) if columns[window.column][group[earlier]]]
        return group[marked[-1] + 1 if marked else 0 : place + 1]
    assert times is not None
    if isinstance(window, CalendarWindow):
        return by_calendar(window, group[: place + 1], times)
    if isinstance(window, SessionWindow):
        return since_gap(window, group[: place + 1], times)
    return in_time(window, group, place, times)


def less_behind(window: DeltaWindow, rows: list[int], measure: list[Any]) -> list[int]:
    """The rows up to the last that are in a window of differences, as each of them comes."""

    def is_missing(row: int) -> bool:
        return measure[row] is None or is_nan(measure[row])

    if is_missing(rows[-1]):
        return []
    held: list[int] = []
    for row in rows:
        if not is_missing(row):
            held.append(row)
            while measure[row] != measure[held[0]] and (
                measure[row] - measure[held[0]] >= window.amount
            ):
                held.pop(0)
    return held


def by_calendar(window: CalendarWindow, rows: list[int], times: list[int | None]) -> list[int]:
    """The rows up to the last since the same time of day, some days or months before it."""
    now = times[rows[-1]]
    if now is None:
        return [row for row in rows if times[row] is None]
    span = calendars.written(window.range)
    since = min(calendars.back(now, span, window.timezone), now - 1)
    return [row for row in rows if (time := times[row]) is not None and time > since]


def since_gap(window: SessionWindow, rows: list[int], times: list[int | None]) -> list[int]:
    """The rows up to the last that are in its session."""
    held: list[int] = []
    after = times[rows[-1]]
    for row in reversed(rows):
        time = times[row]
        if time is None or after is None or after - time > window.gap:
            break
        held.append(row)
        after = time
    return held[::-1]


def in_time(window: TimeWindow, group: list[int], place: int, times: list[int | None]) -> list[int]:
    """The rows of a window of time."""
    now = times[group[place]]
    return [
        row
        for other, row in enumerate(group)
        if (now is None) == (times[row] is None)
        and reaches(window, (times[row] or 0) - (now or 0), other - place)
    ]


def reaches(window: TimeWindow, later: int, behind: int) -> bool:
    """Whether a window of time holds a row so much later than its own, so many rows behind it.

    A null is no time: its peers are the other nulls, and no distance leads to it.
    """
    begin, end = -window.range, window.after or 0
    if later == begin:
        from_begin = window.closed in ("left", "both")
    else:
        from_begin = later > begin
    ends_closed = window.closed in ("right", "both")
    if window.after is None and window.ties == "rows" and later == 0:
        until_end = behind <= 0 if ends_closed else behind < 0
    else:
        until_end = later <= end if ends_closed else later < end
    return from_begin and until_end


# Aggregates -------------------------------------------------------------------------------------


def aggregate(
    name: str, rows: Sequence[Sequence[Any]], current: tuple[Any, bool] | None = None
) -> Any:
    """The aggregate of a window's inputs, one list per row; rows without a value are skipped.

    `current` is the current row's value, and whether that row is in the window; by default it is
    the newest.
    """
    if name == "count":
        return sum(not inputs or inputs[0] is not None for inputs in rows)
    present = [inputs for inputs in rows if inputs[0] is not None]
    if name == "count_distinct":
        return len(different([inputs[0] for inputs in present]))
    if not present:
        return None
    if name in RANKED:
        own, inside = (rows[-1][0], True) if current is None else current
        values = [inputs[0] for inputs in present] + ([] if inside else [own])
        return None if own is None else RANKED[name](values, own)
    if name in CARRYING:
        return CARRYING[name](present)
    return AGGREGATES[name]([inputs[0] for inputs in present])


def is_float(values: Sequence[Any]) -> bool:
    return isinstance(values[0], float)


def limit_sum(values: Sequence[float]) -> float | None:
    """The sum if some value is not finite: it does not depend on the finite ones."""
    if all(map(math.isfinite, values)):
        return None
    if any(map(math.isnan, values)) or {math.inf, -math.inf} <= set(values):
        return math.nan
    return math.inf if math.inf in values else -math.inf


def rounded_sum(values: Sequence[float]) -> Any:
    limit = limit_sum(values)
    if limit is not None:
        return limit
    within = len(values) * EPSILON * math.fsum(map(abs, values))
    return Near(math.fsum(values), within)


def total(values: Sequence[Any]) -> Any:
    if isinstance(values[0], timedelta):
        return sum(values, timedelta())
    if is_float(values):
        return rounded_sum(values)
    if isinstance(values[0], Decimal):
        return exact_decimal(sum(map(Fraction, values)), values[0])
    return sum(values)


def exact_decimal(number: Fraction | int, like: Decimal) -> Decimal:
    exponent = like.as_tuple().exponent
    assert isinstance(exponent, int)
    scaled = Fraction(number) / Fraction(10) ** exponent
    assert scaled.denominator == 1
    return EXACT.scaleb(Decimal(scaled.numerator), exponent)


def mean(values: Sequence[Any]) -> Any:
    if isinstance(values[0], timedelta):
        ticks = Fraction(total(values) / timedelta(milliseconds=1)) / len(values)
        return timedelta(milliseconds=math.trunc(ticks))
    limit = limit_sum(values) if is_float(values) else None
    if limit is not None:
        return limit
    exact = sum(map(Fraction, values)) / len(values)
    size = sum(abs(Fraction(value)) for value in values) / len(values)
    steps = 4 if isinstance(values[0], int) else len(values) + 2  # a sum of integers is exact
    return Near(float(exact), steps * EPSILON * float(size))


def product(values: Sequence[Any]) -> Any:
    if isinstance(values[0], int):
        return math.prod(values)
    numbers = [float(value) for value in values]
    if not all(map(math.isfinite, numbers)):
        return math.prod(numbers)
    exact = math.prod(map(Fraction, values))
    if abs(exact) >= 2**1024:
        return math.inf if exact > 0 else -math.inf
    return Near(float(exact), 2 * len(values) * EPSILON * abs(float(exact)))


def geometric_mean(values: Sequence[Any]) -> Any:
    if any(is_nan(value) or value < 0 for value in values):
        return math.nan
    if math.inf in values:
        return math.nan if 0 in values else math.inf
    if 0 in values:
        return 0.0
    logarithms = [math.log(value) for value in values]
    found = math.exp(math.fsum(logarithms) / len(values))
    loss = (len(values) + 2) * EPSILON * (1 + math.fsum(map(abs, logarithms)))
    return Near(found, found * loss)


def smallest(values: Sequence[Any]) -> Any:
    return min(values, key=sort_key)


def largest(values: Sequence[Any]) -> Any:
    return max(values, key=sort_key)


def value_range(values: Sequence[Any]) -> Any:
    low, high = smallest(values), largest(values)
    if isinstance(low, Decimal):
        return EXACT.subtract(high, low)
    return DaysApart((high - low).days) if type(low) is date else high - low


def squared_deviation(values: Sequence[Any]) -> tuple[Fraction, float] | None:
    """The sum of squared distances from the mean and what rounding may change; None: not finite."""
    if not all(math.isfinite(value) for value in values):
        return None
    size = len(values)
    middle = sum(map(Fraction, values)) / size
    exact = sum((value - middle) ** 2 for value in map(Fraction, values))
    spread = max(abs(float(value - middle)) for value in map(Fraction, values))
    # The means are off by as much as the sums; the deviations from them by twice that.
    off = 4 * size * EPSILON * max(abs(float(value)) for value in values)
    return Fraction(exact), size * (2 * spread * off + off * off) + size * EPSILON * float(exact)


def variance(freedom: int) -> Callable[[Sequence[Any]], Any]:
    def of(values: Sequence[Any]) -> Any:
        if len(values) <= freedom:
            return None
        found = squared_deviation(values)
        if found is None:
            return math.nan
        return Near(float(found[0] / (len(values) - freedom)), found[1] / (len(values) - freedom))

    return of


def stddev(freedom: int) -> Callable[[Sequence[Any]], Any]:
    def of(values: Sequence[Any]) -> Any:
        found = variance(freedom)(values)
        if not isinstance(found, Near):
            return found
        root = math.sqrt(found.value)
        # The root of v + e is at most e / root(v) away, and never more than root(e).
        within = min(math.sqrt(found.within), found.within / root if root else math.inf)
        return Near(root, within + EPSILON * root)

    return of


def ohlc(values: Sequence[Any]) -> Any:
    high, low = largest(values), smallest(values)
    return {"open": values[0], "high": high, "low": low, "close": values[-1]}


def different(values: Sequence[Any]) -> list[Any]:
    """The different values in the order of their arrival; 0.0 is -0.0."""
    return list({sort_key(value): value for value in reversed(values)}.values())[::-1]


def between(values: Sequence[Any], share: float, interpolation: str) -> Any:
    """The value below which a share of all lies."""
    ordered = sorted(values, key=sort_key)
    place = share * (len(ordered) - 1)
    low, high = ordered[math.floor(place)], ordered[math.ceil(place)]
    if interpolation == "lower":
        return low
    part = 0.5 if interpolation == "midpoint" else place % 1
    if low is high or sort_key(low) == sort_key(high):
        return float(low)
    if not (math.isfinite(low) and math.isfinite(high)):
        return float(low) * (1 - part) + float(high) * part
    exact = Fraction(low) + (Fraction(high) - Fraction(low)) * Fraction(part)
    return Near(float(exact), 4 * EPSILON * (abs(float(low)) + abs(float(high))))


def mode(values: Sequence[Any]) -> Any:
    """The most frequent value, the first of equals."""
    keys = [sort_key(value) for value in values]
    return max(values, key=lambda value: keys.count(sort_key(value)))


def rank(method: str, descending: bool) -> Callable[[Sequence[Any], Any], Any]:
    """The rank of one of the values."""

    def of(values: Sequence[Any], own: Any) -> Any:
        keys, key = [sort_key(value) for value in values], sort_key(own)
        ahead = [each for each in keys if (each > key if descending else each < key)]
        if method == "dense":
            return len(set(ahead)) + 1
        lowest, highest = len(ahead) + 1, len(ahead) + keys.count(key)
        return {"min": lowest, "max": highest, "average": (lowest + highest) / 2}[method]

    return of


def percent_rank(values: Sequence[Any], own: Any) -> float:
    """The share of other values that are smaller."""
    return (rank("min", False)(values, own) - 1) / max(len(values) - 1, 1)


#: of the values and the current row's
RANKED: dict[str, Callable[[Sequence[Any], Any], Any]] = {
    "rank": rank("min", descending=False),
    "rank_average": rank("average", descending=False),
    "rank_dense_descending": rank("dense", descending=True),
    "percent_rank": percent_rank,
}

AGGREGATES: dict[str, Callable[[Sequence[Any]], Any]] = {
    "sum": total,
    "mean": mean,
    "product": product,
    "geometric_mean": geometric_mean,
    "min": smallest,
    "max": largest,
    "value_range": value_range,
    "min_count": lambda values: sum(sort_key(v) == sort_key(smallest(values)) for v in values),
    "max_count": lambda values: sum(sort_key(v) == sort_key(largest(values)) for v in values),
    "variance": variance(1),
    "variance_pop": variance(0),
    "stddev": stddev(1),
    "stddev_pop": stddev(0),
    "ohlc": ohlc,
    "all_equal": lambda values: sort_key(smallest(values)) == sort_key(largest(values)),
    "first": lambda values: values[0],
    "last": lambda values: values[-1],
    "collect": list,
    "concat": lambda values: values[0][:0].join(values),
    "nth_2": lambda values: values[1] if len(values) > 1 else None,
    "nth_last_3": lambda values: values[-3] if len(values) > 2 else None,
    "median": lambda values: between(values, 0.5, "linear"),
    "quantile_0_9": lambda values: between(values, 0.9, "linear"),
    "quantile_0_25_lower": lambda values: between(values, 0.25, "lower"),
    "quantiles_0_1_0_5_midpoint": lambda values: [
        between(values, share, "midpoint") for share in (0.1, 0.5)
    ],
    "mode": mode,
    "sum_distinct": lambda values: total(different(values)),
    "top_3": lambda values: sorted(values, key=sort_key, reverse=True)[:3],
    "bottom_2": lambda values: sorted(values, key=sort_key)[:2],
}

# `min` and `max` of Python answer the first of equals.
CARRYING: dict[str, Callable[[Sequence[Sequence[Any]]], Any]] = {
    "arg_min": lambda rows: min(rows, key=lambda inputs: sort_key(inputs[0]))[1],
    "arg_max": lambda rows: max(rows, key=lambda inputs: sort_key(inputs[0]))[1],
}


def rate(rows: Sequence[Sequence[Any]]) -> Any:
    """Change per second of the times in the second column; of rows with both."""
    rows = [inputs for inputs in rows if inputs[1] is not None]
    if not rows:
        return None
    (oldest, begin), (newest, end) = rows[0], rows[-1]
    seconds = Fraction((end - begin) / timedelta(microseconds=1)) / 10**6
    if not seconds:
        return None
    if not (math.isfinite(oldest) and math.isfinite(newest)):
        return (newest - oldest) / float(seconds)
    exact = float((Fraction(newest) - Fraction(oldest)) / seconds)
    return Near(exact, 8 * EPSILON * (abs(exact) + abs(oldest) + abs(newest)) / float(seconds))


def m4(rows: Sequence[Sequence[Any]]) -> Any:
    """First, last, smallest and largest, each with what stands beside it."""
    low = min(rows, key=lambda inputs: sort_key(inputs[0]))
    high = max(rows, key=lambda inputs: sort_key(inputs[0]))
    four = {"first": rows[0], "last": rows[-1], "min": low, "max": high}
    return {
        name: member
        for each, (value, beside) in four.items()
        for name, member in ((each, value), (f"{each}_time", beside))
    }


#: of a column and the times in another
TIMED: dict[str, Callable[[Sequence[Sequence[Any]]], Any]] = {"rate": rate, "m4": m4}
CARRYING |= TIMED

#: what is computed here; what the others answer is checked in tests/aggregations
KNOWN = [
    "count",
    "count_distinct",
    *AGGREGATES,
    *RANKED,
    *(name for name in CARRYING if name not in TIMED),
]


def overflows(answer: Any) -> bool:
    """Whether an exact answer is larger than the type of its column can hold."""
    if isinstance(answer, Decimal):
        return len(answer.as_tuple().digits) > 38
    return isinstance(answer, int) and not -(2**63) <= answer < 2**63


# Comparison -------------------------------------------------------------------------------------


def agree(expected: Any, answer: Any) -> bool:
    """Whether an answer is the expected one, or near it."""
    if isinstance(expected, Near):
        return answer is not None and abs(answer - expected.value) <= expected.within
    if isinstance(expected, DaysApart):
        return answer in (expected, expected.days, timedelta(days=expected.days))
    if isinstance(expected, list) and isinstance(answer, list):
        return len(expected) == len(answer) and all(map(agree, expected, answer))
    if isinstance(expected, dict) and isinstance(answer, dict):
        return expected.keys() == answer.keys() and all(
            agree(each, answer[name]) for name, each in expected.items()
        )
    if is_nan(expected):
        return is_nan(answer)
    return type_of(expected) is type_of(answer) and bool(expected == answer)


def type_of(value: Any) -> type:
    """Integers are told apart from floats, and null from everything."""
    return int if isinstance(value, bool) else type(value)


def assert_agrees(expected: dict[str, list[Any]], result: pa.Table) -> None:
    """Every expected column is there, every row of it as expected."""
    for name, column in expected.items():
        for row, (value, answer) in enumerate(zip(column, result[name].to_pylist(), strict=True)):
            assert agree(value, answer), f"{name} in row {row}: {answer!r} is not {value!r}"
