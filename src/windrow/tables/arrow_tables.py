"""Arrow's own tables and datasets, and whatever speaks Arrow: the answer is a `pyarrow.Table`."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pyarrow as pa

from windrow.tables.contract import Like, Source, with_stand_ins


class ArrowTable(Source):
    """A table of Arrow's."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def arrow(
        self, read: Collection[str], *, keys: Collection[str] = (), returned: bool = False
    ) -> pa.Table:
        """The table itself."""
        return self._table

    def with_columns(self, answers: pa.Table, like: Like) -> pa.Table:
        """The table with more columns."""
        table = self._table
        for field, column in zip(answers.schema, answers.columns, strict=True):
            table = table.append_column(field, column)
        return table

    def of_same_kind(self, answers: pa.Table, like: Like, keys: Collection[str]) -> pa.Table:
        """The answers."""
        return answers


class ArrowDataset(Source):
    """A dataset of files. If its rows are not returned, only the columns needed are read."""

    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset
        self._table: pa.Table | None = None

    def arrow(
        self, read: Collection[str], *, keys: Collection[str] = (), returned: bool = False
    ) -> pa.Table:
        """The rows, in the order of the files."""
        names = self._dataset.schema.names
        if returned:
            self._table = self._dataset.to_table()
            return self._table
        wanted = [name for name in names if name in read and names.count(name) == 1]
        found = self._dataset.to_table(columns=wanted)
        return with_stand_ins(names, {name: found[name] for name in wanted}, found.num_rows)

    def with_columns(self, answers: pa.Table, like: Like) -> pa.Table:
        """The rows that were read, and the answers."""
        return ArrowTable(self._table).with_columns(answers, like)

    def of_same_kind(self, answers: pa.Table, like: Like, keys: Collection[str]) -> pa.Table:
        """The answers."""
        return answers
