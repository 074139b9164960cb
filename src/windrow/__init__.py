"""windrow: aggregates over sliding windows, incrementally, in process and on Spark."""

from windrow import stores
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
from windrow.api import over, plan, slide
from windrow.errors import (
    AggregateOverflow,
    EmptyWindow,
    InvalidAggregation,
    InvalidArgument,
    LawViolation,
    NotApplicable,
    PlainPythonWarning,
    StoreError,
    WindrowError,
)
from windrow.planning.explain import Plan
from windrow.runtime.disorder import in_order
from windrow.runtime.window import Window
from windrow.windows import delta, punctuated, rows, session, time

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
    "Plan",
    "StoreError",
    "Window",
    "WindrowError",
    "aggregation",
    "arg_max",
    "arg_min",
    "collect",
    "concat",
    "count",
    "delta",
    "first",
    "geometric_mean",
    "in_order",
    "last",
    "max",
    "max_count",
    "mean",
    "min",
    "min_count",
    "over",
    "plan",
    "product",
    "punctuated",
    "rows",
    "session",
    "slide",
    "stddev",
    "stddev_pop",
    "stores",
    "sum",
    "time",
    "value_range",
    "variance",
    "variance_pop",
]
