"""Windows as the calls that make them, to be read and compared: durations in words."""

from __future__ import annotations

from windrow.algebra.aggregation import Measure
from windrow.algebra.durations import words
from windrow.windows.policy import PolicyWindow
from windrow.windows.specification import (
    DeltaWindow,
    PunctuatedWindow,
    RowsWindow,
    SessionWindow,
    TimeWindow,
    Window,
)
from windrow.windows.triggers import EveryTime, Trigger


def call_of(window: Window) -> str:
    """The call that makes a window, the same in every process.

    Of a policy's function it tells nothing but the name.

    >>> import windrow as wr
    >>> call_of(wr.time("60 minutes", every="90 seconds"))
    "time('1 hour', every='90 seconds')"
    """
    every = _every(getattr(window, "every", None))
    if isinstance(window, RowsWindow):
        return _call("rows", str(window.range), *every)
    if isinstance(window, TimeWindow):
        closed = ["closed='both'"] if window.closed_both else []
        ties = ["ties='peers'"] if window.peers else []
        return _call("time", repr(words(window.range)), *every, *closed, *ties)
    if isinstance(window, DeltaWindow):
        return _call("delta", repr(window.column), str(window.amount), *every)
    if isinstance(window, PunctuatedWindow):
        return _call("punctuated", repr(window.column))
    if isinstance(window, SessionWindow):
        return _call("session", repr(words(window.gap)))
    return _policy(window, every)


def call_of_measure(measure: Measure) -> str:
    """The call that makes a measure, whatever its results are called.

    Of a function that it was given it tells nothing but the name.

    >>> import windrow as wr
    >>> call_of_measure(wr.ewm_mean("x", half_life=5).where("ok"))
    'ewm_mean(x, half_life=5) where ok'
    """
    aggregation = measure.aggregation
    parameters = [f"{name}={_written(value)}" for name, value in aggregation.parameters]
    condition = "" if measure.condition is None else f" where {measure.condition}"
    return _call(aggregation.name, *measure.columns, *parameters) + condition


def _policy(window: PolicyWindow, every: list[str]) -> str:
    asked = ", ".join(map(call_of_measure, window.measures))
    halves = ["oldest='half'"] if window.halves else []
    return _call(window.default_name, f"of=[{asked}]", *halves, *every)


def _call(name: str, *arguments: str) -> str:
    return f"{name}({', '.join(arguments)})"


def _every(every: Trigger | None) -> list[str]:
    if every is None:
        return []
    if not isinstance(every, EveryTime):
        return [f"every={every.rows}"]
    offset = [f"offset={words(every.offset)!r}"] if every.offset else []
    return [f"every={words(every.time)!r}", *offset]


def _written(value: object) -> str:
    # The text of a function holds an address, which differs from process to process.
    return getattr(value, "__qualname__", type(value).__name__) if callable(value) else repr(value)
