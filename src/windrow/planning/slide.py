"""From the arguments of `slide` and a table's schema to a plan."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pyarrow as pa

from windrow.algebra.aggregation import Measure
from windrow.algebra.kinds import plain_type
from windrow.errors import InvalidArgument
from windrow.planning.choose import choose
from windrow.planning.resolve import (
    Feature,
    columns_named,
    features_of,
    measures_of,
    require_sortable,
    require_time,
)
from windrow.windows import (
    DeltaWindow,
    EveryTime,
    PunctuatedWindow,
    RowsWindow,
    SessionWindow,
    TimeWindow,
    Window,
    Windows,
    named,
)
from windrow.windows.durations import NANOSECONDS

#: columns that every answer has
START, END, NAME = "window_start", "window_end", "window"

_UNITS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}


@dataclass(frozen=True, eq=False)
class SlidePlan:
    """What `slide` has to do."""

    key: tuple[str, ...]
    order: tuple[str, ...]
    windows: dict[str, Window]
    features: tuple[Feature, ...]
    #: the name of each answer, and its feature
    outputs: tuple[tuple[str, int], ...]
    algorithm: str
    schema: pa.Schema
    changes_only: bool
    #: the type of the order column, or a finer one if a window begins or ends between its ticks
    order_type: pa.DataType

    @property
    def columns(self) -> list[str]:
        """The columns of the table that are read."""
        return list(dict.fromkeys((*self.key, *self.order, *self.read_by_row)))

    @property
    def read_by_row(self) -> list[str]:
        """Those of them that are read in every row; of a key, one row tells all."""
        inputs = [column for feature in self.features for column in feature.columns]
        extra = [
            window.column
            for window in self.windows.values()
            if isinstance(window, DeltaWindow | PunctuatedWindow)
        ]
        return list(dict.fromkeys((self.order[0], *inputs, *extra)))

    def measured(self, window: Window) -> tuple[str, ...]:
        """The columns that a window measures by: an event without a value there is in none."""
        by_time = self.order[:1] if measures_time(window) else ()
        return (*by_time, window.column) if isinstance(window, DeltaWindow) else by_time


def resolve_slide(
    schema: pa.Schema,
    *,
    key: str | Sequence[str] | None,
    order: str | Sequence[str] | None,
    windows: Windows,
    aggs: Measure | Iterable[Measure],
    algorithm: str | None,
    changes_only: bool,
) -> SlidePlan:
    """Check the arguments of `slide` against a schema."""
    named_windows = named(windows)
    key_columns = columns_named(schema, "key", key)
    order_columns = columns_named(schema, "order", order)
    if not order_columns:
        raise InvalidArgument("order: name the column that orders the events")
    require_sortable(schema, order_columns)
    for name, window in named_windows.items():
        _require_trigger(name, window)
        if measures_time(window):
            require_time(schema, order_columns)
        _require_window_column(schema, window)
    measures = measures_of(aggs)
    features, places = features_of(schema, measures, algorithm)
    outputs = tuple(
        (measure.name, places[measure.aggregation, measure.columns]) for measure in measures
    )
    several = [NAME] if len(named_windows) > 1 else []
    _require_distinct([*several, START, END, *(name for name, _ in outputs)], key_columns)
    chosen = choose(features[0].aggregation.name, features[0].monoid, algorithm)
    return SlidePlan(
        key_columns,
        order_columns,
        named_windows,
        tuple(features),
        outputs,
        algorithm or chosen.NAME,
        schema,
        changes_only,
        _order_type(plain_type(schema.field(order_columns[0]).type), named_windows.values()),
    )


def _order_type(data_type: pa.DataType, windows: Iterable[Window]) -> pa.DataType:
    """A type in which every begin, end and tick of the windows is a whole number."""
    is_date = pa.types.is_date(data_type)
    if not (is_date or pa.types.is_timestamp(data_type)):
        return data_type
    lengths = []
    for window in windows:
        every = getattr(window, "every", None)
        if isinstance(every, EveryTime):
            lengths += [every.time, every.offset]
            if isinstance(window, TimeWindow):
                lengths.append(window.range)
        elif isinstance(window, SessionWindow):
            lengths.append(window.gap)
    tick = NANOSECONDS["day"] if is_date else _UNITS[data_type.unit]
    step = math.gcd(tick, *lengths)
    if step == tick:
        return data_type
    unit = next(unit for unit, length in _UNITS.items() if step % length == 0)
    return pa.timestamp(unit, None if is_date else data_type.tz)


def _require_trigger(name: str, window: Window) -> None:
    if isinstance(window, RowsWindow | TimeWindow | DeltaWindow) and window.every is None:
        raise InvalidArgument(
            f"windows: {name!r} does not say when it answers; give every=, as in "
            "wr.time('1 hour', every='1 minute') or wr.rows(1000, every=100), or use wr.over"
        )


def measures_time(window: Window) -> bool:
    """Whether a window's range or trigger is in time."""
    if isinstance(window, TimeWindow | SessionWindow):
        return True
    return isinstance(getattr(window, "every", None), EveryTime)


def _require_window_column(schema: pa.Schema, window: Window) -> None:
    if isinstance(window, PunctuatedWindow):
        (column,) = columns_named(schema, "windows", window.column)
        if not pa.types.is_boolean(schema.field(column).type):
            raise InvalidArgument(
                f"windows: punctuated({column!r}) needs a boolean column, not "
                f"{schema.field(column).type}"
            )
    if isinstance(window, DeltaWindow):
        (column,) = columns_named(schema, "windows", window.column)
        data_type = schema.field(column).type
        if not (pa.types.is_integer(data_type) or pa.types.is_floating(data_type)):
            raise InvalidArgument(
                f"windows: delta({column!r}, ...) needs a column of numbers, not {data_type}"
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
