"""Rows whose answers are given at once, and revised: `over` with `emit="updates"`.

A key's rows lie together, sorted by order, with their last answers. A batch puts its events among
them, each at its place, and runs the windows over the rows of these keys as over a table:

           rows      . . . . x . . . .        x is new
           windows   [. . .]
                       [. . x]                these are answered,
                         [. x .]              as rows of x and of those behind it
                           [x . .]

A row is open until the frontier has passed it: then no event can come before it. Its answer is
marked final, and the row stays for as long as windows of open rows may hold it.

Invariants, for the rows of a bin (see `windrow.stream.totals.stored_totals`):

1. The rows of a key are sorted by order; those of equal order are in the order of arrival.
2. A row before the frontier has had its final answer.
3. A row's number is that of its last answer, -1 if nobody got one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet

import numpy as np
import pyarrow as pa

from windrow.engine.sorting import arrange
from windrow.planning.delivery import FINAL, REVISION
from windrow.planning.over_plan import OverPlan
from windrow.planning.stream_plan import GroupPlan
from windrow.stream.group import Array
from windrow.stream.header import GroupState
from windrow.stream.row_layout import columns_kept
from windrow.stream.rows.over_rows import OverRows
from windrow.stream.state import GIVEN, GIVEN_SCHEMA, KEY, ORDER, ShardBlocks
from windrow.stream.totals.stored_totals import OpenTotals, StoredTotals
from windrow.stream.updates.updates_query import EMIT, RevisingGroup
from windrow.windows.key_rows import KeyRows, later
from windrow.windows.key_runs import NEVER

#: the number of an answer before it is given
_NEW = -1


class RevisedRows(OverRows, RevisingGroup):
    """All windows of a plan."""

    def __init__(
        self,
        number: int,
        plan: OverPlan,
        types: Mapping[str, pa.DataType],
        nullable: AbstractSet[str],
    ) -> None:
        """`types` are those of the columns of an event; `nullable` names those with nulls."""
        super().__init__(number, plan, types, nullable)
        self._names = list(types)
        self._stored_as = {name: f"event_{place}" for place, name in enumerate(types)}
        #: the column of each window and feature: names of answers may change
        self._answer_columns = {
            (name, place): f"answer_{window}_{place}"
            for window, name in enumerate(plan.windows)
            for place in range(len(plan.features))
        }
        answers = [
            (column, plan.features[place].type)
            for (_name, place), column in self._answer_columns.items()
        ]
        events = [(self._stored_as[name], each) for name, each in types.items()]
        key = [self._stored_as[name] for name in plan.key]
        roles = {KEY: json.dumps(key), ORDER: self._stored_as[plan.order[0]]}
        self._schema = pa.schema([*events, (REVISION, pa.int64()), *answers], roles)
        self.layouts = {GIVEN_SCHEMA: self._schema}
        self.kept = [columns_kept(self._schema), EMIT]

    def describe(self) -> GroupPlan:
        """Open rows with their answers."""
        return GroupPlan(
            self.names,
            way="updates: the events of each key that windows of open rows hold, with their "
            "answers",
            why="emit= says 'updates'",
            reads="the header, and the rows of the bins whose keys have new events or rows that "
            "become final",
            writes="the header, and the rows of these bins",
            final="at once, and again with every batch whose events change it; for the last time "
            "when the watermark, less allowed_lateness, has reached the row",
        )

    def due(self, state: GroupState, blocks: ShardBlocks, oldest: int | None) -> Iterator[int]:
        """When the first open rows are final, and when rows can go."""
        for each in self._stored(blocks).bins:
            if each.entries and each.due != NEVER:
                yield each.due

    def revise(
        self,
        state: GroupState,
        blocks: ShardBlocks,
        events: pa.RecordBatch,
        frontier: int,
        silent: bool = False,
    ) -> list[pa.Table]:
        """Answer the rows whose windows events change, and those that are final by now."""
        stored = self._stored(blocks)
        key, order = ([self._stored_as[each] for each in names] for names in self._ordered)
        new = pa.RecordBatch.from_arrays(events.columns, list(self._stored_as.values()))
        tables = []
        for part in stored.parts(new, key, order, frontier):
            every, rows, changed = self._answered(part)
            is_open = rows.times >= state.frontier
            final = rows.times < frontier
            given = changed | (is_open & final)
            numbers = every[REVISION].to_numpy() + (given & (not silent))
            place = every.schema.get_field_index(REVISION)
            every = every.set_column(place, REVISION, pa.array(numbers, pa.int64()))
            tables.append(self._table(every, given, final))
            kept, due = self._kept(rows, final, frontier)
            stored.keep(part, every.filter(pa.array(kept)), due[kept], whole=True)
        stored.bins.close()
        state.frontier = frontier
        return [table for table in tables if table.num_rows]

    @property
    def _ordered(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        return self._plan.key, self._plan.order

    def _stored(self, blocks: ShardBlocks) -> StoredTotals:
        keys = [self._stored_as[name] for name in self._plan.key]
        return StoredTotals(blocks, self.number, self._schema, keys, GIVEN)

    # Answers -------------------------------------------------------------------------------------

    def _answered(self, part: OpenTotals) -> tuple[pa.RecordBatch, KeyRows, Array]:
        """The rows of some bins with their newest answers, and which of them got new ones.

        They come twice: as they are kept, and as windows see them.
        """
        every = pa.concat_batches([part.totals, self._without_answers(part.events)])
        key, order = ([every[self._stored_as[each]] for each in names] for names in self._ordered)
        permutation, starts = arrange(key, order, every.num_rows)
        places = np.arange(every.num_rows) if permutation is None else permutation
        every = every.take(pa.array(places))
        rows, is_new = self._rows(every, starts), places >= part.totals.num_rows
        new_before = np.append(0, np.cumsum(is_new))
        has_new = new_before[rows.stops] > new_before[rows.starts]
        changed = np.zeros(rows.size, np.bool_)
        if has_new.any():
            touched, own, _keys = rows.only(has_new[rows.key_of])
            changed[own], answers = self._revised(touched, is_new[own])
            indices = np.arange(rows.size)
            indices[own] = rows.size + np.arange(len(own))
            for column, found in answers.items():
                both = pa.concat_arrays([every[column], found])
                place = every.schema.get_field_index(column)
                every = every.set_column(place, self._schema.field(column), both.take(indices))
        return every, rows, changed

    def _without_answers(self, events: pa.RecordBatch) -> pa.RecordBatch:
        """Events as rows that have no answer yet."""
        answers = [self._schema.field(name) for name in self._answer_columns.values()]
        columns = [
            *events.columns,
            pa.array(np.full(events.num_rows, _NEW), pa.int64()),
            *(pa.nulls(events.num_rows, field.type) for field in answers),
        ]
        return pa.RecordBatch.from_arrays(columns, schema=self._schema)

    def _rows(self, every: pa.RecordBatch, starts: Array) -> KeyRows:
        """The rows as windows see them."""
        columns = {name: every[stored] for name, stored in self._stored_as.items()}
        heads = pa.array(starts[:-1])
        return KeyRows(
            columns,
            starts,
            every.num_rows,
            self._plan.order[0],
            keys=[columns[name].take(heads) for name in self._plan.key],
            stops=np.minimum(starts[1:], every.num_rows),
            fresh=starts[:-1],
            ledger={},
        )

    def _revised(self, rows: KeyRows, is_new: Array) -> tuple[Array, dict[str, pa.Array]]:
        """Which rows are new or hold a new one in a window, and the answers of all rows."""
        bounds = self._bounds(rows)
        new_before, changed = np.append(0, np.cumsum(is_new)), is_new.copy()
        for each in bounds.values():
            firsts, stops = each.spans(rows.size).arrays
            changed |= new_before[np.maximum(stops, firsts)] > new_before[firsts]
        found = self._answers(rows, bounds, rows.starts)
        return changed, {
            column: self._program.column(
                self._plan,
                name,
                place,
                found[name],
                lambda read, positions: rows.columns[read].take(positions),
            )
            for (name, place), column in self._answer_columns.items()
        }

    def _table(self, every: pa.RecordBatch, given: Array, final: Array) -> pa.Table:
        """The answers to give, as users get them."""
        rows = every.filter(pa.array(given))
        columns = {name: rows[stored] for name, stored in self._stored_as.items()}
        for output, added in zip(self._plan.outputs, self._plan.output_fields, strict=True):
            columns[added.name] = rows[self._answer_columns[output.window, output.feature]]
        return pa.table({**columns, REVISION: rows[REVISION], FINAL: pa.array(final[given])})

    # Rows that stay ------------------------------------------------------------------------------

    def _kept(self, rows: KeyRows, final: Array, frontier: int) -> tuple[Array, Array]:
        """Which rows stay, and for each when there is something to do about it."""
        kept, due = ~final, later(rows.times, 1)
        if not final.any():
            return kept, due
        part, own, _keys = rows.only(final)
        found = [each.fronts(part, frontier) for each in self._bounds(part).values()]
        front = np.minimum.reduce([fronts for fronts, _expiry in found])
        expiry = np.maximum.reduce([expiry for _fronts, expiry in found])
        kept[own] = np.arange(part.size) >= front[part.key_of]
        due[own] = expiry[part.key_of]
        return kept, due
