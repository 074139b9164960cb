"""windrow: aggregates over sliding windows, incrementally, in process and on Spark."""

import importlib
import sys
from typing import TYPE_CHECKING, Any

from windrow import aggregations
from windrow.aggregations import *  # noqa: F403
from windrow.algebra.aggregation import Aggregation, Measure
from windrow.algebra.definition import aggregation
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
    SettingWarning,
    StoreError,
    WindrowError,
)
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

if TYPE_CHECKING:
    from windrow import stores
    from windrow.api import as_of, over, slide
    from windrow.cql.query import Query, cql
    from windrow.element.in_order import in_order
    from windrow.element.window import Window
    from windrow.explaining import plan
    from windrow.iterators.checkpoint import Checkpoint
    from windrow.iterators.stream import AsyncStream, Stream
    from windrow.late_events import late, on_time
    from windrow.monitoring import log_progress
    from windrow.planning.explain import Plan
    from windrow.warming import WarmUp, warm_up

__version__ = "0.1.0"

#: What is loaded when it is first asked for, and where it is. A script that makes measures and
#: windows, or takes in-process calls alone, loads nothing else; tests/test_imports.py checks it.
_LATER = {
    "AsyncStream": "windrow.iterators.stream",
    "Checkpoint": "windrow.iterators.checkpoint",
    "Plan": "windrow.planning.explain",
    "Query": "windrow.cql.query",
    "Stream": "windrow.iterators.stream",
    "WarmUp": "windrow.warming",
    "Window": "windrow.element.window",
    "as_of": "windrow.api",
    "cql": "windrow.cql.query",
    "in_order": "windrow.element.in_order",
    "late": "windrow.late_events",
    "log_progress": "windrow.monitoring",
    "on_time": "windrow.late_events",
    "over": "windrow.api",
    "plan": "windrow.explaining",
    "slide": "windrow.api",
    "stores": "windrow",
    "warm_up": "windrow.warming",
}

# `wr.cql` is the function, and no later import of its package, which is empty, may replace it.
importlib.import_module("windrow.cql")
globals().pop("cql")

if not TYPE_CHECKING:  # type checkers would take every misspelt name for one of these

    def __getattr__(name: str) -> Any:
        if name not in _LATER:
            # With the name and the module, Python suggests a name that is near.
            text = f"module {__name__!r} has no attribute {name!r}"
            raise AttributeError(text, name=name, obj=sys.modules[__name__])
        home = _LATER[name]
        if home == __name__:
            return importlib.import_module(f"{home}.{name}")
        found = globals()[name] = getattr(importlib.import_module(home), name)
        return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})


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
    "Query",
    "SettingWarning",
    "StoreError",
    "Stream",
    "WarmUp",
    "Window",
    "WindrowError",
    "aggregation",
    "as_of",
    "calendar",
    "cql",
    "delta",
    "expanding",
    "in_order",
    "late",
    "log_progress",
    "on_time",
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
    "warm_up",
    "whole",
]
__all__ += aggregations.__all__
