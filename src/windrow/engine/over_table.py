"""`over` on tables in this process, on all its cores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.engine import columns as arrow
from windrow.engine.gathering import LINE, Gathered, gather, into_runs, inverse
from windrow.engine.lines import Lines, pays
from windrow.engine.over_block import OverBlock
from windrow.engine.over_kernels import OverKernels
from windrow.engine.sorting import arrange
from windrow.planning.over_plan import Output, OverPlan
from windrow.windows.bounds import Bounds
from windrow.windows.sorted_rows import SortedRows
from windrow.work import sizes
from windrow.work.threads import cores, in_threads

Array = np.ndarray[Any, Any]


def over_table(table: pa.Table, plan: OverPlan) -> pa.Table:
    """The columns that the plan adds, for the rows of the table in their order."""
    columns = {name: arrow.whole(table[name]) for name in _used(plan)}
    keys = [arrow.whole_key(table[name]) for name in plan.key]
    nullable = {name for name, each in columns.items() if each.null_count}
    kernels = OverKernels(plan, nullable)
    needed = {*kernels.input_columns, *plan.window_columns}
    rows, permutation = _sorted(plan, columns, keys, table.num_rows, needed)
    bounding = {name: kernels.bounding(name) for name in plan.windows}
    moves = permutation is not None
    block = OverBlock(kernels, bounding, rows, shared=kernels.shared, in_turns=moves)
    # Plain Python holds the interpreter lock: threads would only wait for each other.
    threads = 1 if kernels.plain else cores() // kernels.threads
    work = _Work(kernels, block, rows.size, threads)

    def answered(output: Output) -> pa.Array:
        return block.column(output, lambda name, positions: rows.columns[name].take(positions))

    places: Array | None = None
    numbers: Gathered | None = None
    if permutation is not None:
        places = inverse(permutation)
        if pays(places, len(plan.outputs)):
            numbers = Lines(permutation).gathered
    found: dict[Output, pa.Array] = {}
    for names in [list(plan.windows)] if places is None else work.turns(plan.outputs):
        if places is not None:
            block.make_room(names)
        in_threads(lambda piece: piece(), work.pieces(names))
        outputs = [output for output in plan.outputs if output.window in names]
        columns_found = in_threads(answered, outputs)
        if places is not None:
            columns_found = gather(columns_found, places, numbers)
            block.forget(names)
        found |= zip(outputs, columns_found, strict=True)
    columns_found = [found[each] for each in plan.outputs]
    return pa.Table.from_arrays(columns_found, schema=pa.schema(plan.output_fields))


@dataclass(frozen=True)
class _Work:
    """The work of all windows, in pieces of rows for threads."""

    kernels: OverKernels
    block: OverBlock
    size: int
    threads: int

    @cached_property
    def shared(self) -> list[str]:
        """The windows that share a pass, the longest last."""
        return [] if self.kernels.shared is None else list(self.kernels.shared.names)

    def turns(self, outputs: Sequence[Output]) -> list[list[str]]:
        """Windows that are answered together where answers go to other places.

        There they are twice for a while. So few are at once, but enough for a line (`lines.py`).
        """
        turns = [self.shared] if self.shared else []
        columns = Counter(output.window for output in outputs)
        count = LINE
        for name in self.block.bounds:
            if name not in self.shared:
                if count >= LINE:
                    turns.append([])
                    count = 0
                turns[-1].append(name)
                count += columns[name]
        return turns

    def pieces(self, names: Sequence[str]) -> list[Callable[[], None]]:
        """What threads do for some windows; those that share a pass are all among them, or none."""
        found: list[Callable[[], None]] = []
        if self.shared and self.shared[-1] in names:
            found += [partial(self._together, *rows) for rows in self._cuts(self.shared[-1])]
        for name in names:
            shares = name in self.shared
            if not shares or self.kernels.plain or self.kernels.counted:
                found += [partial(self._alone, name, shares, *rows) for rows in self._cuts(name)]
        return found

    def _cuts(self, name: str) -> list[tuple[int, int, int]]:
        return _PieceCuts(self.block.bounds[name], self.size).pieces(self.threads)

    def _together(self, *rows: int) -> None:
        self.block.answer_together(self.shared, self.kernels.shared_kernel.window(), *rows)

    def _alone(self, name: str, shares: bool, *rows: int) -> None:
        self.block.answer(name, self.kernels.windows_of(name, shares=shares), *rows)


def _sorted(
    plan: OverPlan,
    columns: Mapping[str, pa.Array],
    keys: Sequence[pa.Array],
    size: int,
    needed: AbstractSet[str],
) -> tuple[SortedRows, Array | None]:
    """The needed columns, sorted by key and order, and the permutation; None if none was needed."""
    permutation, starts = arrange(keys, [columns[name] for name in plan.order], size)
    if permutation is not None:
        names = [name for name in columns if name in needed]
        given = [columns[name] for name in names]
        gathered = gather(given, permutation, into_runs(permutation))
        columns = dict(zip(names, gathered, strict=True))
    return SortedRows(columns, starts, size, next(iter(plan.order), None)), permutation


@dataclass(frozen=True)
class _PieceCuts:
    """Where sorted rows can be cut for threads, by what one window needs."""

    bounds: Bounds
    size: int

    def pieces(self, wanted: int) -> list[tuple[int, int, int]]:
        """Up to so many pieces: the row that fills its first window, its first row, its stop."""
        # Twice the smallest piece: each piece repeats the rows that fill its first window.
        wanted = min(wanted, self.size // (2 * sizes.current().smallest_piece))
        marks = [0, self.size]
        if wanted > 1:
            cuts = [self.size * piece // wanted for piece in range(wanted)]
            repeated = sum(cut - self._oldest(cut) for cut in cuts)
            # Splitting pays while the rows that are inserted twice are few.
            if repeated < self.size // 2:
                marks = [*cuts, self.size]
        return [(self._oldest(first), first, stop) for first, stop in pairwise(marks)]

    def _oldest(self, row: int) -> int:
        """The oldest row in the window of a row."""
        return row if row >= self.size else self.bounds.oldest(row)


def _used(plan: OverPlan) -> list[str]:
    columns = (column for feature in plan.features for column in feature.reads)
    return list(dict.fromkeys((*plan.order, *plan.window_columns, *columns)))
