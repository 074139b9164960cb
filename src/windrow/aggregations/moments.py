"""Moments of one column: variance, standard deviation, skewness, kurtosis.

A partial holds a reference, which is the value of one of its events; the excess, the sum of how
much the others exceed it; and powers of deviations from the mean. Two partials are combined by the
distance of their means (Chan et al. 1983; Pébay 2008 for the third and fourth power). This distance
comes from the distance of the references and of the mean excesses. Both are small if the values lie
close together, however far from zero they are, so nothing large is subtracted.

The loser: sums in place of references and excesses. Then means are rounded to the size of the
values: at an offset of 1e9 the variance was off by 1e-7, and a column of 1e308 had none (see
`test_moments.py`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial as given
from typing import Any

import pyarrow as pa

from windrow.aggregations.parameters import truth
from windrow.aggregations.sums import NUMBER
from windrow.algebra.aggregation import Aggregation
from windrow.algebra.equality import close
from windrow.algebra.kinds import Kind
from windrow.algebra.monoid import Defined, Monoid, Traits, always, floats, integers


def lift_deviation(value: Any) -> Any:
    """One value deviates by nothing from its mean, unless it is infinite or no number at all."""
    number = float(value)
    return (1, number, number - number, number - number)


def combine_deviations(older: Any, newer: Any) -> Any:
    """Add up, and account for the distance of the two means."""
    if older[0] == 0 or newer[0] == 0:
        return newer if older[0] == 0 else older
    older_size, newer_size = float(older[0]), float(newer[0])
    pairs = older_size * newer_size
    shift = newer[1] - older[1]
    # The distance of the means, times the number of pairs.
    apart = shift * pairs + (newer[2] * older_size - older[2] * newer_size)
    return (
        older[0] + newer[0],
        older[1],
        older[2] + (newer[2] + shift * newer_size),
        older[3] + newer[3] + (apart / pairs) * (apart / (older_size + newer_size)),
    )


def subtract_deviations(total: Any, oldest: Any) -> Any:
    """Take out the oldest part, and how far its mean lay from that of the rest.

    The reference of the total stays, even if its event has left: any value will do, and this one is
    the best that is known. Deviations are rounded, and would else fall below zero.
    """
    left = total[0] - oldest[0]
    if left == 0 or oldest[0] == 0:
        return total if oldest[0] == 0 else (0, 0.0, 0.0, 0.0)
    older_size, newer_size = float(oldest[0]), float(left)
    excess = total[2] - (oldest[2] + (oldest[1] - total[1]) * older_size)
    apart = (oldest[1] - total[1]) + (oldest[2] / older_size - excess / newer_size)
    between = apart * apart * (older_size * newer_size / float(total[0]))
    deviation = total[3] - oldest[3] - between
    return (left, total[1], excess, deviation if not deviation < 0.0 else 0.0)


def lift_moments(value: Any) -> Any:
    """One value, and no deviations of any power."""
    number = float(value)
    nothing = number - number
    return (1, number, nothing, nothing, nothing, nothing)


def combine_moments(older: Any, newer: Any) -> Any:
    """Add up four powers, and account for the distance of the two means."""
    if older[0] == 0 or newer[0] == 0:
        return newer if older[0] == 0 else older
    m, n = float(older[0]), float(newer[0])
    count, shift, excess, squares = combine_deviations(older[:4], newer[:4])
    apart = shift_of_means(older, newer)
    older_share, newer_share = m / (m + n), n / (m + n)
    step = apart * m * newer_share  # what the squares grow by is apart times this
    cubes = (
        older[4] + newer[4]
        + apart * apart * step * (older_share - newer_share)
        + 3.0 * apart * (older_share * newer[3] - newer_share * older[3])
    )  # fmt: skip
    fourths = (
        older[5] + newer[5]
        + apart * apart * apart * step * (1.0 - 3.0 * older_share * newer_share)
        + 6.0 * apart * apart
        * (older_share * older_share * newer[3] + newer_share * newer_share * older[3])
        + 4.0 * apart * (older_share * newer[4] - newer_share * older[4])
    )  # fmt: skip
    return (count, shift, excess, squares, cubes, fourths)


def shift_of_means(older: Any, newer: Any) -> Any:
    """How much higher the newer mean is."""
    return (newer[1] - older[1]) + (newer[2] / newer[0] - older[2] / older[0])


def same_moments(left: Any, right: Any) -> bool:
    """Whether two partials, or answers, tell the same; which event is the reference is all one."""
    return close(_seen_from_zero(left), _seen_from_zero(right))


def _seen_from_zero(partial: Any) -> Any:
    if not isinstance(partial, tuple) or partial[0] == 0:
        return partial
    count, reference, excess, squares, *higher = partial
    # Cubes and fourth powers cancel, and are as exact as a distribution of this width allows.
    scale = math.sqrt(squares) if squares > 0 else 1.0
    shape = (power / scale**exponent for exponent, power in enumerate(higher, 3))
    return (count, reference + excess / count, squares, *shape)


# Answers ----------------------------------------------------------------------------------------


def at_least_two(partial: Any) -> bool:
    """A sample of one value has no variance."""
    return bool(partial[0] > 1)


def at_least_one(partial: Any) -> bool:
    """A population of one value has variance zero."""
    return bool(partial[0] > 0)


def deviates(partial: Any) -> bool:
    """Equal values have no shape."""
    return bool(partial[3] != 0)


def sample_variance(partial: Any) -> Any:
    """Squared deviation per degree of freedom."""
    return partial[3] / (partial[0] - 1)


def population_variance(partial: Any) -> Any:
    """Squared deviation per value."""
    return partial[3] / partial[0]


def sample_stddev(partial: Any) -> Any:
    """The root of the sample variance."""
    return math.sqrt(partial[3] / (partial[0] - 1))


def population_stddev(partial: Any) -> Any:
    """The root of the population variance."""
    return math.sqrt(partial[3] / partial[0])


def cubed_deviation(partial: Any) -> Any:
    """The mean cube of the standardized values."""
    variance = partial[3] / partial[0]
    return partial[4] / partial[0] / variance / math.sqrt(variance)


def excess_of_fourths(partial: Any) -> Any:
    """The mean fourth power of the standardized values, less that of a normal distribution."""
    variance = partial[3] / partial[0]
    return partial[5] / partial[0] / variance / variance - 3.0


_FIELDS = (*integers("count"), *floats("reference", "excess", "deviation"))


def _deviation_for(
    lower: Callable[[Any], Any], defined: Callable[[Any], bool], _kinds: tuple[Kind, ...]
) -> Monoid:
    return Monoid(
        identity=(0, 0.0, 0.0, 0.0),
        lift=lift_deviation,
        combine=combine_deviations,
        lower=lower,
        inverse=subtract_deviations,
        defined=Defined(defined, one_value_is_enough=defined is at_least_one),
        traits=Traits(commutative=True),
        fields=_FIELDS,
        output=always(pa.float64()),
    )


def _shape_for(lower: Callable[[Any], Any], _kinds: tuple[Kind, ...]) -> Monoid:
    return Monoid(
        identity=(0, 0.0, 0.0, 0.0, 0.0, 0.0),
        lift=lift_moments,
        combine=combine_moments,
        lower=lower,
        defined=Defined(deviates, one_value_is_enough=False),
        traits=Traits(commutative=True),
        fields=(*_FIELDS, *floats("cubes", "fourths")),
        output=always(pa.float64()),
    )


def _spread(
    name: str, of_sample: Callable[[Any], Any], of_population: Callable[[Any], Any], called: str
) -> tuple[Aggregation, Aggregation]:
    """An aggregation of a sample, and of a population: the variant that `population=True` makes."""
    whole = Aggregation(
        f"{name}_pop",
        NUMBER,
        given(_deviation_for, of_population, at_least_one),
        same_moments,
        f"the population {called}",
    )

    def sample_or_population(population: bool = False) -> Aggregation:
        return whole if truth("population", population) else sample

    sample = Aggregation(
        name,
        NUMBER,
        given(_deviation_for, of_sample, at_least_two),
        same_moments,
        f"the sample {called}; of a population with `population=True`",
        variant=sample_or_population,
    )
    return sample, whole


variance, VARIANCE_POP = _spread("variance", sample_variance, population_variance, "variance")
stddev, _ = _spread("stddev", sample_stddev, population_stddev, "standard deviation")
skewness = Aggregation(
    "skewness",
    NUMBER,
    given(_shape_for, cubed_deviation),
    same_moments,
    "the skewness of a population, as in Spark; null if all values are equal",
)
kurtosis = Aggregation(
    "kurtosis",
    NUMBER,
    given(_shape_for, excess_of_fourths),
    same_moments,
    "the excess kurtosis of a population, as in Spark; null if all values are equal",
)

EXAMPLES = (variance(population=True), stddev(population=True))
