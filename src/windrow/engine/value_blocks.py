"""Drives the loops of `value_counts` over rows, in blocks of a few windows.

A loop answers one block after the other. What a block's windows hold, it fills anew.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from windrow.algebra.product import Product
from windrow.algorithms import (
    value_counts,
    value_numbers,
    value_orders,
    value_quantiles,
    value_ranks,
)
from windrow.compiler.array_loops import compiled_loop
from windrow.compiler.interrupts import uninterrupted
from windrow.compiler.kernel import Kernel
from windrow.compiler.kernel_memory import KernelMemory
from windrow.engine.value_keys import Links
from windrow.windows.bounds import Bounds
from windrow.work import memory, sizes
from windrow.work.lazily import lazily
from windrow.work.pace import Pace

Array = np.ndarray[Any, Any]

#: how many of the largest windows a block answers: what is filled twice is a ninth of all
_WINDOWS = 8
#: of larger blocks, how many: they need memory, and what is sorted leaves the cache
_LARGE, _FEW_WINDOWS = 2**17, 2
#: how many blocks are answered at once: their spans are in the cache then
_BLOCKS = 16


def value_blocks(bounds: Bounds, size: int, begin: int, stop: int) -> Iterator[ValueBlocks]:
    """The rows from `begin` to `stop` of a table of so many, some blocks at a time."""
    rows = _BLOCKS * sizes.current().smallest_sorted
    while begin < stop:
        end = min(begin + rows, stop)
        blocks = ValueBlocks(*bounds.spans(size, begin, end).arrays, begin, end)
        if end < stop and blocks.size > end - begin:
            rows = blocks.size
            continue
        yield blocks
        begin = end


@dataclass(frozen=True)
class ValueBlocks:
    """Some rows, their windows, and the blocks that they are answered in.

    Attributes:
        firsts, stops: the oldest row of each window, and the row behind its newest; neither falls.
        begin, end: the rows.
        asked_of: the row that each answer is about, if answers are not numbered by rows.
    """

    firsts: Array
    stops: Array
    begin: int
    end: int
    asked_of: Array | None = None

    @lazily
    def currents(self) -> Array:
        """The row that each answer is about; none if answers are numbered by rows."""
        return np.empty(0, np.int64) if self.asked_of is None else self.asked_of

    @lazily
    def size(self) -> int:
        """How many rows a block answers."""
        widest = compiled_loop(value_counts.widest_window)(self.firsts, self.stops)
        large = max(_LARGE, _FEW_WINDOWS * int(widest))
        rows = max(sizes.current().smallest_sorted, min(_WINDOWS * int(widest), large))
        if self.asked_of is None:
            return rows
        # Of answers, as many as there are among so many rows.
        passed = max(int(self.stops[-1] - self.firsts[0]), 1)
        return max(rows * len(self.firsts) // passed, 1)

    @lazily
    def room(self) -> int:
        """How many rows a block looks at."""
        widest = compiled_loop(value_counts.widest_block)
        return int(widest(*self._windows, self.begin, self.begin, self.end, self.size))

    @property
    def _windows(self) -> tuple[Array, Array, Array]:
        return self.firsts, self.stops, self.currents

    def drive(self, loop: Callable[..., Any], given: Sequence[Any], asked: Sequence[Any]) -> None:
        """Call a loop for all rows, some blocks at a time, so that Ctrl-C comes through."""
        pace, row = Pace(), self.begin
        while row < self.end:
            stop = pace.end(row, self.end)
            stop = min(row + -(-(stop - row) // self.size) * self.size, self.end)
            windows = *self._windows, self.begin, row, stop, self.size
            loop(*given, *windows, *asked)
            row = stop

    def quantiles(self, keys: Array, counted: Array, asked: Sequence[Any]) -> None:
        """Quantiles of rows with these keys: see `quantile_blocks`."""
        given = *self._sorting(keys, counted), *self._bits()
        self.drive(_compiled(value_quantiles.quantile_blocks), given, asked)

    def ranks(self, keys: Array, counted: Array, asked: Sequence[Any]) -> None:
        """Ranks of rows with these keys: see `rank_blocks`."""
        heads, tails, times = (np.empty(self.room, np.int32) for _ in range(3))
        larger = np.empty((self.room >> 18) + 1, np.int64)
        sorting = self._sorting(keys, counted)
        given = *sorting, heads, tails, *self._bits(), larger, times
        self.drive(_compiled(value_ranks.rank_blocks), given, asked)

    def distinct_counts(self, links: Links, found: Array) -> None:
        """Numbers of different values: see `distinct_counts`."""
        given = links.before, links.after
        self.drive(_compiled(value_numbers.distinct_counts), given, (found,))

    def modes(self, links: Links, asked: Sequence[Any]) -> None:
        """Modes: see `mode_blocks`."""
        oldest, times = (np.zeros(links.different, np.int64) for _ in range(2))
        tree = np.empty(2 << max(self.room - 1, 1).bit_length(), np.int64)
        given = links.numbers, links.after, oldest, times, tree
        self.drive(_compiled(value_numbers.mode_blocks), given, asked)

    def distinct(
        self, kernel: Kernel, data: tuple[Any, ...], links: Links, product: Product, filled: Array
    ) -> None:
        """A product of different values: see `distinct_blocks`."""
        tree = KernelMemory(product).array(2 << max(self.room - 1, 1).bit_length())
        given = *data, tree, links.before, links.after
        self.drive(kernel, given, (filled,))

    def _sorting(self, keys: Array, counted: Array) -> tuple[Array, ...]:
        """What a sort reads and writes: the keys, two words a row, counts, and two places a row."""
        room = self.room
        words = memory.empty(3 * room + value_orders.COUNTS, np.int64)
        counts, words = words[: value_orders.COUNTS], words[value_orders.COUNTS :]
        places = words[2 * room :].view(np.int32)
        return (
            keys, counted, words[:room], words[room : 2 * room], counts,
            places[:room], places[room:],
        )  # fmt: skip

    def _bits(self) -> tuple[Array, Array]:
        """A bit for each row of a block, and for each 64 of them a word."""
        return np.empty((self.room >> 6) + 1, np.int64), np.empty((self.room >> 12) + 1, np.int64)


def _compiled(loop: Callable[..., Any]) -> Callable[..., Any]:
    return functools.partial(uninterrupted, compiled_loop(loop))
