"""Slices on their way from rows to answers: their partials, and the windows that take them.

rows     | | |||| | ||| | | || |     extend: the rows of each slice, combined once
slices   0   1    2   3     4        numbered; kept until every window has taken them
window       [1    2   3]            answers: each window takes each slice once
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.algorithms.plain_memory import PlainArray, PlainMemory
from windrow.compiler.kernel import Kernel
from windrow.compiler.kernel_memory import KernelMemory
from windrow.engine.feature_columns import FeatureAnswers, FeatureColumns
from windrow.engine.named_failures import kernels_named
from windrow.engine.shared_answers import SharedSlideWindow, merged, room_together
from windrow.engine.slice_windows import (
    CompiledSliceWindow,
    PlainSliceWindow,
    Read,
    SliceKernels,
    aggregate_paced,
    plain_partials,
)
from windrow.planning.slide_plan import SlidePlan
from windrow.work import sizes
from windrow.work.threads import even_pieces, in_threads

Array = np.ndarray[Any, Any]
NO_ROWS: Array = np.empty(0, np.int64)
#: behind every slice
_NO_MORE = 2**62


class SliceStore:
    """The slices that some window has not taken yet, and the windows."""

    def __init__(
        self,
        plan: SlidePlan,
        features: FeatureColumns,
        kernels: SliceKernels,
        windows: Sequence[str],
        threads: int,
    ) -> None:
        """`threads` is how many may work at once."""
        self._features, self._kernels = features, kernels
        self._memory = KernelMemory(features.product)
        # A kernel on rows of arrays has one workspace, so that it runs on one thread.
        self._threads = 1 if self._memory.workspace() else threads
        self._capacity, self._ring = 0, self._memory.queue(0)
        self._compiled: dict[str, CompiledSliceWindow] = {}
        #: the window of those that are answered together
        self._shared: SharedSlideWindow | None = None
        self._is_last = False
        #: the oldest slice that each of them may still hold
        self._needed: dict[str, int] = {}
        if features.compiled and self._threads == 1:
            # All now, because memory of rows is copied when a window joins it later.
            for name in windows:
                self._taken(name)
        self._plain_partials = [PlainMemory().queue(0) for _ in features.plain]
        self._plain = {
            name: [PlainSliceWindow(features, feature, plan, name) for feature in features.plain]
            for name in windows
        }
        #: what windows read of slices that were still being filled
        self._running = self._memory.queue(1)
        self._plain_running = [PlainArray(0) for _ in features.plain]
        #: the number of the oldest slice that is kept
        self._oldest = 0

    def extend(
        self,
        columns: Mapping[str, pa.Array],
        size: int,
        cuts: Array,
        position: int,
        first_slice: int,
        last: bool,
        readings: Array = NO_ROWS,
    ) -> None:
        """Combine the rows from each cut to the next.

        Args:
            columns, size: the rows.
            cuts: where slices begin, and where the last one ends.
            position: how many rows came before.
            first_slice: the number of the first slice.
            last: whether no slices follow.
            readings: the rows before which a window reads the slice that it ends in.
        """
        features, self._is_last = self._features, last
        if features.compiled:
            self._make_room(first_slice, first_slice + max(len(cuts) - 1, 0), last)
            block = features.compiled_block(columns, size, position)
            kernel: Kernel = self._kernels.aggregate
            cut: tuple[Any, ...] = cuts, self._ring
            if len(readings):
                self._running = self._memory.queue(1 << (len(readings) - 1).bit_length())
                kernel = self._kernels.aggregate_running
                cut = cuts, readings, self._ring, self._running
            fixed = (*self._memory.workspace(), *block, *cut, first_slice)

            def aggregate(begin: int, stop: int) -> None:
                kernel(*fixed, begin, stop)

            with kernels_named(features.compiled):
                in_threads(
                    lambda piece: aggregate_paced(aggregate, cuts, *piece),
                    self._pieces_of_rows(size, cuts),
                    self._threads,
                )
        if features.plain:
            plain_block = features.plain_block(columns, size, position)
            for index, store in enumerate(self._plain_partials):
                partials, running = plain_partials(features, index, plain_block, cuts, readings)
                self._plain_running[index] = PlainArray.of(running)
                for number, partial in enumerate(partials, first_slice):
                    store.store(number, partial)

    def _make_room(self, end: int, wanted: int, last: bool) -> None:
        """Make room for the slices before `wanted`; those before `end` are there."""
        if wanted - self._oldest <= self._capacity:
            return
        self._capacity = 1 << (wanted - self._oldest - 1).bit_length()
        if not last:
            self._capacity = max(self._capacity, sizes.current().slice_capacity)
        larger = self._memory.queue(self._capacity)
        if end > self._oldest:
            self._kernels.copy(*self._memory.workspace(), self._ring, larger, self._oldest, end)
        self._ring = larger

    def answers(
        self, numbers: Mapping[str, tuple[Array, Array]], reads: Mapping[str, Array]
    ) -> dict[str, FeatureAnswers]:
        """The answers of windows.

        `numbers` has the first slice of each, and the one behind; `reads`, of windows that read
        slices that are still being filled, which reading each answer takes.
        """
        features = self._features
        together = [name for name in numbers if name in self._kernels.together]
        sizes_of = {name: len(numbers[name][1]) for name in numbers}
        answers = {
            name: features.answers(size) for name, size in sizes_of.items() if name not in together
        }
        if together:
            whole, parts = room_together(features, {name: sizes_of[name] for name in together})
            answers |= parts
            self._answer_together(together, numbers, whole)

        def read(name: str, running: Any) -> Read | None:
            return Read(running, reads[name]) if name in reads else None

        if features.compiled:
            pieces = [
                (name, *piece)
                for name, (_firsts, stops) in numbers.items()
                for piece in self._pieces(len(stops))
                if len(stops) and name not in together
            ]

            def answer(piece: tuple[str, int, int]) -> None:
                name, begin, stop = piece
                firsts, stops = numbers[name]
                window = self._window(name, whole=stop - begin == len(stops))
                running = read(name, self._running)
                alone = len(pieces) == 1 or self._threads == 1
                window.answer(self._ring, answers[name], firsts, stops, begin, stop, running, alone)

            with kernels_named(features.compiled):
                in_threads(answer, pieces, self._threads)
        for name, answered in answers.items():
            for partials, running, window, values in zip(
                self._plain_partials, self._plain_running, self._plain[name], answered.plain,
                strict=True,
            ):  # fmt: skip
                window.answer(partials, values, *numbers[name], read(name, running))
        return answers

    def _answer_together(
        self,
        names: Sequence[str],
        numbers: Mapping[str, tuple[Array, Array]],
        answers: FeatureAnswers,
    ) -> None:
        """Write the answers of windows in one pass; in pieces, if threads share it."""
        found = merged([numbers[name] for name in names], self._floor(numbers))
        pieces = self._pieces(len(found.stops))
        kernels = self._kernels.together[names[0]]

        def answer(piece: tuple[int, int]) -> None:
            window = self._shared
            if window is None or len(pieces) > 1:
                window = kernels.window(self._memory)
            if len(pieces) == 1:
                self._shared = window
            window.answer(self._ring, answers, found, *piece)

        with kernels_named(self._features.compiled):
            in_threads(answer, pieces, self._threads)

    def _floor(self, numbers: Mapping[str, tuple[Array, Array]]) -> int:
        """The oldest slice that answers to come of windows that are answered together may hold."""
        if self._is_last:
            return _NO_MORE
        for name in self._kernels.together:
            firsts, _stops = numbers.get(name, (NO_ROWS, NO_ROWS))
            if len(firsts):
                self._needed[name] = max(int(firsts[-1]), self._needed.get(name, 0))
        return min(self._needed.get(name, 0) for name in self._kernels.together)

    @property
    def shares(self) -> bool:
        """Whether windows are answered together."""
        return bool(self._kernels.together)

    def _window(self, name: str, whole: bool) -> CompiledSliceWindow:
        """The window of that name; for a piece of its answers, one that begins empty."""
        if not whole:
            return CompiledSliceWindow(self._kernels, name, self._memory)
        if name not in self._compiled:
            self._compiled[name] = CompiledSliceWindow(self._kernels, name, self._memory)
        return self._compiled[name]

    def _taken(self, name: str) -> int:
        """The slice behind the newest that a window has taken."""
        if name not in self._kernels.together:
            return self._window(name, whole=True).end
        if self._shared is None:
            self._shared = self._kernels.together[name].window(self._memory)
        return self._shared.end

    def _pieces(self, size: int) -> list[tuple[int, int]]:
        """A range of numbers in as many pieces as there are threads to work on them."""
        wanted = max(min(self._threads, size // sizes.current().smallest_piece), 1)
        return even_pieces(size, wanted)

    def _pieces_of_rows(self, size: int, cuts: Array) -> list[tuple[int, int]]:
        """The slices in pieces of equal numbers of rows: their lengths may be very different."""
        begins = [int(np.searchsorted(cuts[:-1], first)) for first, _stop in self._pieces(size)]
        return list(pairwise([*begins, max(len(cuts) - 1, 0)]))

    def forget(self, needed: Mapping[str, int]) -> None:
        """Drop the slices that every window has taken, or that it will never ask for.

        `needed` has the oldest slice that an answer to come of each window may hold.
        """
        if self._features.compiled:
            self._oldest = min(max(number, self._taken(name)) for name, number in needed.items())
            self._needed = {name: needed[name] for name in needed if name in self._kernels.together}
        for index, partials in enumerate(self._plain_partials):
            partials.release(
                min(max(number, self._plain[name][index].end) for name, number in needed.items())
            )
