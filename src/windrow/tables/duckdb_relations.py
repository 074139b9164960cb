"""DuckDB: a relation is run once, and the answers are a relation of the same connection."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pyarrow as pa

from windrow.errors import InvalidArgument
from windrow.tables.arrow_tables import ArrowTable
from windrow.tables.contract import Like, Source, with_stand_ins


class DuckDBRelation(Source):
    """A relation of DuckDB."""

    def __init__(self, relation: Any) -> None:
        self._relation = relation
        self._table: pa.Table | None = None

    def arrow(
        self, read: Collection[str], *, keys: Collection[str] = (), returned: bool = False
    ) -> pa.Table:
        """The rows in the order in which the relation gives them."""
        names = list(self._relation.columns)
        wanted = [name for name in names if name in read and names.count(name) == 1]
        if returned or not wanted:
            self._table = pa.table(self._relation)
            return self._table
        quoted = ", ".join('"{}"'.format(name.replace('"', '""')) for name in wanted)
        found = pa.table(self._relation.project(quoted))
        return with_stand_ins(names, {name: found[name] for name in wanted}, found.num_rows)

    def with_columns(self, answers: pa.Table, like: Like) -> Any:
        """A relation of the rows that were read, and the answers."""
        return self._related(ArrowTable(self._table).with_columns(answers, like))

    def of_same_kind(self, answers: pa.Table, like: Like, keys: Collection[str]) -> Any:
        """A relation of the answers."""
        return self._related(answers)

    def _related(self, windrow_answers_of_this_call: pa.Table) -> Any:
        # DuckDB finds a variable by its name, so nothing is registered with the connection.
        query = "select * from windrow_answers_of_this_call"
        import duckdb

        try:
            return self._relation.query("windrow_data_of_this_call", query)
        except duckdb.CatalogException:
            raise InvalidArgument(
                "data: the relation's connection sets python_enable_replacements to false, so it "
                "cannot read the answers; give relation.to_arrow_table()"
            ) from None
