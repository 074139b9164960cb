"""Open windows that hold cells: partials of the events of a key and slice.

A cell is of all events of a key and a slice if the order of events does not matter to any
aggregation, and else of a key and a moment: events that come later go between moments, and behind
those of the same moment. An event costs one combine, however late it is.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import pyarrow as pa

from windrow.engine.feature_columns import FeatureColumns
from windrow.engine.maps import SLICE, Maps
from windrow.engine.order_column import in_own_type
from windrow.planning.slide_plan import SlidePlan
from windrow.slicing import Slices
from windrow.slicing.calendar_slices import CalendarSlices
from windrow.stream.cell_slides import CellSlides
from windrow.stream.group import Array
from windrow.stream.updates.updates_query import EMIT
from windrow.stream.updates.window_contents import Arranged, WindowContents
from windrow.windows import ticks


class OpenCells(WindowContents):
    """The cells of one window."""

    def __init__(
        self,
        name: str,
        plan: SlidePlan,
        features: FeatureColumns,
        maps: Maps,
        slices: Slices | CalendarSlices,
    ) -> None:
        self._name, self._plan, self._maps, self._slices = name, plan, maps, slices
        self._slides = CellSlides(plan, features, maps, [name])
        #: whether cells of a slice hold its events in any order
        self._any_order = all(each.monoid.traits.commutative for each in plan.features)
        self.schema, self.keys = maps.schema, maps.keys
        self.kept = [
            *maps.description,
            EMIT,
            f"cells of {'slices' if self._any_order else 'moments'}",
        ]
        self.what = f"a partial for each key and {'slice' if self._any_order else 'moment'}"
        self.short = "the partials"
        order = "does not matter" if self._any_order else "matters"
        self.why = f"the order of events {order} to the aggregations"

    def of_events(self, events: pa.RecordBatch) -> pa.RecordBatch:
        """The cells of events, by the time at which their slice begins."""
        if not events.num_rows:
            return self.empty
        columns = dict(zip(events.schema.names, events.columns, strict=True))
        times = ticks.times(columns[self._plan.order[0]])
        begins = times
        if self._any_order:
            begins = self._slices.starts(self._slices.slice_of(times))
            # Beyond 64 bits a begin wraps; then the time itself tells the slice as well.
            begins = np.where(begins > times, times, begins)
        return self._maps.of_events(in_own_type(columns, self._plan), self._plan.order, begins)

    def merged(self, older: pa.RecordBatch, newer: pa.RecordBatch) -> tuple[pa.RecordBatch, Array]:
        """Combine cells of the same key and time."""
        return self._maps.merged(older, newer)

    def arranged(self, held: pa.RecordBatch) -> Arranged:
        """The cells by key."""
        grouped = self._maps.grouped([held])
        answers = partial(self._slides.answers, self._name, grouped)
        times = grouped.cells[SLICE].to_numpy()[grouped.places]
        return Arranged(grouped.places, grouped.starts, times, answers)
