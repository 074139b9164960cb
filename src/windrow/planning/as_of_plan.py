"""From the arguments of `as_of` and the schemas of queries and events to plans, one per source.

A plan is that of `over` on the events, whose windows end at moments and not at rows. Beside it, it
knows in which types the keys and moments of both tables are compared (`common_types.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import pyarrow as pa

from windrow.algebra.aggregation import Measure
from windrow.errors import InvalidArgument
from windrow.planning import costs
from windrow.planning.choose import Wish
from windrow.planning.common_types import common_type
from windrow.planning.current_row import require_newest_row
from windrow.planning.features import features_of, measures_of
from windrow.planning.gates import gates_of
from windrow.planning.over_plan import (
    Output,
    OverPlan,
    laid_over,
    names_given,
    plain_schema,
    require_no_trigger,
    require_sortable,
    require_window,
)
from windrow.windows import Window, Windows, named, shows_names
from windrow.windows.arguments import require_column
from windrow.windows.edges import Edges
from windrow.windows.ticks import is_time, nanoseconds_per_tick

#: columns by name, and aggregations: of all sources, or of each by its name
Names = str | Sequence[str]
NamesOfSources = Names | Mapping[str, Names]
Aggs = Measure | Iterable[Measure]
AggsOfSources = Aggs | Mapping[str, Aggs]


@dataclass(frozen=True, eq=False)
class AsOfPlan(OverPlan):
    """What `as_of` has to do with one source.

    Its `schema` is that of the events, and its order columns but the first break ties of events.

    Attributes:
        source: the name of the source; None if there is only one, without a name.
        key_types: in which types the key's columns are compared, those of queries and of events.
        order_type: in which type moments and the times of events are compared.
    """

    call: ClassVar[str] = "as_of"

    source: str | None
    key_types: tuple[pa.DataType, ...]
    order_type: pa.DataType

    @property
    def tick(self) -> int:
        """What one step of time means, in nanoseconds; 1 if moments are no times."""
        return nanoseconds_per_tick(self.order_type) if is_time(self.order_type) else 1

    def edges_of(self, name: str) -> Edges:
        """Where a window begins and ends as of a moment."""
        edges = self.windows[name].edges(self.tick)
        assert edges is not None
        return edges

    def size_of(self, name: str) -> tuple[int | None, str]:
        """How many events a window holds, if that is known, and how it moves; see `costs`."""
        if self.windows[name].grows:
            return None, costs.GROWING
        most = self.windows[name].most_rows
        # A window of one event is no block to answer.
        return most, costs.VARYING if most == 1 else costs.SPANNED


def resolve_as_of(
    queries: pa.Schema,
    events: Mapping[str | None, pa.Schema],
    *,
    key: NamesOfSources | None,
    order: NamesOfSources,
    windows: Windows,
    aggs: AggsOfSources,
    wish: Wish,
) -> list[AsOfPlan]:
    """Check the arguments of `as_of` against the schemas: a plan for each source.

    Args:
        queries: the columns of the queries.
        events: those of each source by its name; None names events that are the only source.
        key, order, windows, aggs, wish: as in the call.
    """
    queries = plain_schema(queries)
    given = given_by_source(events, key=key, order=order, aggs=aggs)
    plans = [
        _resolve_source(
            queries, source, plain_schema(schema), windows=windows, wish=wish, **given[source]
        )
        for source, schema in events.items()
    ]
    _require_new_names(queries, plans)
    return plans


def given_by_source(
    events: Mapping[str | None, Any], **arguments: Any
) -> dict[str | None, dict[str, Any]]:
    """What arguments give for each source, where a dict may give each its own."""
    _require_names(events)
    for argument, given in arguments.items():
        if None in events and isinstance(given, Mapping):
            raise InvalidArgument(
                f"{argument}: a dict is for several sources, as in events={{'clicks': ..., "
                "'payments': ...}; give one for these events"
            )
    return {
        source: {name: _of_source(name, given, source, events) for name, given in arguments.items()}
        for source in events
    }


def resolve_events(schema: pa.Schema, **arguments: Any) -> AsOfPlan:
    """The plan of one source, for queries with the same types of keys and moments."""
    named = [*names_given("key", arguments["key"]), *names_given("order", arguments["order"])]
    queries = pa.schema([schema.field(name) for name in named if name in schema.names])
    return resolve_as_of(queries, {None: schema}, **arguments)[0]


def _require_names(events: Mapping[str | None, Any]) -> None:
    if not events:
        raise InvalidArgument("events: at least one source is needed")
    for name in events:
        if name is not None and (not isinstance(name, str) or not name):
            raise InvalidArgument(f"events: a source's name is a non-empty string, not {name!r}")


def _of_source(argument: str, given: Any, source: str | None, sources: Mapping[Any, Any]) -> Any:
    """What an argument gives for one source: its entry in a dict, or what holds for all."""
    if not isinstance(given, Mapping):
        return given
    unknown = [name for name in given if name not in sources]
    if unknown or source not in given:
        listed = ", ".join(map(repr, sources))
        problem = f"{unknown[0]!r} is none of them" if unknown else f"{source!r} is missing"
        raise InvalidArgument(
            f"{argument}: a dict has an entry for each source, and they are {listed}; {problem}"
        )
    return given[source]


def _resolve_source(
    queries: pa.Schema,
    source: str | None,
    schema: pa.Schema,
    *,
    key: Names | None,
    order: Names,
    windows: Windows,
    aggs: Aggs,
    wish: Wish,
) -> AsOfPlan:
    """The plan of one source."""
    keys, orders = names_given("key", key), names_given("order", order)
    if not orders:
        raise InvalidArgument("order: name the column with the moments of queries and events")
    events = "the events" if source is None else repr(source)
    for argument, names in {"key": keys, "order": orders}.items():
        for place, name in enumerate(names):
            _require_column_of(events, schema, argument, name)
            if argument == "key" or place == 0:
                _require_column_of("the queries", queries, argument, name)
    require_sortable(schema, orders)

    def compared(argument: str, name: str) -> pa.DataType:
        pair = queries.field(name).type, schema.field(name).type
        return common_type(argument, name, *pair)

    key_types = tuple(compared("key", name) for name in keys)
    order_type = compared("order", orders[0])
    # Windows measure in the type in which moments and events are compared.
    measured = schema.set(schema.get_field_index(orders[0]), pa.field(orders[0], order_type))
    named_windows = named(windows)
    for name, window in named_windows.items():
        require_no_trigger(name, window, "wr.as_of answers every query")
        require_window(measured, orders, window)
    named_windows = laid_over(measured, orders, named_windows, slides=False)
    for name, window in named_windows.items():
        _require_edges(name, window)
    measures = measures_of(aggs, orders)
    require_newest_row(named_windows, measures, "wr.as_of")
    features, places = features_of(schema, measures, wish)
    gates = gates_of(schema, named_windows, measures, features, places)
    prefix = "" if source is None else f"{source}_"
    outputs = tuple(
        Output(
            f"{prefix}{measure.name}_{name}" if shows_names(windows) else prefix + measure.name,
            places[measure],
            name,
        )
        for measure in measures
        for name in named_windows
    )
    return AsOfPlan(
        keys, orders, named_windows, tuple(features), outputs, wish, schema, gates,
        source, key_types, order_type,
    )  # fmt: skip


def _require_column_of(table: str, schema: pa.Schema, argument: str, name: str) -> None:
    try:
        require_column(schema, argument, name, table)
    except InvalidArgument as error:
        raise InvalidArgument(
            f"{error}; key and order have the same names in queries and events, so rename a column"
        ) from None


def _require_edges(name: str, window: Window) -> None:
    if window.edges(1) is None:
        raise InvalidArgument(
            f"windows: where {name!r} begins or ends depends on its events, and not on a moment; "
            "answer the events with wr.over, and ask for the newest of its answers, as in "
            "wr.as_of(queries, wr.over(events, ...), windows=wr.rows(1), aggs=wr.last(...))"
        )


def _require_new_names(queries: pa.Schema, plans: Sequence[AsOfPlan]) -> None:
    names = [output.name for plan in plans for output in plan.outputs]
    for name in names:
        if names.count(name) > 1:
            raise InvalidArgument(
                f"aggs: {names.count(name)} results would be called {name!r}; rename one with "
                ".alias(...)"
            )
        if name in queries.names:
            raise InvalidArgument(
                f"aggs: the queries have a column {name!r} already; rename the result with "
                ".alias(...)"
            )
