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

from windrow.algebra.aggregation import Measure
from windrow.algebra.failures import failures_named
from windrow.compiler.kernel import Kernel
from windrow.element.compiled_program import CompiledProgram, written
from windrow.element.single_events import SingleEvents
from windrow.element.typed_inputs import Types
from windrow.engine import element_loops
from windrow.engine.kernel_window import KernelWindow
from windrow.engine.plain_window import require_offered
from windrow.errors import NotApplicable
from windrow.planning.choose import Wish
from windrow.windows import PolicyWindow
from windrow.windows.key_runs import NEVER

#: room for the numbers of any algorithm's state, and for its partials
_CELLS, _KEPT = 32, 8
#: what only windows in plain Python do
_NOT_COMPILED = frozenset({
    "insert_at", "insert_at_time", "evict_at", "query_range", "prefix", "suffix", "update",
})  # fmt: skip
#: the one key whose rows slide
_ONE_KEY = np.array([0, NEVER])


class CompiledWindow:
    """The window behind `wr.Window(..., types=...)`."""

    #: the times of events are kept beside it
    keeps_times = False

    def __init__(
        self, measure: Measure, types: Types, policy: PolicyWindow | None, wish: Wish
    ) -> None:
        program = CompiledProgram(measure, types, policy, wish)
        if policy is not None:
            require_offered(program.algorithm, "leaving")
        self._program, self._slides = program, policy is not None
        self.name, self.algorithm = program.name, program.algorithm
        self._inserting, self._serving = program.kernel(program.insert_loop()), program.serving()
        self._sliding = program.sliding()
        self.clear()

    def clear(self) -> None:
        """Drop all events and all room."""
        self._window = KernelWindow(self.algorithm, self._program.product)
        self._cells = self._window.memory.integers(_CELLS)
        self._cells[element_loops.ANSWERING] = 1
        self._kept = self._window.memory.array(_KEPT)
        self._single = SingleEvents(self._program, self._slides, self._grow, self._size)
        #: the ring that single events find
        self._bound: Any = None
        self._suspend()

    def entries(self) -> dict[str, Callable[..., Any]]:
        """The operations of one event, to be called directly."""
        single = self._single
        is_one = len(self._program.inputs.types) == 1
        return {
            "insert": single.insert if is_one else single.insert_any,
            "evict": single.evict_settled if self._slides else single.evict,
            "query": single.query,
        }

    def insert(self, *inputs: Any) -> bool:
        """Add an event at the newest end."""
        self._single.insert_any(*inputs)
        return False

    def evict(self) -> None:
        """Drop the oldest event."""
        self.entries()["evict"]()

    def query(self) -> Any:
        """The aggregate of all events in the window."""
        return self._single.query()

    def insert_many(self, events: Any) -> None:
        """Add events, oldest first: an array, a list, or a table with a column for each input."""
        columns = self._program.inputs.columns(events)
        self._single.settle()
        self._window.state = self._resumed()
        if not self._slides:
            self._window.reserve(len(columns[0]))
        self._drive(self._inserting, self._program.block(columns), (), 0, len(columns[0]))

    def slide_many(self, events: Any) -> pa.Array:
        """For each event, evict the oldest, insert it and answer; there must be an oldest."""
        columns = self._program.inputs.columns(events)
        size = len(columns[0])
        answers = self._program.answers(size)
        self._single.settle()
        state = self._window.state = self._resumed()
        first, end = state.end, state.end + size
        where = _ONE_KEY, end, state.end - state.front - 1, 0, first, first, end
        self._drive(
            self._sliding, (*self._program.block(columns), *written(answers)), where, first, end
        )
        return self._program.result(answers)

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

    # The state -----------------------------------------------------------------------------------

    def _drive(
        self, kernel: Kernel, data: tuple[Any, ...], bounds: tuple[Any, ...], begin: int, stop: int
    ) -> None:
        """Run a loop over rows; no event waits, and the state is taken out of memory."""
        with failures_named(self.name):
            self._window.drive(kernel, data, bounds, begin, stop)
        self._suspend()
        self._single.look()

    def _resumed(self) -> Any:
        """The state, taken out of memory."""
        numbers, partials = element_loops.places(self.algorithm)
        fields = [
            self._partial(partials[name]) if name in partials else int(self._cells[numbers[name]])
            for name in self.algorithm.State._fields  # type: ignore[attr-defined]
        ]
        return self.algorithm.State(*fields)

    def _partial(self, place: int) -> Any:
        values = [numbers[place].item() for numbers in self._kept]
        return values[0] if len(values) == 1 else tuple(values)

    def _suspend(self) -> None:
        """Put the state into memory, and let single events find the ring as it is now."""
        state, memory = self._window.state, self._window.memory
        numbers, partials = element_loops.places(self.algorithm)
        for name, place in numbers.items():
            self._cells[place] = getattr(state, name)
        for name, place in partials.items():
            partial = getattr(state, name)
            fields = partial if isinstance(partial, tuple) else (partial,)
            copied = memory.partials(tuple(np.array([each]) for each in fields), slice(0, 1))
            memory.fill(self._kept, slice(place, place + 1), copied)
        if self._window.ring is not self._bound or self._program.product.holds_rows:
            single, self._bound = self._single, self._window.ring
            arguments = *single.read, *single.answers, self._bound, self._kept, self._cells
            bound = self._serving.bound(*memory.workspace(), *arguments)
            single.bind(bound, memoryview(self._cells))

    def _grow(self) -> None:
        self._window.state = self._resumed()
        self._window.grow()
        self._suspend()

    def _size(self) -> int:
        """How many events the ring holds."""
        state = self._resumed()
        size = getattr(self.algorithm, "size", None)
        return int(state.end - state.front if size is None else size(state))
