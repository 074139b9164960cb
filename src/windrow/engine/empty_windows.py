"""Windows without events, between the answers of a key: `wr.slide(empty="emit")`.

      windows of a schedule   |  0  |  1  |  2  |  3  |  4  |  5  |
      answers of a key           a                 b     c
      windows without events           x     x

They are found from the answers alone: a schedule knows what lies between two of its windows. So no
loop and no slice knows of them. What has to be kept between batches is the last window of a key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.engine import columns as arrow
from windrow.engine.feature_columns import of_no_values
from windrow.engine.order_column import times_to_arrow
from windrow.planning.slide_plan import END, START, SlidePlan

Array = np.ndarray[Any, Any]

#: the last window of a key that has no answer yet
UNKNOWN = -(2**63)


class EmptyWindows:
    """The windows of one name that hold no events."""

    def __init__(self, plan: SlidePlan, name: str) -> None:
        self._plan, self._schedule = plan, plan.schedules[name]
        #: what outputs answer for no values; null where it is not said
        self._of_none = {
            output: of_no_values(plan.features[place])
            for output, place in plan.outputs
            if (name, place) not in plan.gates
        }

    def among(
        self,
        answered: pa.Table,
        names: Array,
        runs: Array,
        before: Array,
        require: Callable[[int], None],
        most: int | None = None,
    ) -> Iterator[tuple[pa.Table, Array]]:
        """The answers with the windows without events among them, in pieces, and the key of each.

        Args:
            answered: the answers of windows with events.
            names: which windows of the schedule they are of.
            runs: the number of each answer's key; the answers of a key are in order.
            before: for each key, its last window before these, or `UNKNOWN`.
            require: refuses so many answers.
            most: how many rows a piece has; None for one piece.
        """
        if not len(names):
            yield answered, runs
            return
        previous = before[runs]
        follows = runs[1:] == runs[:-1]
        previous[1:][follows] = names[:-1][follows]
        gaps = (names - previous) // self._schedule.step - 1
        gaps[previous == UNKNOWN] = 0
        if self._plan.changes_only:  # windows without events are all alike
            gaps = np.minimum(gaps, 1)
        lengths = gaps + 1
        require(int(lengths.sum(dtype=np.float64)))  # as floats, because the sum may be too large
        stops = np.cumsum(lengths)
        total = int(stops[-1])
        for begin in range(0, total, most or total):
            rows = np.arange(begin, min(begin + (most or total), total))
            answers = np.searchsorted(stops, rows, "right")
            places = rows - (stops - lengths)[answers]
            is_empty = places < gaps[answers]
            windows = previous[answers] + self._schedule.step * (places + 1)
            windows[~is_empty] = names[answers[~is_empty]]
            yield self._table(answered, answers, is_empty, windows), runs[answers]

    def _table(self, answered: pa.Table, answers: Array, is_empty: Array, windows: Array) -> Any:
        begins, ends = self._schedule.bounds(windows)
        bounds = {START: begins, END: ends}
        outputs = {output for output, _place in self._plan.outputs}
        columns = {}
        for name in answered.column_names:
            column = arrow.whole(answered[name])
            if name in bounds:
                columns[name] = times_to_arrow(bounds[name], self._plan.order_type)
            elif name not in outputs:
                columns[name] = column.take(pa.array(answers))
            else:
                columns[name] = column.take(pa.array(answers, mask=is_empty))
                of_none = self._of_none.get(name)
                if of_none is not None:
                    filler = pa.scalar(of_none, column.type)
                    columns[name] = pc.if_else(pa.array(is_empty), filler, columns[name])
        return pa.table(columns)
