"""What type checkers know of the catalogue. `make pages` writes this file."""

from windrow.aggregations.arg_extremes import arg_max, arg_min
from windrow.aggregations.bits import all, any, bit_and, bit_or, bit_xor
from windrow.aggregations.candles import ohlc
from windrow.aggregations.changes import change, rate
from windrow.aggregations.classifiers import naive_bayes
from windrow.aggregations.collections import collect, collect_distinct, concat, mode
from windrow.aggregations.count_min import CountMin, count_min
from windrow.aggregations.counts import count, count_if
from windrow.aggregations.decay import ewm_mean
from windrow.aggregations.different import count_distinct, sum_distinct
from windrow.aggregations.distinct_counts import approx_distinct
from windrow.aggregations.drawing import m4
from windrow.aggregations.extreme_counts import max_count, min_count
from windrow.aggregations.extremes import max, min, relative_variation, value_range
from windrow.aggregations.frequencies import frequent_items
from windrow.aggregations.largest import bottom_k, top_k
from windrow.aggregations.means import (
    geometric_mean,
    harmonic_mean,
    mean,
    root_mean_square,
    weighted_mean,
)
from windrow.aggregations.membership import BloomFilter, bloom
from windrow.aggregations.moment_sketch import moment_sketch
from windrow.aggregations.moments import kurtosis, skewness, stddev, variance
from windrow.aggregations.order_statistics import median, quantile
from windrow.aggregations.positions import first, lag, last, lead, nth
from windrow.aggregations.previous import previous
from windrow.aggregations.quantiles import approx_quantile
from windrow.aggregations.ranks import percent_rank, rank
from windrow.aggregations.regression import correlation, covariance, intercept, slope
from windrow.aggregations.runs import longest_increasing_run, longest_run_above, sign_changes
from windrow.aggregations.since import count_since_last, time_since_last
from windrow.aggregations.sums import product, sum, sum_of_squares
from windrow.aggregations.uniformity import all_equal
from windrow.algebra.aggregation import Aggregation

CATALOGUE: dict[str, Aggregation]
OFFERED: tuple[Aggregation, ...]
VARIANTS: tuple[Aggregation, ...]

__all__ = [
    "BloomFilter",
    "CountMin",
    "all",
    "all_equal",
    "any",
    "approx_distinct",
    "approx_quantile",
    "arg_max",
    "arg_min",
    "bit_and",
    "bit_or",
    "bit_xor",
    "bloom",
    "bottom_k",
    "change",
    "collect",
    "collect_distinct",
    "concat",
    "correlation",
    "count",
    "count_distinct",
    "count_if",
    "count_min",
    "count_since_last",
    "covariance",
    "ewm_mean",
    "first",
    "frequent_items",
    "geometric_mean",
    "harmonic_mean",
    "intercept",
    "kurtosis",
    "lag",
    "last",
    "lead",
    "longest_increasing_run",
    "longest_run_above",
    "m4",
    "max",
    "max_count",
    "mean",
    "median",
    "min",
    "min_count",
    "mode",
    "moment_sketch",
    "naive_bayes",
    "nth",
    "ohlc",
    "percent_rank",
    "previous",
    "product",
    "quantile",
    "rank",
    "rate",
    "relative_variation",
    "root_mean_square",
    "sign_changes",
    "skewness",
    "slope",
    "stddev",
    "sum",
    "sum_distinct",
    "sum_of_squares",
    "time_since_last",
    "top_k",
    "value_range",
    "variance",
    "weighted_mean",
]
