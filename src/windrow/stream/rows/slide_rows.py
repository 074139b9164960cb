"""`slide` over a stream from the rows of keys: windows of any kind, answered when final."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from windrow.algebra import arrays
from windrow.engine.feature_columns import FeatureColumns
from windrow.engine.order_column import in_own_type
from windrow.engine.policy_counts import PolicyCounters
from windrow.engine.shared_slices import SharedSlices
from windrow.engine.slice_windows import SliceKernels
from windrow.planning.slide_plan import SlidePlan
from windrow.stream.group import Array
from windrow.stream.last_answers import LastAnswers
from windrow.stream.last_windows import EMPTY_FINAL, LastWindows
from windrow.stream.row_layout import RowLayout
from windrow.stream.rows.kept_rows import Needed, OpenBins
from windrow.stream.rows.rows_group import RowsGroup, entered
from windrow.stream.rows.why_rows import why_slide_keeps_rows
from windrow.windows import walks
from windrow.windows.extents import Answering, Extents, FinalAnswers, Span
from windrow.windows.key_rows import KeyRows
from windrow.windows.key_runs import NEVER
from windrow.windows.setting import Setting
from windrow.work.threads import cores


class _Answered(NamedTuple):
    """The answers of a window, the key of each answer, and what answers to come need."""

    table: pa.Table
    keys: Array
    final: FinalAnswers


class SlideRows(RowsGroup):
    """The windows of a plan that partials cannot answer."""

    final = (
        "when the watermark reaches the row, mark or tick of a clock that asks for the answer; for "
        "a session, when a gap has passed since its last row"
    )

    def __init__(
        self,
        number: int,
        names: list[str],
        plan: SlidePlan,
        types: Mapping[str, pa.DataType],
        nullable: AbstractSet[str],
    ) -> None:
        """`types` are those of the columns of an event; `nullable` names those with nulls."""
        self._plan = replace(plan, changes_only=False, fills=False)
        self._features = FeatureColumns(plan.features, nullable, counts=plan.wish.counts_values)
        self._kernels = SliceKernels(self._features, plan, names)
        self._counts = PolicyCounters(plan.schema, nullable)
        #: for each window, the column of the ledger that has each of its numbers
        self._numbers = {
            name: {each: f"{each}_{place}" for each in self._answering(name).ledger}
            for place, name in enumerate(names)
        }
        #: for each window, if only changes are wanted, its last answers
        self._last = {
            name: LastAnswers(plan, name, place)
            for place, name in enumerate(names)
            if plan.changes_only
        }
        #: for each window, if those without events are wanted, the last with an answer
        self._windows = {
            name: LastWindows(plan, name, place)
            for place, name in enumerate(names)
            if name in plan.schedules
        }
        ledger: dict[str, pa.DataType] = {
            each: pa.int64() for numbers in self._numbers.values() for each in numbers.values()
        }
        for last in self._last.values():
            ledger |= last.columns
        for window in self._windows.values():
            ledger |= window.columns
        layout = RowLayout.of(plan.key, plan.order, plan.read_by_row, types, ledger)
        super().__init__(number, names, layout)
        self.why = why_slide_keeps_rows(plan)
        if self._windows:
            self.final += f"; {EMPTY_FINAL}"

    def answer(self, part: OpenBins, span: Span) -> tuple[list[pa.Table], Needed]:
        """The answers that became final."""
        rows = replace(
            part.rows,
            columns=in_own_type(part.rows.columns, self._plan),
            time_type=self._plan.order_type,
        )
        tables = []
        ledger: dict[str, pa.Array] = {}
        answered = self._answered(rows, span)
        for name, (table, keys, final) in answered.items():
            for number, column in self._numbers[name].items():
                ledger[column] = entered(final.numbers[number])
            if name in self._windows:
                table, keys, last = self._windows[name].filled(
                    rows.ledger, table, final.extents.names, keys
                )
                ledger |= last
            if self._last:
                table, last = self._last[name].changed(
                    rows.ledger, table, keys, final.extents.names
                )
                ledger |= last
            if table.num_rows:
                tables.append(table)
        found = [each.final for each in answered.values()]
        expiries = [
            np.where(each.fronts < rows.stops, each.expiry, span.frontier) for each in found
        ]
        needed = Needed(
            np.minimum.reduce([each.fronts for each in found]),
            np.minimum.reduce([each.due for each in found]),
            np.maximum.reduce(expiries),
            ledger,
        )
        return tables, needed

    def _answering(self, name: str) -> Answering:
        """The rules by which a window answers."""
        plan = self._plan
        setting = Setting(name, plan.order[0], plan.order_type, self._counts)
        return plan.windows[name].answering(setting)

    def _final(self, name: str, rows: KeyRows, span: Span) -> FinalAnswers:
        return self._answering(name).final(rows, span, self._kept_numbers(name, rows))

    def _kept_numbers(self, name: str, rows: KeyRows) -> dict[str, Array]:
        """The numbers of a window in the ledger, for each key."""
        return {each: rows.numbers(column) for each, column in self._numbers[name].items()}

    def _answered(self, rows: KeyRows, span: Span) -> dict[str, _Answered]:
        """The answers of each window; windows that see the same rows share their slices."""
        answered: dict[str, _Answered] = {}
        whole: dict[str, FinalAnswers] = {}
        for name in self.names:
            measured = self._plan.windows[name].measured
            found = [arrays.present(rows.columns[column]) for column in measured]
            partly = [present for present in found if present is not None]
            if partly:
                present = np.logical_and.reduce(partly)
                answered[name] = self._answered_of(name, rows, present, span)
            else:
                whole[name] = self._final(name, rows, span)
        tables = self._run(rows, whole)
        for name, final in whole.items():
            keys = walks.runs_of(rows.runs, final.extents.firsts)
            answered[name] = _Answered(tables[name], keys, final)
        return answered

    def _answered_of(self, name: str, rows: KeyRows, present: Array, span: Span) -> _Answered:
        """The answers of a window that sees only the rows that are `present`."""
        never = np.full(rows.count, NEVER)
        seen, places, keys = rows.only(present)
        if not seen.count:
            nothing = np.empty(0, np.int64)
            kept = self._kept_numbers(name, rows)
            final = FinalAnswers(Extents(nothing, nothing), rows.stops, never, never, kept)
            return _Answered(self._plan.output_schema.empty_table(), nothing, final)
        final = self._final(name, seen, span)
        table = self._run(seen, {name: final})[name]
        answer_keys = keys[walks.runs_of(seen.runs, final.extents.firsts)]
        fronts = rows.stops.copy()
        fronts[keys] = np.append(places, rows.size)[final.fronts]
        fronts[keys] = np.where(final.fronts < seen.stops, fronts[keys], rows.stops[keys])

        def of_all(values: Array, missing: Array) -> Array:
            found = missing.copy()
            found[keys] = values
            return found

        kept = self._kept_numbers(name, rows)
        numbers = {each: of_all(values, kept[each]) for each, values in final.numbers.items()}
        due, expiry = of_all(final.due, never), of_all(final.expiry, never)
        of_keys = FinalAnswers(final.extents, fronts, due, expiry, numbers)
        return _Answered(table, answer_keys, of_keys)

    def _run(self, rows: KeyRows, final: Mapping[str, FinalAnswers]) -> dict[str, pa.Table]:
        if not final:
            return {}
        extents = {name: each.extents for name, each in final.items()}
        slices = SharedSlices(self._plan, self._features, self._kernels, list(extents), cores())
        return dict(slices.answer(rows, rows.keys, extents))
