"""`wr.warm_up`: what a call will need, compiled ahead of time.

Which kernels a call needs follows from its plan and from the way that the data comes. So the call
is made, on a few rows that are made up for the schema. Sizes are almost nothing, so that what
happens to many rows happens to these: windows outgrow their memory, rows come out of order. What is
compiled lies in the cache on disk, where every process finds it.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import numpy as np
import pyarrow as pa

from windrow import api
from windrow.algebra.aggregation import Measure
from windrow.algebra.kinds import Kind, plain_type, seconds_per_tick
from windrow.compiler import machine_code
from windrow.errors import AggregateOverflow, DivisionByZero, InvalidArgument
from windrow.planning.calls import RESOLVE, Call, call_meant
from windrow.planning.choose import Wish
from windrow.planning.over_plan import OverPlan, names_given
from windrow.planning.slide_plan import SlidePlan
from windrow.tables.calls import read_for
from windrow.windows import Windows
from windrow.work import sizes

#: rows that are made up; enough that windows outgrow room for two
ROWS = 24
_SMALL = {
    "window_capacity": 2, "largest_first_capacity": 2, "slice_capacity": 2, "smallest_sorted": 2,
    "smallest_block": 2,
}  # fmt: skip
#: how far apart rows are, in seconds, so that windows by a clock hold few rows and many
_APART = (0.0, 1.0, 60.0, 3600.0)
#: what only streams take, and what needs no kernels of its own
_OF_STREAMS = ("emit", "allowed_lateness", "late")
_OF_PLACES = ("schema", "shards", "history", "checkpoint")
#: no more answers are made to warm up
_MOST_ANSWERS = 100_000


@dataclass(frozen=True)
class WarmUp:
    """What `wr.warm_up` did.

    Attributes:
        compiled: the kernels and loops that were compiled now, by name; the others were there.
        seconds: how long all of it took.

    >>> print(WarmUp((), 0.5))
    nothing to compile, found out in 0.5 s
    """

    compiled: tuple[str, ...]
    seconds: float

    def __str__(self) -> str:
        if not self.compiled:
            return f"nothing to compile, found out in {self.seconds:.1f} s"
        count = len(self.compiled)
        kernels = "1 kernel" if count == 1 else f"{count} kernels"
        return f"{kernels} compiled in {self.seconds:.1f} s: {', '.join(self.compiled)}"


def warm_up(
    data: Any,
    *,
    call: Call | None = None,
    key: str | Sequence[str] | None = None,
    order: str | Sequence[str] | None = None,
    windows: Windows,
    aggs: Measure | Iterable[Measure],
    lateness: str | timedelta | None = None,
    **others: Any,
) -> WarmUp:
    """Compile what a call with the same arguments needs, into the cache that processes share.

    Without it, the first call in a new place takes a second or two to compile. Call it where the
    cache is made: when an image is built, or once on a machine before its workers start.

    Args:
        data: the columns of the call: a `pyarrow.Schema`, a table of any kind, with or without
            rows, or a Spark DataFrame or `StructType`. Of a table with rows, windrow looks which
            columns hold nulls. Else it compiles for both: no nulls, and nulls in every column that
            may hold them.
        call: "over", "slide" or "as_of"; by default "slide" if some window says `every`, else
            "over". For "as_of", data is the events of one source.
        key, order, windows, aggs: as in the call.
        lateness: as in the call, for a stream: of one process, or of Spark.
        **others: as in the call, such as `algorithm`, `prefer`, `exact`, `empty` and `emit`.

    Returns:
        What was compiled, and how long it took; print it.

    Raises:
        InvalidArgument, NotApplicable: where the call itself would raise them.

    Example:
        >>> import pyarrow as pa, windrow as wr
        >>> columns = pa.schema({"t": pa.timestamp("us"), "x": pa.float64()})
        >>> arguments = {"order": "t", "windows": wr.rows(100), "aggs": wr.max("x")}
        >>> first = wr.warm_up(columns, **arguments)
        >>> wr.warm_up(columns, **arguments).compiled
        ()
    """
    call = call_meant(call, windows)
    aggs = [aggs] if isinstance(aggs, Measure) else list(aggs)
    streamed = _of_streams(call, lateness, others)
    of_tables = {name: others[name] for name in others.keys() - {*_OF_STREAMS, *_OF_PLACES}}
    arguments = {"key": key, "order": order, "windows": windows, "aggs": aggs, **of_tables}
    began, before = time.perf_counter(), len(machine_code.COMPILED)
    schema, with_nulls = _columns_of(data, call, arguments)
    run = _Run(call, arguments, streamed, of_spark=api.is_spark(data))
    run.refuse(schema)
    for nulls in with_nulls:
        run.on(schema, nulls)
    made = tuple(each.what for each in machine_code.COMPILED[before:])
    return WarmUp(made, time.perf_counter() - began)


def _of_streams(call: Call, lateness: Any, others: Mapping[str, Any]) -> dict[str, Any]:
    """What only a stream takes, nothing for a table; refuses what the call does not take."""
    known = inspect.signature(getattr(api, call)).parameters
    for name in others:
        if name not in known:
            raise InvalidArgument(f"{name}: wr.{call} takes no such argument")
    given = {name: others[name] for name in _OF_STREAMS if name in others}
    if lateness is None:
        for name in given:
            raise InvalidArgument(f"{name}: is for streams; say lateness=, too")
        return {}
    if call == "as_of":
        raise InvalidArgument("lateness: streams of wr.as_of cannot be warmed up; leave it out")
    return {"lateness": lateness, **given}


def _columns_of(
    data: Any, call: str, arguments: Mapping[str, Any]
) -> tuple[pa.Schema, list[set[str]]]:
    """The columns of the data, and which sets of columns to put nulls into."""
    if api.is_spark(data):
        from windrow.spark.bridge.schema import arrow_of

        data = arrow_of(data)
    if not isinstance(data, pa.Schema):
        table, _plan = read_for(data, RESOLVE[call], _planned(call, arguments))
        if table.num_rows:
            return table.schema, [{each for each in table.column_names if table[each].null_count}]
        data = table.schema
    may = {field.name for field in data if field.nullable}
    may -= {*names_given("key", arguments["key"]), *names_given("order", arguments["order"])}
    return data, [set(), may] if may else [set()]


def _planned(call: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments as plans take them."""
    wish = Wish(*(arguments.get(name, given) for name, given in _WISHES.items()))
    others = {name: arguments[name] for name in arguments if name not in _WISHES}
    return {**(_SLIDES if call == "slide" else {}), **others, "wish": wish}


_WISHES: dict[str, Any] = {"algorithm": None, "prefer": "throughput", "exact": True}
_SLIDES: dict[str, Any] = {"changes_only": False, "empty": "skip", "max_answers": None}


@dataclass
class _Run:
    """A call, made on rows that mean nothing."""

    call: str
    arguments: dict[str, Any]
    streamed: dict[str, Any]
    of_spark: bool

    def refuse(self, schema: pa.Schema) -> None:
        """Refuse what the call would refuse."""
        RESOLVE[self.call](schema, **_planned(self.call, self.arguments))

    def on(self, schema: pa.Schema, nulls: set[str]) -> None:
        """Make the call in every way that data comes."""
        keys = names_given("key", self.arguments["key"])
        order = names_given("order", self.arguments["order"])
        for number, apart in enumerate(_apart(schema, order)):
            rows = _rows(schema, keys, order, nulls, apart)
            for of_size in ({}, _SMALL):
                # Kernels are wanted, not answers: made-up values may overflow.
                refused = () if number == 0 else (InvalidArgument,)  # too many answers
                with sizes.using(**of_size), suppress(AggregateOverflow, DivisionByZero, *refused):
                    self._answer(rows, [*keys, *order])

    def _answer(self, rows: pa.Table, sorted_by: list[str]) -> None:
        if self.streamed:
            self._stream(rows)
            return
        shuffled = rows.take(pa.array(np.random.default_rng(1).permutation(len(rows))))
        for table in (rows, shuffled):
            self._on_table(table)
        if self.of_spark and self.call != "as_of":
            self._on_batches(rows.sort_by([(name, "ascending") for name in sorted_by]))

    def _on_table(self, table: pa.Table) -> None:
        if self.call == "over":
            api.over(table, **self.arguments)
        elif self.call == "slide":
            api.slide(table, **{"max_answers": _MOST_ANSWERS, **self.arguments})
        else:
            api.as_of(table, table, **self.arguments)

    def _on_batches(self, rows: pa.Table) -> None:
        """As a task of Spark does it."""
        from windrow.engine.over_batches import over_batches
        from windrow.engine.slide_batches import slide_batches

        plan: OverPlan | SlidePlan = RESOLVE[self.call](
            rows.schema, **_planned(self.call, self.arguments)
        )
        nullable = {field.name for field in rows.schema if field.nullable}
        batches: Any = rows.select(plan.columns).to_batches(max_chunksize=ROWS // 3)
        answer: Callable[..., Iterator[Any]] = (
            slide_batches if isinstance(plan, SlidePlan) else over_batches
        )
        for _answers in answer(batches, plan, nullable):
            pass

    def _stream(self, rows: pa.Table) -> None:
        """With state in this process, and as bytes, as on Spark."""
        from windrow.stores.memory import MemoryStore

        answer = api.slide if self.call == "slide" else api.over
        for checkpoint in (None, MemoryStore()):
            batches = iter(rows.to_batches(max_chunksize=ROWS // 3))
            stream = answer(batches, checkpoint=checkpoint, **self.streamed, **self.arguments)
            for _answers in stream:
                pass


def _apart(schema: pa.Schema, order: Sequence[str]) -> list[int]:
    """Distances between two rows, in ticks of the order column, the closest first."""
    data_type = plain_type(schema.field(order[0]).type) if order else pa.int64()
    if not Kind.of(data_type).in_ticks:
        return [1]
    return sorted({max(1, round(each / seconds_per_tick(data_type))) for each in _APART})


def _rows(
    schema: pa.Schema, keys: Sequence[str], order: Sequence[str], nulls: set[str], apart: int
) -> pa.Table:
    """Rows that mean nothing: of two keys, in order, and with nulls in some columns."""
    numbers = np.arange(ROWS)
    columns = {}
    for field in schema:
        if field.name in keys:
            values = _values(field.type, numbers >= ROWS // 2)
        elif field.name in order:
            values = _moments(field.type, numbers * apart)
        else:
            values = _values(field.type, numbers % 2 == 0)
        if field.name in nulls:
            values = pa.array([None, *values.to_pylist()[1:]], field.type)
        columns[field.name] = values
    return pa.table(columns, schema=schema)


def _moments(data_type: pa.DataType, numbers: Any) -> pa.Array:
    """Values in order, as far apart as numbers are."""
    plain = plain_type(data_type)
    if Kind.of(plain).in_ticks:
        width = pa.int32() if plain.bit_width == 32 else pa.int64()
        return pa.array(numbers, pa.int64()).cast(width).cast(plain).cast(data_type)
    if Kind.of(plain) in (Kind.INTEGER, Kind.FLOAT):
        return pa.array(numbers % 100).cast(plain).cast(data_type)
    return _values(data_type, numbers >= 0)


def _values(data_type: pa.DataType, of_first: Any) -> pa.Array:
    """Two values of a type, the first of them where it is said."""
    plain = plain_type(data_type)
    kind = Kind.of(plain)
    if kind is Kind.NESTED:
        return pa.nulls(len(of_first), data_type)
    if kind.in_ticks:
        return _moments(data_type, np.where(of_first, 1, 2))
    first, second = kind.examples
    made = [first if chosen else second for chosen in of_first]
    if kind is Kind.DECIMAL:
        return pa.array([int(each) for each in made]).cast(plain).cast(data_type)
    return pa.array(made).cast(plain).cast(data_type)
