"""What type checkers know of the catalogue. `make pages` writes this file."""

# A call takes an aggregation's own columns and parameters, and not any, as that of the class does.
# mypy: disable-error-code="override"

from collections.abc import Callable, Sequence
from datetime import timedelta
from decimal import Decimal
from typing import Any, Literal, overload

from windrow.aggregations.count_min import CountMin
from windrow.aggregations.membership import BloomFilter
from windrow.algebra.aggregation import Aggregation, Measure

class _All(Aggregation):
    """Whether every value is true."""

    def __call__(self, condition: str = ..., /, *, alias: str | None = None) -> Measure: ...

class _AllEqual(Aggregation):
    """Whether all values are equal; true of one value, and NaN equals NaN."""

    def __call__(self, value: str = ..., /, *, alias: str | None = None) -> Measure: ...

class _Any(Aggregation):
    """Whether some value is true."""

    def __call__(self, condition: str = ..., /, *, alias: str | None = None) -> Measure: ...

class _ApproxDistinct(Aggregation):
    """About the number of different values, with a standard error of `error` (0.05 if not
    given); with `sketch=True`, an HLL sketch of Apache DataSketches.
    """

    def __call__(
        self,
        value: str = ...,
        /,
        error: float = 0.05,
        sketch: bool = False,
        *,
        alias: str | None = None,
    ) -> Measure: ...

class _ApproxQuantile(Aggregation):
    """About the smallest value that a share of `q` of all does not exceed; its rank is wrong by
    at most `error` of all (0.01 if not given) in 99 of 100 answers; a list for a list of `q`.
    """

    @overload
    def __call__(
        self,
        value: str,
        /,
        q: float | Sequence[float],
        error: float = 0.01,
        *,
        alias: str | None = None,
    ) -> Measure: ...
    @overload
    def __call__(
        self, q: float | Sequence[float], error: float = 0.01, *, alias: str | None = None
    ) -> Measure: ...

class _ArgMax(Aggregation):
    """The second column's value where the first, or `key` of it, is largest, the first of
    equals.
    """

    def __call__(
        self,
        value: str = ...,
        at: str = ...,
        /,
        key: Callable[[Any], Any] | str | None = None,
        *,
        alias: str | None = None,
    ) -> Measure: ...

class _ArgMin(Aggregation):
    """The second column's value where the first, or `key` of it, is smallest, the first of
    equals.
    """

    def __call__(
        self,
        value: str = ...,
        at: str = ...,
        /,
        key: Callable[[Any], Any] | str | None = None,
        *,
        alias: str | None = None,
    ) -> Measure: ...

class _BitAnd(Aggregation):
    """The bits that all values have set."""

    def __call__(self, value: str = ..., /, *, alias: str | None = None) -> Measure: ...

class _BitOr(Aggregation):
    """The bits that some value has set."""

    def __call__(self, value: str = ..., /, *, alias: str | None = None) -> Measure: ...

class _BitXor(Aggregation):
    """The bits that an odd number of values have set."""

    def __call__(self, value: str = ..., /, *, alias: str | None = None) -> Measure: ...

class _Bloom(Aggregation):
    """A Bloom filter of the values, in bytes that `wr.BloomFilter` and Spark read; with
    `capacity` different values in it, it mistakes a share of `error` (0.01 if not given) of
    others for its own.
    """

    @overload
    def __call__(
        self, value: str, /, capacity: int, error: float = 0.01, *, alias: str | None = None
    ) -> Measure: ...
    @overload
    def __call__(
        self, capacity: int, error: float = 0.01, *, alias: str | None = None
    ) -> Measure: ...

class _BottomK(Aggregation):
    """The list of the `k` smallest values, smallest first."""

    @overload
    def __call__(self, value: str, /, k: int, *, alias: str | None = None) -> Measure: ...
    @overload
    def __call__(self, k: int, *, alias: str | None = None) -> Measure: ...

class _Change(Aggregation):
    """The newest value less the oldest; exact for integers."""

    def __call__(self, value: str = ..., /, *, alias: str | None = None) -> Measure: ...

class _Collect(Aggregation):
    """The list of values, oldest first; of the newest `limit` if that is given."""

    def __call__(
        self, value: str = ..., /, limit: int | None = None, *, alias: str | None = None
    ) -> Measure: ...

class _CollectDistinct(Aggregation):
    """The list of different values in the order of their first arrival; the first `limit` of
    them if that is given.
    """

    def __call__(
        self, value: str = ..., /, limit: int | None = None, *, alias: str | None = None
    ) -> Measure: ...

class _Concat(Aggregation):
    """The strings joined, oldest first; the newest `limit` characters if that is given."""

    def __call__(
        self, value: str = ..., /, limit: int | None = None, *, alias: str | None = None
    ) -> Measure: ...

class _Correlation(Aggregation):
    """Pearson's correlation; null if all values of a column are equal."""

    @overload
    def __call__(self, first: str, second: str, /, *, alias: str | None = None) -> Measure: ...
    @overload
    def __call__(self, *, alias: str | None = None) -> Measure: ...

class _Count(Aggregation):
    """The number of values, or of rows if no column is named."""

    def __call__(self, value: str = ..., /, *, alias: str | None = None) -> Measure: ...

class _CountDistinct(Aggregation):
    """The number of different values."""

    def __call__(self, value: str = ..., /, *, alias: str | None = None) -> Measure: ...

class _CountIf(Aggregation):
    """The number of true values; 0 if there are none."""

    def __call__(self, condition: str = ..., /, *, alias: str | None = None) -> Measure: ...

class _CountMin(Aggregation):
    """A count-min sketch of the values, in bytes that `wr.CountMin` and Spark read: counts too
    large by at most a share of `error` (0.05 if not given) of the window's events, with a
    probability of `confidence` (0.95).
    """

    def __call__(
        self,
        value: str = ...,
        /,
        error: float = 0.05,
        confidence: float = 0.95,
        *,
        alias: str | None = None,
    ) -> Measure: ...

class _CountSinceLast(Aggregation):
    """How many rows ago a condition last held: 0 if it holds in the current row (in `slide`,
    the newest), null if it held in none.
    """

    def __call__(self, condition: str = ..., /, *, alias: str | None = None) -> Measure: ...

class _Covariance(Aggregation):
    """The sample covariance; of a population with `population=True`."""

    @overload
    def __call__(
        self, first: str, second: str, /, population: bool = False, *, alias: str | None = None
    ) -> Measure: ...
    @overload
    def __call__(self, population: bool = False, *, alias: str | None = None) -> Measure: ...

class _EwmMean(Aggregation):
    """The mean with weights that halve every `half_life` events; or, with a second column of
    times and a duration such as '10 minutes', with that time.
    """

    @overload
    def __call__(
        self,
        value: str,
        time: str,
        /,
        half_life: float | str | timedelta,
        *,
        alias: str | None = None,
    ) -> Measure: ...
    @overload
    def __call__(
        self, value: str, /, half_life: float | str | timedelta, *, alias: str | None = None
    ) -> Measure: ...
    @overload
    def __call__(
        self, half_life: float | str | timedelta, *, alias: str | None = None
    ) -> Measure: ...

class _First(Aggregation):
    """The oldest value that is not null."""

    def __call__(self, value: str = ..., /, *, alias: str | None = None) -> Measure: ...

class _FrequentItems(Aggregation):
    """The `k` most frequent values, most frequent first: a list of structs of `item`, `count`
    and `error`; the item came `count` times or up to `error` fewer; no value is missing that
    makes up more than a share of `error` (0.01 if not given) of all.
    """

    @overload
    def __call__(
        self, value: str, /, k: int, error: float = 0.01, *, alias: str | None = None
    ) -> Measure: ...
    @overload
    def __call__(self, k: int, error: float = 0.01, *, alias: str | None = None) -> Measure: ...

class _GeometricMean(Aggregation):
    """The geometric mean; NaN if a value is negative."""

    def __call__(self, value: str = ..., /, *, alias: str | None = None) -> Measure: ...

class _HarmonicMean(Aggregation):
    """The harmonic mean; 0 if a value is zero, NaN if one is negative."""

    def __call__(self, value: str = ..., /, *, alias: str | None = None) -> Measure: ...

class _Intercept(Aggregation):
    """Where the straight line of least squares of the first column on the second meets zero of
    the second (the beginning of 1970 if it is a time); null if all its values are equal.
    """

    @overload
    def __call__(self, value: str, on: str, /, *, alias: str | None = None) -> Measure: ...
    @overload
    def __call__(self, *, alias: str | None = None) -> Measure: ...

class _Kurtosis(Aggregation):
    """The excess kurtosis of a population, as in Spark; null if all values are equal."""

    def __call__(self, value: str = ..., /, *, alias: str | None = None) -> Measure: ...

class _Lag(Aggregation):
    """The value `n` rows before the current one (in `slide`, the newest), 1 if you do not say;
    null if that row has none, or if the window does not reach it.
    """

    def __call__(self, value: str = ..., /, n: int = 1, *, alias: str | None = None) -> Measure: ...

class _Last(Aggregation):
    """The newest value that is not null."""

    def __call__(self, value: str = ..., /, *, alias: str | None = None) -> Measure: ...

class _Lead(Aggregation):
    """The value `n` rows after the current one, 1 if you do not say; null if that row has none,
    or if there is none; for windows that begin at the row, such as `wr.rows(before=0,
    after=3)`.
    """

    def __call__(self, value: str = ..., /, n: int = 1, *, alias: str | None = None) -> Measure: ...

class _LongestIncreasingRun(Aggregation):
    """The longest run of values each larger than the one before, the first of equals: a struct
    of its start, end and duration by the second column, and its length in events.
    """

    @overload
    def __call__(self, value: str, time: str, /, *, alias: str | None = None) -> Measure: ...
    @overload
    def __call__(self, *, alias: str | None = None) -> Measure: ...

class _LongestRunAbove(Aggregation):
    """The number of events in the longest run of values above `threshold`."""

    @overload
    def __call__(
        self, value: str, /, threshold: float | Decimal, *, alias: str | None = None
    ) -> Measure: ...
    @overload
    def __call__(self, threshold: float | Decimal, *, alias: str | None = None) -> Measure: ...

class _M4(Aggregation):
    """First, last, smallest and largest value, each with its time from the second column, as a
    struct: what a chart needs to draw the window.
    """

    @overload
    def __call__(self, value: str, time: str, /, *, alias: str | None = None) -> Measure: ...
    @overload
    def __call__(self, *, alias: str | None = None) -> Measure: ...

class _Max(Aggregation):
    """The largest value."""

    def __call__(self, value: str = ..., /, *, alias: str | None = None) -> Measure: ...

class _MaxCount(Aggregation):
    """How often the largest value occurs."""

    def __call__(self, value: str = ..., /, *, alias: str | None = None) -> Measure: ...

class _Mean(Aggregation):
    """The arithmetic mean; of durations a duration, cut off toward zero."""

    def __call__(self, value: str = ..., /, *, alias: str | None = None) -> Measure: ...

class _Median(Aggregation):
    """The value in the middle once all are sorted, or the mean of the two in the middle."""

    def __call__(self, value: str = ..., /, *, alias: str | None = None) -> Measure: ...

class _Min(Aggregation):
    """The smallest value."""

    def __call__(self, value: str = ..., /, *, alias: str | None = None) -> Measure: ...

class _MinCount(Aggregation):
    """How often the smallest value occurs."""

    def __call__(self, value: str = ..., /, *, alias: str | None = None) -> Measure: ...

class _Mode(Aggregation):
    """The most frequent value, of equals the one that was seen first; with `limit`, more
    different values than that raise.
    """

    def __call__(
        self, value: str = ..., /, limit: int | None = None, *, alias: str | None = None
    ) -> Measure: ...

class _MomentSketch(Aggregation):
    """The value that a share of `q` of all does not exceed, estimated from ten moments, or a
    list for a list of `q`; without `q`, a struct of count, min, max and the means of the first
    ten powers of the values, scaled to [-1, 1].
    """

    def __call__(
        self,
        value: str = ...,
        /,
        q: float | Sequence[float] | None = None,
        *,
        alias: str | None = None,
    ) -> Measure: ...

class _NaiveBayes(Aggregation):
    """How likely the newest event is of each class, by the features of those before it in the
    window: a list of structs of `label` and `probability`, the likeliest first. Numbers count
    as normally distributed, texts and truth values by how often they came; an event without a
    label is judged and not learnt from.
    """

    @overload
    def __call__(self, label: str, feature: str, /, *, alias: str | None = None) -> Measure: ...
    @overload
    def __call__(self, *, alias: str | None = None) -> Measure: ...

class _Nth(Aggregation):
    """The value that is `n`th from the oldest, or from the newest if `n` is negative; null if
    there are fewer.
    """

    @overload
    def __call__(self, value: str, /, n: int, *, alias: str | None = None) -> Measure: ...
    @overload
    def __call__(self, n: int, *, alias: str | None = None) -> Measure: ...

class _Ohlc(Aggregation):
    """The oldest, largest, smallest and newest value as a struct of `open`, `high`, `low` and
    `close`.
    """

    def __call__(self, value: str = ..., /, *, alias: str | None = None) -> Measure: ...

class _PercentRank(Aggregation):
    """The share of the other values that are smaller than the current row's: (rank - 1) / (n -
    1), 0 if there are no others.
    """

    def __call__(self, value: str = ..., /, *, alias: str | None = None) -> Measure: ...

class _Previous(Aggregation):
    """The last value before the current row (in `slide`, before the newest), whether or not
    that row has one.
    """

    def __call__(self, value: str = ..., /, *, alias: str | None = None) -> Measure: ...

class _Product(Aggregation):
    """The product; exact for integers."""

    def __call__(self, value: str = ..., /, *, alias: str | None = None) -> Measure: ...

class _Quantile(Aggregation):
    """The value below which a share of `q` of all lies; `interpolation` says what it is between
    two values: `linear` (as if not given) and `midpoint` give floats, of numbers; `lower`,
    `higher` and `nearest` give a value of the column, of any type; a list for a list of `q`.
    """

    @overload
    def __call__(
        self,
        value: str,
        /,
        q: float | Sequence[float],
        interpolation: Literal["linear", "lower", "higher", "nearest", "midpoint"] = "linear",
        *,
        alias: str | None = None,
    ) -> Measure: ...
    @overload
    def __call__(
        self,
        q: float | Sequence[float],
        interpolation: Literal["linear", "lower", "higher", "nearest", "midpoint"] = "linear",
        *,
        alias: str | None = None,
    ) -> Measure: ...

class _Rank(Aggregation):
    """The rank of the current row's value among all, from 1 for the smallest, or the largest
    with `descending`; equal values have the smallest of their ranks, or with `method` the
    largest (`max`), the mean (`average`), or one of ranks without gaps (`dense`); null if the
    current row's value is null.
    """

    def __call__(
        self,
        value: str = ...,
        /,
        method: Literal["min", "max", "average", "dense"] = "min",
        descending: bool = False,
        *,
        alias: str | None = None,
    ) -> Measure: ...

class _Rate(Aggregation):
    """The newest value less the oldest, per second by the second column, a time; null if no
    time passes.
    """

    @overload
    def __call__(self, value: str, time: str, /, *, alias: str | None = None) -> Measure: ...
    @overload
    def __call__(self, *, alias: str | None = None) -> Measure: ...

class _RelativeVariation(Aggregation):
    """The distance from the smallest to the largest value as a share of the largest; null if
    that is zero.
    """

    def __call__(self, value: str = ..., /, *, alias: str | None = None) -> Measure: ...

class _RootMeanSquare(Aggregation):
    """The root of the mean of the squares."""

    def __call__(self, value: str = ..., /, *, alias: str | None = None) -> Measure: ...

class _SignChanges(Aggregation):
    """How often a negative value follows a positive one or the other way round; zeros do not
    count.
    """

    def __call__(self, value: str = ..., /, *, alias: str | None = None) -> Measure: ...

class _Skewness(Aggregation):
    """The skewness of a population, as in Spark; null if all values are equal."""

    def __call__(self, value: str = ..., /, *, alias: str | None = None) -> Measure: ...

class _Slope(Aggregation):
    """The slope of the straight line of least squares of the first column on the second, per
    second if that is a time; null if all its values are equal.
    """

    @overload
    def __call__(self, value: str, on: str, /, *, alias: str | None = None) -> Measure: ...
    @overload
    def __call__(self, *, alias: str | None = None) -> Measure: ...

class _Stddev(Aggregation):
    """The sample standard deviation; of a population with `population=True`."""

    def __call__(
        self, value: str = ..., /, population: bool = False, *, alias: str | None = None
    ) -> Measure: ...

class _Sum(Aggregation):
    """The sum; exact for integers and durations."""

    def __call__(self, value: str = ..., /, *, alias: str | None = None) -> Measure: ...

class _SumDistinct(Aggregation):
    """The sum of the different values."""

    def __call__(self, value: str = ..., /, *, alias: str | None = None) -> Measure: ...

class _SumOfSquares(Aggregation):
    """The sum of squares; exact for integers."""

    def __call__(self, value: str = ..., /, *, alias: str | None = None) -> Measure: ...

class _TimeSinceLast(Aggregation):
    """The time from the last row in which a condition held to the current row (in `slide`, the
    newest), by the order column or the second: 0 if it holds there, null if it held in none.
    """

    def __call__(
        self, condition: str = ..., time: str = ..., /, *, alias: str | None = None
    ) -> Measure: ...

class _TopK(Aggregation):
    """The list of the `k` largest values, largest first."""

    @overload
    def __call__(self, value: str, /, k: int, *, alias: str | None = None) -> Measure: ...
    @overload
    def __call__(self, k: int, *, alias: str | None = None) -> Measure: ...

class _ValueRange(Aggregation):
    """The distance from the smallest to the largest value."""

    def __call__(self, value: str = ..., /, *, alias: str | None = None) -> Measure: ...

class _Variance(Aggregation):
    """The sample variance; of a population with `population=True`."""

    def __call__(
        self, value: str = ..., /, population: bool = False, *, alias: str | None = None
    ) -> Measure: ...

class _WeightedMean(Aggregation):
    """The mean of the first column weighted by the second, as in a volume-weighted price; null
    if the weights add up to zero.
    """

    @overload
    def __call__(self, value: str, weight: str, /, *, alias: str | None = None) -> Measure: ...
    @overload
    def __call__(self, *, alias: str | None = None) -> Measure: ...

all: _All
all_equal: _AllEqual
any: _Any
approx_distinct: _ApproxDistinct
approx_quantile: _ApproxQuantile
arg_max: _ArgMax
arg_min: _ArgMin
bit_and: _BitAnd
bit_or: _BitOr
bit_xor: _BitXor
bloom: _Bloom
bottom_k: _BottomK
change: _Change
collect: _Collect
collect_distinct: _CollectDistinct
concat: _Concat
correlation: _Correlation
count: _Count
count_distinct: _CountDistinct
count_if: _CountIf
count_min: _CountMin
count_since_last: _CountSinceLast
covariance: _Covariance
ewm_mean: _EwmMean
first: _First
frequent_items: _FrequentItems
geometric_mean: _GeometricMean
harmonic_mean: _HarmonicMean
intercept: _Intercept
kurtosis: _Kurtosis
lag: _Lag
last: _Last
lead: _Lead
longest_increasing_run: _LongestIncreasingRun
longest_run_above: _LongestRunAbove
m4: _M4
max: _Max
max_count: _MaxCount
mean: _Mean
median: _Median
min: _Min
min_count: _MinCount
mode: _Mode
moment_sketch: _MomentSketch
naive_bayes: _NaiveBayes
nth: _Nth
ohlc: _Ohlc
percent_rank: _PercentRank
previous: _Previous
product: _Product
quantile: _Quantile
rank: _Rank
rate: _Rate
relative_variation: _RelativeVariation
root_mean_square: _RootMeanSquare
sign_changes: _SignChanges
skewness: _Skewness
slope: _Slope
stddev: _Stddev
sum: _Sum
sum_distinct: _SumDistinct
sum_of_squares: _SumOfSquares
time_since_last: _TimeSinceLast
top_k: _TopK
value_range: _ValueRange
variance: _Variance
weighted_mean: _WeightedMean

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
