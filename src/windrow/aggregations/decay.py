"""Exponentially weighted means.

An event's weight halves with every half-life until the window's newest event. The events before a
partial decay while the partial passes. So a partial is a function of the events before it:
(sum, weight) ↦ (sum, weight) · decay + (its own sum, its own weight). Combining two partials
composes their functions, which is associative. An event that leaves the window leaves no trace.
"""

from __future__ import annotations

import datetime
import math
from typing import Any

import pyarrow as pa

from windrow.aggregations.parameters import is_number, shown
from windrow.aggregations.regression import seconds_of
from windrow.algebra.aggregation import NUMBERS, TIMES, Aggregation, Input, parametrized
from windrow.algebra.durations import nanoseconds
from windrow.algebra.equality import close
from windrow.algebra.kinds import Kind
from windrow.algebra.monoid import Defined, Monoid, Traits, always, floats, integers
from windrow.errors import InvalidArgument

VALUE = (Input("value", NUMBERS),)
TIMED = (Input("value", NUMBERS), Input("time", TIMES))


def weighted_mean_of(partial: Any) -> Any:
    """The sum by the weight."""
    return partial[0] / partial[1]


def has_weight(partial: Any) -> bool:
    """Whether there is a value."""
    return bool(partial[1] > 0)


# By events --------------------------------------------------------------------------------------


def decay_by_events(older: Any, newer: Any) -> Any:
    """The older decays while the newer passes."""
    return (
        older[0] * newer[2] + newer[0],
        older[1] * newer[2] + newer[1],
        older[2] * newer[2],
    )


def _by_events(half_life: Any) -> Aggregation:
    factor = 0.5 ** (1.0 / float(half_life))

    def lift_decaying(value: Any) -> Any:
        """One value of full weight, by which what comes before decays once."""
        return (float(value), 1.0, factor)

    def monoid_for(_kinds: tuple[Kind, ...]) -> Monoid:
        names = (f"{each}_by_{half_life!r}" for each in ("decaying_sum", "weight", "decay"))
        return Monoid(
            identity=(0.0, 0.0, 1.0),
            lift=lift_decaying,
            combine=decay_by_events,
            lower=weighted_mean_of,
            defined=Defined(has_weight),
            fields=floats(*names),
            output=always(pa.float64()),
        )

    return Aggregation("ewm_mean", VALUE, monoid_for, close, f"half-life {half_life} events")


# By time ----------------------------------------------------------------------------------------


def lift_timed(value: Any, time: Any) -> Any:
    """One value of full weight at its time."""
    return (float(value), 1.0, time)


def _by_time(half_life: Any) -> Aggregation:
    seconds = nanoseconds(half_life, "half_life") / 1e9
    if seconds <= 0:
        raise InvalidArgument(f"half_life: it is longer than nothing, not {half_life!r}")

    def monoid_for(kinds: tuple[Kind, ...], seconds_per_tick: float = 1e-6) -> Monoid:
        compiled = kinds[0].is_compiled and kinds[1].is_compiled
        ticks = seconds / seconds_per_tick

        def decay_by_ticks(older: Any, newer: Any) -> Any:
            """What is earlier decays until the later time."""
            if older[1] == 0.0 or newer[1] == 0.0:
                return newer if older[1] == 0.0 else older
            early, late = (older, newer) if older[2] <= newer[2] else (newer, older)
            kept = 0.5 ** (float(late[2] - early[2]) / ticks)
            return (early[0] * kept + late[0], early[1] * kept + late[1], late[2])

        def decay_by_values(older: Any, newer: Any) -> Any:
            """What is earlier decays until the later time, of Python values."""
            if older[1] == 0.0 or newer[1] == 0.0:
                return newer if older[1] == 0.0 else older
            early, late = (older, newer) if older[2] <= newer[2] else (newer, older)
            kept = 0.5 ** (float(seconds_of(late[2] - early[2])) / seconds)
            return (early[0] * kept + late[0], early[1] * kept + late[1], late[2])

        names = (f"{each}_by_{half_life!r}" for each in ("decaying_sum", "weight"))
        return Monoid(
            identity=(0.0, 0.0, 0),
            lift=lift_timed,
            combine=decay_by_values if kinds[1] is Kind.ANY else decay_by_ticks,
            lower=weighted_mean_of,
            defined=Defined(has_weight),
            traits=Traits(commutative=True),
            fields=(*floats(*names), *integers("latest_time")) if compiled else (),
            output=always(pa.float64()),
        )

    return Aggregation(
        "ewm_mean_by_time", TIMED, monoid_for, close, f"half-life {half_life}", measures_time=True
    )


def _ewm_mean(half_life: float | str | datetime.timedelta) -> Aggregation:
    if isinstance(half_life, str | datetime.timedelta):
        return _by_time(half_life)
    if half_life == math.inf:
        raise InvalidArgument("half_life: it is finite; without decay it is wr.mean")
    if not is_number(half_life) or not half_life > 0:
        raise InvalidArgument(
            "half_life: a number of events above zero, or a duration such as '10 minutes', not "
            f"{shown(half_life)}"
        )
    return _by_events(half_life)


ewm_mean = parametrized(
    "ewm_mean",
    (*VALUE, Input("time", TIMES, optional=True)),
    _ewm_mean,
    "half_life=10",
    "the mean with weights that halve every `half_life` events; or, with a second column of times "
    "and a duration such as '10 minutes', with that time",
)

EXAMPLES = (ewm_mean(half_life=4), ewm_mean(half_life="10 seconds"))
