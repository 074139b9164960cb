"""`wr.over`, `wr.slide` and `wr.as_of`: the same calls on every kind of data."""

from __future__ import annotations

from collections.abc import AsyncIterable, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

from windrow.algebra.aggregation import Measure
from windrow.algorithms import AlgorithmName
from windrow.errors import InvalidArgument
from windrow.iterators.call import is_stream, stream_of
from windrow.iterators.checkpoint import Checkpoint
from windrow.planning.choose import Preference, Wish
from windrow.planning.delivery import Emit, Late
from windrow.planning.over_plan import resolve_over
from windrow.planning.slide_plan import Empty, SlicingName, require_slicing, resolve_slide
from windrow.planning.stream_arguments import StreamArguments
from windrow.stores.contract import Store
from windrow.tables.calls import as_of_data, over_data, slide_data
from windrow.windows import Windows


def over(
    data: Any,
    *,
    key: str | Sequence[str] | None = None,
    order: str | Sequence[str] | None = None,
    windows: Windows,
    aggs: Measure | Iterable[Measure],
    algorithm: AlgorithmName | None = None,
    prefer: Preference = "throughput",
    exact: bool = True,
    schema: Any = None,
    lateness: str | timedelta | None = None,
    shards: int | None = None,
    history: Any = None,
    checkpoint: str | Path | Store | Checkpoint | None = None,
    emit: Emit = "final",
    allowed_lateness: str | timedelta | None = None,
    late: Late = "drop",
) -> Any:
    """Give every row the aggregates of the windows that end at it, like SQL's OVER.

    Args:
        data: a DataFrame of Spark, pandas or Polars, a relation of DuckDB, anything else that
            speaks Arrow, a dict of arrays or a list of dicts. NaN in a pandas column is missing.
            With `lateness`, an iterator or async iterator of these, or a `RecordBatchReader`: a
            stream in this process.
        key: the column or columns to keep windows apart by; None for one window over everything.
        order: the column that orders the events, or a list whose further columns break ties. Time
            windows measure by the first. Without it, a table's rows stay in their order.
        windows: one window, a list of them, or a dict that names them, of any kinds: `wr.rows`,
            `wr.time`, `wr.calendar`, `wr.expanding`, `wr.whole`, `wr.delta`, `wr.punctuated`,
            `wr.session`, `wr.policy`. Names that you give, and those of several windows, are in the
            names of the results.
        aggs: what to compute, as in `wr.max("amount")`.
        algorithm: the name of an algorithm, to choose it by hand.
        prefer: what the planner optimizes: "throughput", "latency" or "memory".
        exact: False admits algorithms that subtract floats: values that left a window may leave
            rounding errors in its answers. On Spark it also admits Spark's own variance of a few
            rows, which loses digits far from zero.
        schema: the columns of a Spark DataFrame as a `StructType`. State them in the functions of
            `pyspark.pipelines`, where Spark cannot be asked; there, data with a `lateness` is a
            stream. Or the columns of an iterator's batches as a `pyarrow.Schema`.
        lateness: for a stream without a watermark: how much older than the newest event so far an
            event may be and still count.
        shards: for a stream: the number of parts that keys are kept in; by default the number of
            shuffle partitions, and 1 for an iterator. It stays fixed once a query has started.
        history: for a stream: a table with the events before it, so that the first windows are
            full. What the table makes final is not answered again.
        checkpoint: for an iterator: a folder or a store that keeps state, so that a restarted
            process goes on (see `wr.Checkpoint`).
        emit: for a stream: "final" to give each answer once, when it is final; "updates" to give,
            with each batch, the current answers of every row that its events changed. Then
            `revision` counts the answers of a row from 0, and the last of them is `final`.
        allowed_lateness: with emit="updates": how far behind the watermark events still correct
            answers. What comes later is late.
        late: for a stream: "drop" to count late events and drop them, or "side" to give them as
            rows with their columns in `late`; `wr.late` and `wr.on_time` take them apart.

    Returns:
        All rows and columns, and one more column for each aggregation and window, in data of the
        same kind: Spark, pandas (its index kept), Polars (lazy if the data is) or DuckDB, else a
        `pyarrow.Table`. For an iterator a `wr.Stream`, for an async iterator a `wr.AsyncStream`.

    Raises:
        InvalidArgument: if an argument is wrong; the call is refused before any work is done.
        NotApplicable: if the algorithm that you name cannot serve the aggregation.
        AggregateOverflow: if an integer answer does not fit into 64 bits.
        IncompatibleState: if a checkpoint holds the state of another query.

    Example:
        >>> import pyarrow as pa, windrow as wr
        >>> table = pa.table({"t": [1, 2, 3, 4], "x": [3.0, 1.0, None, 2.0]})
        >>> wr.over(table, order="t", windows=wr.rows(2), aggs=wr.max("x"))["max_x"].to_pylist()
        [3.0, 3.0, 1.0, 2.0]

        A visit ends with the row that says so. Every row has the answer over its visit so far:

        >>> visits = pa.table({"t": [1, 2, 3, 4], "left": [False, True, False, True]})
        >>> answers = wr.over(visits, order="t", windows=wr.punctuated("left"), aggs=wr.count())
        >>> answers["count"].to_pylist()
        [1, 2, 1, 2]
    """
    arguments: dict[str, Any] = {
        "key": key, "order": order, "windows": windows, "aggs": aggs,
        "wish": Wish(algorithm, prefer, exact),
    }  # fmt: skip
    stream = StreamArguments(lateness, shards, history, checkpoint, emit, allowed_lateness, late)
    if is_spark(data):
        from windrow.spark.calls import over_spark

        return over_spark(data, schema, stream, arguments)
    if is_stream(data, lateness):
        return stream_of(data, schema, stream, partial(resolve_over, **arguments))
    require_table(schema, stream)
    return over_data(data, arguments)


def slide(
    data: Any,
    *,
    key: str | Sequence[str] | None = None,
    order: str | Sequence[str],
    windows: Windows,
    aggs: Measure | Iterable[Measure],
    changes_only: bool = False,
    empty: Empty = "skip",
    algorithm: AlgorithmName | None = None,
    prefer: Preference = "throughput",
    exact: bool = True,
    schema: Any = None,
    lateness: str | timedelta | None = None,
    shards: int | None = None,
    history: Any = None,
    checkpoint: str | Path | Store | Checkpoint | None = None,
    emit: Emit = "final",
    allowed_lateness: str | timedelta | None = None,
    late: Late = "drop",
    max_answers: int | None = None,
    slices: SlicingName | None = None,
) -> Any:
    """Answer once per slide: like Spark's F.window, without a copy of each row per window.

    Args:
        data: a DataFrame of Spark, pandas or Polars, a relation of DuckDB, anything else that
            speaks Arrow, a dict of arrays or a list of dicts. NaN in a pandas column is missing.
            With `lateness`, an iterator or async iterator of these, or a `RecordBatchReader`: a
            stream in this process.
        key: the column or columns to keep windows apart by; None for one window over everything.
        order: the column that orders the events, or a list whose further columns break ties. Time
            windows measure by the first.
        windows: one window, a list of them, or a dict that names them, each with `every`.
        aggs: what to compute, as in `wr.max("amount")`.
        changes_only: leave out answers that equal that of the window before of their key. A window
            without events has no answer, so whatever follows it is given.
        empty: "emit" to answer windows of a clock or a calendar that hold no event, between a key's
            first and last window: null, and a count of 0.
        algorithm: the name of an algorithm, to choose it by hand.
        prefer: what the planner optimizes: "throughput", "latency" or "memory".
        exact: False admits algorithms that subtract floats: values that left a window may leave
            rounding errors in its answers.
        schema: the columns of a Spark DataFrame as a `StructType`. State them in the functions of
            `pyspark.pipelines`, where Spark cannot be asked; there, data with a `lateness` is a
            stream. Or the columns of an iterator's batches as a `pyarrow.Schema`.
        lateness: for a stream without a watermark: how much older than the newest event so far an
            event may be and still count.
        shards: for a stream: the number of parts that keys are kept in; by default the number of
            shuffle partitions, and 1 for an iterator. It stays fixed once a query has started.
        history: for a stream: a table with the events before it, so that the first windows are
            full. What the table makes final is not answered again.
        checkpoint: for an iterator: a folder or a store that keeps state, so that a restarted
            process goes on (see `wr.Checkpoint`).
        emit: for a stream: "final" to give each answer once, when it is final; "updates" to give,
            with each batch, the current answer of every window that its events changed. Then
            `revision` counts the answers of a window from 0, and the last of them is `final`.
        allowed_lateness: with emit="updates": how far behind the watermark events still correct
            answers. What comes later is late.
        late: for a stream: "drop" to count late events and drop them, or "side" to give them as
            rows with their columns in `late`; `wr.late` and `wr.on_time` take them apart.
        max_answers: the most answers that a table may have; by default 50 million, or its rows
            times its windows if that is more. On Spark too, the most windows of one kind that may
            hold an event. A call beyond that is refused before any answer is made.
        slices: how a table is cut for periodic windows: "pairs", where windows begin and end,
            which is the default; "cutty", where they begin alone; or "panes", in equal lengths.
            Answers are the same. `wr.plan` shows how many slices and partials each takes.

    Returns:
        The key columns, `window_start`, `window_end` and one column per aggregation, with the
        window's name, `window`, in front if you name it or there are several. Begins and ends have
        the type of the order column, or a finer unit if a window begins or ends between two of its
        ticks. Data of the same kind: Spark (its rows in no particular order), pandas, Polars (lazy
        if the data is) or DuckDB, else a `pyarrow.Table`. For an iterator a `wr.Stream`, for an
        async iterator a `wr.AsyncStream`.

    Raises:
        InvalidArgument: if an argument is wrong; the call is refused before any work is done.
        NotApplicable: if the algorithm that you name cannot serve the aggregation.
        AggregateOverflow: if an integer answer does not fit into 64 bits.
        IncompatibleState: if a checkpoint holds the state of another query.

    Example:
        >>> import pyarrow as pa, windrow as wr
        >>> table = pa.table({"t": [1, 2, 3, 4, 5, 6], "x": [3.0, 1.0, 4.0, 1.0, 5.0, 9.0]})
        >>> answers = wr.slide(table, order="t", windows=wr.rows(4, every=2), aggs=wr.sum("x"))
        >>> answers["sum_x"].to_pylist()
        [4.0, 9.0, 19.0]
    """
    arguments: dict[str, Any] = {
        "key": key, "order": order, "windows": windows, "aggs": aggs,
        "wish": Wish(algorithm, prefer, exact), "changes_only": changes_only,
        "empty": empty, "max_answers": max_answers, "slices": slices,
    }  # fmt: skip
    stream = StreamArguments(lateness, shards, history, checkpoint, emit, allowed_lateness, late)
    require_slicing(slices, of_table=not is_spark(data) and not is_stream(data, lateness))
    if is_spark(data):
        from windrow.spark.calls import slide_spark

        return slide_spark(data, schema, stream, arguments)
    if is_stream(data, lateness):
        return stream_of(data, schema, stream, partial(resolve_slide, **arguments))
    require_table(schema, stream)
    return slide_data(data, arguments)


def as_of(
    queries: Any,
    events: Any,
    *,
    key: str | Sequence[str] | Mapping[str, str | Sequence[str]] | None = None,
    order: str | Sequence[str] | Mapping[str, str | Sequence[str]],
    windows: Windows,
    aggs: Measure | Iterable[Measure] | Mapping[str, Measure | Iterable[Measure]],
    algorithm: AlgorithmName | None = None,
    prefer: Preference = "throughput",
    exact: bool = True,
    schema: Any = None,
    lateness: str | timedelta | None = None,
    shards: int | None = None,
) -> Any:
    """Give every query the aggregates of the events that its windows hold as of its moment.

    This is the point-in-time join of feature stores, and with `wr.last` the as-of join. A query is
    a key and a moment. Its windows end at its moment, and it is no event itself.

    Args:
        queries: data as in `wr.over`.
        events: data as in `wr.over`, or a dict of several sources by name.
        key: the column or columns that a query and its events have in common; None for windows over
            all events. Columns have one name in queries and events. With several sources, a dict
            may give each source a key of its own.
        order: the column with the moments of queries and the times of events, or a list whose
            further columns break ties of events; queries need only the first. With several
            sources, a dict may give each source its own.
        windows: one window, a list of them, or a dict that names them: `wr.time`, `wr.calendar`,
            `wr.rows`, `wr.expanding`, `wr.whole`. An event of the moment itself counts, unless a
            window of time says closed="left" or "neither", or one of rows current=False.
        aggs: what to compute of the events, as in `wr.max("amount")`. With several sources, a dict
            may give each source its own.
        algorithm, prefer, exact: as in `wr.over`.
        schema: as in `wr.over`, for Spark, but a dict with the columns of "queries" and "events",
            or of each source by its name.
        lateness, shards: as in `wr.over`, for streams.

    Returns:
        All rows and columns of the queries, in their order and of their kind, and one more column
        for each aggregation and window, named as in `wr.over`; with several sources, each name
        begins with that of its source. Where a window holds no event, a count is 0 and all else is
        null.

    Raises:
        InvalidArgument: if an argument is wrong; the call is refused before any work is done.
        NotApplicable: if the algorithm that you name cannot serve the aggregation.
        AggregateOverflow: if an integer answer does not fit into 64 bits.

    Example:
        >>> import pyarrow as pa, windrow as wr
        >>> paid = pa.table({"user": [1, 1, 2], "t": [10, 20, 15], "amount": [5.0, 7.0, 9.0]})
        >>> asked = pa.table({"user": [1, 2, 1], "t": [20, 14, 12]})
        >>> found = wr.as_of(
        ...     asked, paid, key="user", order="t", windows=wr.rows(2), aggs=wr.sum("amount")
        ... )
        >>> found["sum_amount"].to_pylist()
        [12.0, None, 5.0]
    """
    arguments: dict[str, Any] = {
        "key": key, "order": order, "windows": windows, "aggs": aggs,
        "wish": Wish(algorithm, prefer, exact),
    }  # fmt: skip
    stream = StreamArguments(lateness, shards, None)
    sources = events if _are_sources(events) else {None: events}
    if any(map(is_spark, (queries, *sources.values()))):
        from windrow.spark.calls import as_of_spark

        return as_of_spark(queries, sources, schema, stream, arguments)
    for argument, each in (("queries", queries), *(("events", data) for data in sources.values())):
        _require_no_batches(argument, each)
    require_table(schema, stream)
    return as_of_data(queries, sources, arguments)


def _are_sources(events: Any) -> bool:
    """Whether the events of `as_of` are several tables by name, and not the columns of one."""

    def is_table(data: Any) -> bool:
        of_rows = isinstance(data, list) and bool(data) and isinstance(data[0], Mapping)
        described = any(hasattr(data, name) for name in ("columns", "schema", "projected_schema"))
        return of_rows or described or isinstance(data, Mapping)

    return isinstance(events, Mapping) and all(map(is_table, events.values()))


def _require_no_batches(argument: str, data: Any) -> None:
    """Refuse a stream in this process, which `as_of` does not take."""
    is_table = hasattr(data, "__arrow_c_stream__")  # a RecordBatchReader is read whole
    if isinstance(data, Iterator | AsyncIterable) and not is_table:
        raise InvalidArgument(
            f"{argument}: wr.as_of takes tables and Spark DataFrames, not an iterator of batches; "
            "collect it, as in pa.Table.from_batches(list(batches))"
        )


def is_spark(data: Any) -> bool:
    """Whether the data is Spark's; this does not import pyspark."""
    return type(data).__module__.startswith("pyspark.")


def require_table(schema: Any, stream: StreamArguments) -> None:
    """Refuse arguments that only Spark takes."""
    if schema is not None:
        raise InvalidArgument("schema: is for Spark DataFrames; other data has its own")
    stream.require_none()
