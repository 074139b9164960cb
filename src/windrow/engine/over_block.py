"""A block of sorted rows on its way through the windows of `over`.

A table is one block, which threads share piece by piece. A stream of batches is a block for each.

    columns -> what kernels read, what plain Python reads \
                                                           } answer -> room for answers -> column
    rows    -> bounds of each window                      /
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from windrow.engine.counted_spans import CountedSpans
from windrow.engine.counted_windows import CountedColumns, CountedWindow
from windrow.engine.feature_columns import FeatureAnswers
from windrow.engine.named_failures import kernels_named
from windrow.engine.over_kernels import OverKernels, RowWindows
from windrow.engine.row_windows import RowBlock, takes_spans
from windrow.engine.shared_windows import SharedRows, SharedWindow
from windrow.planning.over_plan import Output
from windrow.planning.shared_ranges import SharedRanges
from windrow.windows.bounds import Bounding
from windrow.windows.reach import Younger
from windrow.windows.sorted_rows import SortedRows
from windrow.windows.spans import Spanning, Spans
from windrow.work import sizes


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
        spanning: Mapping[str, Spanning] | None = None,
        counted: CountedSpans | None = None,
        shared: SharedRanges | None = None,
        in_turns: bool = False,
    ) -> None:
        """`position` is how many rows came before; the others go on from there.

        The windows that are `shared` have the compiled features answered by `answer_together`. With
        `in_turns`, windows have room for answers from `make_room` on, and until `forget`.
        """
        self._kernels, self._size, self._position = kernels, rows.size, position
        self._compiled = kernels.compiled_block(rows.columns, rows.size, position)
        self._plain = kernels.plain_block(rows.columns, rows.size, position)
        self.bounds = {name: each.of(rows) for name, each in bounding.items()}
        self._spans = {
            name: self.bounds[name].next_spans(each, rows)
            for name, each in (spanning or {}).items()
        }
        self._in_one_pass = () if shared is None else shared.names
        self._answers: dict[str, FeatureAnswers] = {}
        self._together: FeatureAnswers | None = None
        self._batches = counted
        if counted is not None:
            counted.extend(rows.columns, rows.size)
        columns = CountedColumns(rows.columns)
        self._counted = {
            name: CountedWindow(kernels.counted, columns, bounds, rows.size)
            for name, bounds in self.bounds.items()
            if kernels.counted and counted is None
        }
        if not in_turns:
            self.make_room(list(self.bounds))

    def make_room(self, names: Sequence[str]) -> None:
        """Make room for the answers of windows; those of one pass come together."""
        for name in names:
            if name not in self._in_one_pass:
                self._answers[name] = self._room(name)
        if set(self._in_one_pass) & set(names):
            count = len(self._in_one_pass)
            self._together, *parts = self._kernels.answers_together(self._size, count)
            self._answers |= zip(self._in_one_pass, parts, strict=True)
        for name in self._counted.keys() & set(names):
            self._answers[name].counted = self._counted[name].column

    def _room(self, name: str) -> FeatureAnswers:
        """Room for the answers of one window."""
        bounds, spans = self.bounds[name], self._spans.get(name)
        size = self._size if spans is None else spans.stop - spans.begin
        answers = self._kernels.answers(size, bounds.present)
        if bounds.may_be_empty:
            answers.present = np.empty(size, np.bool_)
        return answers

    def answer(
        self,
        name: str,
        windows: RowWindows,
        begin: int = 0,
        answer_from: int = 0,
        stop: int | None = None,
    ) -> None:
        """Drive rows through a window, by default all; those before `answer_from` only fill it."""
        stop = self._size if stop is None else stop
        for spans in self._parts(name, answer_from, stop):
            self._drive(name, windows, spans, (begin, answer_from, stop))
        if name in self._counted:
            self._counted[name].answer(answer_from, stop)
        elif self._kernels.counted and self._batches is not None:
            spans, position = self._spans[name], self._position
            firsts, stops = (each - position for each in spans.arrays)
            found = self._batches.answers_of_rows(
                name, (firsts, stops), spans.begin - position, self.bounds[name].present
            )
            self._answers[name].counted = found.__getitem__

    def answer_together(
        self, names: Sequence[str], window: SharedWindow, begin: int, answer_from: int, stop: int
    ) -> None:
        """Drive rows through the windows that share a pass, for the compiled features."""
        runs, places = self.bounds[names[0]].runs, self._size * np.arange(len(names))
        rows = SharedRows(*self._compiled, runs, begin, answer_from, stop, places)
        assert self._together is not None
        with kernels_named(self._kernels.compiled):
            window.advance(rows, self._together.values, self._together.defined)

    def _parts(self, name: str, begin: int, stop: int) -> Iterator[Spans | None]:
        """The spans of some rows, part by part; None if the window's loop takes none."""
        if name in self._spans:
            yield self._spans[name]
        elif not takes_spans(self._kernels.plan.windows[name]):
            yield None
        else:
            # Spans of time are as large as columns: a part of them stays in the processor's cache.
            bounds, step = self.bounds[name], sizes.current().spanned_rows
            step = step if isinstance(bounds.reach, Younger) else max(stop - begin, 1)
            for first in range(begin, stop, step):
                yield bounds.spans(self._size, first, min(first + step, stop))

    def _drive(
        self, name: str, windows: RowWindows, spans: Spans | None, rows: tuple[int, int, int]
    ) -> None:
        compiled, plain = windows
        answers, bounds = self._answers[name], self.bounds[name]
        answered = spans.begin if spans is not None and name in self._spans else 0
        if spans is not None and answers.present is not None and bounds.may_be_empty:
            answers.present[spans.begin - answered : spans.stop - answered] = spans.filled
        block = RowBlock(*self._compiled, bounds, *rows, spans, self._position, answered)
        if compiled is not None:
            with kernels_named(self._kernels.compiled):
                compiled.advance(block, answers.values, answers.defined)
        block = replace(block, columns=self._plain, validities=())
        for window, values in zip(plain, answers.plain, strict=True):
            window.advance(block, values)

    def front(self, name: str) -> int | None:
        """The oldest row that windows of rows to come look at, where spans are known."""
        return self._spans[name].front if name in self._spans else None

    def column(self, output: Output, carried: Callable[[str, pa.Array], pa.Array]) -> pa.Array:
        """One column of answers; `carried` finds a column's values by position."""
        kernels, answers = self._kernels, self._answers[output.window]
        answers.settle()
        return kernels.column(kernels.plan, output.window, output.feature, answers, carried)

    def forget(self, names: Sequence[str]) -> None:
        """Free the memory of windows whose columns you have copied; those of one pass together."""
        for name in names:
            del self._answers[name]
        if set(self._in_one_pass) & set(names):
            self._together = None
