"""Runs calls on whatever their table is: in process, on Spark, or a stream of batches.

    data -- before --> wr.over or wr.slide -- after, for each statement --> answers

Nothing is computed here: steps are Arrow's work, and windows are windrow's.
"""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterable, Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from windrow import aggregations
from windrow.algebra.condition_text import parse
from windrow.api import is_spark, over, slide
from windrow.cql.names import Names
from windrow.cql.sharing import HAVING, SharedCall
from windrow.cql.steps import Step
from windrow.cql.translation import ROW, Translated
from windrow.cql.tree import name_text
from windrow.cql.windows import by_clock, two_windows
from windrow.errors import InvalidArgument
from windrow.iterators.call import is_stream
from windrow.planning.slide_plan import END, NAME, START
from windrow.tables.choose import is_lazy, source_of, to_table
from windrow.tables.polars_frames import lazily, of_no_rows

_COUNT = "answers so far"


class CallRun:
    """A call on its table."""

    def __init__(self, call: SharedCall, data: Any, names: Names, options: Mapping[str, Any]):
        self._call, self._data, self._names = call, data, names
        self._options = {name: each for name, each in options.items() if each is not None}

    @property
    def _is_stream(self) -> bool:
        return is_stream(self._data, self._options.get("lateness"))

    def answers(self) -> list[Any]:
        """The answers of each statement."""
        if is_spark(self._data):
            return self._on_spark()
        if self._is_stream:
            return self._on_stream()
        if self._options:
            raise InvalidArgument(
                f"{next(iter(self._options))}: is for streams, and {self._call.table} is a table"
            )
        if is_lazy(self._data):
            return [self._lazily(place) for place in range(len(self._call.statements))]
        return self._on_table(source_of(self._data), to_table(self._data))

    def given(self) -> tuple[Any, dict[str, Any]]:
        """The data and the arguments of the Python call."""
        arguments = {**self._call.arguments(), **self._options}
        if is_spark(self._data):
            return stepped(self._data, self._call.before), arguments
        if self._is_stream:
            return self._stream_given(arguments)
        if is_lazy(self._data):
            return self._rows(to_table(of_no_rows(self._data)._frame)), arguments
        return self._rows(to_table(self._data)), arguments

    def _run(self, data: Any, arguments: Mapping[str, Any]) -> Any:
        return (over if self._call.first.call == "over" else slide)(data, **arguments)

    # Tables --------------------------------------------------------------------------------------

    def _on_table(self, source: Any, table: pa.Table) -> list[Any]:
        found = self._run(self._rows(table), self._call.arguments())
        made = []
        for statement in self._call.statements:
            answers = self._finished(found, statement, table.column_names)
            keys = [name for name in self._call.first.key if name in answers.column_names]
            made.append(source.of_same_kind(answers, {}, keys))
        return made

    def _rows(self, table: pa.Table) -> pa.Table:
        if self._call.first.numbered:
            table = table.append_column(ROW, pa.array(np.arange(table.num_rows)))
        return self._call.before.apply(table)

    def _lazily(self, place: int) -> Any:
        def answered(frame: Any) -> Any:
            return self._on_table(source_of(frame), to_table(frame))[place]

        empty = self._data.clear().collect()
        return lazily(self._data, answered(empty), answered)

    # Spark ---------------------------------------------------------------------------------------

    def _on_spark(self) -> list[Any]:
        if self._call.first.numbered:
            raise self._without_order()
        frame = stepped(self._data, self._call.before)
        found = self._run(frame, {**self._call.arguments(), **self._options})
        names = self._data.columns
        return [self._finished(found, statement, names) for statement in self._call.statements]

    def _without_order(self) -> InvalidArgument:
        return self._names.fail(
            self._call.first.statement.place,
            f"name the column that orders the events of {self._call.table}, as in [ROWS 10 ON ts]",
        )

    # What makes answers of a call's --------------------------------------------------------------

    def _finished(self, found: Any, statement: Translated, columns: Sequence[str]) -> Any:
        if not statement.changes or statement.exact:
            return stepped(found, self._call.after(statement, columns))
        if is_spark(found) and found.isStreaming:
            raise self._changes_of_stream(statement)
        return self._changed(found, statement)

    def _changes_of_stream(self, statement: Translated) -> InvalidArgument:
        return self._names.fail(
            statement.statement.place,
            "on a stream, ISTREAM answers when an aggregate changes; select every aggregate by "
            "itself, those of HAVING too, or use RSTREAM",
        )

    def _changed(self, found: Any, statement: Translated) -> Any:
        """The answers that differ from that of the window before of their key, and meet HAVING."""
        compared = stepped(found, self._call.compared(statement))
        shown = [name for name, _root in statement.results(self._call.is_named)]
        before = {name: f"{name} before" for name in (*shown, HAVING)}
        key = [name for name in statement.leading if name not in (START, END)]
        aggs = [aggregations.lag(name).alias(each) for name, each in before.items()]
        reaches = {name: two_windows(each) for name, each in statement.windows.items()}
        with_previous = over(
            compared, key=key or None, windows=reaches,
            order=START if all(map(by_clock, statement.windows.values())) else END,
            aggs=[*aggs, aggregations.count().alias(_COUNT)],
        )  # fmt: skip
        news = [_is_news(window, before, statement.named) for window in reaches]
        condition = parse(f"{HAVING} and ({' or '.join(news)})", "ISTREAM")
        columns = {name: parse(name_text(name), "ISTREAM") for name in (*statement.leading, *shown)}
        return stepped(with_previous, Step((condition,), columns, keeps=False))

    # Streams -------------------------------------------------------------------------------------

    def _on_stream(self) -> list[Any]:
        first = self._call.first
        if first.numbered:
            raise self._without_order()
        if first.changes and not first.exact:
            raise self._changes_of_stream(first)
        data, arguments = self._stream_given({**self._call.arguments(), **self._options})
        stream = self._run(data, arguments)
        schema = self._options.get("schema")
        names = [] if schema is None else schema.names
        steps = [self._call.after(each, names) for each in self._call.statements]
        if isinstance(data, AsyncIterable):
            if len(steps) > 1:
                raise InvalidArgument(
                    f"{self._call.table}: an async iterator answers one statement at a time"
                )
            return [AsyncAnswers(stream, steps[0])]
        if len(steps) == 1:
            return [Answers(stream, iter(stream), steps[0])]
        return [
            Answers(stream, each, step)
            for each, step in zip(itertools.tee(stream, len(steps)), steps, strict=True)
        ]

    def _stream_given(self, arguments: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        before, data = self._call.before, self._data
        if before.is_idle:
            return data, arguments
        if "history" in arguments:
            arguments["history"] = before.apply(to_table(arguments["history"]))
        schema = arguments.get("schema") or getattr(data, "schema", None)
        if isinstance(schema, pa.Schema):
            arguments["schema"] = before.apply(schema.empty_table()).schema
        if callable(data) and not hasattr(data, "__iter__"):
            return (lambda offset: _stepped_batches(data(offset), before)), arguments
        return _stepped_batches(data, before), arguments


def stepped(data: Any, step: Step) -> Any:
    """Data of Spark or Arrow, with a step done to it."""
    if step.is_idle:
        return data
    if is_spark(data):
        from windrow.spark.expressions import with_step

        return with_step(data, step.filters, step.columns, step.keeps)
    return step.apply(data)


def _is_news(window: str, before: Mapping[str, str], named: bool) -> str:
    """The condition that an answer of a window is news.

    Args:
        window: its name.
        before: the columns that are compared, and what those of the answer before begin with.
        named: whether answers say which window they are of.
    """
    previous = {name: name_text(f"{each}_{window}") for name, each in before.items()}
    met = previous.pop(HAVING)
    found = [f"{name_text(f'{_COUNT}_{window}')} = 1", f"not {met}"]
    found += [_differs(name_text(name), each) for name, each in previous.items()]
    of_window = f"{NAME} = {_text(window)} and " if named else ""
    return f"({of_window}({' or '.join(found)}))"


def _text(value: str) -> str:
    """A text as a condition writes it."""
    return "'" + value.replace("'", "''") + "'"


def _differs(name: str, before: str) -> str:
    """The condition that two columns differ: nulls equal nulls, and NaN equals NaN."""
    return (
        f"({name} is null and {before} is not null or {name} is not null and {before} is null or "
        f"{name} != {before} and not ({name} != {name} and {before} != {before}))"
    )


def _stepped_batches(data: Any, step: Step) -> Any:
    """Batches with a step done to each; a pair keeps its offset."""

    def done(item: Any) -> Any:
        if isinstance(item, tuple) and len(item) == 2:
            return step.apply(to_table(item[0])), item[1]
        return step.apply(to_table(item))

    if isinstance(data, AsyncIterable):
        return _each_later(data, done)
    return map(done, data)


async def _each_later(data: AsyncIterable[Any], function: Callable[[Any], Any]) -> Any:
    async for item in data:
        yield function(item)


class _Finished:
    """A stream whose answers go through a step; all else is the stream's own."""

    def __init__(self, stream: Any, step: Step) -> None:
        self._stream, self._step = stream, step

    @property
    def schema(self) -> pa.Schema:
        """The columns of answers."""
        return self._step.apply(self._stream.schema.empty_table()).schema

    def _done(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        table = self._step.apply(pa.Table.from_batches([batch])).combine_chunks()
        return table.to_batches()[0] if table.num_rows else _empty_batch(table.schema)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class Answers(_Finished, Iterator[pa.RecordBatch]):
    """The answers of a statement over an iterator, as they become final: a `wr.Stream` to use."""

    def __init__(self, stream: Any, given: Iterator[pa.RecordBatch], step: Step) -> None:
        super().__init__(stream, step)
        self._given = given

    def __next__(self) -> pa.RecordBatch:
        """The next answers; batches without any are left out."""
        while True:
            batch = self._done(next(self._given))
            if batch.num_rows:
                return batch

    def __enter__(self) -> Answers:
        """Close the stream at the end of the block."""
        return self

    def __exit__(self, *problem: object) -> None:
        self._stream.close()

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Let pyarrow, pandas, Polars, DuckDB and others read all answers."""
        reader = pa.RecordBatchReader.from_batches(self.schema, self)
        return reader.__arrow_c_stream__(requested_schema)


class AsyncAnswers(_Finished):
    """The answers of a statement over an async iterator, as they become final."""

    def __aiter__(self) -> AsyncAnswers:
        """Itself."""
        return self

    async def __anext__(self) -> pa.RecordBatch:
        """The next answers; batches without any are left out."""
        while True:
            batch = self._done(await anext(self._stream))
            if batch.num_rows:
                return batch

    async def __aenter__(self) -> AsyncAnswers:
        """Close the stream at the end of the block."""
        return self

    async def __aexit__(self, *problem: object) -> None:
        await self._stream.aclose()


def _empty_batch(schema: pa.Schema) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array([], each.type) for each in schema], schema=schema)
