"""Windows over rows: one window, block after block, with its state kept in between."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from windrow.algebra.nullable import NullSkipping
from windrow.algebra.product import Product
from windrow.algorithms import Algorithm, boundary_rows, parallel_rows, stack_spans
from windrow.algorithms.plain_memory import ChunkedQueue
from windrow.compiler.kernel import Kernel
from windrow.engine import loops
from windrow.engine.helper_thread import helper_for
from windrow.engine.kernel_window import KernelWindow
from windrow.engine.named_failures import function_named
from windrow.engine.plain_window import PlainWindow
from windrow.planning.features import Feature
from windrow.windows import Window
from windrow.windows.ahead import HERE
from windrow.windows.bounds import Bounding, Bounds
from windrow.windows.counting import CountedBehind
from windrow.windows.reach import Behind, Counted, Growing, Newest, Reach, Younger
from windrow.windows.returning import Returning
from windrow.windows.setting import Setting
from windrow.windows.spans import Spans
from windrow.work import sizes

Array = np.ndarray[Any, Any]

#: loops that algorithms have of their own, and the functions that these call
_OWN_LOOPS: dict[tuple[str, str], tuple[Callable[..., Any], Sequence[Callable[..., Any]]]] = {
    ("over_rows", "sequential_boundary"): (boundary_rows.over_rows, boundary_rows.FUNCTIONS),
    ("over_rows", "parallel_boundary"): (boundary_rows.over_rows, parallel_rows.FUNCTIONS),
    ("over_spans", "two_stacks"): (stack_spans.over_spans, stack_spans.FUNCTIONS),
}


@dataclass(frozen=True)
class RowBlock:
    """Rows sorted by key and order.

    Attributes:
        columns: what the loops read: arrays for kernels, lists for plain Python.
        validities: which rows are valid, for the nullable columns.
        bounds: where the window begins anew, and what it measures by; None if spans are known.
        begin, stop: the rows that go through the window.
        answer_from: the first row to answer.
        spans: from which row to which windows go, for loops that take it. Its rows are numbered
            through all blocks, and those of the block are not.
        position: the number of the block's first row.
        answered: the number of the first row that there is room for an answer for.
    """

    columns: tuple[Any, ...]
    validities: tuple[Array, ...]
    bounds: Bounds | None
    begin: int
    answer_from: int
    stop: int
    spans: Spans | None = None
    position: int = 0
    answered: int = 0


#: the loop for each reach of windows that end at their row: the one place that chooses among them.
#: Any window can be counted; the other loops are faster
_LOOPS: dict[type[Reach], Callable[..., Any]] = {
    Newest: loops.over_rows,
    Growing: loops.over_growing,
    Younger: loops.over_time,
    Behind: loops.over_counted,
    Counted: loops.over_counted,
    Returning: loops.over_returning,
}
#: the loops that take spans: they answer a row when all rows of its window are there
_SPANNED = (loops.over_rows, loops.over_spans, loops.over_growing_spans, loops.over_whole)


def loop_for(window: Window) -> Callable[..., Any]:
    """The loop for a window."""
    if window.ahead(1) != HERE:
        if window.grows:
            return loops.over_whole
        if window.reach is not Newest:
            return loops.over_spans
    return _LOOPS[window.reach]


def spans_loop_for(window: Window) -> Callable[..., Any]:
    """The loop for a window whose spans are known, whatever its kind."""
    return loops.over_growing_spans if window.grows else loops.over_spans


def takes_spans(window: Window) -> bool:
    """Whether the loop for a window takes spans."""
    return loop_for(window) in _SPANNED


def kernel_for(
    loop: Callable[..., Any], algorithm: Algorithm, product: Product, checked: bool
) -> Kernel:
    """A loop, joined with an algorithm and a product."""
    loop, own = _OWN_LOOPS.get((loop.__name__, algorithm.NAME), (loop, ()))
    return Kernel(loop, (*algorithm.FUNCTIONS, *own), product, checked)


def bounding_for(window: Window, setting: Setting) -> Bounding:
    """What bounds a window for its loop, before the first row."""
    bounding = window.bounding(setting)
    return CountedBehind(bounding, window.measured) if window.reach is Behind else bounding


@dataclass(frozen=True)
class _Drive:
    """What the loop of a window takes to know where windows lie, and the rows that it goes over."""

    limits: tuple[Any, ...]
    marks: tuple[int, ...]


def _drive(loop: Callable[..., Any], block: RowBlock) -> _Drive:
    bounds = block.bounds
    limits: tuple[Any, ...]
    if loop not in _SPANNED:
        assert bounds is not None
        reach: Any = bounds.reach
        if isinstance(reach, Growing):
            limits = ()
        elif isinstance(reach, Younger):
            limits = reach.amount, reach.measure
        elif isinstance(reach, Returning):
            limits = reach.counts, reach.kept
        else:
            limits = reach.counts, bounds.present
        # Rows that only fill the window take far less time than rows that are answered, so each
        # part has a pace of its own.
        rows = block.begin, block.answer_from, block.stop
        return _Drive((bounds.runs, block.answer_from, *limits), rows)
    spans = block.spans
    if spans is None:
        assert bounds is not None
        spans = bounds.spans(block.stop, block.answer_from, block.stop)
    places = block.position, block.answered, spans.stop
    marks = spans.begin, spans.stop + spans.leads_on
    if loop is loops.over_whole:
        return _Drive((spans.starts, spans.end, *places), marks)
    if loop is loops.over_rows:
        assert isinstance(spans.reach, Newest)
        # Not more than there are: sums of larger numbers would not fit.
        back, ahead = min(spans.reach.count - 1, spans.end), min(spans.ahead.rows, spans.end)
        return _Drive((spans.starts, spans.end, back, ahead, *places), marks)
    return _Drive((*spans.with_next, spans.begin, *places), marks)


class CompiledRowWindow:
    """One window of all compiled features, driven by a kernel."""

    def __init__(
        self,
        window: Window,
        loop: Callable[..., Any],
        kernel: Kernel,
        product: Product,
        algorithm: Algorithm,
    ) -> None:
        """`kernel` is the loop, joined with the algorithm and the product."""
        self._loop, self._kernel = loop, kernel
        capacity = None
        most = window.most_rows
        if most is not None:
            largest = sizes.current().largest_first_capacity
            capacity = 1 << (min(most, largest) - 1).bit_length()
        self.helper = helper_for(algorithm, product, kernel.checked)
        self._window = KernelWindow(
            algorithm,
            product,
            capacity=capacity,
            timed=self._loop is loops.over_time,
            helper=self.helper,
        )

    def advance(self, block: RowBlock, answers: Sequence[Array], defined: Sequence[Array]) -> None:
        """Drive a block through the window and write its answers."""
        data = block.columns, block.validities, tuple(answers), tuple(defined)
        drive = _drive(self._loop, block)
        for begin, stop in pairwise(drive.marks):
            self._window.drive(self._kernel, data, drive.limits, begin, stop)

    @property
    def front(self) -> int:
        """How many events have left the window for good."""
        return int(self._window.state.front)


class PlainRowWindow:
    """One window of one feature whose partials are Python objects."""

    def __init__(
        self,
        feature: Feature,
        loop: Callable[..., Any],
        monoid: NullSkipping,
        inputs: tuple[int, ...],
        algorithm: Algorithm,
    ) -> None:
        def lift_row(columns: Any, _validities: Any, row: int) -> Any:
            return monoid.lift(*(columns[index][row] for index in inputs))

        def lower_row(answers: Any, _defined: Any, row: int, partial: Any) -> None:
            answers[row] = monoid.lower(partial)

        self._feature, self._kind = feature, loop
        self._window = PlainWindow(algorithm, monoid)
        self._loop = self._window.linked(self._kind, lift_row=lift_row, lower_row=lower_row)
        #: the times of the events, if the loop keeps them
        self._times = (ChunkedQueue(),) if self._kind is loops.over_time else ()

    def advance(self, block: RowBlock, answers: list[Any]) -> None:
        """Drive a block through the window and write its answers."""
        data = block.columns, block.validities, answers, ()
        drive = _drive(self._kind, block)
        limits = drive.limits
        if self._kind in (
            loops.over_spans,
            loops.over_growing_spans,
        ):  # one by one, a list is faster than an array
            limits = *(each.tolist() for each in limits[:2]), *limits[2:]
        bounds = *self._times, *limits
        with function_named(self._feature):
            self._window.drive(self._loop, data, bounds, drive.marks[0], drive.marks[-1])
        for times in self._times:
            times.release(self.front)

    @property
    def front(self) -> int:
        """How many events have left the window for good."""
        return self._window.state.front
