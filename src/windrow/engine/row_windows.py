"""Windows over rows: one window, block after block, with its state kept in between."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from windrow.algebra.nullable import NullSkipping
from windrow.algebra.product import Product
from windrow.algorithms import Algorithm, boundary_rows
from windrow.algorithms.plain_memory import ChunkedQueue
from windrow.compiler.kernel import Kernel
from windrow.engine import loops
from windrow.engine.helper_thread import helper_for
from windrow.engine.kernel_window import KernelWindow
from windrow.engine.named_failures import function_named
from windrow.engine.plain_window import PlainWindow
from windrow.engine.trailing import Bounds
from windrow.planning.over_plan import Feature
from windrow.windows import DeltaWindow, PolicyWindow, RowsWindow, TimeWindow, Window
from windrow.work import sizes

Array = np.ndarray[Any, Any]

#: an extent in rows or ticks that no window reaches
UNLIMITED = 2**63 - 1
#: algorithms with a loop of their own for windows of rows
_LOOPS_OVER_ROWS = {"sequential_boundary": boundary_rows}


@dataclass(frozen=True)
class RowBlock:
    """Rows sorted by key and order.

    Attributes:
        columns: what the loops read: arrays for kernels, lists for plain Python.
        validities: which rows are valid, for the nullable columns.
        bounds: where the window begins anew, and what it measures by.
        begin, stop: the rows that go through the window.
        answer_from: the first row to answer.
    """

    columns: tuple[Any, ...]
    validities: tuple[Array, ...]
    bounds: Bounds
    begin: int
    answer_from: int
    stop: int

    def between_peers(self, row: int) -> int:
        """The next row at which a piece may end: peers are answered together."""
        if row >= self.stop:
            return row
        starts, times = self.bounds.starts, self.bounds.measure
        assert times is not None
        stop = min(int(starts[np.searchsorted(starts, row)]), self.stop)
        return row + int(np.searchsorted(times[row:stop], times[row - 1], "right"))


def driver_for(window: Window) -> Callable[..., Any]:
    """The loop for a kind of window."""
    if isinstance(window, TimeWindow):
        return loops.over_time_with_peers if window.peers else loops.over_time
    counted = isinstance(window, DeltaWindow | PolicyWindow)
    return loops.over_counted if counted else loops.over_rows


def kernel_for(window: Window, algorithm: Algorithm, product: Product, checked: bool) -> Kernel:
    """The loop for a kind of window, joined with an algorithm and a product."""
    if driver_for(window) is loops.over_rows and algorithm.NAME in _LOOPS_OVER_ROWS:
        own = _LOOPS_OVER_ROWS[algorithm.NAME]
        functions = (*algorithm.FUNCTIONS, *own.FUNCTIONS)
        return Kernel(own.over_rows, functions, product, checked)
    return Kernel(driver_for(window), algorithm.FUNCTIONS, product, checked)


def extent_of(window: Window, nanoseconds_per_tick: int) -> int:
    """A window's extent as its driver measures it: rows, or ticks of the order column.

    A row leaves when it is that much older. Times are whole ticks, so a range of a part of a tick
    rounds up, and keeping the row exactly one range old is one tick more. What 64 bits cannot hold
    is longer than any table: so is a window that only a mark or a gap ends.
    """
    if isinstance(window, RowsWindow):
        return min(window.range, UNLIMITED)
    if isinstance(window, TimeWindow) and window.closed_both:
        return min(window.range // nanoseconds_per_tick + 1, UNLIMITED)
    if isinstance(window, TimeWindow):
        return min(-(-window.range // nanoseconds_per_tick), UNLIMITED)
    return UNLIMITED


def reach_of(window: Window, extent: int, bounds: Bounds) -> tuple[Any, ...]:
    """What the loop of a window takes to know how far it reaches back."""
    if isinstance(window, TimeWindow):
        return extent, bounds.measure
    if driver_for(window) is loops.over_counted:
        return bounds.measure, bounds.present
    return (extent,)


class CompiledRowWindow:
    """One window of all compiled features, driven by a kernel."""

    def __init__(
        self,
        window: Window,
        kernel: Kernel,
        product: Product,
        algorithm: Algorithm,
        extent: int,
    ) -> None:
        self._kind, self._extent, self._kernel = window, extent, kernel
        capacity = None
        if isinstance(window, RowsWindow):
            largest = sizes.current().largest_first_capacity
            capacity = 1 << (min(extent, largest) - 1).bit_length()
        self.helper = helper_for(algorithm, product, kernel.checked)
        self._window = KernelWindow(
            algorithm,
            product,
            capacity=capacity,
            timed=isinstance(window, TimeWindow),
            helper=self.helper,
        )

    def advance(self, block: RowBlock, answers: Sequence[Array], defined: Sequence[Array]) -> None:
        """Drive a block through the window and write its answers."""
        data = block.columns, block.validities, tuple(answers), tuple(defined)
        reach = reach_of(self._kind, self._extent, block.bounds)
        bounds = block.bounds.starts, block.answer_from, *reach
        whole = block.between_peers if getattr(self._kind, "peers", False) else None
        row = block.begin
        # Rows that only fill the window take far less time than rows that are answered, so each
        # part has a pace of its own.
        for stop in (block.answer_from, block.stop):
            row = self._window.drive(self._kernel, data, bounds, row, stop, whole)

    @property
    def front(self) -> int:
        """How many events have left the window for good."""
        return int(self._window.state.front)


class PlainRowWindow:
    """One window of one feature whose partials are Python objects."""

    def __init__(
        self,
        feature: Feature,
        window: Window,
        monoid: NullSkipping,
        inputs: tuple[int, ...],
        algorithm: Algorithm,
        extent: int,
    ) -> None:
        def lift_row(columns: Any, _validities: Any, row: int) -> Any:
            return monoid.lift(*(columns[index][row] for index in inputs))

        def lower_row(answers: Any, _defined: Any, row: int, partial: Any) -> None:
            answers[row] = monoid.lower(partial)

        self._feature, self._kind, self._extent = feature, window, extent
        self._window = PlainWindow(algorithm, monoid)
        self._loop = self._window.linked(driver_for(window), lift_row=lift_row, lower_row=lower_row)
        #: the times of the events, if the loop keeps them
        self._times = (ChunkedQueue(),) if isinstance(window, TimeWindow) else ()

    def advance(self, block: RowBlock, answers: list[Any]) -> None:
        """Drive a block through the window and write its answers."""
        data = block.columns, block.validities, answers, ()
        reach = reach_of(self._kind, self._extent, block.bounds)
        bounds = *self._times, block.bounds.starts, block.answer_from, *reach
        with function_named(self._feature):
            self._window.drive(self._loop, data, bounds, block.begin, block.stop)
        for times in self._times:
            times.release(self.front)

    @property
    def front(self) -> int:
        """How many events have left the window for good."""
        return self._window.state.front
