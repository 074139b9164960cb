"""Variance and standard deviation.

A partial holds count, sum and the sum of squared deviations from its own mean, and two of them are
combined by the distance of their means (Chan, Golub and LeVeque), so nothing large is squared and
subtracted again. Keeping the sum, and not the mean, shares the field with sum and mean, and takes
the divisions off the path from one combine to the next, where keeping the mean would put them. The
two were not measured against each other.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pyarrow as pa

from windrow.aggregations.sums import NUMBER
from windrow.algebra.aggregation import Aggregation
from windrow.algebra.equality import close
from windrow.algebra.kinds import Kind
from windrow.algebra.monoid import Monoid, Traits, always, floats, integers


def lift_moments(value: Any) -> Any:
    """One value deviates by nothing from its mean, unless it is infinite or no number at all."""
    number = float(value)
    return (1, number, number - number)


def combine_moments(older: Any, newer: Any) -> Any:
    """Add up, and account for the distance of the two means."""
    count = older[0] + newer[0]
    total = older[1] + newer[1]
    deviation = older[2] + newer[2]
    if older[0] > 0 and newer[0] > 0:
        distance = newer[1] / newer[0] - older[1] / older[0]
        deviation += distance * distance * (float(older[0]) * newer[0] / count)
    return (count, total, deviation)


def at_least_two(partial: Any) -> bool:
    """A sample of one value has no variance."""
    return bool(partial[0] > 1)


def at_least_one(partial: Any) -> bool:
    """A population of one value has variance zero."""
    return bool(partial[0] > 0)


def sample_variance(partial: Any) -> Any:
    """Squared deviation per degree of freedom."""
    return partial[2] / (partial[0] - 1)


def population_variance(partial: Any) -> Any:
    """Squared deviation per value."""
    return partial[2] / partial[0]


def sample_stddev(partial: Any) -> Any:
    """The root of the sample variance."""
    return math.sqrt(partial[2] / (partial[0] - 1))


def population_stddev(partial: Any) -> Any:
    """The root of the population variance."""
    return math.sqrt(partial[2] / partial[0])


def _moments(
    name: str, lower: Callable[[Any], Any], defined: Callable[[Any], bool], summary: str
) -> Aggregation:
    def monoid_for(kinds: tuple[Kind, ...]) -> Monoid:
        # A sum of integers as floats is not the exact sum that `sum` of integers keeps.
        total = "sum" if kinds[0] is Kind.FLOAT else "sum_of_floats"
        return Monoid(
            identity=(0, 0.0, 0.0),
            lift=lift_moments,
            combine=combine_moments,
            lower=lower,
            defined=defined,
            one_is_enough=defined is at_least_one,
            traits=Traits(commutative=True),
            fields=(*integers("count"), *floats(total, "deviation")),
            output=always(pa.float64()),
        )

    return Aggregation(name, NUMBER, monoid_for, close, summary)


variance = _moments("variance", sample_variance, at_least_two, "the sample variance")
stddev = _moments("stddev", sample_stddev, at_least_two, "the sample standard deviation")
variance_pop = _moments(
    "variance_pop", population_variance, at_least_one, "the population variance"
)
stddev_pop = _moments(
    "stddev_pop", population_stddev, at_least_one, "the population standard deviation"
)
