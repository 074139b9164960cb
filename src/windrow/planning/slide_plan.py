"""From the arguments of `slide` and a table's schema to a plan."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Literal

import pyarrow as pa

from windrow.algebra.aggregation import Measure
from windrow.algebra.durations import NANOSECONDS
from windrow.algebra.literals import require_one_of
from windrow.errors import InvalidArgument
from windrow.planning import costs
from windrow.planning.choose import Wish
from windrow.planning.current_row import require_newest_row
from windrow.planning.features import Feature, features_of, measures_of
from windrow.planning.gates import Gates, gates_of
from windrow.planning.over_plan import (
    columns_named,
    laid_over,
    plain_schema,
    require_sortable,
    require_window,
)
from windrow.planning.share import Sharing, share
from windrow.slicing import LIMIT, PeriodicWindow, pairs
from windrow.slicing.calendar import CalendarSchedule
from windrow.slicing.calendar_slices import slices_for
from windrow.windows import Window, Windows, named, shows_names, ticks
from windrow.windows.schedules import Calendar, CalendarTimes, ClockSchedule, Schedule

#: what becomes of windows without events
Empty = Literal["skip", "emit"]
#: the techniques that cut events into slices
SlicingName = Literal["panes", "pairs", "cutty"]

#: columns that every answer has
START, END, NAME = "window_start", "window_end", "window"

#: the most answers of a table by default, or its rows times its windows if that is more
MOST_ANSWERS = 50_000_000

_UNITS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}


@dataclass(frozen=True, eq=False)
class SlidePlan:
    """What `slide` has to do."""

    call: ClassVar[str] = "slide"

    key: tuple[str, ...]
    order: tuple[str, ...]
    windows: dict[str, Window]
    features: tuple[Feature, ...]
    #: the name of each answer, and its feature
    outputs: tuple[tuple[str, int], ...]
    wish: Wish
    schema: pa.Schema
    changes_only: bool
    #: the type of the order column, or a finer one if a window begins or ends between its ticks
    order_type: pa.DataType
    gates: Gates
    #: whether windows without events are answered, between a key's first and last
    fills: bool
    #: whether answers say which window they are of
    shows_names: bool
    #: the most answers that the call allows; None for the default
    max_answers: int | None = None
    #: the technique that cuts a table for periodic windows; None for the best
    slices: SlicingName | None = None

    @property
    def columns(self) -> list[str]:
        """The columns of the table that are read."""
        return list(dict.fromkeys((*self.key, *self.order, *self.read_by_row)))

    @property
    def read_by_row(self) -> list[str]:
        """The columns that are read in every row; of the key, one row of a run is enough."""
        inputs = [column for feature in self.features for column in feature.reads]
        extra = [column for window in self.windows.values() for column in window.columns]
        return list(dict.fromkeys((self.order[0], *inputs, *extra)))

    def size_of(self, name: str) -> tuple[int | None, str]:
        """How many slices a window holds, if that is known, and how it moves; see `costs`."""
        if self.windows[name].grows:
            return None, costs.GROWING
        calendar = self.windows[name].calendar
        if calendar is not None:
            slices = self.calendar_slices[calendar.timezone].slide
            return -(-calendar.schedule.range.most_days // slices.most_days), costs.VARYING
        if name not in self.periodic:
            return None, costs.VARYING
        held = self.periodic[name]
        # Every window of the group cuts, but no two cuts are closer than one tick.
        cuts = math.ceil(held.range * self._slices_per_tick[name])
        return min(cuts, held.range), costs.VARYING

    def slices_of(self, name: str) -> tuple[int, int]:
        """How many slices a periodic window holds, and its slide; zeros where that is not known."""
        for names, sharing in self.sharing:
            for group in sharing.groups:
                if name in (names[query] for query in group.queries) and group.repeats_soon:
                    window, edges = self.periodic[name], len(group.edges)
                    return (
                        -(-window.range * edges // group.period),
                        -(-window.slide * edges // group.period),
                    )
        return 0, 0

    @cached_property
    def _slices_per_tick(self) -> dict[str, Fraction]:
        """How often a periodic window and those that share slices with it cut, on average."""
        found: dict[str, Fraction] = {}
        for group in self.groups:
            windows = [self.periodic[name] for name in group if name in self.periodic]
            cuts = [Fraction(pairs.slices_per_slide(each), each.slide) for each in windows]
            found |= dict.fromkeys(group, sum(cuts, Fraction(0)))
        return found

    @cached_property
    def periodic(self) -> dict[str, PeriodicWindow]:
        """The windows with a range and a slide in one unit: nanoseconds, or rows."""
        found = {}
        for name, window in self.windows.items():
            period = window.period
            # Longer windows are longer than any table, and need no plan.
            if period is not None and max(period.range, period.slide) < LIMIT:
                found[name] = PeriodicWindow(period.range, period.slide, period.offset)
        return found

    @property
    def calendars(self) -> dict[str | None, dict[str, Calendar]]:
        """The windows by a calendar, of each time zone."""
        found: dict[str | None, dict[str, Calendar]] = {}
        for name, window in self.windows.items():
            calendar = window.calendar
            if calendar is not None:
                found.setdefault(calendar.timezone, {})[name] = calendar
        return found

    @cached_property
    def calendar_slices(self) -> dict[str | None, CalendarSchedule]:
        """The slices that the windows by a calendar share, in each time zone."""
        return {
            timezone: slices_for([each.schedule for each in calendars.values()])
            for timezone, calendars in self.calendars.items()
        }

    @property
    def cut_by_events(self) -> list[str]:
        """The windows that are neither periodic nor by a calendar."""
        return [
            name
            for name, window in self.windows.items()
            if name not in self.periodic and window.calendar is None
        ]

    def unit_of(self, name: str) -> str | None:
        """The unit of a window's range and slide: "time" or "rows"; None if it is not periodic."""
        period = self.windows[name].period
        return None if period is None else period.unit

    @cached_property
    def sharing(self) -> list[tuple[list[str], Sharing]]:
        """How the periodic windows share slices, for those in time and those in rows."""
        units = [
            [name for name in self.periodic if self.unit_of(name) == unit]
            for unit in ("time", "rows")
        ]
        return [
            (names, share([self.periodic[name] for name in names], bounded=True))
            for names in units
            if names
        ]

    @cached_property
    def groups(self) -> list[list[str]]:
        """The windows that share slices. Windows that events cut are one group."""
        shared = [
            [names[query] for query in group.queries]
            for names, sharing in self.sharing
            for group in sharing.groups
        ]
        others = [list(calendars) for calendars in self.calendars.values()]
        return [*shared, *others, *([self.cut_by_events] if self.cut_by_events else [])]

    @cached_property
    def steps(self) -> dict[str, int]:
        """How far apart the names of windows that follow each other are, by a clock or a calendar.

        Nothing is said where windows without events are answered: then every answer follows the
        one before.
        """
        found: dict[str, int] = {}
        if self.fills:
            return found
        for name, window in self.windows.items():
            if window.calendar is not None:
                found[name] = CalendarTimes.step
            elif window.period is not None and window.period.unit == "time":
                tick = ticks.nanoseconds_per_tick(self.order_type)
                found[name] = window.period.slide // tick
        return found

    @cached_property
    def schedules(self) -> dict[str, Schedule]:
        """The windows by a clock or a calendar, if those without events are answered."""
        if not self.fills:
            return {}
        tick = ticks.nanoseconds_per_tick(self.order_type)
        found: dict[str, Schedule] = {}
        for name, window in self.windows.items():
            if window.calendar is not None:
                found[name] = CalendarTimes(window.calendar, tick)
            elif window.period is not None and window.period.unit == "time":
                found[name] = ClockSchedule(window.period.in_ticks(name, tick))
        return found

    @property
    def output_schema(self) -> pa.Schema:
        """The columns of the answers."""
        window = [pa.field(NAME, pa.string())] if self.shows_names else []
        keys = [pa.field(name, self.schema.field(name).type) for name in self.key]
        bounds = [pa.field(name, self.order_type) for name in (START, END)]
        answers = [pa.field(name, self.features[place].type) for name, place in self.outputs]
        return pa.schema([*window, *keys, *bounds, *answers])

    def require_few(self, answers: int, rows: int, given: str) -> None:
        """Refuse too many answers for a table of `rows`; `given` says what gives them."""
        most = self.max_answers
        if most is None:
            most = max(MOST_ANSWERS, rows * len(self.windows))
        if answers > most:
            raise InvalidArgument(
                f"windows: {given} {answers:,} answers, more than the {most:,} that are allowed; "
                "give a longer every= or a shorter range, or allow more with max_answers="
            )

    def measured(self, window: Window) -> tuple[str, ...]:
        """The columns that a window measures by: an event with a null there is in no window."""
        by_time = self.order[:1] if window.needs_time else ()
        return (*by_time, *window.measured)


def resolve_slide(
    schema: pa.Schema,
    *,
    key: str | Sequence[str] | None,
    order: str | Sequence[str] | None,
    windows: Windows,
    aggs: Measure | Iterable[Measure],
    wish: Wish,
    changes_only: bool,
    empty: Empty = "skip",
    max_answers: int | None = None,
    slices: SlicingName | None = None,
) -> SlidePlan:
    """Check the arguments of `slide` against a schema."""
    require_slicing(slices)
    schema = plain_schema(schema)
    named_windows = named(windows)
    _require_count(max_answers)
    key_columns = columns_named(schema, "key", key)
    order_columns = columns_named(schema, "order", order)
    if not order_columns:
        raise InvalidArgument("order: name the column that orders the events")
    require_sortable(schema, order_columns)
    for name, window in named_windows.items():
        _require_trigger(name, window)
        require_window(schema, order_columns, window)
    named_windows = laid_over(schema, order_columns, named_windows, slides=True)
    fills = _fills(empty, named_windows)
    measures = measures_of(aggs, order_columns)
    require_newest_row(named_windows, measures, "wr.slide")
    features, places = features_of(schema, measures, wish)
    gates = gates_of(schema, named_windows, measures, features, places)
    outputs = tuple((measure.name, places[measure]) for measure in measures)
    window_name = [NAME] if shows_names(windows) else []
    _require_distinct([*window_name, START, END, *(name for name, _ in outputs)], key_columns)
    plan = SlidePlan(
        key_columns,
        order_columns,
        named_windows,
        tuple(features),
        outputs,
        wish,
        schema,
        changes_only,
        _order_type(schema.field(order_columns[0]).type, named_windows.values()),
        gates,
        fills,
        shows_names(windows),
        max_answers,
        slices,
    )
    _require_few_of_an_event(plan)
    return plan


def _fills(empty: Empty, windows: Mapping[str, Window]) -> bool:
    """Whether windows without events are answered; refuse it where there are none to answer."""
    require_one_of(Empty, "empty", empty)
    for name, window in windows.items() if empty == "emit" else ():
        by_time = window.calendar is not None or (
            window.period is not None and window.period.unit == "time"
        )
        # After rows no window is without one: there is nothing to add.
        after_rows = window.every is not None and not window.every.in_time
        if not by_time and not after_rows:
            raise InvalidArgument(
                "empty: 'emit' answers the windows without events of a clock or a calendar, as in "
                f"wr.time('1 hour', every='1 minute'); every window of {name!r} holds events, so "
                "leave empty= out"
            )
    return empty == "emit"


def require_slicing(slices: object, *, of_table: bool = True) -> None:
    """Refuse a technique that is not known, or that only tables have."""
    if slices is None:
        return
    require_one_of(SlicingName, "slices", slices)
    if not of_table and slices != pairs.NAME:
        raise InvalidArgument(
            f"slices: {slices!r} is for tables in process; streams and Spark are cut by 'pairs', "
            "so leave slices= out"
        )


def _require_count(max_answers: object) -> None:
    whole = isinstance(max_answers, int) and not isinstance(max_answers, bool)
    if max_answers is not None and not (whole and max_answers > 0):  # type: ignore[operator]
        raise InvalidArgument(
            f"max_answers: the most answers are an integer of at least 1, not {max_answers!r}"
        )


def _require_few_of_an_event(plan: SlidePlan) -> None:
    """Refuse windows of time if too many of them hold an event."""
    for name, window in plan.windows.items():
        period, calendar = window.period, window.calendar
        if period is not None and period.unit == "time":
            plan.require_few(period.range // period.slide, 0, f"every event gives {name!r}")
        if calendar is not None:
            held = calendar.schedule.range.most_days // calendar.schedule.slide.most_days
            plan.require_few(held, 0, f"every event gives {name!r}")


def _order_type(data_type: pa.DataType, windows: Iterable[Window]) -> pa.DataType:
    """A type in which every begin, end and tick of the windows is a whole number."""
    is_date = pa.types.is_date(data_type)
    if not (is_date or pa.types.is_timestamp(data_type)):
        return data_type
    lengths = [length for window in windows for length in window.lengths]
    tick = NANOSECONDS["day"] if is_date else _UNITS[data_type.unit]
    step = math.gcd(tick, *lengths)
    if step == tick:
        return data_type
    unit = next(unit for unit, length in _UNITS.items() if step % length == 0)
    return pa.timestamp(unit, None if is_date else data_type.tz)


def _require_trigger(name: str, window: Window) -> None:
    if window.every is None and not window.answers_by_itself:
        raise InvalidArgument(
            f"windows: {name!r} does not say when it answers; give every=, as in "
            "wr.time('1 hour', every='1 minute') or wr.rows(1000, every=100), or use wr.over"
        )


def _require_distinct(added: Sequence[str], key: Sequence[str]) -> None:
    for name in added:
        if name in key and name in (NAME, START, END):
            raise InvalidArgument(
                f"key: the result has a column {name!r} of its own; rename the key's"
            )
        if added.count(name) + key.count(name) > 1:
            raise InvalidArgument(
                f"aggs: two columns of the result would be called {name!r}; rename one with "
                ".alias(...)"
            )
