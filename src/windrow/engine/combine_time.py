"""How long a combine takes, measured.

The planner's table knows the cost of what was measured once. It cannot know that of your own
function, or of rows of any width. Where a second core may help, it matters: there, a few rows are
combined, by a kernel.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.compiler.kernel import Kernel
from windrow.compiler.kernel_memory import KernelMemory
from windrow.compiler.slots import Ring, combine, lift_row, load, store
from windrow.engine.feature_columns import FeatureColumns

_EVENTS, _TIMES, _ROUNDS = 64, 16, 5

Block = Any


def combine_rows(
    columns: Block, validities: Block, slots: Ring, times: int, begin: int, stop: int
) -> None:
    """Lift rows, and combine each with the next, so many times; the last slot has the result."""
    for row in range(begin, stop):
        store(slots, row, lift_row(columns, validities, row))
    for _time in range(times):
        partial = load(slots, begin)
        for row in range(begin + 1, stop):
            partial = combine(partial, load(slots, row))
        store(slots, stop, partial)


def combine_nanoseconds(
    features: FeatureColumns, types: Sequence[tuple[str, pa.DataType]]
) -> float:
    """The time of a combine of small numbers; 0 where there are no such values.

    Args:
        features: what is combined.
        types: the columns that are read, and their types.
    """
    numbers = pa.array(np.arange(1, _EVENTS + 1))
    try:
        columns = {name: numbers.cast(data_type) for name, data_type in types}
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return 0.0
    kernel = Kernel(combine_rows, (), features.product, features.checked)
    memory = KernelMemory(features.product)
    slots = memory.queue(2 * _EVENTS)
    arguments = *memory.workspace(), *features.compiled_block(columns, _EVENTS, 0), slots

    def taken(times: int) -> int:
        started = time.perf_counter_ns()
        kernel(*arguments, times, 0, _EVENTS)
        return time.perf_counter_ns() - started

    try:
        taken(0)
        with_combines, without = (min(taken(n) for _ in range(_ROUNDS)) for n in (_TIMES, 0))
    except Exception:  # a user's function may refuse such numbers, and is asked again with events
        return 0.0
    return max(with_combines - without, 0) / (_TIMES * (_EVENTS - 1))
