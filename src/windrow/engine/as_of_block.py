"""A block of events and moments on its way through the windows of `as_of`.

    moments -> edges of each window -> spans of events \
                                                        } answer -> room for answers -> columns
    columns -> what kernels and plain Python read      /

A block knows nothing of tables. It is given events sorted by key and order, and moments sorted by
key and order, keys in the same order (`windows/moments.py`). Then

    kernels = AsOfKernels(plan, nullable)                       # once for all blocks
    AsOfBlock(kernels, columns, moments, threads).answers()     # of each block

has one Arrow column for each of `plan.outputs`, with a row for each moment, in their order.

A moment lies between events, so what a window holds is a span of events, found by walks. The loops
that answer rows over spans (`loops.py`, `counted_spans.py`) answer moments over them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.engine.as_of_spans import AskedSpans, reached_events
from windrow.engine.counted_spans import CountedSpans
from windrow.engine.feature_columns import FeatureAnswers
from windrow.engine.named_failures import kernels_named
from windrow.engine.over_kernels import OverKernels
from windrow.engine.row_windows import RowBlock, spans_loop_for
from windrow.planning.as_of_plan import AsOfPlan
from windrow.planning.features import Feature
from windrow.planning.over_plan import Output
from windrow.windows import Window
from windrow.windows.moments import Moments
from windrow.windows.spans import known_spans
from windrow.work.threads import in_threads

Array = np.ndarray[Any, Any]
#: columns of the events by name
Columns = Mapping[str, pa.Array]


class AsOfKernels(OverKernels):
    """The kernels of a plan of `as_of`: all windows are spans of events."""

    plan: AsOfPlan

    def __init__(self, plan: AsOfPlan, nullable: AbstractSet[str]) -> None:
        """`nullable` names the columns of the events that may hold nulls."""
        super().__init__(plan, nullable)

    def loop_of(self, window: Window) -> Callable[..., Any]:
        """The loop that drives events through a window."""
        return spans_loop_for(window)

    def _require_current_rows(self) -> None:
        """The newest event of a window is the current one, wherever the window ends."""


class AsOfBlock:
    """Events and moments, both sorted by key and order, and the answers to the moments."""

    def __init__(
        self,
        kernels: AsOfKernels,
        columns: Columns | Callable[[Array | None], Columns],
        moments: Moments,
        threads: int = 1,
    ) -> None:
        """Find the spans of all windows.

        Args:
            kernels: of the plan.
            columns: of the events, sorted by key and order: those of `kernels.input_columns`. Or
                what takes them: it is called with the rows that windows hold, or with None for all.
            moments: the moments, and where the events of their keys are among the columns' rows.
            threads: how many may work at once.
        """
        self._kernels, self._threads, events = kernels, threads, len(moments.events)
        self._spans = _asked(kernels.plan, moments, threads)
        if callable(columns):
            rows = reached_events(self._spans.values(), events)
            if rows is not None:
                self._spans = {name: spans.among(rows) for name, spans in self._spans.items()}
                events = len(rows)
            columns = columns(rows)
        self._columns = columns
        self._compiled = kernels.compiled_block(columns, events, 0)
        self._plain = kernels.plain_block(columns, events, 0)
        self._counted = CountedSpans(kernels.counted, threads)
        self._counted.extend(columns, events)

    def answers(self) -> list[pa.Array]:
        """A column for each output of the plan, with a row for each moment."""
        kernels, plan = self._kernels, self._kernels.plan
        found = {name: self._room(spans) for name, spans in self._spans.items()}
        # Plain Python holds the interpreter lock: threads would only wait for each other.
        threads = 1 if kernels.plain else max(self._threads // kernels.threads, 1)
        pieces = [
            (name, *piece) for name, spans in self._spans.items() for piece in spans.pieces(threads)
        ]

        def answer(piece: tuple[str, int, int]) -> None:
            self._drive(*piece, found[piece[0]])

        in_threads(answer, pieces, threads)
        if kernels.counted:
            for name, spans in self._spans.items():
                found[name].counted = self._count(spans).__getitem__

        def column(output: Output) -> pa.Array:
            return self._column(output, found[output.window])

        return in_threads(column, plan.outputs, self._threads)

    def _room(self, spans: AskedSpans) -> FeatureAnswers:
        """Room for the answers of one window; of one without events it has none."""
        return self._kernels.answers(len(spans.firsts), spans.firsts < spans.stops)

    def _drive(self, name: str, begin: int, stop: int, answers: FeatureAnswers) -> None:
        """Drive the events of some spans through a window that is empty before."""
        compiled, plain = self._kernels.windows_of(name)
        spans = self._spans[name]
        known = known_spans(begin, spans.firsts[begin:stop], spans.stops[begin:stop])
        block = RowBlock(*self._compiled, None, begin, begin, stop, known)
        if compiled is not None:
            with kernels_named(self._kernels.compiled):
                compiled.advance(block, answers.values, answers.defined)
        block = replace(block, columns=self._plain, validities=())
        for window, values in zip(plain, answers.plain, strict=True):
            window.advance(block, values)

    def _count(self, spans: AskedSpans) -> dict[Feature, pa.Array]:
        """What is answered from value counts, of one window."""
        found = [
            self._counted.answers(spans.firsts[begin:stop], spans.stops[begin:stop])
            for begin, stop in pairwise(spans.marks)
        ]
        return {
            feature: _joined([part[feature] for part in found]) for feature in self._kernels.counted
        }

    def _column(self, output: Output, answers: FeatureAnswers) -> pa.Array:
        """One column of answers, in the order of the moments."""
        kernels, spans = self._kernels, self._spans[output.window]
        answers.settle()
        column = kernels.column(
            kernels.plan,
            output.window,
            output.feature,
            answers,
            lambda name, rows: self._columns[name].take(rows),
        )
        return column if spans.places is None else column.take(pa.array(spans.places))


def _asked(plan: AsOfPlan, moments: Moments, threads: int) -> dict[str, AskedSpans]:
    """The spans of all windows."""
    found = moments.spans_of({name: plan.edges_of(name) for name in plan.windows}, threads)
    return {name: AskedSpans.of(moments, *spans) for name, spans in found.items()}


def _joined(columns: Sequence[pa.Array]) -> pa.Array:
    return columns[0] if len(columns) == 1 else pa.concat_arrays(columns)
