"""`over` on tables in this process, on all its cores."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.engine import columns as arrow
from windrow.engine.feature_columns import Answers
from windrow.engine.over_kernels import OverKernels
from windrow.engine.row_windows import RowBlock
from windrow.engine.sorting import arrange
from windrow.engine.trailing import Bounds, SortedRows, Trail
from windrow.errors import InvalidArgument
from windrow.planning.over_plan import OverPlan
from windrow.windows import TimeWindow
from windrow.work import sizes
from windrow.work.threads import cores, in_threads

Array = np.ndarray[Any, Any]


def to_table(data: Any) -> pa.Table:
    """Anything Arrow-shaped as a table."""
    if isinstance(data, pa.Table):
        return data
    if isinstance(data, pa.RecordBatch):
        return pa.Table.from_batches([data])
    if isinstance(data, pa.RecordBatchReader):
        return data.read_all()
    if hasattr(data, "__arrow_c_stream__"):
        try:
            return pa.table(data)
        except (pa.ArrowException, TypeError) as error:  # a series, which is no table; complex
            problem = f"; {type(data).__name__} cannot be read as a table: {error}"
    elif hasattr(data, "collect"):
        problem = f", not {type(data).__name__}; collect() it first"
    else:
        problem = f", not {type(data).__name__}"
    raise InvalidArgument(
        "data: give a Spark DataFrame or something that speaks Arrow (a pyarrow.Table, pandas, "
        f"Polars or DuckDB){problem}"
    )


def over_table(table: pa.Table, plan: OverPlan) -> pa.Table:
    """The table with the plan's columns added; its rows keep their order."""
    run = _prepare(table, plan)
    answers = {
        name: run.program.answers(table.num_rows, run.bounds[name].present) for name in plan.windows
    }
    pieces = [
        (name, block)
        for name in plan.windows
        for block in run.pieces(name, 1 if run.program.plain else cores() // run.program.threads)
    ]

    def work(piece: tuple[str, tuple[RowBlock, RowBlock]]) -> None:
        name, (compiled, plain) = piece
        run.program.drive(run.program.windows_of(name), compiled, plain, answers[name])

    in_threads(work, pieces)
    columns = in_threads(lambda output: run.column(answers[output.window], output), plan.outputs)
    for field, column in zip(plan.output_fields, columns, strict=True):
        table = table.append_column(field, column)
    return table


@dataclass(frozen=True)
class _Run:
    """A table, sorted, and the program to drive it through."""

    program: OverKernels
    size: int
    permutation: Array | None
    inverse: Array | None
    sorted: dict[str, pa.Array]
    compiled: tuple[tuple[Array, ...], tuple[Array, ...]]
    plain: tuple[Any, ...]
    trails: dict[str, Trail]
    bounds: dict[str, Bounds]

    def pieces(self, name: str, wanted: int) -> Iterator[tuple[RowBlock, RowBlock]]:
        """The rows in pieces for threads, each led by the rows that fill its first window."""
        # Twice the smallest piece: each piece repeats the rows that fill its first window.
        smallest = 2 * sizes.current().smallest_piece
        edges = self._edges(name, min(wanted, self.size // smallest))
        bounds = self.bounds[name]
        for first, stop in pairwise(edges):
            begin = self._filling(name, first)
            yield (
                RowBlock(*self.compiled, bounds, begin, first, stop),
                RowBlock(self.plain, (), bounds, begin, first, stop),
            )

    def _edges(self, name: str, wanted: int) -> list[int]:
        if wanted < 2:
            return [0, self.size]
        edges = [self._between_peers(name, self.size * i // wanted) for i in range(wanted)]
        repeated = sum(edge - self._filling(name, edge) for edge in edges)
        # Splitting pays while the rows that are inserted twice are few.
        return [*edges, self.size] if repeated < self.size // 2 else [0, self.size]

    def _between_peers(self, name: str, row: int) -> int:
        window, times = self.program.plan.windows[name], self.bounds[name].measure
        if times is not None and isinstance(window, TimeWindow) and window.peers:
            while 0 < row < self.size and times[row] == times[row - 1]:
                row += 1
        return row

    def _filling(self, name: str, row: int) -> int:
        """The oldest row in the window of a row."""
        return row if row >= self.size else self.trails[name].oldest(self.bounds[name], row)

    def column(self, answers: Answers, output: Any) -> pa.Array:
        """One column of the result, in the table's order."""
        feature = self.program.plan.features[output.feature]
        column = self.program.result(
            answers, feature, lambda name, positions: self.sorted[name].take(positions)
        )
        return column if self.inverse is None else column.take(pa.array(self.inverse))


def _prepare(table: pa.Table, plan: OverPlan) -> _Run:
    columns = {name: arrow.whole(table[name]) for name in _used(plan)}
    nullable = {name for name, column in columns.items() if column.null_count}
    program = OverKernels(plan, nullable)
    keys, order = [[columns[name] for name in names] for names in (plan.key, plan.order)]
    size = table.num_rows
    permutation, starts = arrange(keys, order, size)
    if permutation is not None:
        indices = pa.array(permutation)
        needed = {*program.input_columns, *plan.window_columns}
        columns = {name: columns[name].take(indices) for name in needed}
    rows = SortedRows(columns, starts, size, next(iter(plan.order), None))
    trails = {name: program.trail(name) for name in plan.windows}
    return _Run(
        program=program,
        size=size,
        permutation=permutation,
        inverse=None if permutation is None else _inverse(permutation),
        sorted=columns,
        compiled=program.compiled_block(columns, size, 0),
        plain=program.plain_block(columns, size, 0),
        trails=trails,
        bounds={name: trail.bounds(rows) for name, trail in trails.items()},
    )


def _used(plan: OverPlan) -> list[str]:
    columns = (column for feature in plan.features for column in feature.reads)
    return list(dict.fromkeys((*plan.key, *plan.order, *plan.window_columns, *columns)))


def _inverse(permutation: Array) -> Array:
    inverse = np.empty_like(permutation)
    inverse[permutation] = np.arange(len(permutation))
    return inverse
