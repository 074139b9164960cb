"""A kernel's window: a loop drives it along rows or slices, and it makes room when it is full.

    drive      the loop takes a piece of the rows           work/pace.py says how large
                 came to the end of the piece: the next one
                 came less far: the window is full, so it moves to a ring of twice the room
               ... until all rows are done; the state stays for the rows to come

All loops take their arguments in one order (see `engine/loops.py`), so this is written once.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from windrow.algebra.product import Product
from windrow.algorithms import Algorithm
from windrow.compiler import shared_words as words
from windrow.compiler.kernel import Kernel
from windrow.compiler.kernel_memory import KernelMemory
from windrow.compiler.linking import link
from windrow.compiler.slots import Ring
from windrow.engine import loops
from windrow.engine.helper_thread import CutAlgorithm, Helper
from windrow.work import sizes
from windrow.work.pace import Pace


def empty_state(algorithm: Algorithm, product: Product, ring: Any) -> Any:
    """The state of a kernel's window before its first event."""
    slots = {
        "identity": product.identity,
        "capacity": lambda ring: len(ring[0]),
        "release": lambda ring, position: None,
        "load_integer": lambda integers, position: int(integers[position]),
        "watch": words.load_word,
        "claim": words.exchange_word,
    }
    return link(algorithm.FUNCTIONS, slots)["empty"](ring, 0)


class KernelWindow:
    """A window of a product of aggregations, in a ring of numbers."""

    def __init__(
        self,
        algorithm: Algorithm,
        product: Product,
        *,
        capacity: int | None = None,
        timed: bool = False,
        memory: KernelMemory | None = None,
        move: Kernel | None = None,
        helper: Helper | None = None,
        chunk: int = 0,
    ) -> None:
        """Start with an empty window.

        Args:
            algorithm, product: what the loops are linked to.
            capacity: how many events there is room for at first, a power of two.
            timed: whether a loop keeps the time of each event beside its partial.
            memory: rows that this window shares with others; its own by default.
            move: the kernel of `loops.move`, if many windows share it.
            helper: a second thread beside the loop.
            chunk: how many slots a chunk has, for an algorithm of chunks; 0 if it finds it.
        """
        self.memory = KernelMemory(product) if memory is None else memory
        self._capacity = capacity or sizes.current().window_capacity
        self._algorithm, self._product = algorithm, product
        self._move, self._helper, self._chunk = move, helper, chunk
        #: whether nobody else works at the same time
        self.alone = True
        self.ring = self._allocated(self._capacity)
        self.state = empty_state(algorithm, product, self.ring)
        #: the ring of times, if there is one
        self._times = (self.memory.integers(self._capacity),) if timed else ()

    def drive(
        self,
        loop: Kernel,
        data: tuple[Any, ...],
        bounds: tuple[Any, ...],
        begin: int,
        stop: int,
    ) -> None:
        """Run a loop from `begin` to `stop`, and make room whenever the window is full.

        Args:
            loop: a loop of `engine/loops.py` or `engine/slice_loops.py`.
            data: what it reads and writes.
            bounds: where windows begin and how far they reach.
            begin, stop: the rows, or the answers, that it goes over.
        """
        pace = Pace()
        while begin < stop:
            with self._helped(stop - begin):
                begin = self._until_full(loop, data, bounds, begin, stop, pace)
            if begin < stop:
                self.grow()

    def _until_full(
        self, loop: Kernel, data: tuple[Any, ...], bounds: tuple[Any, ...], begin: int, stop: int,
        pace: Pace,
    ) -> int:  # fmt: skip
        """Run the loop while there is room; returns the first row that it did not take."""
        reads = (*self.memory.workspace(), *data, self.ring)
        bounds = (*self._times, *bounds)
        while begin < stop:
            end = pace.end(begin, stop)
            self.state, begin = loop(*reads, self.state, *bounds, begin, end)
            if begin < end:
                break
        return begin

    def _helped(self, rows: int) -> AbstractContextManager[None]:
        """A second thread beside the loop, if there is one and so many rows are worth it."""
        if self._helper is None or not self.alone or rows < sizes.current().smallest_helped:
            return nullcontext()
        return self._helper.beside(self.memory, self.ring)

    def _allocated(self, capacity: int) -> Ring:
        ring = self._algorithm.allocate(self.memory, capacity)
        if self._chunk and isinstance(self._algorithm, CutAlgorithm):
            self._algorithm.cut_into(ring, self._chunk)
        return ring

    def reserve(self, events: int) -> None:
        """Make room for so many more events at once."""
        wanted = self.state.end - self.state.front + events
        if wanted > self._capacity:
            self.grow(1 << (wanted - 1).bit_length())

    def grow(self, capacity: int | None = None) -> None:
        """Move to a ring of more room, twice by default; every event keeps its position."""
        before = self._capacity
        self._capacity = capacity or 2 * before
        larger = self._allocated(self._capacity)
        if hasattr(self._algorithm, "KEEPS_POSITIONS"):
            # numpy does it, and there is no kernel to compile.
            positions = np.arange(self.state.front, self.state.end)
            partials = self.memory.partials(self.ring, positions & (before - 1))
            self.memory.fill(larger, positions & (self._capacity - 1), partials)
        else:
            self.state = self._moved(larger)
        self.ring = larger
        if self._times:
            times = self.memory.integers(self._capacity)
            positions = np.arange(self.state.front, self.state.end)
            times[positions & (self._capacity - 1)] = self._times[0][positions & (before - 1)]
            self._times = (times,)

    def _moved(self, larger: Ring) -> Any:
        """The state of the window in a larger ring."""
        if self._move is None:
            functions = self._algorithm.FUNCTIONS
            self._move = Kernel(loops.move, functions, self._product, checked=False)
        state, _row = self._move(*self.memory.workspace(), self.state, self.ring, larger)
        return state
