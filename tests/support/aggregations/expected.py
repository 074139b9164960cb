"""What every aggregation of the catalogue should answer, computed in another way than windrow.

With fractions, by sorting, with numpy or the statistics module. `EXPECTED` takes the values of one
column, oldest first, none of them null; `PAIRED` takes pairs of the values of two columns. An
aggregation whose own file says what is `expected` needs no line here.
"""

import functools
import itertools
import math
import operator
import statistics
import sys
from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from tests.support.aggregations import sketched
from windrow.aggregations import CATALOGUE


def as_spark_sorts(value: Any) -> Any:
    """NaN after everything."""
    return (value != value, 0 if value != value else value)


def extreme(values: list[Any], pick: Callable[..., Any]) -> Any:
    return pick(values, key=as_spark_sorts)


def is_special(values: list[Any]) -> bool:
    return any(isinstance(value, float) and not math.isfinite(value) for value in values)


def exactly(value: Any) -> Fraction:
    return Fraction(value)


def total(values: list[Any]) -> Any:
    if isinstance(values[0], timedelta):
        return sum(values, timedelta())
    if is_special(values):
        return sum(map(float, values))
    return sum(map(exactly, values))


def product(values: list[Any]) -> Any:
    if is_special(values):
        return math.prod(map(float, values))
    return math.prod(map(exactly, values))


def mean(values: list[Any]) -> Any:
    if isinstance(values[0], timedelta):
        ticks = [value // timedelta(microseconds=1) for value in values]
        return timedelta(microseconds=math.trunc(Fraction(sum(ticks), len(ticks))))
    return total(values) / len(values)


def geometric_mean(values: list[Any]) -> Any:
    if any(value < 0 or value != value for value in values):
        return math.nan
    with np.errstate(all="ignore"):
        return float(np.exp(np.mean(np.log(np.array(values, float)))))


def squared_deviations(values: list[Any]) -> Any:
    if is_special(values):
        return math.nan
    center = mean(values)
    return sum((exactly(value) - center) ** 2 for value in values)


def harmonic_mean(values: list[Any]) -> Any:
    if any(value < 0 or value != value for value in values):
        return math.nan
    if 0 in values:
        return 0.0
    finite = [1 / exactly(value) for value in values if value != math.inf]
    return len(values) / sum(finite) if finite else math.inf


def sum_of_squares(values: list[Any]) -> Any:
    if is_special(values):
        return sum(float(value) ** 2 for value in values)
    found = sum(exactly(value) ** 2 for value in values)
    return float(found) if isinstance(values[0], Decimal) else found


def root_mean_square(values: list[Any]) -> Any:
    return math.sqrt(sum_of_squares(values) / len(values))


def variance(values: list[Any]) -> Any:
    return None if len(values) < 2 else squared_deviations(values) / (len(values) - 1)


def standardized(power: int, less: int) -> Callable[[list[Any]], Any]:
    """The mean power of the values, standardized as a population."""

    def moment(values: list[Any]) -> Any:
        if is_special(values):
            return math.nan
        center = mean(values)
        squares = variance_pop(values)
        if squares == 0:
            return None
        powers = sum((exactly(value) - center) ** power for value in values) / len(values)
        return float(powers) / math.sqrt(squares) ** power - less

    return moment


def variance_pop(values: list[Any]) -> Any:
    return squared_deviations(values) / len(values)


def root(value: Any) -> Any:
    return None if value is None else math.sqrt(value)


def distance(smallest: Any, largest: Any) -> Any:
    if isinstance(smallest, Decimal):  # whose difference Python would round to 28 digits
        return exactly(largest) - exactly(smallest)
    return largest - smallest


def relative_variation(values: list[Any]) -> Any:
    smallest, largest = extreme(values, min), extreme(values, max)
    if largest == 0:
        return None
    if is_special([smallest, largest]):
        return (largest - smallest) / largest
    try:
        return float((exactly(largest) - exactly(smallest)) / exactly(largest))
    except OverflowError:  # larger than the largest float
        return math.copysign(math.inf, largest)


def positions_of(values: list[Any], wanted: Any) -> list[int]:
    ranks = [as_spark_sorts(value) for value in values]
    return [place for place, rank in enumerate(ranks) if rank == as_spark_sorts(wanted)]


def alike(value: Any) -> Any:
    return "not a number" if value != value else value


def distinct(values: list[Any]) -> list[Any]:
    keys = [alike(value) for value in values]
    return [value for place, value in enumerate(values) if keys.index(keys[place]) == place]


def mode(values: list[Any]) -> Any:
    seen = [alike(value) for value in values]
    return max(distinct(values), key=lambda value: seen.count(alike(value)))


def frequent_items(values: list[Any]) -> list[dict[str, Any]]:
    seen = [alike(value) for value in values]
    best = sorted(distinct(values), key=lambda value: -seen.count(alike(value)))[:3]
    return [{"item": item, "count": seen.count(alike(item)), "error": 0} for item in best]


class Near(float):
    """A number that is to be met within 1e-9, where numbers of the size of 1 cancel."""


def moment_sketch(values: list[Any]) -> dict[str, Any]:
    if is_special(values):
        numbers = list(map(float, values))
        bad = any(map(math.isnan, numbers))
        low, high = (math.nan, math.nan) if bad else (min(numbers), max(numbers))
        moments: Any = [math.nan] * 10
    else:
        low, high = float(min(values)), float(max(values))
        middle, half = (exactly(low) + exactly(high)) / 2, (exactly(high) - exactly(low)) / 2
        scaled = [(exactly(float(value)) - middle) / (half or 1) for value in values]
        moments = [Near(mean([each**power for each in scaled])) for power in range(1, 11)]
    return {"count": len(values), "min": low, "max": high, "moments": moments}


def quantile(values: list[Any], share: float) -> Any:
    return sorted(values, key=as_spark_sorts)[math.ceil(share * len(values)) - 1]


def between_values(values: list[Any], share: float, interpolation: str = "linear") -> Any:
    """As numpy finds it, of places in the order; then of the values at those places."""
    ordered = sorted(values, key=as_spark_sorts)
    if interpolation == "lower":
        return ordered[int(np.quantile(np.arange(len(ordered)), share, method="lower"))]
    low, high = (
        ordered[int(np.quantile(np.arange(len(ordered)), share, method=method))]
        for method in ("lower", "higher")
    )
    part = 0.5 if interpolation == "midpoint" else share * (len(ordered) - 1) % 1
    if low == high or is_special([low, high]):
        return (
            float(low) if not part or low == high else float(low) * (1 - part) + float(high) * part
        )
    return float(exactly(low) + (exactly(high) - exactly(low)) * exactly(part))


def rank(values: list[Any], method: str = "min", descending: bool = False) -> Any:
    """Of the newest value, by comparing it with each."""
    if values[-1] is None:
        return None
    own = as_spark_sorts(values[-1])
    places = [as_spark_sorts(value) for value in values if value is not None]
    ahead = [place for place in places if (place > own if descending else place < own)]
    if method == "dense":
        return len(set(ahead)) + 1
    highest = len(ahead) + places.count(own)
    return {"min": len(ahead) + 1, "max": highest, "average": (len(ahead) + 1 + highest) / 2}[
        method
    ]


def percent_rank(values: list[Any]) -> Any:
    found, others = rank(values), len([value for value in values if value is not None]) - 1
    return None if found is None else (found - 1) / max(others, 1)


def rows_since(values: list[Any]) -> Any:
    """The distance from the newest row to the last that is true."""
    found = [place for place, value in enumerate(reversed(values)) if value]
    return found[0] if found else None


def longest_run_above_half(values: list[Any]) -> int:
    above = "".join("x" if value > 0.5 else " " for value in values)
    return max(map(len, above.split()), default=0)


def sign_changes(values: list[Any]) -> int:
    signs = [value > 0 for value in values if value > 0 or value < 0]
    return sum(older != newer for older, newer in itertools.pairwise(signs))


def decaying_mean(values: Any, times: Any, half_life: float) -> float:
    """From the newest back, each weight from its own distance."""
    newest = max(times)
    weights = [0.5 ** ((newest - time) / half_life) for time in times]
    weighted = [float(value) * weight for value, weight in zip(values, weights, strict=True)]
    return sum(weighted) / sum(weights)


def all_equal(values: list[Any]) -> bool:
    return len(distinct(list(map(unlisted, values)))) == 1


def unlisted(value: Any) -> Any:
    """Lists are compared by how they are written."""
    return repr(value) if isinstance(value, list | dict) else value


def ohlc(values: list[Any]) -> Any:
    return (values[0], extreme(values, max), extreme(values, min), values[-1])


EXPECTED: dict[str, Callable[[list[Any]], Any]] = {
    "sum": total,
    "mean": mean,
    "product": product,
    "geometric_mean": geometric_mean,
    "sum_of_squares": sum_of_squares,
    "harmonic_mean": harmonic_mean,
    "root_mean_square": root_mean_square,
    "skewness": standardized(3, 0),
    "kurtosis": standardized(4, 3),
    "relative_variation": relative_variation,
    "change": lambda values: distance(values[0], values[-1]),
    "bit_and": lambda values: functools.reduce(operator.and_, values),
    "bit_or": lambda values: functools.reduce(operator.or_, values),
    "bit_xor": lambda values: functools.reduce(operator.xor, values),
    "all": all,
    "any": any,
    "min": lambda values: extreme(values, min),
    "max": lambda values: extreme(values, max),
    "all_equal": all_equal,
    "ohlc": ohlc,
    "value_range": lambda values: distance(extreme(values, min), extreme(values, max)),
    "min_count": lambda values: len(positions_of(values, extreme(values, min))),
    "max_count": lambda values: len(positions_of(values, extreme(values, max))),
    # The second column counts the rows, so that the answer is a position.
    "arg_min": lambda values: positions_of(values, extreme(values, min))[0],
    "arg_max": lambda values: positions_of(values, extreme(values, max))[0],
    "variance": variance,
    "variance_pop": variance_pop,
    "stddev": lambda values: root(variance(values)),
    "stddev_pop": lambda values: root(variance_pop(values)),
    "nth_2": lambda values: values[1] if len(values) > 1 else None,
    "nth_last_3": lambda values: values[-3] if len(values) > 2 else None,
    "collect_3": lambda values: values[-3:],
    "concat_4": lambda values: "".join(values)[-4:],
    "collect_distinct": distinct,
    "collect_distinct_3": lambda values: distinct(values)[:3],
    "mode": mode,
    "mode_100": mode,
    "median": lambda values: between_values(values, 0.5),
    "quantile_0_9": lambda values: between_values(values, 0.9),
    "quantile_0_25_lower": lambda values: between_values(values, 0.25, "lower"),
    "quantiles_0_1_0_5_midpoint": lambda values: [
        between_values(values, share, "midpoint") for share in (0.1, 0.5)
    ],
    "rank": rank,
    "rank_average": lambda values: rank(values, "average"),
    "rank_dense_descending": lambda values: rank(values, "dense", descending=True),
    "percent_rank": percent_rank,
    "lag": lambda values: values[-2] if len(values) > 1 else None,
    "lead": lambda values: values[1] if len(values) > 1 else None,
    "lead_2": lambda values: values[2] if len(values) > 2 else None,
    "lag_3": lambda values: values[-4] if len(values) > 3 else None,
    "previous": lambda values: next(
        (value for value in reversed(values[:-1]) if value is not None), None
    ),
    "count_since_last": rows_since,
    "count_distinct": lambda values: len(distinct(values)),
    "sum_distinct": lambda values: total(distinct(values)),
    "top_3": lambda values: sorted(values, key=as_spark_sorts, reverse=True)[:3],
    "bottom_2": lambda values: sorted(values, key=as_spark_sorts)[:2],
    "longest_run_above_0.5": longest_run_above_half,
    "sign_changes": sign_changes,
    "ewm_mean": lambda values: decaying_mean(values, range(len(values)), 4),
    "first": lambda values: values[0],
    "last": lambda values: values[-1],
    "collect": list,
    "concat": "".join,
    "approx_distinct": sketched.distinct,
    "approx_distinct_sketch": sketched.sketch_bytes,
    "bloom_100": sketched.bloom,
    "count_min": sketched.count_min,
    "approx_quantile_0_95": lambda values: quantile(values, 0.95),
    "approx_quantiles_0_25_0_5": lambda values: [quantile(values, q) for q in (0.25, 0.5)],
    "frequent_items_3": frequent_items,
    "moment_sketch": moment_sketch,
}


# Two columns ------------------------------------------------------------------------------------

Rows = list[tuple[Any, Any]]


def weighted_mean(rows: Rows) -> Any:
    weights = total([weight for _, weight in rows])
    if weights == 0:
        return None
    if is_special([number for row in rows for number in row]):
        # An infinity by an infinity is NaN; what comes before that, numpy knows.
        products = [float(value) * float(weight) for value, weight in rows]
        return sum(products) / float(weights)
    return sum(exactly(value) * exactly(weight) for value, weight in rows) / weights


def co_deviations(rows: Rows) -> Any:
    """Squares of deviations of both columns and their products; None if they are not finite."""
    if is_special([number for row in rows for number in row]):
        return None
    firsts, seconds = ([exactly(number) for number in column] for column in zip(*rows, strict=True))
    first_mean, second_mean = sum(firsts) / len(rows), sum(seconds) / len(rows)
    return (
        sum((number - first_mean) ** 2 for number in firsts),
        sum((number - second_mean) ** 2 for number in seconds),
        sum((x - first_mean) * (y - second_mean) for x, y in rows_of(firsts, seconds)),
        first_mean,
        second_mean,
    )


def rows_of(*columns: Any) -> Any:
    return zip(*columns, strict=True)


def covariance(freedom: int) -> Callable[[Rows], Any]:
    def of(rows: Rows) -> Any:
        if len(rows) <= freedom:
            return None
        found = co_deviations(rows)
        return math.nan if found is None else found[2] / (len(rows) - freedom)

    return of


def is_constant(values: Any) -> bool:
    return not is_special(values) and len(set(map(exactly, values))) == 1


def correlation(rows: Rows) -> Any:
    if any(map(is_constant, zip(*rows, strict=True))):
        return None
    found = co_deviations(rows)
    if found is None:
        return math.nan
    first, second, both, *_means = found
    return float(both) / math.sqrt(first) / math.sqrt(second)


def slope(rows: Rows) -> Any:
    if is_constant([second for _, second in rows]):
        return None
    found = co_deviations(rows)
    if found is None:
        return math.nan
    return found[2] / found[1]


def intercept(rows: Rows) -> Any:
    if is_constant([second for _, second in rows]):
        return None
    found = co_deviations(rows)
    if found is None:
        return math.nan
    return found[3] - found[2] / found[1] * found[4]


def rate(rows: Rows) -> Any:
    """By numbers of seconds, or by times."""
    (oldest, begin), (newest, end) = rows[0], rows[-1]
    elapsed = (end - begin).total_seconds() if isinstance(begin, datetime) else end - begin
    if elapsed == 0:
        return None
    if is_special([oldest, newest, elapsed]):
        return (newest - oldest) / elapsed
    found = (exactly(newest) - exactly(oldest)) / exactly(elapsed)
    largest = Fraction(sys.float_info.max)
    if abs(found) > largest:
        return math.inf if found > 0 else -math.inf
    return float(found)


def increasing_run(rows: Rows) -> Any:
    """All runs, cut where a value is not above the one before, and the first of the longest."""
    runs = [[rows[0]]]
    for older, newer in itertools.pairwise(rows):
        if as_spark_sorts(older[0]) < as_spark_sorts(newer[0]):
            runs[-1].append(newer)
        else:
            runs.append([newer])
    longest = max(runs, key=len)
    start, end = longest[0][1], longest[-1][1]
    return (start, end, end - start, len(longest))


def m4(rows: Rows) -> Any:
    low = min(rows, key=lambda row: as_spark_sorts(row[0]))
    high = max(rows, key=lambda row: as_spark_sorts(row[0]))
    return (*rows[0], *rows[-1], *low, *high)


def time_since_last(rows: Rows) -> Any:
    held = [time for condition, time in rows if condition]
    return rows[-1][1] - held[-1] if held else None


def ewm_mean_by_time(rows: Rows) -> Any:
    # From the latest, because seconds as floats lose what lies between two of them far away.
    latest = max(time for _, time in rows)
    ages = [
        (latest - time).total_seconds() if isinstance(latest, datetime) else latest - time
        for _, time in rows
    ]
    return decaying_mean([value for value, _ in rows], [-age for age in ages], 10)


def naive_bayes(rows: Rows) -> Any:
    """From all events before the newest, class by class."""
    *before, (_label, asked) = rows
    if not before:
        return None
    measured = not isinstance(asked, bool | str)
    labels = list(dict.fromkeys(label for label, _ in before))
    scores = []
    for label in labels:
        own = [feature for each, feature in before if each == label]
        everything = [feature for _, feature in before]
        likelihood = normal(own, everything, asked) if measured else counted(own, everything, asked)
        scores.append(math.log(len(own) / len(before)) + likelihood)
    weights = [math.exp(score - max(scores)) for score in scores]
    shares = [weight / sum(weights) for weight in weights]
    found = [
        {"label": label, "probability": Near(p)} for label, p in zip(labels, shares, strict=True)
    ]
    return sorted(found, key=lambda each: -round(each["probability"], 9))


def normal(own: list[Any], everything: list[Any], asked: Any) -> float:
    own, everything = (
        [float(each) for each in numbers if math.isfinite(each)] for numbers in (own, everything)
    )
    if not own or not math.isfinite(asked):
        return 0.0
    variance = statistics.pvariance(own) + (1e-9 * statistics.pvariance(everything) or 1e-9)
    deviation = float(asked) - statistics.fmean(own)
    return -0.5 * math.log(math.tau * variance) - deviation**2 / (2 * variance)


def counted(own: list[Any], everything: list[Any], asked: Any) -> float:
    return math.log((own.count(asked) + 1) / (len(own) + len({*everything, asked})))


PAIRED: dict[str, Callable[[Rows], Any]] = {
    "naive_bayes": naive_bayes,
    "weighted_mean": weighted_mean,
    "covariance": covariance(1),
    "covariance_pop": covariance(0),
    "correlation": correlation,
    "slope": slope,
    "intercept": intercept,
    "rate": rate,
    "longest_increasing_run": increasing_run,
    "m4": m4,
    "time_since_last": time_since_last,
    "ewm_mean_by_time": ewm_mean_by_time,
}

for _aggregation in CATALOGUE.values():
    if _aggregation.expected is not None:
        _table = EXPECTED if len(_aggregation.inputs) == 1 else PAIRED
        assert _aggregation.name not in _table, f"{_aggregation.name} is expected twice"
        _table[_aggregation.name] = _aggregation.expected


# Comparison -------------------------------------------------------------------------------------


def agree(found: Any, expected: Any) -> bool:
    if isinstance(expected, Fraction):
        if isinstance(found, Decimal | int | np.integer):
            return Fraction(found if isinstance(found, Decimal) else int(found)) == expected
        expected = float(expected)
    if isinstance(expected, Near):
        return abs(found - expected) <= 1e-9
    if isinstance(found, float) and isinstance(expected, float):
        return (found != found and expected != expected) or math.isclose(
            found, expected, rel_tol=1e-12, abs_tol=1e-12
        )
    if isinstance(found, dict):
        return found.keys() == expected.keys() and all(agree(found[k], expected[k]) for k in found)
    if isinstance(found, list | tuple):
        return len(found) == len(expected) and all(map(agree, found, expected))
    return bool(found == expected)
