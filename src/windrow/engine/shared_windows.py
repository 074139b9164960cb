"""Windows of many ranges over rows, answered in one pass (`planning/shared_ranges.py`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from windrow.algebra.product import Product
from windrow.algorithms import Algorithm, doubling
from windrow.algorithms.plain_memory import Memory
from windrow.compiler.kernel import Kernel
from windrow.compiler.kernel_memory import KernelMemory
from windrow.compiler.linking import link
from windrow.compiler.slots import Ring
from windrow.engine import range_loops
from windrow.engine.kernel_window import KernelWindow
from windrow.planning.choose import offers
from windrow.planning.shared_ranges import SharedRanges
from windrow.work import sizes
from windrow.work.pace import Pace

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class SharedRows:
    """Sorted rows on their way through windows of many ranges.

    Attributes:
        columns, validities: what kernels read.
        starts: the rows at which a run begins, and `NEVER`.
        begin, answer_from, stop: the rows, of which the first only fill windows.
        places: where the answers of each range begin.
    """

    columns: tuple[Any, ...]
    validities: tuple[Array, ...]
    starts: Array
    begin: int
    answer_from: int
    stop: int
    places: Array


class SharedWindow(Protocol):
    """Windows of many ranges, block after block."""

    def advance(self, rows: SharedRows, answers: Sequence[Any], defined: Sequence[Array]) -> None:
        """Drive rows through the windows and write their answers."""


class SharedKernel:
    """The kernel of a pass for many ranges; `window` starts one stream of rows through it."""

    def __init__(self, shared: SharedRanges, product: Product, checked: bool) -> None:
        self._product, self._algorithm = product, shared.choice.algorithm
        self._extents = list(shared.ranges.values())
        loop: Callable[..., Any] = doubling.over_ranges
        if not shared.by_doubling:
            registers = offers(self._algorithm, "query_ranges")
            loop = range_loops.over_registered if registers else range_loops.over_ranges
        functions = self._algorithm.FUNCTIONS
        self._by_doubling = shared.by_doubling
        self._kernel = Kernel(loop, functions, product, checked)

    def window(self) -> SharedWindow:
        """The windows, empty."""
        if self._by_doubling:
            return DoublingWindow(self._kernel, self._extents, self._product)
        return RangesWindow(self._kernel, self._algorithm, self._extents, self._product)


class DoublingWindow:
    """Windows that are put together from doublings."""

    def __init__(self, kernel: Kernel, extents: Sequence[int], product: Product) -> None:
        self._kernel = kernel
        recipes = doubling.recipes_for(extents, product.traits.selective)
        tile = sizes.current().shared_tile
        self._tables = doubling.allocate(KernelMemory(product), recipes, tile)

    def advance(self, rows: SharedRows, answers: Sequence[Any], defined: Sequence[Array]) -> None:
        """Drive rows through the windows and write their answers."""
        found = tuple(answers), tuple(defined)
        drafts = tuple(map(self._draft, found[0])), tuple(map(self._draft, found[1]))
        data = rows.columns, rows.validities, *found, *drafts, self._tables
        pace, begin = Pace(), rows.begin
        while begin < rows.stop:
            end = pace.end(begin, rows.stop)
            begin = self._kernel(*data, rows.places, rows.starts, rows.answer_from, begin, end)

    def _draft(self, answers: Any) -> Any:
        """Room for the answers of a tile, like that for all rows; of a struct, for each member."""
        if isinstance(answers, tuple):
            return tuple(map(self._draft, answers))
        return np.empty(len(self._tables.ages) - 1, answers.dtype)


class RangesWindow:
    """One window of an algorithm that answers for parts of it."""

    def __init__(
        self, kernel: Kernel, algorithm: Algorithm, extents: Sequence[int], product: Product
    ) -> None:
        self._kernel, self._extents = kernel, np.array(extents)
        largest = sizes.current().largest_first_capacity
        capacity = 1 << (min(extents[-1], largest) - 1).bit_length()
        self._window = KernelWindow(_Registered(algorithm, extents), product, capacity=capacity)

    def advance(self, rows: SharedRows, answers: Sequence[Any], defined: Sequence[Array]) -> None:
        """Drive rows through the window and write the answers of all ranges."""
        data = rows.columns, rows.validities, tuple(answers), tuple(defined)
        limits = self._extents, rows.places, rows.starts, rows.answer_from
        self._window.drive(self._kernel, data, limits, rows.begin, rows.stop)


class _Registered:
    """An algorithm whose rings know the ranges to answer, if it answers all of them at once."""

    def __init__(self, algorithm: Algorithm, extents: Sequence[int]) -> None:
        self._algorithm, self._extents = algorithm, extents

    def __getattr__(self, name: str) -> Any:
        return getattr(self._algorithm, name)

    def allocate(self, memory: Memory, capacity: int) -> Ring:
        """Room for so many events, and the ranges."""
        if not offers(self._algorithm, "query_ranges"):
            return self._algorithm.allocate(memory, capacity)
        ring = self._algorithm.allocate(memory, capacity, len(self._extents))  # type: ignore[call-arg]
        slots = {"store_integer": np.ndarray.__setitem__}
        register = link(self._algorithm.FUNCTIONS, slots)["register"]
        for index, extent in enumerate(self._extents):
            register(ring, index, extent)
        return ring
