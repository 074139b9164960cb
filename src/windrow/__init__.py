"""windrow: aggregates over sliding windows, incrementally, in process and on Spark."""

from windrow import aggregations, stores
from windrow.aggregations import *  # noqa: F403
from windrow.algebra.aggregation import Aggregation, Measure
from windrow.algebra.definition import aggregation
from windrow.api import as_of, over, plan, slide
from windrow.element.in_order import in_order
from windrow.element.window import Window
from windrow.errors import (
    AggregateOverflow,
    DivisionByZero,
    EmptyWindow,
    IncompatibleState,
    InvalidAggregation,
    InvalidArgument,
    LawViolation,
    NotApplicable,
    PlainPythonWarning,
    StoreError,
    WindrowError,
)
from windrow.iterators.checkpoint import Checkpoint
from windrow.iterators.stream import AsyncStream, Stream
from windrow.planning.explain import Plan
from windrow.windows import (
    calendar,
    delta,
    expanding,
    policies,
    policy,
    punctuated,
    rows,
    session,
    time,
    whole,
)

__version__ = "0.1.0"

__all__ = [
    "AggregateOverflow",
    "Aggregation",
    "AsyncStream",
    "Checkpoint",
    "DivisionByZero",
    "EmptyWindow",
    "IncompatibleState",
    "InvalidAggregation",
    "InvalidArgument",
    "LawViolation",
    "Measure",
    "NotApplicable",
    "PlainPythonWarning",
    "Plan",
    "StoreError",
    "Stream",
    "Window",
    "WindrowError",
    "aggregation",
    "as_of",
    "calendar",
    "delta",
    "expanding",
    "in_order",
    "over",
    "plan",
    "policies",
    "policy",
    "punctuated",
    "rows",
    "session",
    "slide",
    "stores",
    "time",
    "whole",
]
__all__ += aggregations.__all__
