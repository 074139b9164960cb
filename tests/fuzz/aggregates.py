"""What every aggregation answers of the rows of one window, as docs/aggregations.md says it.

The arithmetic is that of `tests.support.aggregations.expected`, which computes in other ways than
windrow. Here it gets its parameters, the nulls that are skipped, and times, which are ticks.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from tests.fuzz.agreement import LEFT, TOLERANCE, Between, Rounded, as_float
from tests.fuzz.calls import Measure
from tests.fuzz.catalogue import catalogue
from tests.fuzz.columns import Column
from tests.support.aggregations import expected, sketched
from windrow.aggregations import CATALOGUE, OFFERED

NTH_MOMENT = {"variance": 2, "covariance": 2, "sum_of_squares": 2}


class Overflows(Exception):
    """An answer is larger than its type."""


Rows = list[tuple[Any, ...]]


def answer(measure: Measure, rows: Rows, columns: Sequence[Column]) -> Any:
    """The aggregate of a window's rows, each the values of the measure's columns."""
    entry = catalogue()[measure.name]
    skipped = [place for place in range(len(columns)) if _is_skipped(measure, place)]
    rows = [row for row in rows if all(row[place] is not None for place in skipped)]
    parameters = dict(measure.parameters)
    if not rows:
        return None if parameters.get("sketch") else entry.of_none
    if not columns:
        return len(rows)
    if measure.distinct:
        rows = [(value,) for value in expected.distinct([value for (value,) in rows])]
    found = FUNCTIONS[measure.name](rows, columns, parameters)
    return _in_range(found, columns[0])


def skipped_in(measure: Measure) -> list[str]:
    """The columns whose nulls are skipped."""
    return [name for place, name in enumerate(measure.columns) if _is_skipped(measure, place)]


def _is_skipped(measure: Measure, place: int) -> bool:
    inputs = catalogue()[measure.name].inputs
    return place >= len(inputs) or inputs[place].skipped


def _in_range(found: Any, column: Column) -> Any:
    """Exact answers have to fit their type."""
    if isinstance(found, Fraction | int) and not isinstance(found, bool):
        if column.kind in ("integer", "boolean", "duration") and not -(2**63) <= found < 2**63:
            raise Overflows
        if column.kind == "decimal":
            scale = 2 if column.type.endswith(", 2)") else 0
            if abs(found) * 10**scale >= 10 ** (76 if "256" in column.type else 38):
                raise Overflows
    return found


# One column, without parameters ------------------------------------------------------------------


def _of_values(name: str) -> Callable[..., Any]:
    compute = expected.EXPECTED[name]
    return lambda rows, _columns, _parameters: compute([row[0] for row in rows])


def _rounding(name: str) -> Callable[..., Any]:
    """A function whose answer of floats is near the exact one."""
    compute = expected.EXPECTED[name]
    degree = NTH_MOMENT.get(name, 1)

    def of(rows: Rows, columns: Sequence[Column], _parameters: Any) -> Any:
        values = [row[0] for row in rows]
        found = compute(values)
        if columns[0].kind != "float" or not isinstance(found, Fraction | float):
            return found
        if columns[0].style == "wild":
            # As accurate as adding up the window from scratch.
            sizes = sum(abs(Fraction(value)) for value in values if math.isfinite(value))
            return Rounded(found, len(values) * 2.0**-52 * float(sizes))
        return Rounded(found, LEFT * _largest(values) ** degree)

    return of


def _largest(values: Sequence[Any]) -> float:
    return max((abs(float(value)) for value in values if math.isfinite(value)), default=0.0)


def _mean(rows: Rows, columns: Sequence[Column], parameters: Any) -> Any:
    found = _rounding("mean")(rows, columns, parameters)
    return math.trunc(found) if columns[0].kind == "duration" else found


def _ohlc(rows: Rows, _columns: Any, _parameters: Any) -> Any:
    return dict(
        zip(("open", "high", "low", "close"), expected.ohlc([r[0] for r in rows]), strict=True)
    )


def _product(rows: Rows, columns: Sequence[Column], _parameters: Any) -> Any:
    found = expected.product([row[0] for row in rows])
    return as_float(found) if columns[0].kind in ("float", "decimal") else found


# One column, with parameters ---------------------------------------------------------------------


def _spread(root: bool) -> Callable[..., Any]:
    def of(rows: Rows, _columns: Any, parameters: dict[str, Any]) -> Any:
        values = [row[0] for row in rows]
        population = parameters.get("population", False)
        found = (expected.variance_pop if population else expected.variance)(values)
        if found is None or found != found:
            return found
        largest = _largest(values)
        by = LEFT * largest**2
        if not root:
            return Rounded(found, by)
        return Rounded(math.sqrt(found), 1e-6 * largest if found < by else 0.0)

    return of


def _standardized(name: str) -> Callable[..., Any]:
    compute = expected.EXPECTED[name]

    def of(rows: Rows, _columns: Any, _parameters: Any) -> Any:
        found = compute([row[0] for row in rows])
        return found if found is None else Rounded(found, 1e-7)

    return of


def _nth(rows: Rows, _columns: Any, parameters: dict[str, Any]) -> Any:
    n = parameters["n"]
    place = n - 1 if n > 0 else len(rows) + n
    return rows[place][0] if 0 <= place < len(rows) else None


def _newest(values: Any, limit: int | None) -> Any:
    return values if limit is None else values[-limit:]


def _concat(rows: Rows, _columns: Any, parameters: dict[str, Any]) -> Any:
    first = rows[0][0]
    return _newest(first[:0].join(row[0] for row in rows), parameters.get("limit"))


def _arg(pick: Callable[..., Any]) -> Callable[..., Any]:
    def of(rows: Rows, _columns: Any, parameters: dict[str, Any]) -> Any:
        measured = abs if "key" in parameters else lambda value: value
        return pick(rows, key=lambda row: expected.as_spark_sorts(measured(row[0])))[1]

    return of


def _quantile(rows: Rows, _columns: Any, parameters: dict[str, Any]) -> Any:
    ordered = sorted((row[0] for row in rows), key=expected.as_spark_sorts)
    shares = parameters["q"]
    found = [
        ordered[max(math.ceil(Fraction(str(q)) * len(ordered)), 1) - 1]
        for q in (shares if isinstance(shares, list) else [shares])
    ]
    return found if isinstance(shares, list) else found[0]


def _frequent_items(rows: Rows, _columns: Any, parameters: dict[str, Any]) -> Any:
    values = [row[0] for row in rows]
    seen = [expected.alike(value) for value in values]
    counts = {place: seen.count(each) for place, each in enumerate(seen) if each in seen}
    firsts = [place for place, each in enumerate(seen) if seen.index(each) == place]
    best = sorted(firsts, key=lambda place: -counts[place])[: parameters["k"]]
    return [{"item": values[place], "count": counts[place], "error": 0} for place in best]


def _run_above(rows: Rows, _columns: Any, parameters: dict[str, Any]) -> int:
    longest = length = 0
    for (value,) in rows:
        length = length + 1 if value > parameters["threshold"] else 0
        longest = max(longest, length)
    return longest


def _moment_sketch(rows: Rows, _columns: Any, parameters: dict[str, Any]) -> Any:
    values = [row[0] for row in rows]
    found = expected.moment_sketch(values)
    if "q" not in parameters:
        return found
    if not math.isfinite(found["min"]) or not math.isfinite(found["max"]):
        return math.nan
    return Between(found["min"], found["max"])


def _hashed(compute: Callable[[list[Any]], Any]) -> Callable[..., Any]:
    def of(rows: Rows, columns: Sequence[Column], _parameters: Any) -> Any:
        values = [row[0] for row in rows]
        if columns[0].in_ticks:  # times are hashed as nanoseconds
            values = [sketched.wrapped(value * columns[0].tick) for value in values]
        if "binary" in columns[0].type:
            values = [value.decode() for value in values]
        return compute(values)

    return of


def _approx_distinct(rows: Rows, columns: Sequence[Column], parameters: dict[str, Any]) -> Any:
    compute = sketched.sketch_bytes if parameters.get("sketch") else sketched.distinct
    return _hashed(compute)(rows, columns, parameters)


# Two columns -------------------------------------------------------------------------------------


def _seconds(ticks: Any, column: Column) -> Any:
    return Fraction(ticks * column.tick, 10**9) if column.in_ticks else ticks


def _regression(name: str) -> Callable[..., Any]:
    compute = expected.PAIRED[name]

    def of(rows: Rows, columns: Sequence[Column], _parameters: Any) -> Any:
        timed = [(value, _seconds(on, columns[1])) for value, on in rows]
        found = compute(timed)
        if found is None or found != found:
            return found
        values, ons = ([Fraction(each) for each in column] for column in zip(*timed, strict=True))
        steepest = (max(values) - min(values)) / (max(ons) - min(ons))
        if name == "slope":
            return Rounded(found, LEFT * float(steepest))
        reach = max(map(abs, values)) + steepest * max(map(abs, ons))
        return Rounded(found, TOLERANCE * float(reach))

    return of


def _covariance(rows: Rows, _columns: Any, parameters: dict[str, Any]) -> Any:
    found = expected.covariance(0 if parameters.get("population") else 1)(rows)
    if found is None or found != found:
        return found
    firsts, seconds = zip(*rows, strict=True)
    return Rounded(found, LEFT * _largest(firsts) * _largest(seconds))


def _correlation(rows: Rows, _columns: Any, _parameters: Any) -> Any:
    found = expected.correlation(rows)
    return found if found is None else Rounded(found, 1e-9)


def _weighted_mean(rows: Rows, _columns: Any, _parameters: Any) -> Any:
    found = expected.weighted_mean(rows)
    if found is None or not isinstance(found, Fraction):
        return found
    weights = [weight for _value, weight in rows]
    total = abs(sum(map(Fraction, weights)))
    terms = sum(abs(Fraction(value) * Fraction(weight)) for value, weight in rows)
    # Weights that cancel each other leave a small number to divide by.
    lost = sum(abs(Fraction(weight)) for weight in weights) / total
    return Rounded(found, LEFT * float(terms / total) * float(max(lost, 1)))


def _rate(rows: Rows, columns: Sequence[Column], _parameters: Any) -> Any:
    timed = [(value, _seconds(time, columns[1])) for value, time in rows]
    (oldest, begin), (newest, end) = timed[0], timed[-1]
    if begin == end:
        return None
    if expected.is_special([oldest, newest]):
        return (newest - oldest) / float(end - begin)
    return float((Fraction(newest) - Fraction(oldest)) / (end - begin))


def _increasing_run(rows: Rows, _columns: Any, _parameters: Any) -> Any:
    start, end, duration, length = expected.increasing_run(rows)
    if not -(2**63) <= duration < 2**63:
        raise Overflows
    return {"start": start, "end": end, "duration": duration, "length": length}


def _m4(rows: Rows, _columns: Any, _parameters: Any) -> Any:
    names = [f"{each}{time}" for each in ("first", "last", "min", "max") for time in ("", "_time")]
    return dict(zip(names, expected.m4(rows), strict=True))


def _ewm_mean(rows: Rows, columns: Sequence[Column], parameters: dict[str, Any]) -> Any:
    half_life = parameters.get("half_life", 1)
    values = [row[0] for row in rows]
    times: Any = range(len(rows))
    if len(columns) > 1:
        # From the latest, because seconds as floats lose what lies between two of them far away.
        latest = max(row[1] for row in rows)
        times = [(row[1] - latest) * columns[1].tick for row in rows]
    found = expected.decaying_mean(values, times, int(half_life))
    return Rounded(found, LEFT * _largest(values))


def _naive_bayes(rows: Rows, _columns: Any, _parameters: Any) -> Any:
    # What is no number is counted, bytes as texts are.
    rows = [(label, value.hex() if isinstance(value, bytes) else value) for label, value in rows]
    *before, newest = rows
    learnt = [row for row in before if row[0] is not None]
    return expected.naive_bayes([*learnt, newest]) if learnt else None


# Order statistics -------------------------------------------------------------------------------


def _exact_quantile(rows: Rows, _columns: Any, parameters: dict[str, Any]) -> Any:
    """By numpy: the places of quantiles among the sorted values."""
    values = [row[0] for row in rows]
    ordered = sorted(values, key=expected.as_spark_sorts)
    shares, way = parameters.get("q", 0.5), parameters.get("interpolation", "linear")

    def one(share: float) -> Any:
        if way in ("linear", "midpoint"):
            found = expected.between_values(values, share, way)
            return Rounded(found, LEFT * _largest(values))
        return ordered[int(np.quantile(np.arange(len(ordered)), share, method=way))]

    return list(map(one, shares)) if isinstance(shares, list) else one(shares)


def _rank(rows: Rows, _columns: Any, parameters: dict[str, Any]) -> Any:
    return expected.rank([row[0] for row in rows], **parameters)


# The current row --------------------------------------------------------------------------------

#: those that count the rows without a value, and the rows that a condition leaves out
OF_ROWS = frozenset(
    ("lag", "lead", "previous", "count_since_last", "time_since_last", "rank", "percent_rank")
)


def _lead(rows: Rows, _columns: Any, parameters: dict[str, Any]) -> Any:
    ahead = parameters.get("n", 1)
    return rows[ahead][0] if len(rows) > ahead else None


def _lag(rows: Rows, _columns: Any, parameters: dict[str, Any]) -> Any:
    back = parameters.get("n", 1) + 1
    return rows[-back][0] if len(rows) >= back else None


# What an aggregation's own file says ------------------------------------------------------------


def _stated(name: str) -> Callable[..., Any]:
    """What is `expected` of an aggregation, or of what parameters make of it."""
    offered = next(each for each in OFFERED if each.name == name)

    def of(rows: Rows, columns: Sequence[Column], parameters: dict[str, Any]) -> Any:
        compute = offered(**parameters).aggregation.expected
        assert compute is not None
        several = len(offered.inputs) > 1
        found = compute([row if several else row[0] for row in rows])
        if isinstance(found, float | Fraction) and columns[0].kind == "float":
            return Rounded(found, LEFT * _largest([row[0] for row in rows]))
        return found

    return of


FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{
        name: _of_values(name)
        for name in (
            *("all", "any", "bit_and", "bit_or", "bit_xor", "min", "max"),
            *("min_count", "max_count", "relative_variation", "sign_changes", "first", "last"),
            *(
                "mode",
                "value_range",
                "change",
                "all_equal",
                "previous",
                "count_since_last",
                "count_distinct",
                "percent_rank",
            ),
        )
    },
    **{
        name: _rounding(name)
        for name in (
            *("sum", "sum_distinct", "sum_of_squares", "root_mean_square"),
            *("geometric_mean", "harmonic_mean"),
        )
    },
    "mean": _mean,
    "ohlc": _ohlc,
    "product": _product,
    "own": lambda rows, _columns, _given: max(
        [older - newer for (older,), (newer,) in itertools.combinations(rows, 2)] + [0.0]
    ),
    "variance": _spread(root=False),
    "stddev": _spread(root=True),
    "skewness": _standardized("skewness"),
    "kurtosis": _standardized("kurtosis"),
    "nth": _nth,
    "collect": lambda rows, _columns, given: _newest([row[0] for row in rows], given.get("limit")),
    "collect_distinct": lambda rows, _columns, given: expected.distinct([row[0] for row in rows])[
        : given.get("limit")
    ],
    "concat": _concat,
    "top_k": lambda rows, _columns, given: sorted(
        (row[0] for row in rows), key=expected.as_spark_sorts, reverse=True
    )[: given["k"]],
    "bottom_k": lambda rows, _columns, given: sorted(
        (row[0] for row in rows), key=expected.as_spark_sorts
    )[: given["k"]],
    "arg_min": _arg(min),
    "arg_max": _arg(max),
    "approx_quantile": _quantile,
    "frequent_items": _frequent_items,
    "longest_run_above": _run_above,
    "moment_sketch": _moment_sketch,
    "approx_distinct": _approx_distinct,
    "bloom": _hashed(sketched.bloom),
    "count_min": _hashed(sketched.count_min),
    "slope": _regression("slope"),
    "intercept": _regression("intercept"),
    "covariance": _covariance,
    "correlation": _correlation,
    "weighted_mean": _weighted_mean,
    "rate": _rate,
    "longest_increasing_run": _increasing_run,
    "m4": _m4,
    "median": _exact_quantile,
    "quantile": _exact_quantile,
    "rank": _rank,
    "lag": _lag,
    "lead": _lead,
    "time_since_last": lambda rows, _columns, _given: expected.time_since_last(rows),
    "ewm_mean": _ewm_mean,
    "naive_bayes": _naive_bayes,
    **{
        each.called or each.name: _stated(each.called or each.name)
        for each in CATALOGUE.values()
        if each.expected
    },
}
