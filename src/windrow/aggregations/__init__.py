"""The catalogue: every registered aggregation by name, one family per file."""

from windrow.aggregations.collections import collect, concat
from windrow.aggregations.counts import count
from windrow.aggregations.extremes import (
    arg_max,
    arg_min,
    max,
    max_count,
    min,
    min_count,
    value_range,
)
from windrow.aggregations.moments import stddev, stddev_pop, variance, variance_pop
from windrow.aggregations.positions import first, last
from windrow.aggregations.sums import geometric_mean, mean, product, sum
from windrow.algebra.aggregation import Aggregation

CATALOGUE: dict[str, Aggregation] = {
    aggregation.name: aggregation
    for aggregation in (
        count,
        sum,
        mean,
        product,
        geometric_mean,
        min,
        max,
        value_range,
        min_count,
        max_count,
        arg_min,
        arg_max,
        variance,
        variance_pop,
        stddev,
        stddev_pop,
        first,
        last,
        collect,
        concat,
    )
}

__all__ = [
    "CATALOGUE",
    "arg_max",
    "arg_min",
    "collect",
    "concat",
    "count",
    "first",
    "geometric_mean",
    "last",
    "max",
    "max_count",
    "mean",
    "min",
    "min_count",
    "product",
    "stddev",
    "stddev_pop",
    "sum",
    "value_range",
    "variance",
    "variance_pop",
]
