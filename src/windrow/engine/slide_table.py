"""`slide` on tables in this process.

1. Sort the rows by key and order.
2. For every window, find which rows each of its answers is about (`extents`).
3. Cut the rows where some answer begins or ends: the slices, shared by all windows of a group.
4. Combine the rows of each slice, once.
5. For every window, go over the slices and answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.algebra.kinds import plain_type
from windrow.algorithms.plain_memory import PlainMemory
from windrow.compiler.kernel_memory import KernelMemory
from windrow.engine import columns as arrow
from windrow.engine.extents import Extents, Finder, Stretch, finder_for
from windrow.engine.feature_columns import Answers, FeatureColumns
from windrow.engine.named_failures import kernels_named
from windrow.engine.slice_windows import (
    CompiledSliceWindow,
    PlainSliceWindow,
    SliceKernels,
    aggregate_paced,
    answered_table,
    changes,
    plain_partials,
    times_to_arrow,
)
from windrow.engine.sorting import arrange
from windrow.errors import InvalidArgument
from windrow.planning.slide_plan import SlidePlan
from windrow.windows import Window, walks
from windrow.work import sizes
from windrow.work.threads import cores, in_threads

Array = np.ndarray[Any, Any]


def slide_table(table: pa.Table, plan: SlidePlan) -> pa.Table:
    """The answers of all windows of a plan, in the order of windows, keys and time."""
    columns = {name: arrow.whole(table[name]) for name in plan.columns}
    pieces: dict[str, pa.Table] = {}
    answers = 0
    for seen, windows in _by_rows_seen(columns, plan):
        held = columns
        if seen is not None:
            held = {name: column.filter(pa.array(seen)) for name, column in columns.items()}
        rows = _sorted(plan, held)
        for group in plan.groups:
            shared = {name: windows[name] for name in group if name in windows}
            if shared:
                kernels = SliceKernels(rows.features, plan, shared)
                found = _found(plan, rows, shared)
                answers += sum(len(extents.stops) for extents in found.values())
                plan.require_few(answers, table.num_rows, "the data gives them")
                pieces |= Run(plan, rows, found, kernels).answers()
    return pa.concat_tables([pieces[name] for name in plan.windows])


def in_order_type(order: pa.Array, plan: SlidePlan) -> pa.Array:
    """The order column in a type in which windows begin and end at whole ticks.

    Windows measure by it and are named after it. Aggregations read the column as it is: their
    answers have its unit.
    """
    try:
        return order.cast(plan.order_type)
    except pa.ArrowInvalid as error:
        raise InvalidArgument(
            f"windows: they begin or end between two ticks of {plan.order[0]!r}, which is "
            f"{order.type}, and {plan.order_type} cannot hold its times: {error}"
        ) from None


def in_own_type(columns: Mapping[str, pa.Array], plan: SlidePlan) -> dict[str, pa.Array]:
    """The columns as aggregations read them, where the order column is in the type of windows."""
    order = plan.order[0]
    own = plain_type(plan.schema.field(order).type)
    return {**columns, order: columns[order].cast(own)}


def _by_rows_seen(
    columns: Mapping[str, pa.Array], plan: SlidePlan
) -> list[tuple[Array | None, dict[str, Window]]]:
    """The windows that see the same rows, and which rows they see, None for all.

    A row without a time lies in no window of time, and one without a measure, or with NaN, in no
    window of differences. Windows of rows see all of them. Where nothing is missing, and that is
    nearly always, all windows share the sorted rows.
    """
    groups: dict[tuple[str, ...], dict[str, Window]] = {}
    measured = {column for window in plan.windows.values() for column in plan.measured(window)}
    found = {column: arrow.present(columns[column]) for column in measured}
    present = {column: rows for column, rows in found.items() if rows is not None}
    for name, window in plan.windows.items():
        missing = tuple(column for column in plan.measured(window) if column in present)
        groups.setdefault(missing, {})[name] = window
    return [
        (np.logical_and.reduce([present[name] for name in missing]) if missing else None, windows)
        for missing, windows in groups.items()
    ]


@dataclass(frozen=True)
class Rows:
    """Rows sorted by key and order.

    Attributes:
        columns: those that windows look at and features read.
        starts: the rows at which a new key begins (see `windrow.windows.key_runs`).
        size: how many there are.
        keys: the columns of the key, one row for each run.
        features: what is computed.
    """

    columns: Mapping[str, pa.Array]
    starts: Array
    size: int
    keys: Sequence[pa.Array]
    features: FeatureColumns


def _sorted(plan: SlidePlan, columns: Mapping[str, pa.Array]) -> Rows:
    keys, order = [[columns[name] for name in names] for names in (plan.key, plan.order)]
    size = len(order[0])
    permutation, starts = arrange(keys, order, size)
    heads = starts[:-1]
    if permutation is not None:
        heads = permutation[heads]
        names = [name for name in columns if name in plan.read_by_row]
        indices = pa.array(permutation)
        taken = in_threads(lambda name: pc.take(columns[name], indices, boundscheck=False), names)
        columns = dict(zip(names, taken, strict=True))
    nullable = {name for name, column in columns.items() if column.null_count}
    heads_of = [column.take(pa.array(heads)) for column in keys]
    return Rows(columns, starts, size, heads_of, FeatureColumns(plan.features, nullable))


def _found(plan: SlidePlan, rows: Rows, windows: Mapping[str, Window]) -> dict[str, Extents]:
    """Which rows the answers of each window are about."""
    order = plan.order[0]
    stretch = Stretch(rows.columns, rows.size, rows.starts)
    if any(window.needs_time for window in windows.values()):
        times = arrow.times(in_order_type(rows.columns[order], plan))
        stretch = replace(stretch, times=times)

    def finder(name: str) -> Finder:
        def require(answers: int) -> None:
            plan.require_few(answers, rows.size, f"the data gives {name!r}")

        return finder_for(name, windows[name], order, plan.order_type, require)

    finders = [finder(name) for name in windows]
    found = in_threads(lambda finder: finder.find(stretch), finders)
    return dict(zip(windows, found, strict=True))


class Run:
    """Windows that share their slices, over sorted rows."""

    def __init__(
        self, plan: SlidePlan, rows: Rows, extents: Mapping[str, Extents], kernels: SliceKernels
    ) -> None:
        """`extents` says which rows the answers of each window are about."""
        self._plan, self._extents, self._kernels = plan, extents, kernels
        self._windows = list(extents)
        self._size, self._starts, self._columns = rows.size, rows.starts, rows.columns
        self._keys, self._features = rows.keys, rows.features
        marks = [cuts for each in extents.values() for cuts in (each.firsts, each.stops)]
        #: where slices begin and end
        self._cuts = walks.cuts(marks, self._size)
        self._memory = KernelMemory(self._features.product)
        #: a kernel on rows of arrays has one workspace, so that it runs on one thread
        self._threads = 1 if self._memory.workspace() else cores()

    def _pieces(self, size: int) -> list[tuple[int, int]]:
        """A range of numbers in as many pieces as there are threads to work on them."""
        wanted = max(min(self._threads, size // sizes.current().smallest_piece), 1)
        marks = [size * piece // wanted for piece in range(wanted + 1)]
        return list(pairwise(marks))

    def _aggregate(self) -> Any:
        """The partials of the slices, for the compiled features."""
        features, count = self._features, max(len(self._cuts) - 1, 0)
        ring = self._memory.queue(1 << max(count - 1, 0).bit_length())
        columns, validities = features.compiled_block(self._columns, self._size, 0)
        # Slices may be of very different length, so that pieces are of equal numbers of rows.
        marks = [
            tuple(np.searchsorted(self._cuts[:-1], piece).tolist())
            for piece in self._pieces(self._size)
        ]
        if marks:
            marks[-1] = (marks[-1][0], count)

        def aggregate(begin: int, stop: int) -> None:
            workspace = self._memory.workspace()
            self._kernels.aggregate(
                *workspace, columns, validities, self._cuts, ring, 0, begin, stop
            )

        in_threads(lambda piece: aggregate_paced(aggregate, self._cuts, *piece), marks)
        return ring

    def answers(self) -> dict[str, pa.Table]:
        """The answers of each window, as a table."""
        firsts, stops = (
            dict(zip(self._windows, in_threads(self._slice_numbers, rows), strict=True))
            for rows in (
                [extents.firsts for extents in self._extents.values()],
                [extents.stops for extents in self._extents.values()],
            )
        )
        answers = {name: self._features.answers(len(stops[name])) for name in self._windows}
        if self._features.compiled:
            with kernels_named(self._features.compiled):
                self._answer_compiled(answers, firsts, stops)
        self._answer_plain(answers, firsts, stops)
        tables = in_threads(lambda name: self._table(name, answers[name]), self._windows)
        return dict(zip(self._windows, tables, strict=True))

    def _slice_numbers(self, rows: Array) -> Array:
        return walks.runs_of(self._cuts, rows)

    def _answer_compiled(
        self,
        answers: Mapping[str, Answers],
        firsts: Mapping[str, Array],
        stops: Mapping[str, Array],
    ) -> None:
        """Write the answers of all windows: each window in pieces, all pieces on all threads.

        A piece begins with an empty window, which the kernel fills from the first answer's slices.
        """
        partials = self._aggregate()

        def answer(piece: tuple[str, int, int]) -> None:
            name, begin, stop = piece
            window = CompiledSliceWindow(self._kernels, name, self._memory)
            window.answer(partials, answers[name], firsts[name], stops[name], begin, stop)

        pieces = [
            (name, *piece) for name in self._windows for piece in self._pieces(len(stops[name]))
        ]
        in_threads(answer, pieces, self._threads)

    def _answer_plain(
        self,
        answers: Mapping[str, Answers],
        firsts: Mapping[str, Array],
        stops: Mapping[str, Array],
    ) -> None:
        features = self._features
        block = features.plain_block(self._columns, self._size, 0)
        for index, feature in enumerate(features.plain):
            partials = PlainMemory().queue(0)
            for number, partial in enumerate(plain_partials(features, index, block, self._cuts)):
                partials.store(number, partial)
            for name in self._windows:
                window = PlainSliceWindow(features, feature, self._plan, name)
                window.answer(partials, answers[name].plain[index], firsts[name], stops[name])

    def _table(self, name: str, answers: Answers) -> pa.Table:
        plan, features, extents = self._plan, self._features, self._extents[name]
        runs = np.zeros(len(extents.stops), np.int64)
        if plan.key:
            runs = walks.runs_of(self._starts, extents.firsts)
        keys = {
            column: values.take(pa.array(runs))
            for column, values in zip(plan.key, self._keys, strict=True)
        }
        answered = answered_table(
            plan,
            name,
            keys,
            self._bounds(extents),
            lambda place: features.result(
                answers, plan.features[place], lambda column, rows: self._columns[column].take(rows)
            ),
        )
        if not plan.changes_only:
            return answered
        return answered.filter(pa.array(changes(plan, answered, runs)))

    def _bounds(self, extents: Extents) -> tuple[pa.Array, pa.Array]:
        plan = self._plan
        if extents.begins is None or extents.ends is None:
            order = self._columns[plan.order[0]]
            begins, ends = (
                in_order_type(order.take(pa.array(rows)), plan)
                for rows in (extents.firsts, extents.stops - 1)
            )
        else:
            begins, ends = (
                times_to_arrow(each, plan.order_type) for each in (extents.begins, extents.ends)
            )
        return begins, ends
