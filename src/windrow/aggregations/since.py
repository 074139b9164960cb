"""How many rows ago a condition last held, and how long ago.

The current row is the newest of its window. A row of which the condition is not true is a row all
the same: `Monoid.absent` counts it. The condition is a column of truth values, or a text as in
`where`. A text becomes the condition of the measure. So each aggregation has a twin that does
without that column.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from windrow.aggregations.changes import wraps
from windrow.aggregations.extremes import width_output
from windrow.algebra.aggregation import TIMES, Aggregation, Input, Measure
from windrow.algebra.condition_expressions import Column
from windrow.algebra.condition_text import parse
from windrow.algebra.equality import same
from windrow.algebra.kinds import Kind
from windrow.algebra.monoid import Defined, Monoid, Traits, always, integers

CONDITION = Input("condition", frozenset({Kind.BOOLEAN, Kind.ANY}), unknown=True)
TIME = Input("time", TIMES | {Kind.INTEGER}, by_order=True)


@dataclass(frozen=True, eq=False, repr=False)
class SinceLast(Aggregation):
    """An aggregation whose first column may be a condition instead."""

    #: the same without that column, for the rows of a condition
    twin: Aggregation | None = None

    def __post_init__(self) -> None:
        if self.twin is not None:
            twin = replace(self.twin, recipe=(_twin_of, (self,)))
            object.__setattr__(self, "twin", twin)

    def __call__(self, *given: Any, alias: str | None = None, **parameters: Any) -> Measure:
        """Since a condition last held: a column of truth values, or a text as in `where`.

        >>> import windrow as wr
        >>> wr.count_since_last("failed")
        count_since_last('failed') as count_since_last_failed
        >>> wr.time_since_last("status = 'error' and not retried")
        time_since_last() where status = 'error' and not retried as time_since_last
        """
        is_condition = 0 < len(given) <= len(self.inputs) and isinstance(given[0], str)
        if not is_condition or parameters:
            return super().__call__(*given, alias=alias, **parameters)
        condition, others = parse(given[0], "condition"), given[1:]
        if isinstance(condition.root, Column):
            return super().__call__(condition.root.name, *others, alias=alias)
        assert self.twin is not None
        return replace(self.twin(*others, alias=alias), condition=condition)


def _twin_of(aggregation: SinceLast) -> Aggregation:
    assert aggregation.twin is not None
    return aggregation.twin


# Rows -------------------------------------------------------------------------------------------
# A partial is whether the condition held in some row, and how many rows came after the last.


def lift_condition(condition: Any) -> Any:
    """A row in which the condition holds or not."""
    return (1, 0) if condition else (0, 1)


def lift_held() -> Any:
    """A row in which the condition holds."""
    return (1, 0)


def lift_not_held(*_condition: Any) -> Any:
    """A row in which the condition does not hold, or is not known to."""
    return (0, 1)


def count_since(older: Any, newer: Any) -> Any:
    """The rows since the condition last held in the newer, or else in the older."""
    return (newer[0], newer[1]) if newer[0] > 0 else (older[0], older[1] + newer[1])


def rows_since(partial: Any) -> Any:
    """The rows after the last in which the condition held."""
    return partial[1]


def has_held(partial: Any) -> bool:
    """Whether the condition held in some row."""
    return bool(partial[0] > 0)


def _count_for(kinds: tuple[Kind, ...]) -> Monoid:
    return Monoid(
        identity=(0, 0),
        lift=lift_condition if kinds else lift_held,
        absent=lift_not_held,
        combine=count_since,
        lower=rows_since,
        defined=Defined(has_held, one_value_is_enough=False),
        traits=Traits(exact=True),
        fields=integers("held", "rows_since"),
        lowered="int64",
        output=always(pa.int64()),
    )


_COUNT_SUMMARY = (
    "how many rows ago a condition last held: 0 if it holds in the current row (in `slide`, the "
    "newest), null if it held in none"
)
count_since_last = SinceLast(
    "count_since_last",
    (CONDITION,),
    _count_for,
    same,
    _COUNT_SUMMARY,
    current="newest",
    twin=Aggregation("count_since_last", (), _count_for, same, _COUNT_SUMMARY, current="newest"),
)


# Time -------------------------------------------------------------------------------------------
# A partial is whether the condition held in some row, the time of the last, whether there is a row,
# and the time of the newest.


def lift_timed_condition(condition: Any, time: Any) -> Any:
    """A row in which the condition holds or not, at its time."""
    return (1, time, 1, time) if condition else (0, time, 1, time)


def lift_timed_held(time: Any) -> Any:
    """A row in which the condition holds, at its time."""
    return (1, time, 1, time)


def lift_timed_not_held(*inputs: Any) -> Any:
    """A row in which the condition does not hold, or is not known to."""
    return (0, inputs[-1], 1, inputs[-1])


def last_held(older: Any, newer: Any) -> Any:
    """When the condition last held, and the newest row's time."""
    if older[2] == 0 or newer[2] == 0:
        return newer if older[2] == 0 else older
    held = newer if newer[0] > 0 else older
    return (held[0], held[1], 1, newer[3])


def time_since(partial: Any) -> Any:
    """The ticks from when it last held to the newest row."""
    if wraps(partial[1], partial[3]):
        raise OverflowError("the time since a condition held left the range of 64-bit integers")
    return partial[3] - partial[1]


def time_since_of_values(partial: Any) -> Any:
    """The same of Python values."""
    return partial[3] - partial[1]


def _elapsed(types: tuple[pa.DataType, ...]) -> pa.DataType:
    return width_output(types[-1:])


def _time_for(kinds: tuple[Kind, ...]) -> Monoid:
    python = kinds[-1] is Kind.ANY
    return Monoid(
        identity=(0, 0, 0, 0),
        lift=lift_timed_condition if len(kinds) > 1 else lift_timed_held,
        absent=lift_timed_not_held,
        combine=last_held,
        lower=time_since_of_values if python else time_since,
        defined=Defined(has_held, one_value_is_enough=False),
        traits=Traits(exact=True),
        fields=() if python else integers("held", "held_at", "has_row", "row_at"),
        lowered="int64",
        output=_elapsed,
    )


_TIME_SUMMARY = (
    "the time from the last row in which a condition held to the current row (in `slide`, the "
    "newest), by the order column or the second: 0 if it holds there, null if it held in none"
)
time_since_last = SinceLast(
    "time_since_last",
    (CONDITION, TIME),
    _time_for,
    same,
    _TIME_SUMMARY,
    current="newest",
    twin=Aggregation("time_since_last", (TIME,), _time_for, same, _TIME_SUMMARY, current="newest"),
)
