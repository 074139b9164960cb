"""`wr.cql`: continuous queries as text."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa

from windrow.api import is_spark
from windrow.cql.answers import CallRun
from windrow.cql.names import Names
from windrow.cql.parser import parse_query
from windrow.cql.plans import QueryPlan, plan_of
from windrow.cql.sharing import SharedCall, shared_calls
from windrow.cql.translation import Translated, translated
from windrow.cql.tree import Statement
from windrow.errors import InvalidArgument
from windrow.iterators.call import is_stream
from windrow.iterators.checkpoint import Checkpoint
from windrow.stores.contract import Store
from windrow.tables.choose import is_lazy, to_table


def cql(
    text: str,
    /,
    *,
    lateness: str | timedelta | None = None,
    schema: Any = None,
    shards: int | None = None,
    history: Any = None,
    checkpoint: str | Path | Store | Checkpoint | None = None,
    **tables: Any,
) -> Query:
    """A continuous query as text, on these tables: `SELECT ... FROM table [window] ...`.

    Args:
        text: one statement, or several with semicolons between them; docs/cql.md has the grammar.
        lateness, schema, shards, history, checkpoint: for streams, as in `wr.over`.
        tables: what FROM names: data as `wr.over` takes it. Also aggregations of your own and
            policies, by the names that the text calls them by.

    Returns:
        A query. `run()` gives the answers, in data of the table's kind; `plan()` explains; `str`
        gives the text again. Without tables it can be printed and planned.

    Raises:
        InvalidArgument: if the text cannot be read, or asks for what a call would refuse; the
            message shows the place.

    Example:
        >>> import pyarrow as pa, windrow as wr
        >>> from datetime import datetime
        >>> calls = pa.table(
        ...     {
        ...         "ts": [datetime(2026, 5, 1, 9, minute) for minute in (0, 1, 3)],
        ...         "len": [4.0, 9.0, 2.0],
        ...         "caller": ["ann", "bob", "cleo"],
        ...     }
        ... )
        >>> query = wr.cql(
        ...     "SELECT MAX(len) AS longest, ARGMAX(len, caller) AS who FROM calls [ROWS 2]",
        ...     calls=calls,
        ... )
        >>> query.run().select(["longest", "who"]).to_pydict()
        {'longest': [4.0, 9.0, 9.0], 'who': ['ann', 'bob', 'bob']}
    """
    if not isinstance(text, str):
        raise InvalidArgument(f"cql: a query is a text, not {type(text).__name__}")
    options = {
        "lateness": lateness, "schema": schema, "shards": shards, "history": history,
        "checkpoint": checkpoint,
    }  # fmt: skip
    return Query(parse_query(text), Names.of(text, tables), options)


class Query:
    """A text of statements, and the tables that they are about.

    Attributes:
        statements: the statements, each a tree that writes itself.

    >>> import windrow as wr
    >>> query = wr.cql("select max(x) from t [rows 9]")
    >>> print(query)
    SELECT max(x)
    FROM t [ROWS 9]
    """

    def __init__(
        self, statements: tuple[Statement, ...], names: Names, options: Mapping[str, Any]
    ) -> None:
        self.statements, self._names, self._options = statements, names, options
        self._calls: list[SharedCall] | None = None
        if names.tables:
            # Whatever is wrong is said when the query is made.
            self._calls = shared_calls([self._translated(each) for each in statements])
            self._require_one_pass(self._calls)

    def run(self) -> Any:
        """The answers, in data of the table's kind; of several statements a list of them."""
        if self._calls is None:
            table = self.statements[0].table.name
            raise InvalidArgument(f"cql: pass the tables in, as in wr.cql(text, {table}=...)")
        found: dict[int, Any] = {}
        for call in self._calls:
            answers = self._run_of(call).answers()
            for statement, answer in zip(call.statements, answers, strict=True):
                found[id(statement.statement)] = answer
        ordered = [found[id(each)] for each in self.statements]
        return ordered[0] if len(ordered) == 1 else ordered

    def plan(self) -> QueryPlan:
        """What the query does, and why; runs nothing."""
        if self._calls is not None:
            return QueryPlan([plan_of(each, *self._run_of(each).given()) for each in self._calls])
        unknown = [translated(each, self._names, None) for each in self.statements]
        return QueryPlan([plan_of(call, None, call.arguments()) for call in shared_calls(unknown)])

    def _run_of(self, call: SharedCall) -> CallRun:
        return CallRun(call, self._table(call.first.statement), self._names, self._options)

    def _table(self, statement: Statement) -> Any:
        return self._names.table(statement.table)

    def _translated(self, statement: Statement) -> Translated:
        schema = _schema_of(self._table(statement), self._options)
        return translated(statement, self._names, schema)

    def _require_one_pass(self, calls: list[SharedCall]) -> None:
        """Refuse several calls over an input that can be read once."""
        lateness = self._options["lateness"]
        streams = [
            each.table
            for each in calls
            if is_stream(data := self._table(each.first.statement), lateness) and not is_spark(data)
        ]
        for name in streams:
            if streams.count(name) > 1:
                raise InvalidArgument(
                    f"cql: {name} is a stream, which is read once, and its statements take several "
                    "passes; give them the same aggregates or the same windows, with the same "
                    "WHERE and GROUP BY, or one query for each"
                )

    def __str__(self) -> str:
        return ";\n".join(each.text for each in self.statements)

    def __repr__(self) -> str:
        return f"<query of {len(self.statements)} statements>\n{self}"


def _schema_of(data: Any, options: Mapping[str, Any]) -> pa.Schema | None:
    """The columns of a table; None if they are not known yet."""
    if is_spark(data):
        from windrow.spark.bridge.schema import arrow_of

        return arrow_of(data if options["schema"] is None else options["schema"])
    if is_stream(data, options["lateness"]):
        stated = options["schema"] or getattr(data, "schema", None)
        return stated if isinstance(stated, pa.Schema) else None
    if is_lazy(data):
        return to_table(data.clear().collect()).schema
    return to_table(data).schema
