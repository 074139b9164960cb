"""Two columns together: covariance, correlation, and the straight line of least squares.

As in `moments`, each column is kept relative to the value of one event, so that nothing large is
subtracted. A column of times is kept in whole ticks; answers are in seconds.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pyarrow as pa

from windrow.aggregations.parameters import truth
from windrow.algebra.aggregation import NUMBERS, TIMES, Aggregation, Input
from windrow.algebra.equality import close
from windrow.algebra.kinds import Kind
from windrow.algebra.monoid import Defined, Monoid, Traits, always, floats, integers

#: places of a partial: the number of pairs, then each column's reference and excess, then the
#: squares of deviations of both columns and their products
COUNT, FIRST, FIRST_EXCESS, SECOND, SECOND_EXCESS = range(5)
FIRST_SQUARES, SECOND_SQUARES, PRODUCTS = range(5, 8)


def lift_numbers(first: Any, second: Any) -> Any:
    """One pair of numbers, which deviates by nothing unless one is infinite or NaN."""
    x, y = float(first), float(second)
    return (1, x, x - x, y, y - y, x - x, y - y, (x - x) + (y - y))


def lift_number_and_ticks(first: Any, second: Any) -> Any:
    """One number at one time, whose ticks stay whole."""
    x = float(first)
    return (1, x, x - x, second, 0.0, x - x, 0.0, x - x)


def lift_values(first: Any, second: Any) -> Any:
    """One pair of Python values, of which the second may be a time."""
    if isinstance(second, datetime.date):
        return lift_number_and_ticks(first, seconds_of(second - _epoch(second)))
    return lift_numbers(first, second)


def _epoch(like: datetime.date) -> datetime.date:
    """The beginning of 1970, as a value that can be subtracted from another."""
    if isinstance(like, datetime.datetime):
        return datetime.datetime(1970, 1, 1, tzinfo=like.tzinfo and datetime.UTC)
    return datetime.date(1970, 1, 1)


def seconds_of(elapsed: Any) -> Any:
    """The distance of two Python values in seconds, without rounding; numbers are seconds."""
    if isinstance(elapsed, datetime.timedelta):
        return Fraction(elapsed // datetime.timedelta(microseconds=1), 10**6)
    return elapsed


def combine_pairs(older: Any, newer: Any) -> Any:
    """Add up, and account for the distances of the means in both columns."""
    if older[0] == 0 or newer[0] == 0:
        return newer if older[0] == 0 else older
    older_size, newer_size = float(older[0]), float(newer[0])
    first_shift, second_shift = float(newer[1] - older[1]), float(newer[3] - older[3])
    first_apart = first_shift + (newer[2] / newer_size - older[2] / older_size)
    second_apart = second_shift + (newer[4] / newer_size - older[4] / older_size)
    weight = older_size * newer_size / (older_size + newer_size)
    return (
        older[0] + newer[0],
        older[1],
        older[2] + (newer[2] + first_shift * newer_size),
        older[3],
        older[4] + (newer[4] + second_shift * newer_size),
        older[5] + newer[5] + first_apart * first_apart * weight,
        older[6] + newer[6] + second_apart * second_apart * weight,
        older[7] + newer[7] + first_apart * second_apart * weight,
    )


def same_pairs(left: Any, right: Any) -> bool:
    """Whether two partials, or answers, tell the same; which event is the reference is all one."""
    return close(_seen_from_zero(left), _seen_from_zero(right))


def _seen_from_zero(partial: Any) -> Any:
    if not isinstance(partial, tuple) or partial[0] == 0:
        return partial
    count, first, first_excess, second, second_excess, *powers = partial
    return (count, first + first_excess / count, second + second_excess / count, *powers)


# Answers ----------------------------------------------------------------------------------------


def at_least_two(partial: Any) -> bool:
    """A sample of one pair has no covariance."""
    return bool(partial[0] > 1)


def at_least_one(partial: Any) -> bool:
    """A population of one pair has covariance zero."""
    return bool(partial[0] > 0)


def both_deviate(partial: Any) -> bool:
    """A column of equal values is correlated with nothing."""
    return bool(partial[FIRST_SQUARES] != 0 and partial[SECOND_SQUARES] != 0)


def second_deviates(partial: Any) -> bool:
    """No line is fitted over one place."""
    return bool(partial[SECOND_SQUARES] != 0)


def sample_covariance(partial: Any) -> Any:
    """Products of deviations per degree of freedom."""
    return partial[PRODUCTS] / (partial[COUNT] - 1)


def population_covariance(partial: Any) -> Any:
    """Products of deviations per pair."""
    return partial[PRODUCTS] / partial[COUNT]


def correlation_of(partial: Any) -> Any:
    """Products of deviations by the roots of their squares; rounding does not lead out of ±1."""
    found = partial[PRODUCTS] / math.sqrt(partial[FIRST_SQUARES])
    found /= math.sqrt(partial[SECOND_SQUARES])
    return min(max(found, -1.0), 1.0) if found == found else found


NUMBERS_APART = NUMBERS - {Kind.BOOLEAN}
TWO = (Input("first", NUMBERS_APART), Input("second", NUMBERS_APART))
VALUE_ON = (Input("value", NUMBERS_APART), Input("on", NUMBERS_APART | TIMES))


def _pairs(
    kinds: tuple[Kind, ...], lower: Callable[[Any], Any], defined: Callable[[Any], bool]
) -> Monoid:
    timed, python = kinds[1].in_ticks, kinds[1] is Kind.ANY
    number = lift_values if python else lift_numbers
    return Monoid(
        identity=(0, 0.0, 0.0, 0 if timed else 0.0, 0.0, 0.0, 0.0, 0.0),
        lift=lift_number_and_ticks if timed else number,
        combine=combine_pairs,
        lower=lower,
        defined=Defined(defined, one_value_is_enough=defined is at_least_one),
        traits=Traits(commutative=True),
        fields=(
            *integers("count"),
            *floats("first", "first_excess"),
            *(integers("second_ticks") if timed else floats("second")),
            *floats("second_excess", "first_squares", "second_squares", "products"),
        ),
        output=always(pa.float64()),
    )


def _covariance_for(kinds: tuple[Kind, ...]) -> Monoid:
    return _pairs(kinds, sample_covariance, at_least_two)


def _population_covariance_for(kinds: tuple[Kind, ...]) -> Monoid:
    return _pairs(kinds, population_covariance, at_least_one)


def _correlation_for(kinds: tuple[Kind, ...]) -> Monoid:
    return _pairs(kinds, correlation_of, both_deviate)


def _slope_for(kinds: tuple[Kind, ...], seconds_per_tick: float = 1e-6) -> Monoid:
    unit = seconds_per_tick if kinds[1].in_ticks else 1.0

    def slope_of(partial: Any) -> Any:
        """How much the value rises per unit of the other, or per second."""
        return partial[PRODUCTS] / partial[SECOND_SQUARES] / unit

    return _pairs(kinds, slope_of, second_deviates)


def intercept_of(partial: Any) -> Any:
    """Where the line meets the zero of the other; of times, the beginning of 1970."""
    slope = partial[PRODUCTS] / partial[SECOND_SQUARES]
    middle = float(partial[SECOND]) + partial[SECOND_EXCESS] / partial[COUNT]
    return (partial[FIRST] + partial[FIRST_EXCESS] / partial[COUNT]) - slope * middle


def _intercept_for(kinds: tuple[Kind, ...]) -> Monoid:
    return _pairs(kinds, intercept_of, second_deviates)


def _sample_or_population(population: bool = False) -> Aggregation:
    return COVARIANCE_POP if truth("population", population) else covariance


COVARIANCE_POP = Aggregation(
    "covariance_pop", TWO, _population_covariance_for, same_pairs, "the population covariance"
)
covariance = Aggregation(
    "covariance",
    TWO,
    _covariance_for,
    same_pairs,
    "the sample covariance; of a population with `population=True`",
    variant=_sample_or_population,
)
correlation = Aggregation(
    "correlation",
    TWO,
    _correlation_for,
    same_pairs,
    "Pearson's correlation; null if all values of a column are equal",
)
slope = Aggregation(
    "slope",
    VALUE_ON,
    _slope_for,
    same_pairs,
    "the slope of the straight line of least squares of the first column on the second, per second "
    "if that is a time; null if all its values are equal",
    measures_time=True,
)
intercept = Aggregation(
    "intercept",
    VALUE_ON,
    _intercept_for,
    same_pairs,
    "where the straight line of least squares of the first column on the second meets zero of the "
    "second (the beginning of 1970 if it is a time); null if all its values are equal",
)

EXAMPLES = (covariance(population=True),)
