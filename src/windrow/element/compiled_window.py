"""`wr.Window(..., types=...)`: the same algorithms, compiled, with partials in typed memory.

    insert    writes the event into a buffer             element/single_events.py
    evict     counts
    query     one call of machine code: events leave, those in the buffer enter, the answer is there

A call of machine code takes longer than what it does for one event. So single insertions and
evictions wait until somebody asks, or until the buffer is full. Blocks of events do not wait:
`insert_many` and `slide_many` run the loops that tables run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.algebra import arrays
from windrow.compiler.kernel import Kernel
from windrow.element.compiled_program import CompiledProgram, Read, written
from windrow.element.compiled_ring import CompiledRing
from windrow.element.single_events import SingleEvents
from windrow.element.stored_measures import Asked, asked_measures
from windrow.element.timed_events import TimedEvents, in_order_of_times, with_times
from windrow.element.typed_inputs import Types
from windrow.element.typed_times import TypedTimes
from windrow.engine.plain_window import require_offered
from windrow.errors import NotApplicable
from windrow.planning.choose import Wish
from windrow.windows import PolicyWindow
from windrow.windows.key_runs import NEVER

#: what only windows in plain Python do
_NOT_COMPILED = frozenset({
    "insert_at", "evict_at", "query_range", "prefix", "suffix", "update",
})  # fmt: skip
#: the one key whose rows slide
_ONE_KEY = np.array([0, NEVER])


class CompiledWindow:
    """The window behind `wr.Window(..., types=...)`."""

    def __init__(
        self, aggregation: Asked, types: Types, policy: PolicyWindow | None, wish: Wish
    ) -> None:
        program = CompiledProgram(asked_measures(aggregation), types, policy, wish)
        if policy is not None:
            require_offered(program.algorithm, "leaving")
        self._program, self._slides = program, policy is not None
        self.name, self.algorithm = program.name, program.algorithm
        #: whether the times of events are kept in the window itself, so that they come in any order
        self.keeps_times = program.in_any_order
        self._serving = program.serving()
        self.clear()

    def clear(self) -> None:
        """Drop all events and all room."""
        self._ring = CompiledRing(self._program, self._serving)
        parts = self._program, self._ring, self._slides
        self._timed = TimedEvents(*parts) if self.keeps_times else None
        self._single = SingleEvents(*parts) if self._timed is None else self._timed
        self._times = TypedTimes()

    def entries(self) -> dict[str, Callable[..., Any]]:
        """The operations of one event, to be called directly."""
        return self._single.calls()

    def insert(self, *inputs: Any) -> bool:
        """Add an event at the newest end."""
        self._single.insert(*inputs)
        return False

    def evict(self) -> None:
        """Drop the oldest event."""
        self.entries()["evict"]()

    def query(self) -> Any:
        """The aggregate of all events in the window."""
        return self._single.query()

    def insert_many(self, events: Any) -> None:
        """Add events, oldest first: an array, a list, or a table with a column for each input."""
        self._insert_columns(self._program.inputs.columns(events), None)

    def insert_at_times(self, events: Any, times: Any) -> None:
        """Add many events, each behind all that are not later; all of them, or none."""
        columns = self._program.inputs.columns(events)
        assert self._timed is not None
        self._timed.require_times("insert_many")
        self._insert_columns(columns, self._times.numbers(times, len(columns[0])))

    def insert_at_time(self, time: Any, inputs: tuple[Any, ...]) -> None:
        """Add an event behind all that are not later."""
        require_offered(self.algorithm, "insert_at_time")
        assert self._timed is not None
        self._timed.insert_at_time(self._times.number(time), inputs)

    def older_than(self, time: Any) -> int:
        """How many events have an earlier time."""
        assert self._timed is not None
        self._timed.require_times("evict_older_than")
        self._timed.settle()
        return self._ring.older_than(self._times.number(time)) if len(self) else 0

    def _insert_columns(self, columns: list[pa.Array], times: Any) -> None:
        """Add events, at their times if there are any."""
        size = len(columns[0])
        self._single.settle()
        if not self._slides:
            self._ring.reserve(size)
        loops = self._program.loops(columns)
        data, late = loops.block(columns), 0
        if self._timed is not None:
            if times is not None:
                data, times, late = self._sorted(data, times)
            given = np.zeros(size, np.int64) if times is None else times
            is_timed = np.full(size, times is not None)
            data = with_times(data, arrays.read_only(given), arrays.read_only(is_timed))
            self._timed.note(size, times is not None)
        if late:
            self._drive(loops.inserting_sorted, data, (), 0, late)
        self._drive(loops.inserting, data, (), late, size)

    def _sorted(self, data: Read, times: Any) -> tuple[Read, Any, int]:
        """Events in the order of their times, and how many are earlier than the newest there is."""
        if not bool((times[1:] >= times[:-1]).all()):
            data, times = in_order_of_times(data, times)
        newest = self._ring.newest_time() if len(self) else None
        return data, times, 0 if newest is None else int(np.searchsorted(times, newest))

    def slide_many(self, events: Any) -> pa.Array | pa.Table:
        """For each event, evict the oldest, insert it and answer; there must be an oldest."""
        columns = self._program.inputs.columns(events)
        size = len(columns[0])
        loops = self._program.loops(columns)
        answers = loops.answers(size)
        self._single.settle()
        state = self._ring.state()
        first, end = state.end, state.end + size
        where = _ONE_KEY, end, state.end - state.front - 1, 0, first, first, end
        self._drive(loops.sliding, (*loops.block(columns), *written(answers)), where, first, end)
        return loops.result(answers)

    def evict_many(self, count: int) -> None:
        """Drop the oldest events; there must be as many."""
        self._single.evict_many(count)

    def __getattr__(self, operation: str) -> Any:
        if operation not in _NOT_COMPILED:
            raise AttributeError(operation)
        raise NotApplicable(
            f"{operation}: a compiled window takes and drops events in order, and answers for all "
            "of them; leave out types="
        )

    def __len__(self) -> int:
        return len(self._single)

    def _drive(
        self, kernel: Kernel, data: tuple[Any, ...], bounds: tuple[Any, ...], begin: int, stop: int
    ) -> None:
        """Run a loop over rows; no event waits."""
        self._ring.drive(kernel, data, bounds, begin, stop)
        if not self._ring.is_bound:
            self._single.bind()
        self._single.look()
