"""A block of sorted rows on its way through the windows of `over`.

A table is one block, which threads share piece by piece. A stream of batches is a block for each.

    columns -> what kernels read, what plain Python reads \
                                                           } answer -> room for answers -> column
    rows    -> bounds of each window                      /
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pyarrow as pa

from windrow.engine.named_failures import kernels_named
from windrow.engine.over_kernels import OverKernels, RowWindows
from windrow.engine.row_windows import RowBlock
from windrow.planning.over_plan import Output
from windrow.windows.bounds import Bounding
from windrow.windows.sorted_rows import SortedRows


class OverBlock:
    """Rows sorted by key and order, and the answers of all windows to them.

    Attributes:
        bounds: which rows the windows of each row hold.
    """

    def __init__(
        self,
        kernels: OverKernels,
        bounding: Mapping[str, Bounding],
        rows: SortedRows,
        position: int = 0,
    ) -> None:
        """`position` is how many rows came before; `bounding` goes on from there."""
        self._kernels, self._size = kernels, rows.size
        self._compiled = kernels.compiled_block(rows.columns, rows.size, position)
        self._plain = kernels.plain_block(rows.columns, rows.size, position)
        self.bounds = {name: each.of(rows) for name, each in bounding.items()}
        self._answers = {
            name: kernels.answers(rows.size, bounds.present) for name, bounds in self.bounds.items()
        }

    def answer(
        self,
        name: str,
        windows: RowWindows,
        begin: int = 0,
        answer_from: int = 0,
        stop: int | None = None,
    ) -> None:
        """Drive rows through a window, by default all; those before `answer_from` only fill it."""
        compiled, plain = windows
        answers = self._answers[name]
        rows = begin, answer_from, self._size if stop is None else stop
        if compiled is not None:
            block = RowBlock(*self._compiled, self.bounds[name], *rows)
            with kernels_named(self._kernels.compiled):
                compiled.advance(block, answers.values, answers.defined)
        block = RowBlock(self._plain, (), self.bounds[name], *rows)
        for window, values in zip(plain, answers.plain, strict=True):
            window.advance(block, values)

    def column(self, output: Output, carried: Callable[[str, pa.Array], pa.Array]) -> pa.Array:
        """One column of answers; `carried` finds a column's values by position."""
        feature = self._kernels.plan.features[output.feature]
        return self._kernels.result(self._answers[output.window], feature, carried)
