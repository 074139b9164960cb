"""`wr.plan`: what a call would do with the same arguments, and why."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

from windrow.algebra.aggregation import Measure
from windrow.algorithms import AlgorithmName
from windrow.api import is_spark, require_table
from windrow.errors import InvalidArgument
from windrow.iterators.call import is_stream, plan_of_stream
from windrow.iterators.checkpoint import Checkpoint
from windrow.planning.assumed_schema import assumed_schema
from windrow.planning.calls import RESOLVE, Call, call_meant
from windrow.planning.choose import Preference, Wish
from windrow.planning.delivery import Emit, Late
from windrow.planning.explain import Plan
from windrow.planning.over_plan import OverPlan
from windrow.planning.slide_plan import Empty, SlicingName, SlidePlan, require_slicing
from windrow.planning.stream_arguments import StreamArguments, delay_of
from windrow.planning.stream_plan import StreamPlan
from windrow.stores.contract import Store
from windrow.tables.calls import read_for
from windrow.windows import Windows


def plan(
    data: Any = None,
    *,
    key: str | Sequence[str] | None = None,
    order: str | Sequence[str] | None = None,
    windows: Windows,
    aggs: Measure | Iterable[Measure],
    call: Call | None = None,
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
) -> Plan:
    """Explain what `wr.over`, `wr.slide` or `wr.as_of` would do with the same arguments, and why.

    It runs nothing, and refuses what the call would refuse. For a Spark table it also says where
    the work is done, and for a stream how state is kept, what a batch reads and writes, when
    answers are final, and what must not change for a restart from a checkpoint.

    Args:
        data: the data of the call; of `wr.as_of`, the events of one source. Without it, columns
            are taken to hold floats and no nulls, and order columns to hold times; with
            `lateness`, `shards` or `history` it is a stream.
        key, order, windows, aggs, algorithm, prefer, exact: as in the call.
        schema, lateness, shards, history, checkpoint, emit, allowed_lateness, late: as in the call;
            an iterator needs a `schema`.
        changes_only, empty, max_answers, slices: as in `wr.slide`.
        call: "over", "slide" or "as_of"; by default "slide" if some window says `every`, else
            "over".

    Returns:
        A plan to print. Programs read it with `to_dict()`.

    Raises:
        InvalidArgument, NotApplicable: where the call itself would raise them.

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
    call = call_meant(call, windows)
    arguments: dict[str, Any] = {
        "key": key, "order": order, "windows": windows, "aggs": aggs,
        "wish": Wish(algorithm, prefer, exact),
    }  # fmt: skip
    if call == "slide":
        arguments |= {"changes_only": changes_only, "empty": empty, "max_answers": max_answers}
        arguments["slices"] = slices
    else:
        without = None if empty == "skip" else empty
        _require_slide(
            changes_only=changes_only or None, empty=without, max_answers=max_answers, slices=slices
        )

    stream = StreamArguments(lateness, shards, history, checkpoint, emit, allowed_lateness, late)
    streams = stream.are_given or (data is not None and is_stream(data, lateness))
    require_slicing(slices, of_table=not streams and not is_spark(data))
    if call == "as_of" and (stream.are_given or is_spark(data)):
        raise InvalidArgument(
            "call: 'as_of' is explained for tables in process; give the events as an Arrow table, "
            "or leave data out"
        )
    if is_spark(data):
        from windrow.spark.calls import plan_spark

        return plan_spark(call, data, schema, stream, arguments)
    resolve = RESOLVE[call]
    if data is not None and call != "as_of" and is_stream(data, lateness):
        return plan_of_stream(data, schema, stream, partial(resolve, **arguments))
    if data is None:
        if schema is not None:
            raise InvalidArgument(
                "schema: states the columns of a Spark DataFrame; give data=, too"
            )
        stream.require_valid(key)
        resolved = resolve(assumed_schema(key, order, windows, aggs), **arguments)
        assumed = "Without data, columns are taken to hold floats and no nulls."
        return Plan(resolved, set(), [assumed], stream=_stream_without_data(resolved, stream))
    require_table(schema, stream)
    table, resolved = read_for(data, resolve, arguments)
    read = {*resolved.columns, *resolved.order}
    nullable = {name for name in read if table[name].null_count}
    return Plan(resolved, nullable)


def _stream_without_data(
    resolved: OverPlan | SlidePlan, stream: StreamArguments
) -> StreamPlan | None:
    """What a call does with a stream that is not there; None if the call is not about one."""
    if not stream.are_given:
        return None
    if not resolved.order:
        raise InvalidArgument("order: events of a stream have no order of their own; name a column")
    shards, why = stream.shards, "shards= says so"
    if shards is None and resolved.key:
        why = "as many as spark.sql.shuffle.partitions says; shards= sets another number"
    elif shards is None:
        shards, why = 1, "without a key there is one window"
    from windrow.stream.plan_stream import plan_stream  # calls on tables load nothing of streams

    delay = None if stream.lateness is None else delay_of(stream.lateness)
    return plan_stream(
        resolved,
        set(),
        shards,
        why,
        delay=delay,
        is_own=delay is None,
        has_history=stream.history is not None,
        delivery=stream.delivery,
    )


def _require_slide(**arguments: object) -> None:
    """Refuse arguments that only `slide` takes."""
    for name, given in arguments.items():
        if given is not None:
            raise InvalidArgument(f"{name}: is for wr.slide; wr.over answers every row")
