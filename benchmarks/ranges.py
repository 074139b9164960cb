"""Many ranges of one window: one pass for all of them against a pass for each.

64 ranges from 4 to 4,096 rows, each about a ninth longer than the one before, of 4 million rows.
The loops are measured in one thread, with answers that go to memory that is there. `wr.over` takes
all cores, and memory for 2 GB of answers, which earlier calls have left on both sides. Beside
the pass that the planner takes are those of the paper's algorithms, by name. The median of all
rounds counts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

import windrow as wr
from benchmarks.harness import Comparison
from windrow.engine.over_kernels import OverKernels
from windrow.engine.row_windows import RowBlock
from windrow.engine.shared_windows import SharedKernel, SharedRows
from windrow.experiments.rounds import median_times
from windrow.planning.choose import Wish
from windrow.planning.over_plan import resolve_over
from windrow.planning.shared_ranges import shared_ranges
from windrow.windows.bounds import Bounds
from windrow.windows.key_runs import NEVER
from windrow.windows.reach import Newest
from windrow.work import sizes

ROWS = 4_000_000
RANGES = 64
LONGEST = 4096
ROUNDS = 5
BARS = {"max": 4.0, "sum": 2.0}
#: algorithms of the paper that answer all ranges in one pass, where they are exact
NAMED = {
    "max": ("slick_deque", "flat_fit", "base_intervals"),
    "sum": ("flat_fit", "base_intervals"),
}
#: rows for the algorithms by name, which take far longer
ROWS_BY_NAME = 100_000


def ranges() -> list[int]:
    """Distinct ranges, each longer than the one before by about the same factor."""
    found: list[int] = []
    for extent in np.geomspace(4, LONGEST, RANGES).astype(int):
        found.append(max(int(extent), found[-1] + 1 if found else 1))
    return found


def run() -> list[Comparison]:
    """Max and sum: loops in one thread, by name, and the call on all cores."""
    table = pa.table({"x": np.random.default_rng(1).normal(size=ROWS)})
    found = []
    for aggregation in (wr.max, wr.sum):
        name = aggregation.name
        found.append(_loops(table, aggregation, f"{name}, one thread", None, BARS[name]))
        few = table.slice(0, ROWS_BY_NAME)
        for algorithm in NAMED[name]:
            work = f"{name} by {algorithm}, {ROWS_BY_NAME:,} rows, one thread"
            found.append(_loops(few, aggregation, work, algorithm, None))
        found.append(_calls(table, aggregation, BARS[name]))
    return found


def _loops(
    table: pa.Table, aggregation: Any, work: str, algorithm: Any, bar: float | None
) -> Comparison:
    """The loops alone; a pass for each range is by the algorithm that is best for it."""
    size = table.num_rows
    answers, starts = np.zeros(size * RANGES), np.array([0, NEVER])

    def resolved(wish: Wish) -> OverKernels:
        windows = {str(extent): wr.rows(extent) for extent in ranges()}
        plan = resolve_over(
            table.schema, key=None, order=None, windows=windows, aggs=aggregation("x"), wish=wish
        )
        return OverKernels(plan, set())

    kernels, planned = resolved(Wish()), resolved(Wish(algorithm))
    shared = shared_ranges(planned.plan, planned)
    assert shared is not None
    kernel = SharedKernel(shared, planned.product, checked=False)
    block = kernels.compiled_block({"x": table["x"].combine_chunks()}, size, 0)
    undefined = (np.empty(0, np.bool_),)

    def together() -> None:
        rows = SharedRows(*block, starts, 0, 0, size, size * np.arange(RANGES))
        kernel.window().advance(rows, (answers,), undefined)

    def apart() -> None:
        for number, extent in enumerate(ranges()):
            window, _plain = kernels.windows_of(str(extent))
            assert window is not None
            rows = RowBlock(*block, Bounds(starts, Newest(extent)), 0, 0, size)
            window.advance(rows, (answers[number * size : (number + 1) * size],), undefined)

    return _compared(work, together, apart, bar)


def _calls(table: pa.Table, aggregation: Any, bar: float) -> Comparison:
    """`wr.over` as it is, and with a pass for each range."""
    windows = [wr.rows(extent) for extent in ranges()]

    def over(fewest: int) -> None:
        with sizes.using(fewest_shared=fewest):
            wr.over(table, windows=windows, aggs=aggregation("x"))

    work = f"{aggregation.name}, wr.over, all cores"
    return _compared(work, lambda: over(2), lambda: over(RANGES + 1), bar)


def _compared(
    work: str, together: Callable[[], None], apart: Callable[[], None], bar: float | None
) -> Comparison:
    times = median_times({"together": together, "apart": apart}, ROUNDS)
    return Comparison(work, "a pass for each", times["together"], times["apart"], bar)
