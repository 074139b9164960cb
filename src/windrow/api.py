"""`wr.over`, `wr.slide` and `wr.plan`: the same calls on every kind of data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Any

import pyarrow as pa

from windrow.algebra.aggregation import Measure
from windrow.engine.over_table import over_table, to_table
from windrow.engine.slide_table import slide_table
from windrow.errors import InvalidArgument
from windrow.planning.assumed_schema import assumed_schema
from windrow.planning.choose import Wish
from windrow.planning.explain import Plan
from windrow.planning.over_plan import OverPlan, require_final, resolve_over
from windrow.planning.slide_plan import SlidePlan, resolve_slide
from windrow.planning.stream_arguments import STREAMED, require_told
from windrow.windows import Windows, named


def over(
    data: Any,
    *,
    key: str | Sequence[str] | None = None,
    order: str | Sequence[str] | None = None,
    windows: Windows,
    aggs: Measure | Iterable[Measure],
    algorithm: str | None = None,
    prefer: str = "throughput",
    exact: bool = True,
    schema: Any = None,
    lateness: str | timedelta | None = None,
    shards: int | None = None,
    history: Any = None,
) -> Any:
    """Give every row the aggregates of the windows that end at it, like SQL's OVER.

    Args:
        data: a Spark DataFrame, or anything that speaks Arrow: pyarrow, pandas, Polars, DuckDB.
        key: the column or columns that set windows apart; None for one window over everything.
        order: the column that orders the events, or a list whose others break ties. Time windows
            measure by the first. Without it, a table's rows come as they are.
        windows: one window, a list of them, or a dict that names them, of any kinds: `wr.rows`,
            `wr.time`, `wr.delta`, `wr.punctuated`, `wr.session`, `wr.policy`.
        aggs: what to compute, as in `wr.max("amount")`.
        algorithm: the name of an algorithm, to choose it by hand.
        prefer: what the planner is to look for: "throughput", "latency" or "memory".
        exact: False, to admit algorithms that subtract floats: what has left a window may leave
            something behind in its answers. On Spark, also to admit its own variance of a few rows,
            which loses digits far from zero.
        schema: the columns of a Spark DataFrame as a `StructType`, for where Spark cannot be asked
            for them: in the functions of `pyspark.pipelines`; there `lateness` tells a stream.
        lateness: on a stream without a watermark of its own, how much older than the newest event
            seen an event may come and still be counted.
        shards: on a stream, in how many parts the keys are kept, as many as there are shuffle
            partitions unless said; fixed once a query has started.
        history: on a stream, the table that it goes on from, with the events before: so that the
            first windows are full. What the table makes final is not answered again.

    Returns:
        All rows and columns, and one more column per aggregation and window: a Spark DataFrame for
        a Spark DataFrame, else a `pyarrow.Table`.

    Example:
        >>> import pyarrow as pa, windrow as wr
        >>> table = pa.table({"t": [1, 2, 3, 4], "x": [3.0, 1.0, None, 2.0]})
        >>> wr.over(table, order="t", windows=wr.rows(2), aggs=wr.max("x"))["max_x"].to_pylist()
        [3.0, 3.0, 1.0, 2.0]

        A visit ends with the row that says so, and every row is answered over its visit so far:

        >>> visits = pa.table({"t": [1, 2, 3, 4], "left": [False, True, False, True]})
        >>> answers = wr.over(visits, order="t", windows=wr.punctuated("left"), aggs=wr.count())
        >>> answers["count"].to_pylist()
        [1, 2, 1, 2]
    """
    arguments: dict[str, Any] = {
        "key": key, "order": order, "windows": windows, "aggs": aggs,
        "wish": Wish(algorithm, prefer, exact),
    }  # fmt: skip
    told = {"lateness": lateness, "shards": shards, "history": history}
    if _is_spark(data):
        from windrow.spark.batch.over_dataframe import over_dataframe

        return over_dataframe(data, schema=schema, **told, **arguments)
    table = _table(data, schema, **told)
    return over_table(table, resolve_over(table.schema, **arguments))


def slide(
    data: Any,
    *,
    key: str | Sequence[str] | None = None,
    order: str | Sequence[str],
    windows: Windows,
    aggs: Measure | Iterable[Measure],
    changes_only: bool = False,
    algorithm: str | None = None,
    prefer: str = "throughput",
    exact: bool = True,
    schema: Any = None,
    lateness: str | timedelta | None = None,
    shards: int | None = None,
    history: Any = None,
    max_answers: int | None = None,
) -> Any:
    """An answer per slide: like Spark's F.window, without a copy of each row per window.

    Args:
        data: a Spark DataFrame, or anything that speaks Arrow: pyarrow, pandas, Polars, DuckDB.
        key: the column or columns that set windows apart; None for one window over everything.
        order: the column that orders the events, or a list whose others break ties. Time windows
            measure by the first.
        windows: one window, a list of them, or a dict that names them, each with `every`.
        aggs: what to compute, as in `wr.max("amount")`.
        changes_only: leave out answers that are equal to the key's answer before.
        algorithm: the name of an algorithm, to choose it by hand.
        prefer: what the planner is to look for: "throughput", "latency" or "memory".
        exact: False, to admit algorithms that subtract floats: what has left a window may leave
            something behind in its answers.
        schema: the columns of a Spark DataFrame as a `StructType`, for where Spark cannot be asked
            for them: in the functions of `pyspark.pipelines`; there `lateness` tells a stream.
        lateness: on a stream without a watermark of its own, how much older than the newest event
            seen an event may come and still be counted.
        shards: on a stream, in how many parts the keys are kept, as many as there are shuffle
            partitions unless said; fixed once a query has started.
        history: on a stream, the table that it goes on from, with the events before: so that the
            first windows are full. What the table makes final is not answered again.
        max_answers: how many answers a table may have, 50 million by default, or as many as it has
            rows for each window if they are more; and in how many windows of one kind an event may
            be, on Spark too. What is beyond is refused before any answer is made.

    Returns:
        The key columns, `window_start`, `window_end` and one column per aggregation, with the
        window's name, `window`, in front if there are several. Begins and ends have the type of the
        order column, or a finer unit if a window begins or ends between two of its ticks. A Spark
        DataFrame for a Spark DataFrame, its rows in no particular order, else a `pyarrow.Table`.

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
        "max_answers": max_answers,
    }  # fmt: skip
    told = {"lateness": lateness, "shards": shards, "history": history}
    if _is_spark(data):
        from windrow.spark.batch.slide_dataframe import slide_dataframe

        return slide_dataframe(data, schema=schema, **told, **arguments)
    table = _table(data, schema, **told)
    return slide_table(table, resolve_slide(table.schema, **arguments))


def _is_spark(data: Any) -> bool:
    """Whether it is Spark's, told without importing pyspark."""
    return type(data).__module__.startswith("pyspark.")


def _table(data: Any, schema: Any, **told: Any) -> pa.Table:
    """Data that is not Spark's as a table, and no argument that is for Spark alone."""
    if schema is not None:
        raise InvalidArgument("schema: is for Spark DataFrames; other data says its own")
    require_final(**told)
    return to_table(data)


def plan(
    data: Any = None,
    *,
    key: str | Sequence[str] | None = None,
    order: str | Sequence[str] | None = None,
    windows: Windows,
    aggs: Measure | Iterable[Measure],
    call: str | None = None,
    changes_only: bool = False,
    algorithm: str | None = None,
    prefer: str = "throughput",
    exact: bool = True,
    schema: Any = None,
    lateness: str | timedelta | None = None,
    shards: int | None = None,
    history: Any = None,
    max_answers: int | None = None,
) -> Plan:
    """What `wr.over` or `wr.slide` would do with the same arguments, and why; nothing is run.

    Args:
        data: what the call would get, for the types of its columns; without it, columns are taken
            to hold floats and no nulls, and order columns times.
        key, order, windows, aggs, algorithm, prefer, exact, schema, lateness, shards, history: as
            in the call, and checked as it does; of a stream, the plan is that of its events as a
            table.
        changes_only, max_answers: as in `wr.slide`.
        call: "over" or "slide"; by default "slide" if some window says `every`.

    Returns:
        A plan to print; `to_dict()` gives it to programs.

    Example:
        >>> import windrow as wr
        >>> print(wr.plan(order="ts", windows=wr.rows(100), aggs=wr.max("x"), algorithm="daba"))
        over: 1 window, ordered by ts
        <BLANKLINE>
        max(x): compiled, in one pass; a partial is 1 number
          rows_100  daba  about ... an event, 200 partials, 1,600 bytes a key
          daba because it was asked for
        <BLANKLINE>
        Work
          1. sort the rows by ts, unless they are
          2. go over the rows, a window at a time, in pieces on all cores
        <BLANKLINE>
        Without data, columns are taken to hold floats and no nulls.
    """
    if call is None:
        slides = any(getattr(window, "every", None) for window in named(windows).values())
        call = "slide" if slides else "over"
    if call not in ("over", "slide"):
        raise InvalidArgument(f"call: 'over' or 'slide', not {call!r}")
    arguments: dict[str, Any] = {
        "key": key, "order": order, "windows": windows, "aggs": aggs,
        "wish": Wish(algorithm, prefer, exact),
    }  # fmt: skip
    if call == "slide":
        arguments |= {"changes_only": changes_only, "max_answers": max_answers}
    else:
        _require_slide(changes_only=changes_only or None, max_answers=max_answers)

    def resolve(types: pa.Schema) -> OverPlan | SlidePlan:
        resolver = resolve_slide if call == "slide" else resolve_over
        return resolver(types, **arguments)

    told = {"lateness": lateness, "shards": shards, "history": history}
    if _is_spark(data):
        from windrow.spark.batch.plans import planned

        return planned(data, resolve, schema=schema, **told)
    if data is None:
        if schema is not None:
            raise InvalidArgument(
                "schema: states the columns of a Spark DataFrame; give data=, too"
            )
        streamed = STREAMED if require_told(key, **told) else ()
        resolved = resolve(assumed_schema(key, order, windows, aggs))
        assumed = "Without data, columns are taken to hold floats and no nulls."
        return Plan(resolved, set(), (assumed, *streamed))
    table = _table(data, schema, **told)
    nullable = {name for name in table.column_names if table[name].null_count}
    return Plan(resolve(table.schema), nullable)


def _require_slide(**arguments: object) -> None:
    """Refuse what only `slide` is told."""
    for name, given in arguments.items():
        if given is not None:
            raise InvalidArgument(f"{name}: is for wr.slide; wr.over answers every row")
