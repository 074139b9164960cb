"""Windows over cells: the answer for each new cell, from the older cells of its key.

`over` uses them, both where cells are of slices (`slices/`) and of counted rows (`counts/`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.compiler.kernel_memory import KernelMemory
from windrow.engine.feature_columns import FeatureColumns
from windrow.engine.maps import Maps
from windrow.engine.slice_windows import CompiledSliceWindow, SliceKernels
from windrow.planning.over_plan import OverPlan
from windrow.windows import ticks, walks
from windrow.windows.ahead import Ahead

Array = np.ndarray[Any, Any]


class CellWindows:
    """The windows of a plan that end at each of its events."""

    def __init__(self, plan: OverPlan, features: FeatureColumns, maps: Maps) -> None:
        self._plan, self._features, self._maps = plan, features, maps
        self._kernels = SliceKernels(features, plan, plan.windows)
        self._tick = ticks.nanoseconds_per_tick(plan.schema.field(plan.order[0]).type)

    def answers(
        self,
        name: str,
        extent: int,
        older: Sequence[pa.RecordBatch],
        new: pa.RecordBatch,
        measure: Callable[[Array], Array],
    ) -> dict[int, pa.Array]:
        """The answers for the new cells, in the order of these, by the place of their feature.

        A window holds the cells of its key that lie less than `extent` behind, up to its own, or
        where else it ends. `measure` says where cells lie, from their slices or their numbers of
        rows, given by key and older first.
        """
        cells, places, starts, partials = self._maps.grouped([*older, new])
        first = cells.num_rows - new.num_rows
        stops = np.flatnonzero(places >= first) + 1
        measured = measure(cells[self._maps.number].to_numpy()[places])
        firsts, _first = walks.less_behind(starts, stops, measured, extent)
        ends = _ends(self._plan.windows[name].ahead(self._tick), starts, stops, measured)
        filled = firsts < ends
        answers = self._features.answers(len(stops), filled)
        window = CompiledSliceWindow(self._kernels, name, KernelMemory(self._features.product))
        # A window without cells is driven over one: its answer is not used.
        window.answer(partials, answers, firsts, np.where(filled, ends, firsts + 1), 0, len(stops))
        back = np.empty(len(stops), np.int64)
        back[places[stops - 1] - first] = np.arange(len(stops))

        def column(place: int) -> pa.Array:
            index = self._features.compiled.index(self._plan.features[place])
            carried = self._maps.carried(cells, index)
            return self._features.column(self._plan, name, place, answers, carried)

        return {
            output.feature: column(output.feature).take(pa.array(back))
            for output in self._plan.outputs
            if output.window == name
        }


def _ends(ahead: Ahead, starts: Array, stops: Array, times: Array) -> Array:
    """Behind which cell the window of each new cell ends; new cells are those before `stops`.

    It holds no cell of a later time, so peers are all there: the new cells of a key that have equal
    times.
    """
    if ahead.ticks is None:
        return stops + ahead.rows
    own = stops - 1
    keys, own_times = walks.runs_of(starts, own), times[own]
    anew = np.ones(len(own), np.bool_)
    anew[1:] = (keys[1:] != keys[:-1]) | (own_times[1:] != own_times[:-1])
    firsts = np.flatnonzero(anew)
    groups = np.cumsum(anew) - 1
    if ahead.ticks == 0:
        ends: Array = own[firsts][groups]
        return ends
    last = np.append(firsts[1:], len(own)) - 1
    behind: Array = stops[last][groups]
    return behind
