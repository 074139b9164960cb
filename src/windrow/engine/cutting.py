"""Where rows are cut into slices, by the technique that the call names (`slicing/`).

    pairs    where some window begins or ends, which is the default
    panes    there, and at every multiple of the greatest common divisor of range and slide
    cutty    where some window begins; the slice that a window ends in is read as it is there

The technique is for periodic windows over a table. Others are cut where they begin and end.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from windrow.engine.slice_store import NO_ROWS
from windrow.engine.slice_windows import reads_running
from windrow.planning.slide_plan import SlidePlan
from windrow.slicing import PeriodicWindow, panes
from windrow.windows import ticks, walks
from windrow.windows.extents import Extents
from windrow.windows.key_runs import NEVER
from windrow.windows.sorted_rows import SortedRows

Array = np.ndarray[Any, Any]


class Cutting:
    """The cuts of the windows of a plan."""

    def __init__(self, plan: SlidePlan) -> None:
        self._plan = plan
        #: the rows before which slices are read while they are being filled
        self._readings = NO_ROWS

    def marks(self, rows: SortedRows, found: Mapping[str, Extents]) -> list[Array]:
        """The rows at which slices begin, not in order; rows of a batch go on from those before."""
        marks = []
        for name, extents in found.items():
            if not rows.is_whole:
                firsts = extents.firsts[extents.firsts >= 0]
                marks += [firsts, extents.stops, extents.openings]
            elif reads_running(self._plan, name):
                marks += [extents.firsts, np.array([rows.size])]
            else:
                marks += [extents.firsts, extents.stops]
                if self._plan.slices == panes.NAME and name in self._plan.periodic:
                    marks.append(self._panes(name, rows))
        return marks

    def _panes(self, name: str, rows: SortedRows) -> Array:
        """The rows at which panes begin; a key's first row begins one."""
        window = self._plan.periodic[name]
        if self._plan.unit_of(name) == "rows":
            starts = rows.all_runs
            numbers = np.arange(rows.size)
            places = numbers - starts[walks.runs_of(starts, numbers)]
        else:
            tick = ticks.nanoseconds_per_tick(self._plan.order_type)
            lengths = window.range, window.slide, window.offset
            window = PeriodicWindow(*(length // tick for length in lengths))
            places = rows.times
        pane = panes.slices(window).slice_of(places)
        return np.flatnonzero(np.append([True], np.diff(pane) != 0)) if rows.size else NO_ROWS

    def readings(self, cuts: Array, found: Mapping[str, Extents]) -> Array:
        """The rows before which slices are read, ascending: ends of windows that are no cuts."""
        stops = [each.stops for name, each in found.items() if reads_running(self._plan, name)]
        if stops:
            self._readings = np.setdiff1d(np.concatenate(stops), cuts)
        return self._readings

    def reads(self, found: Mapping[str, Extents]) -> dict[str, Array]:
        """Which reading the answers of windows take that read slices; -1 for none."""
        reads = {}
        # A row that never comes makes every search find one.
        readings = np.append(self._readings, NEVER)
        for name, extents in found.items():
            if reads_running(self._plan, name):
                places = np.searchsorted(readings, extents.stops)
                reads[name] = np.where(readings[places] == extents.stops, places, -1)
        return reads
