"""Polars: only the columns that are read leave it, and answers join the user's own frame."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import pyarrow as pa

from windrow.tables.contract import Like, Source, with_stand_ins


class PolarsFrame(Source):
    """A DataFrame of Polars."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def arrow(
        self, read: Collection[str], *, keys: Collection[str] = (), returned: bool = False
    ) -> pa.Table:
        """The columns that are read; others are stand-ins."""
        names = self._frame.columns
        found = pa.table(self._frame.select([name for name in names if name in read]))
        columns = {name: found[name] for name in found.column_names}
        return with_stand_ins(names, columns, self._frame.height)

    def with_columns(self, answers: pa.Table, like: Like) -> Any:
        """The frame with more columns; it shares the others."""
        return self._frame.hstack(_to_polars(answers).get_columns())

    def of_same_kind(self, answers: pa.Table, like: Like, keys: Collection[str]) -> Any:
        """A frame; keys have the types that they have in the data, such as Categorical."""
        return _to_polars(answers).cast({name: self._frame.schema[name] for name in keys})


def of_no_rows(frame: Any) -> PolarsFrame:
    """A DataFrame with the columns of a LazyFrame and no rows; calls are checked with it."""
    import polars as pl

    return PolarsFrame(pl.DataFrame(schema=frame.collect_schema()))


def _to_polars(table: pa.Table) -> Any:
    import polars as pl

    return pl.from_arrow(table)


def lazily(frame: Any, expected: Any, answered: Callable[[Any], Any]) -> Any:
    """A LazyFrame of the answers, computed when it is collected.

    Args:
        frame: a LazyFrame.
        expected: the answers to its columns without rows.
        answered: from a DataFrame to its answers.
    """
    # A filter, a slice or a choice of columns must not reach the rows before windows see them.
    return frame.map_batches(
        answered,
        predicate_pushdown=False,
        projection_pushdown=False,
        slice_pushdown=False,
        schema=expected.schema,
    )
