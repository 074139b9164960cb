"""Passes: one window, driven over blocks of rows, with its state kept from block to block."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from windrow.algebra.nullable import NullSkipping
from windrow.algebra.product import Product
from windrow.algorithms import Algorithm, boundary_rows
from windrow.algorithms.plain_memory import PLAIN_SLOTS, ChunkedQueue
from windrow.compiler.kernel import Kernel
from windrow.compiler.linking import link
from windrow.engine import loops
from windrow.engine.helper_thread import helper_for
from windrow.engine.kernel_window import KernelWindow
from windrow.engine.named_failures import function_named
from windrow.engine.plain_window import PlainWindow
from windrow.engine.trailing import Bounds
from windrow.planning.over_plan import Feature
from windrow.windows import DeltaWindow, PolicyWindow, RowsWindow, TimeWindow, Window
from windrow.work import sizes
from windrow.work.pace import Pace

Array = np.ndarray[Any, Any]

#: an extent in rows or ticks that no window comes to
UNLIMITED = 2**63 - 1
#: algorithms that slide windows of rows by a loop of their own
_LOOPS_OVER_ROWS = {"sequential_boundary": boundary_rows}


@dataclass(frozen=True)
class RowBlock:
    """Rows sorted by key and order.

    Attributes:
        columns: what the drivers read: arrays for kernels, lists for plain Python.
        validities: which rows are valid, for the nullable columns.
        bounds: where the window begins anew, and what it measures by.
        begin, stop: the rows to drive through the window.
        answer_from: the first row to answer.
    """

    columns: tuple[Any, ...]
    validities: tuple[Array, ...]
    bounds: Bounds
    begin: int
    answer_from: int
    stop: int


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


def reach_of(window: Window, extent: int, bounds: Bounds, times: Any) -> tuple[Any, ...]:
    """What the driver of a window takes in the end: how far it reaches back."""
    if isinstance(window, TimeWindow):
        return extent, bounds.measure, times
    if driver_for(window) is loops.over_counted:
        return bounds.measure, bounds.present
    return (extent,)


class CompiledRowWindow:
    """One window of a product of aggregations, in a ring of numbers."""

    def __init__(
        self,
        window: Window,
        kernel: Kernel,
        product: Product,
        algorithm: Algorithm,
        extent: int,
    ) -> None:
        self._kind = window
        self._timed = isinstance(window, TimeWindow)
        self._kernel = kernel
        self._extent = extent
        capacity = sizes.current().window_capacity
        if isinstance(window, RowsWindow):
            capacity = 1 << (min(extent, sizes.current().largest_first_capacity) - 1).bit_length()
        self._window = KernelWindow(algorithm, product, capacity)
        self._times = self._window.memory.integers(capacity if self._timed else 0)
        self.helper = helper_for(algorithm, product, kernel.checked)

    def advance(self, block: RowBlock, answers: Sequence[Array], defined: Sequence[Array]) -> None:
        """Drive a block through the window and write its answers."""
        row = block.begin
        # Rows that only fill the window take far less time than those that are answered.
        for stop in (block.answer_from, block.stop):
            pace = Pace()
            while row < stop:
                with self._helped(stop - row):
                    row = self._until_full(block, row, stop, pace, (tuple(answers), tuple(defined)))
                if row < stop:
                    self._grow()

    def _until_full(
        self, block: RowBlock, row: int, stop: int, pace: Pace, answers: tuple[Any, Any]
    ) -> int:
        """Drive rows through the window while it has room; the first row that was not."""
        window = self._window
        reach = reach_of(self._kind, self._extent, block.bounds, self._times)
        while row < stop:
            end = self._between_peers(block, pace.end(row, stop))
            window.state, row = self._kernel(
                *window.memory.workspace(), block.columns, block.validities, *answers,
                window.ring, window.state, block.bounds.starts, row, block.answer_from,
                end, *reach,
            )  # fmt: skip
            if row < end:
                break
        return row

    def _between_peers(self, block: RowBlock, row: int) -> int:
        """The next row before which no peers are parted: they are answered together."""
        if row >= block.stop or not getattr(self._kind, "peers", False):
            return row
        starts, times = block.bounds.starts, block.bounds.measure
        assert times is not None
        stop = min(int(starts[np.searchsorted(starts, row)]), block.stop)
        return row + int(np.searchsorted(times[row:stop], times[row - 1], "right"))

    def _helped(self, rows: int) -> AbstractContextManager[None]:
        """A second thread beside the kernel, if the algorithm has work for it."""
        if self.helper is None or rows < sizes.current().smallest_helped:
            return nullcontext()
        return self.helper.beside(self._window.memory, self._window.ring)

    @property
    def front(self) -> int:
        """How many events have left the window for good."""
        return int(self._window.state.front)

    def _grow(self) -> None:
        """Twice the room; every event keeps its position."""
        window, capacity = self._window, self._window.capacity
        window.grow()
        if self._timed:
            times = window.memory.integers(window.capacity)
            positions = np.arange(window.state.front, window.state.end)
            times[positions & (window.capacity - 1)] = self._times[positions & (capacity - 1)]
            self._times = times


class PlainRowWindow:
    """One window of one aggregation whose partials are Python objects."""

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

        self._feature, self._kind = feature, window
        self._window = PlainWindow(algorithm, monoid)
        slots = {**PLAIN_SLOTS, **self._window.functions, "identity": monoid.identity}
        driver = driver_for(window)
        linked = link([driver], {**slots, "lift_row": lift_row, "lower_row": lower_row})
        self._drive = linked[driver.__name__]
        self._extent = extent
        self._times = ChunkedQueue()

    def advance(self, block: RowBlock, answers: list[Any]) -> None:
        """Drive a block through the window and write its answers."""
        row, window = block.begin, self._window
        reach = reach_of(self._kind, self._extent, block.bounds, self._times)
        while True:
            with function_named(self._feature):
                window.state, row = self._drive(
                    block.columns, block.validities, answers, (),
                    window.ring, window.state, block.bounds.starts, row, block.answer_from,
                    block.stop, *reach,
                )  # fmt: skip
            if row >= block.stop:
                break
            window.grow()
        self._times.release(self.front)

    @property
    def front(self) -> int:
        """How many events have left the window for good."""
        return self._window.state.front
