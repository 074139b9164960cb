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
from windrow.planning.over_plan import Feature
from windrow.windows import Window
from windrow.windows.bounds import Bounding, Bounds
from windrow.windows.counting import CountedBehind
from windrow.windows.reach import Behind, Counted, Growing, Newest, Reach, Younger
from windrow.windows.setting import Setting
from windrow.work import sizes

Array = np.ndarray[Any, Any]

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
        return self.bounds.past_peers(row, self.stop)


#: the loop for each reach: the one place that chooses among them. Any window can be counted; the
#: other loops are faster
_LOOPS: dict[type[Reach], Callable[..., Any]] = {
    Newest: loops.over_rows,
    Growing: loops.over_growing,
    Younger: loops.over_time,
    Behind: loops.over_counted,
    Counted: loops.over_counted,
}


def loop_for(window: Window) -> Callable[..., Any]:
    """The loop for a window."""
    return loops.over_time_with_peers if window.peers else _LOOPS[window.reach]


def kernel_for(window: Window, algorithm: Algorithm, product: Product, checked: bool) -> Kernel:
    """The loop for a window, joined with an algorithm and a product."""
    if loop_for(window) is loops.over_rows and algorithm.NAME in _LOOPS_OVER_ROWS:
        own = _LOOPS_OVER_ROWS[algorithm.NAME]
        functions = (*algorithm.FUNCTIONS, *own.FUNCTIONS)
        return Kernel(own.over_rows, functions, product, checked)
    return Kernel(loop_for(window), algorithm.FUNCTIONS, product, checked)


def bounding_for(window: Window, setting: Setting) -> Bounding:
    """What bounds a window for its loop, before the first row."""
    bounding = window.bounding(setting)
    return CountedBehind(bounding, window.measured) if window.reach is Behind else bounding


def _limits(bounds: Bounds) -> tuple[Any, ...]:
    """What the loop of a window takes to know how far it reaches back."""
    reach: Any = bounds.reach
    if isinstance(reach, Growing):
        return ()
    if isinstance(reach, Newest):
        return (reach.count,)
    if isinstance(reach, Younger):
        return reach.amount, reach.measure
    return reach.counts, bounds.present


class CompiledRowWindow:
    """One window of all compiled features, driven by a kernel."""

    def __init__(
        self,
        window: Window,
        kernel: Kernel,
        product: Product,
        algorithm: Algorithm,
    ) -> None:
        self._peers, self._kernel = window.peers, kernel
        capacity = None
        if window.newest is not None:
            largest = sizes.current().largest_first_capacity
            capacity = 1 << (min(window.newest, largest) - 1).bit_length()
        self.helper = helper_for(algorithm, product, kernel.checked)
        self._window = KernelWindow(
            algorithm,
            product,
            capacity=capacity,
            timed=window.reach is Younger,
            helper=self.helper,
        )

    def advance(self, block: RowBlock, answers: Sequence[Array], defined: Sequence[Array]) -> None:
        """Drive a block through the window and write its answers."""
        data = block.columns, block.validities, tuple(answers), tuple(defined)
        bounds = block.bounds.runs, block.answer_from, *_limits(block.bounds)
        whole = block.between_peers if self._peers else None
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
    ) -> None:
        def lift_row(columns: Any, _validities: Any, row: int) -> Any:
            return monoid.lift(*(columns[index][row] for index in inputs))

        def lower_row(answers: Any, _defined: Any, row: int, partial: Any) -> None:
            answers[row] = monoid.lower(partial)

        self._feature = feature
        self._window = PlainWindow(algorithm, monoid)
        self._loop = self._window.linked(loop_for(window), lift_row=lift_row, lower_row=lower_row)
        #: the times of the events, if the loop keeps them
        self._times = (ChunkedQueue(),) if window.reach is Younger else ()

    def advance(self, block: RowBlock, answers: list[Any]) -> None:
        """Drive a block through the window and write its answers."""
        data = block.columns, block.validities, answers, ()
        limits = _limits(block.bounds)
        bounds = *self._times, block.bounds.runs, block.answer_from, *limits
        with function_named(self._feature):
            self._window.drive(self._loop, data, bounds, block.begin, block.stop)
        for times in self._times:
            times.release(self.front)

    @property
    def front(self) -> int:
        """How many events have left the window for good."""
        return self._window.state.front
