"""Policies ready made: windows of Villalba et al. 2019, §5.4 to §5.6, and adaptive ones (its §2).

Each takes the name of a column, or none in a `wr.Window`, whose events are values. They are joined
by `|`: `since_max("x") | at_most_events(1000)` lets leave what one of them lets leave.
"""

from __future__ import annotations

import math
from datetime import timedelta
from numbers import Real
from typing import Any

from windrow.aggregations import count, mean
from windrow.aggregations import max as maximum
from windrow.aggregations import sum as added
from windrow.aggregations.moments import VARIANCE_POP
from windrow.algebra.aggregation import Aggregation, Measure
from windrow.algebra.definition import aggregation
from windrow.algebra.durations import words
from windrow.errors import InvalidArgument
from windrow.windows.arguments import length, row_count
from windrow.windows.min_rows import Counted
from windrow.windows.policy import PolicyWindow, Rule
from windrow.windows.triggers import Every, trigger

#: fewer values than this in a half tell nothing of their mean
_FEWEST = 5

_VALUES = aggregation(
    name="values",
    identity=0,
    lift=lambda _value: 1,
    combine=lambda older, newer: older + newer,
    exact=True,
)

_NEWEST = aggregation(
    name="newest",
    identity=(0.0, 0),
    lift=lambda value: (float(value), 1),
    combine=lambda older, newer: newer if newer[1] > 0 else older,
    lower=lambda partial: partial[0],
    exact=True,
)


#: of runs of rising values: how many values there are, how many the longest run has and where it
#: begins, how many the first and the last run have, the first and the last value
NO_RUNS = (0, 0, 0, 0, 0, 0.0, 0.0)


def lift_run(value: Any) -> Any:
    """One value is a run."""
    return (1, 1, 0, 1, 1, float(value), float(value))


def join_runs(older: Any, newer: Any) -> Any:
    """The runs of two neighbouring parts; the last of one and the first of the other may be one."""
    if older[0] == 0:
        return newer
    if newer[0] == 0:
        return older
    size, longest, begin, head, tail, first, last = older
    joined = last < newer[5]
    if joined and tail + newer[3] > longest:
        longest, begin = tail + newer[3], size - tail
    if newer[1] > longest:
        longest, begin = newer[1], size + newer[2]
    if joined and head == size:
        head = size + newer[3]
    joined_tail = newer[4] + tail if joined and newer[4] == newer[0] else newer[4]
    return (size + newer[0], longest, begin, head, joined_tail, first, newer[6])


_RUN_BEGIN = aggregation(
    name="run_begin",
    identity=NO_RUNS,
    lift=lift_run,
    combine=join_runs,
    lower=lambda partial: partial[2],
    exact=True,
)


def at_most_events(
    events: int, *, every: Every = None, min_rows: int | None = None, of: Counted = "rows"
) -> PolicyWindow:
    """The newest events, as many as these.

    >>> import windrow as wr
    >>> window = wr.Window(wr.sum(), policy=wr.policies.at_most_events(2))
    >>> window.insert_many([1, 2, 3])
    >>> window.query()
    5
    """
    limit = row_count(events, "events")
    rule = Rule(
        lambda total, oldest: total - oldest >= limit,
        (count(),),
        made_by=(at_most_events, {"events": limit}),
    )
    return _window(rule, f"at_most_{limit}_events", every, min_rows, of)


def at_most_span(
    span: str | timedelta,
    column: str | None = None,
    *,
    every: Every = None,
    min_rows: int | None = None,
    of: Counted = "rows",
) -> PolicyWindow:
    """The events whose time lies less than a span before the latest.

    >>> import windrow as wr
    >>> from datetime import datetime
    >>> window = wr.Window(wr.count(), policy=wr.policies.at_most_span("1 hour"))
    >>> window.insert_many(datetime(2024, 1, 1, hour, 30 * hour) for hour in (0, 1))
    >>> window.query()
    1
    """
    extent = length(span, "span")
    shortest = timedelta(microseconds=-(-extent // 1000))

    def in_ticks(nanoseconds_per_tick: int) -> Any:
        ticks = min(-(-extent // nanoseconds_per_tick), 2**63 - 1)
        return lambda total, oldest: total - oldest >= ticks

    rule = Rule(
        lambda total, oldest: total - oldest >= shortest,
        (_of(maximum, column),),
        in_ticks,
        (at_most_span, {"span": span, "column": column}),
    )
    return _window(rule, f"at_most_{words(extent).replace(' ', '_')}", every, min_rows, of)


def at_most_sum(
    limit: float,
    column: str | None = None,
    *,
    every: Every = None,
    min_rows: int | None = None,
    of: Counted = "rows",
) -> PolicyWindow:
    """The newest events whose sum is no more than a limit; values are not negative.

    An event that is too large alone leaves an empty window. So does NaN.

    >>> import windrow as wr
    >>> window = wr.Window(wr.max(), policy=wr.policies.at_most_sum(10))
    >>> window.insert_many([2, 2, 3, 3])
    >>> window.query(), len(window)
    (3, 4)
    >>> window.insert(4)
    >>> window.query(), len(window)
    (4, 3)
    """
    if isinstance(limit, bool) or not isinstance(limit, Real) or math.isnan(limit):
        raise InvalidArgument(f"limit: a number is needed, not {limit!r}")
    most = float(limit)

    def exceeds(total: Any, oldest: Any) -> Any:
        # The sum from the newest event of the oldest part on: that event leaves if it is too large.
        return not total[0] - oldest[0] + oldest[1] <= most

    made_by = (at_most_sum, {"limit": limit, "column": column})
    rule = Rule(exceeds, (_of(added, column), _of(_NEWEST, column)), made_by=made_by)
    return _window(rule, f"at_most_sum_{limit}", every, min_rows, of)


def since_max(
    column: str | None = None,
    *,
    every: Every = None,
    min_rows: int | None = None,
    of: Counted = "rows",
) -> PolicyWindow:
    """The events from the largest value on, the first of equals: older ones never matter to it.

    >>> import windrow as wr
    >>> window = wr.Window(wr.collect(), policy=wr.policies.since_max())
    >>> window.insert_many([1, 5, 2, 3])
    >>> window.query()
    [5, 2, 3]
    """

    def lacks_largest(total: Any, oldest: Any) -> Any:
        # Not a number is larger than all numbers, and not equal to itself.
        return not (oldest == total or (oldest != oldest and total != total))

    made_by = (since_max, {"column": column})
    rule = Rule(lacks_largest, (_of(maximum, column),), made_by=made_by)
    return _window(rule, "since_max", every, min_rows, of)


def since_longest_run(
    column: str | None = None,
    *,
    every: Every = None,
    min_rows: int | None = None,
    of: Counted = "rows",
) -> PolicyWindow:
    """The events from the longest run of rising numbers on, the first of equally long ones.

    >>> import windrow as wr
    >>> window = wr.Window(wr.collect(), policy=wr.policies.since_longest_run())
    >>> window.insert_many([9, 1, 2, 5, 4, 6])
    >>> window.query()
    [1, 2, 5, 4, 6]
    """
    rule = Rule(
        lambda total, oldest: total[0] >= oldest[1],
        (_of(_RUN_BEGIN, column), _of(_VALUES, column)),
        made_by=(since_longest_run, {"column": column}),
    )
    return _window(rule, "since_longest_run", every, min_rows, of)


def adaptive(
    column: str | None = None,
    *,
    risk: float = 0.002,
    every: Every = None,
    min_rows: int | None = None,
    of: Counted = "rows",
) -> PolicyWindow:
    """As many of the newest events as seem to have one mean (after ADWIN, Bifet and Gavaldà 2007).

    The older half leaves while the means of the two halves differ by more than chance would have
    it, with a `risk` that they do nonetheless. Then the window holds what is like the present: it
    grows while nothing changes, and shrinks when something does.

    >>> import windrow as wr
    >>> window = wr.Window(wr.mean(), policy=wr.policies.adaptive())
    >>> window.insert_many([1.0, 1.1] * 100)
    >>> len(window)
    200
    >>> window.insert_many([5.0, 5.1] * 100)
    >>> round(window.query(), 2)
    5.05
    """
    if not isinstance(risk, Real) or not 0 < risk < 1:
        raise InvalidArgument(f"risk: a number between 0 and 1 is needed, not {risk!r}")
    chance = float(risk)

    def differ(total: Any, oldest: Any) -> Any:
        values, average, variance = total
        older = oldest[0]
        newer = values - older
        if older < _FEWEST or newer < _FEWEST:
            return False
        newer_average = (values * average - older * oldest[1]) / newer
        likely = 2.0 * variance * (1.0 / older + 1.0 / newer)
        bound = math.sqrt(likely * math.log(2.0 * math.log(values) / chance))
        return abs(oldest[1] - newer_average) > bound

    measures = (_of(_VALUES, column), _of(mean, column), _of(VARIANCE_POP, column))
    rule = Rule(differ, measures, made_by=(adaptive, {"column": column, "risk": chance}))
    return _window(rule, "adaptive", every, min_rows, of, halves=True)


def _of(wanted: Aggregation, column: str | None) -> Measure:
    if column is None:
        return wanted()
    if not isinstance(column, str) or not column:
        raise InvalidArgument(f"column: the name of a column is needed, not {column!r}")
    return wanted(column)


def _window(
    rule: Rule, name: str, every: Every, min_rows: int | None, of: Counted, halves: bool = False
) -> PolicyWindow:
    """The windows of one rule; answered every so many events, if they hold enough."""
    window = PolicyWindow((rule,), halves, trigger(every, None), name)
    return window.with_min_rows(min_rows, of)
