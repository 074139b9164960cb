"""`slide` on tables in this process.

1. Sort the rows by key and order.
2. For every window, find which rows each of its answers is about (`edges`).
3. Cut the rows where some answer begins or ends: the slices, shared by all windows of a group.
4. Combine the rows of each slice, once.
5. For every window, go over the slices and answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.algebra.compiler import Kernel
from windrow.algebra.linking import link
from windrow.algebra.memory import KernelMemory
from windrow.algorithms import Algorithm
from windrow.algorithms.memory import PLAIN_SLOTS, PlainMemory
from windrow.errors import InvalidArgument
from windrow.planning.resolve import Feature, measures_time
from windrow.planning.slide import END, NAME, START, SlidePlan
from windrow.runtime import columns as arrow
from windrow.runtime import drivers, edges, slices
from windrow.runtime.extents import Extents, Finder
from windrow.runtime.features import Answers, Features, overflow_named
from windrow.runtime.linked import LinkedWindow
from windrow.runtime.passes import empty_state
from windrow.runtime.runs import differ
from windrow.runtime.sorting import arrange
from windrow.runtime.threads import cores, in_threads
from windrow.windows import Window

Array = np.ndarray[Any, Any]

_FIRST_CAPACITY = 256
#: fewer rows or answers than this are not worth a thread
_SMALLEST_PIECE = 2**15


def slide_table(table: pa.Table, plan: SlidePlan) -> pa.Table:
    """The answers of all windows of a plan, in the order of windows, keys and time."""
    columns = {name: arrow.whole(table[name]) for name in plan.columns}
    columns[plan.order[0]] = _in_order_type(columns[plan.order[0]], plan)
    pieces: dict[str, pa.Table] = {}
    for seen, windows in _by_rows_seen(columns, plan):
        held = columns
        if seen is not None:
            held = {name: column.filter(pa.array(seen)) for name, column in columns.items()}
        rows = _Rows(plan, held)
        for group in plan.groups:
            shared = {name: windows[name] for name in group if name in windows}
            if shared:
                pieces |= _Run(plan, shared, rows).answers()
    return pa.concat_tables([pieces[name] for name in plan.windows])


def _in_order_type(order: pa.Array, plan: SlidePlan) -> pa.Array:
    try:
        return order.cast(plan.order_type)
    except pa.ArrowInvalid as error:
        raise InvalidArgument(
            f"windows: they begin or end between two ticks of {plan.order[0]!r}, which is "
            f"{order.type}, and {plan.order_type} cannot hold its times: {error}"
        ) from None


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


class _Rows:
    """Rows sorted by key and order."""

    def __init__(self, plan: SlidePlan, columns: Mapping[str, pa.Array]) -> None:
        keys, order = [[columns[name] for name in names] for names in (plan.key, plan.order)]
        self.size = len(order[0])
        permutation, self.starts = arrange(keys, order, self.size)
        heads = self.starts[:-1]
        if permutation is None:
            self.columns = dict(columns)
        else:
            heads = permutation[heads]
            names = [name for name in columns if name in plan.read_by_row]
            indices = pa.array(permutation)
            taken = in_threads(
                lambda name: pc.take(columns[name], indices, boundscheck=False), names
            )
            self.columns = dict(zip(names, taken, strict=True))
        #: the keys, one row for each run
        self.keys = [column.take(pa.array(heads)) for column in keys]
        nullable = {name for name, column in self.columns.items() if column.null_count}
        self.features = Features(plan.features, nullable)

    def finder(self, order: str, timed: bool) -> Finder:
        """What finds the answers of windows; `timed` if some of them measure time."""
        return Finder(self.columns, order, self.starts, self.size, timed)


class _Run:
    """Windows that share their slices, over sorted rows."""

    def __init__(self, plan: SlidePlan, windows: dict[str, Window], rows: _Rows) -> None:
        self._plan = plan
        self._windows = windows
        self._size, self._starts, self._columns = rows.size, rows.starts, rows.columns
        self._keys, self._features = rows.keys, rows.features
        #: the algorithm of the compiled features, for each window
        self._forms: dict[str, Algorithm] = {}
        if self._features.compiled:
            for name in windows:
                choice = self._features.choice(plan.wish, *plan.size_of(name))
                self._forms[name] = choice.algorithm
        finder = rows.finder(plan.order[0], any(map(measures_time, windows.values())))
        found = in_threads(lambda item: finder.find(*item), windows.items())
        self._extents = dict(zip(windows, found, strict=True))
        marks = [cuts for each in found for cuts in (each.firsts, each.stops)]
        #: where slices begin and end
        self._cuts = edges.cuts(marks, self._size)
        self._memory = KernelMemory(self._features.product)
        #: a kernel on rows of arrays has one workspace, so that it runs on one thread
        self._threads = 1 if self._memory.workspace() else cores()

    def _pieces(self, size: int) -> list[tuple[int, int]]:
        """A range of numbers in as many pieces as there are threads to work on them."""
        wanted = max(min(self._threads, size // _SMALLEST_PIECE), 1)
        marks = [size * piece // wanted for piece in range(wanted + 1)]
        return list(pairwise(marks))

    # Slices --------------------------------------------------------------------------------------

    def _aggregate(self) -> Any:
        """The partials of the slices, for the compiled features."""
        features, count = self._features, max(len(self._cuts) - 1, 0)
        ring = self._memory.queue(1 << max(count - 1, 0).bit_length())
        columns, validities = features.compiled_block(self._columns, self._size, 0)
        kernel = Kernel(slices.aggregate_slices, (), features.product, features.checked)
        # Slices may be of very different length, so that pieces are of equal numbers of rows.
        marks = [
            tuple(np.searchsorted(self._cuts[:-1], piece).tolist())
            for piece in self._pieces(self._size)
        ]
        if marks:
            marks[-1] = (marks[-1][0], count)
        in_threads(
            lambda piece: kernel(
                *self._memory.workspace(), columns, validities, self._cuts, ring, *piece
            ),
            marks,
        )
        return ring

    def _plain_slices(self, feature: Feature, block: tuple[Any, ...]) -> list[Any]:
        monoid, indices = self._features.plain_part(feature)
        partials = []
        for first, stop in zip(self._cuts[:-1].tolist(), self._cuts[1:].tolist(), strict=True):
            partial = monoid.identity()
            for row in range(first, stop):
                lifted = monoid.lift(*(block[index][row] for index in indices))
                partial = monoid.combine(partial, lifted)
            partials.append(partial)
        return partials

    # Answers -------------------------------------------------------------------------------------

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
        with overflow_named():
            if self._features.compiled:
                self._answer_compiled(answers, firsts, stops)
            block = self._features.plain_block(self._columns, self._size, 0)
            for index, feature in enumerate(self._features.plain):
                partials = self._plain_slices(feature, block)
                for name in self._windows:
                    found = answers[name].plain[index]
                    self._answer_plain(name, found, feature, partials, firsts[name], stops[name])
        tables = in_threads(lambda name: self._table(name, answers[name]), self._windows)
        return dict(zip(self._windows, tables, strict=True))

    def _slice_numbers(self, rows: Array) -> Array:
        return edges.runs_of(self._cuts, rows)

    def _table(self, name: str, answers: Answers) -> pa.Table:
        plan, extents = self._plan, self._extents[name]
        count = len(extents.stops)
        result: dict[str, Any] = {}
        if len(plan.windows) > 1:
            result[NAME] = pa.repeat(name, count)
        runs = (
            edges.runs_of(self._starts, extents.firsts) if plan.key else np.zeros(count, np.int64)
        )
        for column, values in zip(plan.key, self._keys, strict=True):
            result[column] = values.take(pa.array(runs))
        result[START], result[END] = self._named(extents)
        for output, place in plan.outputs:
            result[output] = self._features.result(
                answers, plan.features[place], lambda name, found: self._columns[name].take(found)
            )
        answered = pa.table(result)
        return answered.filter(self._changes(answered, runs)) if plan.changes_only else answered

    def _named(self, extents: Extents) -> tuple[pa.Array, pa.Array]:
        order = self._columns[self._plan.order[0]]
        if extents.begins is None or extents.ends is None:
            newest = pa.array(extents.stops - 1)
            return order.take(pa.array(extents.firsts)), order.take(newest)
        width = pa.int64() if order.type.bit_width == 64 else pa.int32()
        begins, ends = (pa.array(each).cast(width) for each in (extents.begins, extents.ends))
        return begins.view(order.type), ends.view(order.type)

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
        memory, product = self._memory, self._features.product
        kernels = {
            form.NAME: (
                Kernel(slices.answer_windows, form.FUNCTIONS, product, self._features.checked),
                Kernel(drivers.move, form.FUNCTIONS, product, checked=False),
            )
            for form in self._forms.values()
        }

        def answer(piece: tuple[str, int, int]) -> None:
            name, answered, stop = piece
            held, form = (firsts[name], stops[name]), self._forms[name]
            kernel, move = kernels[form.NAME]
            # Windows of a few hundred slices find room at once; larger ones grow to it.
            capacity = _FIRST_CAPACITY
            ring = form.allocate(memory, capacity)
            state = empty_state(form, product, ring)
            while True:
                state, answered = kernel(
                    *memory.workspace(), partials, tuple(answers[name].values),
                    tuple(answers[name].defined), ring, state, *held, answered, stop,
                )  # fmt: skip
                if answered >= stop:
                    return
                capacity *= 2
                larger = form.allocate(memory, capacity)
                state, _row = move(*memory.workspace(), state, ring, larger)
                ring = larger

        pieces = [
            (name, *piece) for name in self._windows for piece in self._pieces(len(stops[name]))
        ]
        in_threads(answer, pieces, self._threads)

    def _answer_plain(
        self, name: str, answers: list[Any], feature: Feature, partials: Sequence[Any],
        firsts: Array, stops: Array,
    ) -> None:  # fmt: skip
        monoid, _indices = self._features.plain_part(feature)
        events, _driven = self._plan.size_of(name)
        choice = self._features.plain_choice(feature, self._plan.wish, events)
        window = LinkedWindow(choice.algorithm, monoid)
        stored = PlainMemory().array(len(partials))
        for number, partial in enumerate(partials):
            stored.store(number, partial)

        def lower_row(values: list[Any], _defined: Any, row: int, partial: Any) -> None:
            values[row] = monoid.lower(partial)

        slots: dict[str, Callable[..., Any]] = {
            **PLAIN_SLOTS, **window.functions, "lower_row": lower_row
        }  # fmt: skip
        drive = link([slices.answer_windows], slots)["answer_windows"]
        answered = 0
        while True:
            window.state, answered = drive(
                stored, answers, (), window.ring, window.state,
                firsts.tolist(), stops.tolist(), answered, len(stops),
            )  # fmt: skip
            if answered >= len(stops):
                return
            window.grow()

    def _changes(self, answered: pa.Table, runs: Array) -> pa.Array:
        """Which answers differ from the one before of their key."""
        changed = np.ones(len(runs), np.bool_)
        if len(runs) > 1:
            changed[1:] = runs[1:] != runs[:-1]
            for output, _place in self._plan.outputs:
                column = arrow.whole(answered[output])
                changed[1:] |= differ(column.slice(1), column.slice(0, len(runs) - 1))
        return pa.array(changed)
