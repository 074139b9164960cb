"""`over` over a stream where windows end behind their row: events wait for those that follow.

An event is answered when all rows of its windows are final: when the watermark has passed the end
of each window of time, and when as many more events of its key are final as a window of rows holds
behind its own. Until then it is kept whole, with all its columns, among the rows of its key. The
ledger says how many of a key's newest rows wait.

      kept rows of a key, wr.rows(before=2, after=3)
      [ a  b | c  d  e ]  + new [ f  g ]      c, d, e wait: three rows behind them are not final
               answered: c, d                 e, f, g wait

The last events of a key wait for events to come, for ever if there are none. Only where a stream
ends, as an iterator does, are they answered as on a table.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet

import numpy as np
import pyarrow as pa

from windrow.planning.over_plan import OverPlan
from windrow.planning.wording import listed
from windrow.stream.group import FURTHEST, Array
from windrow.stream.row_layout import RowLayout
from windrow.stream.rows.kept_rows import Needed, OpenBins
from windrow.stream.rows.over_rows import OverRows
from windrow.stream.rows.rows_group import RowsGroup, entered
from windrow.windows import Window, ticks
from windrow.windows.bounds import Bounds
from windrow.windows.extents import Span
from windrow.windows.key_rows import KeyRows, later
from windrow.windows.key_runs import NEVER
from windrow.windows.reach import EARLIEST

#: how many of a key's newest rows are not answered
_WAITING = "waiting"


def ends_behind(window: Window, order_type: pa.DataType) -> bool:
    """Whether rows of later times, or of later moments, may belong to the window of a row.

    Peers do not count: they are final together.
    """
    ahead = window.ahead(ticks.nanoseconds_per_tick(order_type))
    return ahead.rows > 0 if ahead.ticks is None else ahead.ticks > 1


class OverAhead(OverRows):
    """Windows that end behind their row."""

    final = (
        "for each event, when the watermark has passed the end of its windows of time, and when "
        "as many more events of its key are final as its windows of rows hold behind it"
    )

    def __init__(
        self,
        number: int,
        plan: OverPlan,
        types: Mapping[str, pa.DataType],
        nullable: AbstractSet[str],
    ) -> None:
        """`types` are those of the columns of an event; `nullable` names those with nulls."""
        super().__init__(number, plan, types, nullable)
        layout = RowLayout.of(plan.key, plan.order, list(types), types, {_WAITING: pa.int64()})
        RowsGroup.__init__(self, number, list(plan.windows), layout)
        self.why = f"events wait for the rows that {listed(self.names)} hold behind their own"
        self._columns = list(types)
        tick = ticks.nanoseconds_per_tick(types[plan.order[0]])
        ends = [window.ahead(tick) for window in plan.windows.values()]
        self._rows = max((each.rows for each in ends if each.ticks is None), default=0)
        self._ticks = max((each.ticks for each in ends if each.ticks is not None), default=0)

    def answer(self, part: OpenBins, span: Span) -> tuple[list[pa.Table], Needed]:
        """The events whose windows became final, with their answers."""
        rows = part.rows
        begins = rows.fresh - rows.numbers(_WAITING)
        ripe, due = self._ripe(rows, begins, span.frontier)
        bounds = self._bounds(rows)
        waits = ripe < rows.stops
        fronts = [_needed(each, rows, ripe, span.frontier) for each in bounds.values()]
        expiries = [each.fronts(rows, span.frontier)[1] for each in bounds.values()]
        front = np.minimum.reduce(fronts)
        expiry = np.where(front < rows.stops, np.maximum.reduce(expiries), span.frontier)
        needed = Needed(
            front,
            due,
            np.where(waits, NEVER, expiry),
            {_WAITING: entered(rows.stops - ripe)},
        )
        places = np.arange(rows.size)
        answered = np.flatnonzero((places >= begins[rows.key_of]) & (places < ripe[rows.key_of]))
        if not len(answered):
            return [], needed
        answers = self._answers(rows, bounds, np.where(begins < ripe, begins, rows.stops))
        indices = pa.array(answered)
        table = pa.table({name: rows.columns[name].take(indices) for name in self._columns})
        return [self._with_answers(table, rows, answers, answered)], needed

    def _ripe(self, rows: KeyRows, begins: Array, frontier: int) -> tuple[Array, Array]:
        """Of each key, the first row whose windows are not final, and when time makes it so."""
        if frontier >= FURTHEST:
            return rows.stops, np.full(len(rows.stops), NEVER)
        by_count = np.maximum(rows.stops - self._rows, begins)
        # A row is ripe if its time and so many ticks are before the frontier.
        unripe = max(frontier - self._ticks + 1, EARLIEST)
        by_time = np.maximum(rows.first_not_before(unripe), begins)
        times = rows.times[np.minimum(by_time, rows.stops - 1)]
        due = np.where(by_time < by_count, later(times, self._ticks), NEVER)
        return np.minimum(by_count, by_time), due


def _needed(bounds: Bounds, rows: KeyRows, ripe: Array, frontier: int) -> Array:
    """Of each key, the oldest row that events to come, or events that wait, may see."""
    fronts, _expiry = bounds.fronts(rows, frontier)
    waiting = np.flatnonzero(ripe < rows.stops)
    if not len(waiting):
        return fronts
    first = ripe[waiting]
    oldest = np.minimum(bounds.spans(rows.size).arrays[0][first], first)
    fronts = fronts.copy()
    fronts[waiting] = np.minimum(fronts[waiting], oldest)
    return fronts
