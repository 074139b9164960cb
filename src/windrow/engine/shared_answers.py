"""Windows over slices that are answered in one pass (`planning/shared_answers.py`).

Their answers are put in one order: by the slice at whose end they are due, the longest range first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from windrow.algorithms import Algorithm
from windrow.compiler.kernel import Kernel
from windrow.compiler.kernel_memory import KernelMemory
from windrow.engine import loops, slice_loops
from windrow.engine.feature_columns import FeatureAnswers, FeatureColumns
from windrow.engine.kernel_window import KernelWindow

Array = np.ndarray[Any, Any]


class Merged(NamedTuple):
    """The answers of several windows in one order.

    Attributes:
        firsts, stops: the slices of each.
        fronts: the oldest slice that it or an answer behind it holds.
        places: where each is written.
    """

    firsts: Array
    stops: Array
    fronts: Array
    places: Array


def merged(numbers: Sequence[tuple[Array, Array]], floor: int) -> Merged:
    """The answers of windows, each with its first slices and those behind its last.

    Args:
        numbers: the slices of each window's answers.
        floor: the oldest slice that answers to come hold.
    """
    firsts = np.concatenate([each for each, _stops in numbers])
    stops = np.concatenate([each for _firsts, each in numbers])
    places = np.lexsort((firsts, stops))
    firsts, stops = firsts[places], stops[places]
    fronts = np.minimum(np.minimum.accumulate(firsts[::-1])[::-1], floor)
    return Merged(firsts, stops, np.ascontiguousarray(fronts), places)


def room_together(
    features: FeatureColumns, sizes: Mapping[str, int]
) -> tuple[FeatureAnswers, dict[str, FeatureAnswers]]:
    """Room for the answers of all windows, one behind the other, and the part of each."""
    whole = features.answers(sum(sizes.values()), plain=False)
    parts, begin = {}, 0
    for name, size in sizes.items():
        rows = slice(begin, begin + size)
        values = [
            tuple(member[rows] for member in each) if isinstance(each, tuple) else each[rows]
            for each in whole.values
        ]
        defined = [each[rows] for each in whole.defined]
        plain = features.answers(size).plain
        parts[name] = replace(whole, values=values, defined=defined, plain=plain)
        begin += size
    return whole, parts


class SharedSlideKernels:
    """The kernels of windows that are answered together."""

    def __init__(self, algorithm: Algorithm, features: FeatureColumns) -> None:
        self._algorithm, self._product = algorithm, features.product
        functions = algorithm.FUNCTIONS
        self.loop = Kernel(slice_loops.answer_together, functions, self._product, features.checked)
        self._move = Kernel(loops.move, functions, self._product, checked=False)

    def window(self, memory: KernelMemory) -> SharedSlideWindow:
        """One window for all ranges, empty; `memory` holds the partials of the slices."""
        return SharedSlideWindow(
            self.loop,
            KernelWindow(
                self._algorithm, self._product, memory=memory.for_window(), move=self._move
            ),
        )


class SharedSlideWindow:
    """One window of all compiled features and all ranges, driven by a kernel."""

    def __init__(self, loop: Kernel, window: KernelWindow) -> None:
        self._loop, self._window = loop, window

    @property
    def end(self) -> int:
        """The slice behind the newest that was taken."""
        return int(self._window.state.end)

    def answer(
        self, partials: Any, answers: FeatureAnswers, found: Merged, begin: int, stop: int
    ) -> None:
        """Write the answers from `begin` to `stop` of their order."""
        data = partials, tuple(answers.values), tuple(answers.defined)
        self._window.drive(self._loop, data, tuple(found), begin, stop)
