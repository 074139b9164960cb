"""Open windows that hold events, as aggregations ask for them whose partials are not numbers.

So `median`, `collect` and sketches can be revised, and with a second order column those that depend
on the order of events. A batch puts its events among those of their keys, each at its place, and
goes over the events of the windows that it changes as over a table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet

import numpy as np
import pyarrow as pa

from windrow.engine import columns as arrow
from windrow.engine.feature_columns import FeatureColumns
from windrow.engine.maps import SLICE, has_partials_of_numbers
from windrow.engine.order_column import in_own_type
from windrow.engine.shared_slices import SharedSlices
from windrow.engine.slice_windows import SliceKernels
from windrow.engine.sorting import arrange
from windrow.planning.slide_plan import SlidePlan
from windrow.planning.wording import listed
from windrow.stream.group import Array
from windrow.stream.row_layout import columns_kept
from windrow.stream.updates.updates_query import EMIT
from windrow.stream.updates.window_contents import Arranged, WindowContents
from windrow.windows import ticks
from windrow.windows.extents import Extents
from windrow.windows.sorted_rows import SortedRows
from windrow.work.threads import cores


class OpenEvents(WindowContents):
    """The events of one window."""

    def __init__(
        self,
        name: str,
        plan: SlidePlan,
        types: Mapping[str, pa.DataType],
        nullable: AbstractSet[str],
    ) -> None:
        """`types` are those of the columns of an event; `nullable` names those with nulls."""
        self._name, self._plan = name, plan
        self._features = FeatureColumns(plan.features, nullable, counts=plan.wish.counts_values)
        self._kernels = SliceKernels(self._features, plan, [name])
        names = dict.fromkeys([*plan.order, *plan.read_by_row])
        #: by the name of a column of events, the one that keeps it
        self._stored_as = {each: f"event_{place}" for place, each in enumerate(names)}
        self.keys = [f"key_{place}" for place in range(len(plan.key))]
        self.schema = pa.schema(
            [
                (SLICE, pa.int64()),
                *zip(self.keys, (types[each] for each in plan.key), strict=True),
                *((stored, types[each]) for each, stored in self._stored_as.items()),
            ]
        )
        self.kept = [columns_kept(self.schema), EMIT]
        self.what, self.short = "the events of each key", "the events"
        self.why = why_events(plan)

    def of_events(self, events: pa.RecordBatch) -> pa.RecordBatch:
        """What is read of events."""
        if not events.num_rows:
            return self.empty
        times = ticks.times(events[self._plan.order[0]])
        columns = [events[each] for each in (*self._plan.key, *self._stored_as)]
        return pa.RecordBatch.from_arrays([pa.array(times), *columns], schema=self.schema)

    def merged(self, older: pa.RecordBatch, newer: pa.RecordBatch) -> tuple[pa.RecordBatch, Array]:
        """Put new events among the others; those of equal order are in the order of arrival."""
        held = pa.concat_batches([older, newer])
        places, _starts = self._arrange(held, [self._stored_as[each] for each in self._plan.order])
        return held.take(pa.array(places)), places >= older.num_rows

    def arranged(self, held: pa.RecordBatch) -> Arranged:
        """The events by key."""
        places, starts = self._arrange(held, [SLICE])
        rows = held.take(pa.array(places))
        columns = {each: rows[stored] for each, stored in self._stored_as.items()}
        keys = [rows[each].take(pa.array(starts[:-1])) for each in self.keys]
        seen = SortedRows(
            in_own_type(columns, self._plan),
            starts,
            held.num_rows,
            self._plan.order[0],
            self._plan.order_type,
        )

        def answers(firsts: Array, stops: Array) -> Callable[[int], pa.Array]:
            if not len(firsts):
                return lambda place: pa.nulls(0, self._plan.features[place].type)
            return self._answers(seen, keys, Extents(firsts, stops))

        return Arranged(places, starts, self.times(rows), answers)

    def _answers(
        self, rows: SortedRows, keys: Sequence[pa.Array], extents: Extents
    ) -> Callable[[int], pa.Array]:
        """The answers of some events as over a table."""
        slices = SharedSlices(self._plan, self._features, self._kernels, [self._name], cores())
        [(_name, table)] = slices.answer(rows, keys, {self._name: extents})
        outputs = {place: output for output, place in self._plan.outputs}

        def column(place: int) -> pa.Array:
            if place in outputs:
                return arrow.whole(table[outputs[place]])
            # A feature that others are gated by, which nobody asked for.
            return pa.nulls(table.num_rows, self._plan.features[place].type)

        return column

    def _arrange(self, held: pa.RecordBatch, order: Sequence[str]) -> tuple[Array, Array]:
        """The places of rows by key and order, and where keys begin."""
        keys, ordering = ([held[each] for each in names] for names in (self.keys, order))
        permutation, starts = arrange(keys, ordering, held.num_rows)
        return np.arange(held.num_rows) if permutation is None else permutation, starts


def why_events(plan: SlidePlan) -> str:
    """Why partials do not suffice; empty if they do."""
    large = [str(each) for each in plan.features if not has_partials_of_numbers([each])]
    if large:
        return f"the partials of {listed(large)} are not a few numbers"
    ordered = [str(each) for each in plan.features if not each.monoid.traits.commutative]
    if len(plan.order) > 1 and ordered:
        return (
            f"{listed(ordered)} depend{'s' * (len(ordered) < 2)} on the order of events, and "
            "several columns order them"
        )
    return ""
