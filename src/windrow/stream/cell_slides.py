"""The answers of `slide` from cells: windows by a clock or a calendar over the cells of slices.

Both the slices of final events (`slices/`) and open slices (`updates/`) are answered so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pyarrow as pa

from windrow.compiler.kernel_memory import KernelMemory
from windrow.engine.feature_columns import FeatureColumns
from windrow.engine.maps import Grouped, Maps
from windrow.engine.slice_windows import CompiledSliceWindow, SliceKernels
from windrow.planning.slide_plan import SlidePlan
from windrow.stream.group import Array


class CellSlides:
    """The windows of a plan over cells."""

    def __init__(
        self, plan: SlidePlan, features: FeatureColumns, maps: Maps, names: Sequence[str]
    ) -> None:
        """`names` are those of the windows."""
        self._plan, self._features, self._maps = plan, features, maps
        self._kernels = SliceKernels(features, plan, names)

    def answers(
        self, name: str, grouped: Grouped, firsts: Array, stops: Array
    ) -> Callable[[int], pa.Array]:
        """The answers of one window's spans of cells, as a column for the place of a feature.

        Spans go from each first to before its stop, and rise within a key.
        """
        answers = self._features.answers(len(firsts))
        if len(firsts):
            kernel = CompiledSliceWindow(self._kernels, name, KernelMemory(self._features.product))
            kernel.answer(grouped.partials, answers, firsts, stops, 0, len(firsts))

        def column(place: int) -> pa.Array:
            index = self._features.compiled.index(self._plan.features[place])
            carried = self._maps.carried(grouped.cells, index)
            return self._features.column(self._plan, name, place, answers, carried)

        return column

    def keys(self, grouped: Grouped, firsts: Array) -> list[pa.Array]:
        """The columns of the key, for each span of cells."""
        heads = pa.array(grouped.places[firsts])
        return [grouped.cells[name].take(heads) for name in self._maps.keys]
