"""The ring of a compiled window, with its state in memory between two calls.

blocks of events     the state is taken out of memory, a loop runs, the state goes back
single events        a kernel reads and writes the state where it lies (`engine/element_loops.py`)
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from windrow.algebra import arrays
from windrow.algebra.failures import failures_named
from windrow.compiler.bound_code import BoundKernel
from windrow.compiler.kernel import Kernel
from windrow.compiler.linking import link
from windrow.element.compiled_program import CompiledProgram
from windrow.engine import element_loops
from windrow.engine.kernel_window import KernelWindow

#: room for the numbers of any algorithm's state, and for its partials
_CELLS, _KEPT = 32, 8


class CompiledRing:
    """The partials of a window, and its state.

    Attributes:
        cells: whole numbers: what a call for single events is to do, and those of the state.
    """

    def __init__(self, program: CompiledProgram, serving: Kernel) -> None:
        """Start empty; `serving` is the kernel of single events."""
        self._program, self._serving = program, serving
        self._numbers, self._partials = element_loops.places(program.algorithm)
        self._window = KernelWindow(program.algorithm, program.product, helper=program.helper)
        self.cells = self._window.memory.integers(_CELLS)
        self.cells[element_loops.ANSWERING] = 1
        self._kept = self._window.memory.array(_KEPT)
        #: the ring that single events find
        self._found: Any = None
        self._suspend()

    @property
    def is_bound(self) -> bool:
        """Whether single events find the ring as it is now."""
        return self._window.ring is self._found and not self._program.product.holds_rows

    def bound(self, columns: Any, validities: Any, values: Any, defined: Any) -> BoundKernel:
        """The kernel of single events, over this ring, with where it reads and writes."""
        self._found = self._window.ring
        read = tuple(map(arrays.read_only, columns)), tuple(map(arrays.read_only, validities))
        workspace = self._window.memory.workspace()
        arguments = *read, values, defined, self._found, self._kept, self.cells
        return self._serving.bound(*workspace, *arguments)

    def reserve(self, events: int) -> None:
        """Make room for so many more events at once."""
        self._window.state = self.state()
        self._window.reserve(events)
        self._suspend()

    def grow(self) -> None:
        """Make twice the room."""
        self._window.state = self.state()
        self._window.grow()
        self._suspend()

    def drive(
        self, kernel: Kernel, data: tuple[Any, ...], bounds: tuple[Any, ...], begin: int, stop: int
    ) -> None:
        """Run a loop over rows; no event waits. The arguments are those of `KernelWindow.drive`."""
        self._window.state = self.state()
        with failures_named(self._program.name):
            self._window.drive(kernel, data, bounds, begin, stop)
        self._suspend()

    def state(self) -> Any:
        """The state, taken out of memory."""
        algorithm = self._program.algorithm
        fields = [
            self._partial(self._partials[name])
            if name in self._partials
            else int(self.cells[self._numbers[name]])
            for name in algorithm.State._fields  # type: ignore[attr-defined]
        ]
        return algorithm.State(*fields)

    def size(self) -> int:
        """How many events the ring holds."""
        state = self.state()
        size = getattr(self._program.algorithm, "size", None)
        return int(state.end - state.front if size is None else size(state))

    def older_than(self, time: int) -> int:
        """How many events have an earlier time; no event waits."""
        return int(self._reading["older_than"](self.state(), self._window.ring, time))

    def newest_time(self) -> int:
        """The time of the newest event; there is one, and none waits."""
        return int(self._reading["newest_time"](self.state(), self._window.ring))

    @cached_property
    def _reading(self) -> dict[str, Any]:
        """The functions of the algorithm, of which those work here that read integers alone."""
        slots = {"load_integer": lambda integers, place: int(integers[place])}
        return link(self._program.algorithm.FUNCTIONS, slots)

    def _partial(self, place: int) -> Any:
        values = [numbers[place].item() for numbers in self._kept]
        return values[0] if len(values) == 1 else tuple(values)

    def _suspend(self) -> None:
        """Put the state into memory."""
        state, memory = self._window.state, self._window.memory
        for name, place in self._numbers.items():
            self.cells[place] = getattr(state, name)
        for name, place in self._partials.items():
            partial = getattr(state, name)
            fields = partial if isinstance(partial, tuple) else (partial,)
            copied = memory.partials(tuple(np.array([each]) for each in fields), slice(0, 1))
            memory.fill(self._kept, slice(place, place + 1), copied)
