"""The answers of `slide` as tables: window, key, begin, end, one column for each aggregation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.engine import columns as arrow
from windrow.planning.slide_plan import END, NAME, START, SlidePlan
from windrow.windows.key_runs import differ

Array = np.ndarray[Any, Any]


def answered_table(
    plan: SlidePlan,
    name: str,
    keys: Mapping[str, pa.Array],
    bounds: tuple[pa.Array, pa.Array],
    results: Callable[[int], pa.Array],
) -> pa.Table:
    """The answers of a window as a table; `results` gives the answers of a feature."""
    columns: dict[str, Any] = {}
    if plan.shows_names:
        columns[NAME] = pa.repeat(name, len(bounds[0]))
    columns |= keys
    columns[START], columns[END] = bounds
    for output, place in plan.outputs:
        columns[output] = results(place)
    return pa.table(columns)


def changes(
    plan: SlidePlan, answered: pa.Table, runs: Array, names: Array | None = None, step: int = 0
) -> Array:
    """Which answers are news: those that differ from the answer of the window before of their key.

    A window without events has no answer. So whatever comes after one is news.

    Args:
        plan: what was asked.
        answered: the answers, by key and time.
        runs: the number of each answer's key.
        names: which windows of a schedule they are of; None for windows that always hold events.
        step: how far apart the names of a window and the next one are.
    """
    changed = np.ones(len(runs), np.bool_)
    if len(runs) > 1:
        changed[1:] = runs[1:] != runs[:-1]
        if names is not None:
            changed[1:] |= names[1:] - names[:-1] != step
        for output, _place in plan.outputs:
            column = arrow.whole(answered[output])
            changed[1:] |= differ(column.slice(1), column.slice(0, len(runs) - 1))
    return changed
