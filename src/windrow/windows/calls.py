"""Windows and aggregations as the calls that make them, to be read and compared."""

from __future__ import annotations

from collections.abc import Sequence

from windrow.algebra.aggregation import Measure
from windrow.windows.triggers import Trigger
from windrow.windows.window import Window


def call_text(
    name: str, *arguments: str, every: Trigger | None = None, further: Sequence[str] = ()
) -> str:
    """The text of a call; `every` comes before what is given `further`."""
    asked = every.arguments() if every is not None else []
    return f"{name}({', '.join([*arguments, *asked, *further])})"


def call_of_window(window: Window) -> str:
    """The call that makes a window, with its `min_rows=`.

    >>> import windrow as wr
    >>> call_of_window(wr.time("1h", min_rows=3, of="values"))
    "time('1 hour', min_rows=3, of='values')"
    """
    if window.min_rows is None:
        return window.call()
    call, waits = window.call().removesuffix(")"), ", ".join(window.min_rows.arguments())
    return f"{call}{waits})" if call.endswith("(") else f"{call}, {waits})"


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
    return call_text(aggregation.name, *measure.columns, *parameters) + condition


def _written(value: object) -> str:
    # The text of a function holds an address, which differs from process to process.
    return getattr(value, "__qualname__", type(value).__name__) if callable(value) else repr(value)
