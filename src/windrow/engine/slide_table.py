"""`slide` on tables in this process, on all its cores.

1. Sort the rows by key and order.
2. For every window, find which rows each of its answers is about (`windows/extents.py`).
3. Answer by slices, which the windows of a group share (`shared_slices.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.algebra import arrays
from windrow.engine import columns as arrow
from windrow.engine.feature_columns import FeatureColumns
from windrow.engine.gathering import gather, into_runs
from windrow.engine.policy_counts import PolicyCounters
from windrow.engine.shared_slices import SharedSlices
from windrow.engine.slice_windows import SliceKernels
from windrow.engine.sorting import arrange
from windrow.planning.slide_plan import SlidePlan
from windrow.windows import Window
from windrow.windows.extents import Answering, Extents
from windrow.windows.setting import Setting
from windrow.windows.sorted_rows import SortedRows
from windrow.work.threads import cores, in_threads

Array = np.ndarray[Any, Any]


def slide_table(table: pa.Table, plan: SlidePlan) -> pa.Table:
    """The answers of all windows of a plan, in the order of windows, keys and time."""
    columns = {name: arrow.whole(table[name]) for name in {*plan.order, *plan.read_by_row}}
    key_columns = [arrow.whole_key(table[name]) for name in plan.key]
    tables: dict[str, pa.Table] = {}
    answers = 0
    for seen, windows in _by_rows_seen(columns, plan):
        held, held_keys = columns, key_columns
        if seen is not None:
            mask = pa.array(seen)
            held = {name: column.filter(mask) for name, column in columns.items()}
            held_keys = [column.filter(mask) for column in key_columns]
        rows, keys = _sorted(plan, held, held_keys)
        nullable = {name for name, column in rows.columns.items() if column.null_count}
        features = FeatureColumns(plan.features, nullable, counts=plan.wish.counts_values)
        for group in plan.groups:
            shared = {name: windows[name] for name in group if name in windows}
            if shared:
                kernels = SliceKernels(features, plan, shared)
                found = _found(plan, rows, nullable, shared)
                answers += sum(len(extents.stops) for extents in found.values())
                plan.require_few(answers, table.num_rows, "the data gives them")
                slices = SharedSlices(plan, features, kernels, list(shared), cores())
                tables |= dict(slices.answer(rows, keys, found))
    return pa.concat_tables([tables[name] for name in plan.windows])


def _by_rows_seen(
    columns: Mapping[str, pa.Array], plan: SlidePlan
) -> list[tuple[Array | None, dict[str, Window]]]:
    """The windows that see the same rows, and which rows they see, None for all.

    A row without a time lies in no window of time, and one without a measure, or with NaN, in no
    window of differences. Windows of rows see all of them. Where nothing is missing, and that is
    nearly always, all windows share the sorted rows.
    """
    groups: dict[tuple[str, ...], dict[str, Window]] = {}
    measured = {column for window in plan.windows.values() for column in plan.measured(window)}
    found = {column: arrays.present(columns[column]) for column in measured}
    present = {column: rows for column, rows in found.items() if rows is not None}
    for name, window in plan.windows.items():
        missing = tuple(column for column in plan.measured(window) if column in present)
        groups.setdefault(missing, {})[name] = window
    return [
        (np.logical_and.reduce([present[name] for name in missing]) if missing else None, windows)
        for missing, windows in groups.items()
    ]


def _sorted(
    plan: SlidePlan, columns: Mapping[str, pa.Array], keys: Sequence[pa.Array]
) -> tuple[SortedRows, Sequence[pa.Array]]:
    """The rows sorted by key and order, and the key of each run."""
    order = [columns[name] for name in plan.order]
    size = len(order[0])
    permutation, starts = arrange(keys, order, size)
    heads = starts[:-1]
    if permutation is not None:
        heads = permutation[heads]
        names = [name for name in columns if name in plan.read_by_row]
        given = [columns[name] for name in names]
        gathered = gather(given, permutation, into_runs(permutation))
        columns = dict(zip(names, gathered, strict=True))
    rows = SortedRows(columns, starts, size, plan.order[0], plan.order_type)
    return rows, [arrow.whole(column.take(pa.array(heads))) for column in keys]


def _found(
    plan: SlidePlan, rows: SortedRows, nullable: AbstractSet[str], windows: Mapping[str, Window]
) -> dict[str, Extents]:
    """Which rows the answers of each window are about."""
    counts = PolicyCounters(plan.schema, nullable)

    def answering(name: str) -> Answering:
        def require(answers: int) -> None:
            plan.require_few(answers, rows.size, f"the data gives {name!r}")

        setting = Setting(name, plan.order[0], plan.order_type, counts, require)
        return windows[name].answering(setting)

    if any(window.needs_time for window in windows.values()):
        _ = rows.times  # once, before threads ask for them
    found = in_threads(lambda each: each.find(rows), [answering(name) for name in windows])
    return dict(zip(windows, found, strict=True))
