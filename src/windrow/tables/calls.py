"""`over`, `slide` and `as_of` on tables in this process, whatever their kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

import pyarrow as pa

from windrow.engine.as_of_table import as_of_table
from windrow.engine.over_table import over_table
from windrow.engine.slide_table import slide_table
from windrow.errors import InvalidArgument
from windrow.planning.as_of_plan import AsOfPlan, given_by_source, resolve_as_of
from windrow.planning.assumed_schema import assumed_schema
from windrow.planning.over_plan import OverPlan, names_given, resolve_over
from windrow.planning.slide_plan import END, START, SlidePlan, resolve_slide
from windrow.tables.choose import is_lazy, source_of
from windrow.tables.contract import Like, Source
from windrow.tables.polars_frames import lazily, of_no_rows

_Plan = TypeVar("_Plan", bound=OverPlan | SlidePlan)
Arguments = Mapping[str, Any]


def over_data(data: Any, arguments: Arguments) -> Any:
    """The data with the answers of `over` as more columns, of the same kind."""

    def answered(source: Source, answers: Callable[[pa.Table, OverPlan], pa.Table]) -> Any:
        table, plan = _read(source, resolve_over, arguments, returned=True)
        return source.with_columns(answers(table, plan), _like_over(source, plan))

    arguments = _repeatable(arguments)
    if is_lazy(data):
        return lazily(
            data,
            answered(of_no_rows(data), _no_rows_over),
            lambda rows: answered(source_of(rows), over_table),
        )
    return answered(source_of(data), over_table)


def slide_data(data: Any, arguments: Arguments) -> Any:
    """The answers of `slide`, of the same kind as the data."""

    def answered(source: Source, answers: Callable[[pa.Table, SlidePlan], pa.Table]) -> Any:
        table, plan = _read(source, resolve_slide, arguments)
        found = answers(table, plan)
        return source.of_same_kind(found, _like_slide(source, plan), plan.key)

    arguments = _repeatable(arguments)
    if is_lazy(data):
        return lazily(
            data,
            answered(of_no_rows(data), _no_rows_slide),
            lambda rows: answered(source_of(rows), slide_table),
        )
    return answered(source_of(data), slide_table)


def as_of_data(queries: Any, events: Mapping[Any, Any], arguments: Arguments) -> Any:
    """The queries with the answers of `as_of` as more columns, of the same kind.

    `events` are the sources by name. A LazyFrame of events is collected at the call.
    """
    arguments = _repeatable(arguments)
    given = given_by_source(events, **{name: arguments[name] for name in ("key", "order", "aggs")})
    sources, tables = [], []
    for name, each in events.items():
        with _blaming("events" if name is None else f"events[{name!r}]"):
            sources.append(source_of(each.collect() if is_lazy(each) else each))
            named = assumed_schema(windows=arguments["windows"], **given[name]).names
            tables.append(sources[-1].arrow(named))
    schemas = dict(zip(events, [table.schema for table in tables], strict=True))
    joined = {
        name
        for each in given.values()
        for argument in ("key", "order")
        for name in names_given(argument, each[argument])
    }

    def answered(
        source: Source, answers: Callable[[pa.Table, list[pa.Table], list[AsOfPlan]], pa.Table]
    ) -> Any:
        with _blaming("queries"):
            asked = source.arrow(joined, returned=True)
        plans = resolve_as_of(asked.schema, schemas, **arguments)
        like: dict[str, tuple[Any, ...]] = {}
        for each, plan in zip(sources, plans, strict=True):
            like |= _like_over(each, plan)
        return source.with_columns(answers(asked, tables, plans), like)

    if is_lazy(queries):
        return lazily(
            queries,
            answered(of_no_rows(queries), _no_rows_as_of),
            lambda rows: answered(source_of(rows), as_of_table),
        )
    with _blaming("queries"):
        source = source_of(queries)
    return answered(source, as_of_table)


@contextmanager
def _blaming(argument: str) -> Iterator[None]:
    """Problems with data name the argument that gives it."""
    try:
        yield
    except InvalidArgument as error:
        named = str(error)
        if not named.startswith("data:"):
            raise
        raise InvalidArgument(argument + named.removeprefix("data")) from error


def read_for(
    data: Any, resolve: Callable[..., _Plan], arguments: Arguments
) -> tuple[pa.Table, _Plan]:
    """The columns that a call reads of the data, and its plan; of a LazyFrame, no rows."""
    source = of_no_rows(data) if is_lazy(data) else source_of(data)
    return _read(source, resolve, _repeatable(arguments))


def _read(
    source: Source,
    resolve: Callable[..., _Plan],
    arguments: Arguments,
    *,
    returned: bool = False,
) -> tuple[pa.Table, _Plan]:
    """The columns that a call reads, and its plan."""
    named = assumed_schema(*(arguments[name] for name in ("key", "order", "windows", "aggs"))).names
    keys = names_given("key", arguments["key"])
    table = source.arrow(named, keys=keys, returned=returned)
    return table, resolve(table.schema, **arguments)


def _repeatable(arguments: Arguments) -> dict[str, Any]:
    """The arguments, to be looked at more than once."""

    def kept(aggs: Any) -> Any:
        return list(aggs) if isinstance(aggs, Iterator) else aggs

    aggs = arguments["aggs"]
    if isinstance(aggs, Mapping):
        return {**arguments, "aggs": {name: kept(each) for name, each in aggs.items()}}
    return {**arguments, "aggs": kept(aggs)}


def _like_over(source: Source, plan: OverPlan) -> Like:
    return {output.name: source.types_of(_made_of(plan, output.feature)) for output in plan.outputs}


def _like_slide(source: Source, plan: SlidePlan) -> Like:
    answers = {name: source.types_of(_made_of(plan, place)) for name, place in plan.outputs}
    return answers | dict.fromkeys((START, END), source.types_of(plan.order[:1]))


def _made_of(plan: OverPlan | SlidePlan, feature: int) -> tuple[str, ...]:
    """The columns that answers are made of; of none, as a count is, those that it is counted by."""
    columns = plan.features[feature].columns
    return columns or (*plan.key, *plan.order) or tuple(plan.schema.names)


def _no_rows_over(_table: pa.Table, plan: OverPlan) -> pa.Table:
    return pa.schema(plan.output_fields).empty_table()


def _no_rows_slide(_table: pa.Table, plan: SlidePlan) -> pa.Table:
    return plan.output_schema.empty_table()


def _no_rows_as_of(_queries: pa.Table, _events: list[pa.Table], plans: list[AsOfPlan]) -> pa.Table:
    return pa.schema([field for plan in plans for field in plan.output_fields]).empty_table()
