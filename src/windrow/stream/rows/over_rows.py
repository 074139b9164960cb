"""`over` over a stream from the rows of keys: every event once, with windows of any kind."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet

import numpy as np
import pyarrow as pa

from windrow.engine.counted_spans import CountedSpans
from windrow.engine.feature_columns import FeatureAnswers
from windrow.engine.named_failures import kernels_named
from windrow.engine.over_kernels import OverKernels
from windrow.engine.row_windows import RowBlock, takes_spans
from windrow.planning.over_plan import OverPlan
from windrow.stream.group import Array
from windrow.stream.row_layout import RowLayout, kept_columns
from windrow.stream.rows.kept_rows import Needed, OpenBins
from windrow.stream.rows.rows_group import RowsGroup, entered
from windrow.stream.rows.why_rows import why_over_keeps_rows
from windrow.windows.bounds import Bounds
from windrow.windows.extents import HELD, Span
from windrow.windows.key_rows import KeyRows
from windrow.windows.key_runs import NEVER


class OverRows(RowsGroup):
    """All windows of a plan."""

    final = "for each event, when the watermark reaches its time"

    def __init__(
        self,
        number: int,
        plan: OverPlan,
        types: Mapping[str, pa.DataType],
        nullable: AbstractSet[str],
    ) -> None:
        """`types` are those of the columns of an event; `nullable` names those with nulls."""
        self._plan, self._program = plan, OverKernels(plan, nullable)
        self._held = {
            name: f"{HELD}_{place}"
            for place, (name, window) in enumerate(plan.windows.items())
            if window.remembers
        }
        ledger = dict.fromkeys(self._held.values(), pa.int64())
        layout = RowLayout.of(plan.key, plan.order, kept_columns(plan), types, ledger)
        super().__init__(number, list(plan.windows), layout)
        self.why = why_over_keeps_rows(plan)

    def answer(self, part: OpenBins, span: Span) -> tuple[list[pa.Table], Needed]:
        """The new events with their answers."""
        rows = part.rows
        bounds = self._bounds(rows)
        fronts, expiries, ledger = [], [], {}
        for name, each in bounds.items():
            front, expiry = each.fronts(rows, span.frontier)
            if name in self._held:
                ledger[self._held[name]] = entered(rows.stops - front)
            fronts.append(front)
            expiries.append(np.where(front < rows.stops, expiry, span.frontier))
        needed = Needed(
            np.minimum.reduce(fronts),
            np.full(rows.count, NEVER),
            np.maximum.reduce(expiries),
            ledger,
        )
        if not part.events.num_rows:
            return [], needed
        answers = self._answers(rows, bounds, rows.fresh)
        # From the order of the rows to that of the events.
        fresh = np.empty(part.events.num_rows, np.int64)
        fresh[part.places] = np.flatnonzero(rows.is_fresh)
        events = pa.Table.from_batches([part.events])
        return [self._with_answers(events, rows, answers, fresh)], needed

    def _bounds(self, rows: KeyRows) -> dict[str, Bounds]:
        """Which rows the windows hold."""
        held = {name: rows.numbers(column) for name, column in self._held.items()}
        return {name: self._program.bounding(name).of(rows, held.get(name)) for name in self.names}

    def _answers(
        self, rows: KeyRows, bounds: Mapping[str, Bounds], firsts: Array
    ) -> dict[str, FeatureAnswers]:
        """The answers of all windows for all rows; only those from a key's `firsts` on are used."""
        compiled = self._program.compiled_block(rows.columns, rows.size, 0)
        plain = self._program.plain_block(rows.columns, rows.size, 0)
        answers = {
            name: self._driven(name, rows, compiled, plain, each, firsts)
            for name, each in bounds.items()
        }
        if self._program.counted:
            counted = CountedSpans(self._program.counted)
            counted.extend(rows.columns, rows.size)
            places = np.flatnonzero(np.arange(rows.size) >= firsts[rows.key_of])
            for name, each in bounds.items():
                spans = each.spans(rows.size).arrays
                found = counted.answers_at(places, spans, each.present)
                answers[name].counted = found.__getitem__
        return answers

    def _driven(
        self, name: str, rows: KeyRows, compiled: tuple[tuple[Array, ...], tuple[Array, ...]],
        plain: tuple[object, ...], bounds: Bounds, firsts: Array,
    ) -> FeatureAnswers:  # fmt: skip
        """The answers of a window."""
        compiled_pass, plain_passes = self._program.windows_of(name)
        answers = self._program.answers(rows.size, bounds.present)
        spans = None
        if takes_spans(self._plan.windows[name]):
            spans = bounds.spans(rows.size)
            if bounds.may_be_empty:
                answers.present = spans.filled
        with kernels_named(self._program.compiled):
            if compiled_pass is not None:
                # Answering old rows too takes less time than calling the kernel for each key.
                block = RowBlock(*compiled, bounds, 0, 0, rows.size, spans)
                compiled_pass.advance(block, answers.values, answers.defined)
            for each, answer in zip(plain_passes, answers.plain, strict=True):
                for key in np.flatnonzero(firsts < rows.stops).tolist():
                    begin, first, stop = rows.starts[key], firsts[key], rows.stops[key]
                    each.advance(RowBlock(plain, (), bounds, begin, first, stop), answer)
        return answers

    def _with_answers(
        self,
        table: pa.Table,
        rows: KeyRows,
        answers: Mapping[str, FeatureAnswers],
        indices: Array,
    ) -> pa.Table:
        """A table of events with the answers to the rows at `indices`."""
        for output, added in zip(self._plan.outputs, self._plan.output_fields, strict=True):
            column = self._program.column(
                self._plan,
                output.window,
                output.feature,
                answers[output.window],
                lambda name, positions: rows.columns[name].take(positions),
            )
            table = table.append_column(added.name, column.take(pa.array(indices)))
        return table
