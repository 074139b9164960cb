"""windrow: aggregates over sliding windows, incrementally, in process and on Spark."""

from windrow.aggregations import (
    arg_max,
    arg_min,
    collect,
    concat,
    count,
    first,
    geometric_mean,
    last,
    max,
    max_count,
    mean,
    min,
    min_count,
    product,
    stddev,
    stddev_pop,
    sum,
    value_range,
    variance,
    variance_pop,
)
from windrow.algebra.aggregation import Aggregation, Measure
from windrow.algebra.definition import aggregation
from windrow.api import over
from windrow.errors import (
    AggregateOverflow,
    EmptyWindow,
    InvalidAggregation,
    InvalidArgument,
    LawViolation,
    NotApplicable,
    PlainPythonWarning,
    WindrowError,
)
from windrow.runtime.window import Window
from windrow.windows import rows, time

__version__ = "0.1.0"

__all__ = [
    "AggregateOverflow",
    "Aggregation",
    "EmptyWindow",
    "InvalidAggregation",
    "InvalidArgument",
    "LawViolation",
    "Measure",
    "NotApplicable",
    "PlainPythonWarning",
    "Window",
    "WindrowError",
    "aggregation",
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
    "over",
    "product",
    "rows",
    "stddev",
    "stddev_pop",
    "sum",
    "time",
    "value_range",
    "variance",
    "variance_pop",
]
