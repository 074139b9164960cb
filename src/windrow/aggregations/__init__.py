"""The catalogue: every registered aggregation by name, one family per file."""

from windrow.aggregations.arg_extremes import arg_max, arg_min
from windrow.aggregations.bits import all, any, bit_and, bit_or, bit_xor
from windrow.aggregations.changes import change, rate
from windrow.aggregations.collections import collect, concat
from windrow.aggregations.counts import count, count_if
from windrow.aggregations.extreme_counts import max_count, min_count
from windrow.aggregations.extremes import max, min, relative_variation, value_range
from windrow.aggregations.means import (
    geometric_mean,
    harmonic_mean,
    mean,
    root_mean_square,
    weighted_mean,
)
from windrow.aggregations.moments import (
    kurtosis,
    skewness,
    stddev,
    stddev_pop,
    variance,
    variance_pop,
)
from windrow.aggregations.positions import first, last
from windrow.aggregations.regression import (
    correlation,
    covariance,
    covariance_pop,
    intercept,
    slope,
)
from windrow.aggregations.sums import product, sum, sum_of_squares
from windrow.algebra.aggregation import Aggregation

#: what users call
OFFERED = (
    count, count_if,
    sum, sum_of_squares, product,
    mean, weighted_mean, geometric_mean, harmonic_mean, root_mean_square,
    variance, stddev, skewness, kurtosis,
    covariance, correlation, slope, intercept,
    min, max, value_range, relative_variation, min_count, max_count, arg_min, arg_max,
    first, last, change, rate,
    collect, concat,
    bit_and, bit_or, bit_xor, all, any,
)  # fmt: skip
#: what parameters make of them
VARIANTS = (variance_pop, stddev_pop, covariance_pop)

#: every aggregation that laws, conformance and agreement are checked of
CATALOGUE: dict[str, Aggregation] = {
    aggregation.name: aggregation for aggregation in (*OFFERED, *VARIANTS)
}

__all__ = [
    "CATALOGUE",
    "OFFERED",
    "all",
    "any",
    "arg_max",
    "arg_min",
    "bit_and",
    "bit_or",
    "bit_xor",
    "change",
    "collect",
    "concat",
    "correlation",
    "count",
    "count_if",
    "covariance",
    "first",
    "geometric_mean",
    "harmonic_mean",
    "intercept",
    "kurtosis",
    "last",
    "max",
    "max_count",
    "mean",
    "min",
    "min_count",
    "product",
    "rate",
    "relative_variation",
    "root_mean_square",
    "skewness",
    "slope",
    "stddev",
    "sum",
    "sum_of_squares",
    "value_range",
    "variance",
    "weighted_mean",
]
