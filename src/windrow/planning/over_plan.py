"""From the arguments of `over` and a schema to a plan, or to an error that names the argument."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from windrow.algebra.aggregation import Aggregation, Measure
from windrow.algebra.compilable import why_not_compiled
from windrow.algebra.conditions import Condition
from windrow.algebra.kinds import Kind, plain_type
from windrow.algebra.monoid import Monoid
from windrow.algebra.value_counts import Distinct
from windrow.algorithms import find_form, value_counts
from windrow.errors import InvalidAggregation, InvalidArgument, NotApplicable
from windrow.planning import costs
from windrow.planning.choose import Wish
from windrow.planning.current_row import require_current_row
from windrow.planning.gates import Gates, gates_of
from windrow.windows import Window, Windows, named, shows_names
from windrow.windows.ahead import HERE
from windrow.windows.arguments import require_column, require_time


@dataclass(frozen=True, eq=False)
class Feature:
    """One distinct aggregation of columns, however many windows and names it appears under."""

    aggregation: Aggregation
    columns: tuple[str, ...]
    monoid: Monoid
    type: pa.DataType
    compiled: bool
    condition: Condition | None = None
    #: its name in messages, if its columns are not those that the user named
    called: str = ""
    #: the same of all values, compiled, if it is of different values and that can be compiled
    of_all: Feature | None = None

    @property
    def is_counted(self) -> bool:
        """Whether value counts can answer it."""
        asks = self.monoid.asks
        return asks is not None and (not isinstance(asks, Distinct) or self.of_all is not None)

    def __str__(self) -> str:
        if self.called:
            return self.called
        condition = "" if self.condition is None else f" where {self.condition}"
        return f"{self.aggregation.name}({', '.join(self.columns)}){condition}"

    @property
    def reads(self) -> tuple[str, ...]:
        """The columns that it needs, for its inputs and its condition."""
        return (*self.columns, *(self.condition.columns if self.condition else ()))

    @property
    def asks_of_current(self) -> bool:
        """Whether it is about the current row, and not only about its window."""
        return self.monoid.asks is not None and self.monoid.asks.of_current

    @property
    def watched(self) -> tuple[str, ...]:
        """The columns whose nulls it skips."""
        watched = self.aggregation.watched
        return tuple(column for index, column in enumerate(self.columns) if index in watched)

    @property
    def carried(self) -> tuple[str, ...]:
        """The columns that the answer is a value of; partials keep the position of its row."""
        if self.monoid.members:
            places = [member.carried for member in self.monoid.members]
            return tuple(self.columns[place] for place in places if place is not None)
        inputs = zip(self.columns, self.aggregation.inputs, strict=False)
        return tuple(column for column, entry in inputs if entry.carried)


@dataclass(frozen=True)
class Output:
    """One column of the result: a feature over a window."""

    name: str
    feature: int
    window: str


@dataclass(frozen=True, eq=False)
class OverPlan:
    """What `over` has to do."""

    key: tuple[str, ...]
    order: tuple[str, ...]
    windows: dict[str, Window]
    features: tuple[Feature, ...]
    outputs: tuple[Output, ...]
    wish: Wish
    schema: pa.Schema
    gates: Gates

    @property
    def output_fields(self) -> list[pa.Field]:
        """The columns that are added."""
        return [
            pa.field(output.name, self.features[output.feature].type) for output in self.outputs
        ]

    def size_of(self, name: str) -> tuple[int | None, str]:
        """How many events a window holds, if that is known, and how it moves; see `costs`."""
        if self.windows[name].grows:
            return None, costs.GROWING
        if self.windows[name].rows_return:
            return None, costs.RETURNING
        most = self.windows[name].most_rows
        if most is None and self.windows[name].ahead(1) != HERE:
            return None, costs.SPANNED
        return most, costs.VARYING if most is None else costs.SLIDING

    @property
    def measures_time(self) -> bool:
        """Whether some window needs the order column as time."""
        return any(window.needs_time for window in self.windows.values())

    @property
    def window_columns(self) -> list[str]:
        """The columns that windows look at."""
        own = [column for window in self.windows.values() for column in window.columns]
        by_time = self.order[:1] if self.measures_time else ()
        return list(dict.fromkeys((*by_time, *own)))

    @property
    def columns(self) -> list[str]:
        """The columns that are read once rows are in order; at least one."""
        inputs = [column for feature in self.features for column in feature.reads]
        found = dict.fromkeys((*self.key, *self.window_columns, *inputs))
        return list(found or self.order[:1])


def resolve_over(
    schema: pa.Schema,
    *,
    key: str | Sequence[str] | None,
    order: str | Sequence[str] | None,
    windows: Windows,
    aggs: Measure | Iterable[Measure],
    wish: Wish,
) -> OverPlan:
    """Check the arguments of `over` against a schema."""
    schema = plain_schema(schema)
    named_windows = named(windows)
    key_columns = columns_named(schema, "key", key)
    order_columns = columns_named(schema, "order", order)
    require_sortable(schema, order_columns)
    for name, window in named_windows.items():
        _require_no_trigger(name, window)
        require_window(schema, order_columns, window)
    named_windows = laid_over(schema, order_columns, named_windows, slides=False)
    measures = measures_of(aggs, order_columns)
    require_current_row(named_windows, measures)
    features, places = features_of(schema, measures, wish)
    gates = gates_of(schema, named_windows, measures, features, places, feature_of)
    outputs = tuple(
        Output(
            f"{measure.name}_{name}" if shows_names(windows) else measure.name,
            places[measure],
            name,
        )
        for measure in measures
        for name in named_windows
    )
    _require_new_names(schema, outputs)
    return OverPlan(
        key_columns, order_columns, named_windows, tuple(features), outputs, wish, schema, gates
    )


def plain_schema(schema: pa.Schema) -> pa.Schema:
    """The schema of the same columns once they are laid out plainly (see `plain_type`)."""
    fields = [field.with_type(plain_type(field.type)) for field in schema]
    return pa.schema(fields, schema.metadata)


def column_types(schema: pa.Schema, columns: Iterable[str]) -> dict[str, pa.DataType]:
    """The types of some columns of a plan's schema."""
    return {name: schema.field(name).type for name in columns}


def _require_no_trigger(name: str, window: Window) -> None:
    if window.only_slides:
        raise InvalidArgument(
            f"windows: {name!r} says every=, which is for wr.slide; wr.over answers every row"
        )


def columns_named(
    schema: pa.Schema, argument: str, given: str | Sequence[str] | None
) -> tuple[str, ...]:
    """The columns that an argument names, checked against the schema."""
    names = names_given(argument, given)
    for name in names:
        require_column(schema, argument, name)
    return names


def names_given(argument: str, given: str | Sequence[str] | None) -> tuple[str, ...]:
    """The names that an argument gives."""
    if given is None:
        return ()
    if not isinstance(given, Sequence) or isinstance(given, bytes):
        raise InvalidArgument(
            f"{argument}: give the name of a column or a list of names, not {given!r}"
        )
    names = (given,) if isinstance(given, str) else tuple(given)
    for name in names:
        if not isinstance(name, str):
            raise InvalidArgument(f"{argument}: columns are given by name, not {name!r}")
    if len(set(names)) < len(names):
        raise InvalidArgument(f"{argument}: a column is named twice: {', '.join(names)}")
    return names


def require_sortable(schema: pa.Schema, order: tuple[str, ...]) -> None:
    """Refuse to order by a column that has no order."""
    for name in order:
        data_type = schema.field(name).type
        if Kind.of(data_type) is Kind.NESTED and not pa.types.is_null(data_type):
            raise InvalidArgument(
                f"order: {name!r} is {data_type}, which has no order; give a column of numbers, "
                "times or strings"
            )


def policy_features(schema: pa.Schema, window: Window) -> list[Feature]:
    """What a window asks for to know which events stay, checked against the schema."""
    try:
        return features_of(schema, window.measures, Wish())[0]
    except InvalidArgument as error:
        problem = str(error).removeprefix("aggs: ")
        raise InvalidArgument(f"windows: in the policy's of=, {problem}") from error


def require_window(schema: pa.Schema, order: tuple[str, ...], window: Window) -> None:
    """Refuse a window whose columns are not there, or do not suit it."""
    if window.needs_time:
        require_time(schema, order)
    policy_features(schema, window)
    window.check(schema)


def laid_over(
    schema: pa.Schema, order: tuple[str, ...], windows: Mapping[str, Window], *, slides: bool
) -> dict[str, Window]:
    """The windows as they are over the order column."""
    if not order:
        return dict(windows)
    order_type = schema.field(order[0]).type
    return {name: each.laid_over(order_type, slides=slides) for name, each in windows.items()}


def measures_of(aggs: Measure | Iterable[Measure], order: Sequence[str]) -> list[Measure]:
    """The measures of a call that orders rows so."""
    try:
        if isinstance(aggs, str | Mapping):
            raise TypeError
        measures = [aggs] if isinstance(aggs, Measure | Aggregation) else list(aggs)
    except TypeError:  # Spark's columns look iterable, and raise this too
        raise InvalidArgument(
            f"aggs: give an aggregation such as wr.max('amount') or a list of them, not {aggs!r}"
        ) from None
    if not measures:
        raise InvalidArgument("aggs: at least one aggregation is needed, as in wr.max('amount')")
    for measure in measures:
        if isinstance(measure, Aggregation):
            raise InvalidArgument(
                f"aggs: {measure.name} needs its column, as in {measure.name}('amount')"
            )
        if not isinstance(measure, Measure):
            raise InvalidArgument(
                f"aggs: give aggregations such as wr.max('amount'), not {measure!r}"
            )
    return [measure.ordered_by(order) for measure in measures]


def features_of(
    schema: pa.Schema, measures: Iterable[Measure], wish: Wish
) -> tuple[list[Feature], dict[Measure, int]]:
    """The distinct features of measures, and the place of each measure's."""
    features: list[Feature] = []
    places: dict[Measure, int] = {}
    for measure in measures:
        unnamed = replace(measure, name="")
        if unnamed not in places:
            places[unnamed] = len(features)
            features.append(feature_of(schema, measure, wish))
        places[measure] = places[unnamed]
    return features, places


def feature_of(schema: pa.Schema, measure: Measure, wish: Wish) -> Feature:
    """The feature of a measure, checked against a schema and the algorithm that is wished for."""
    aggregation = measure.aggregation
    required = [entry for entry in aggregation.inputs if not entry.optional]
    if len(measure.columns) < len(required):
        example = ", ".join(repr(entry.name) for entry in required)
        raise InvalidArgument(
            f"aggs: {aggregation.name}() names no column; write {aggregation.name}({example})"
        )
    types, kinds = [], []
    for column, entry in zip(measure.columns, aggregation.inputs, strict=False):
        require_column(schema, "aggs", column)
        data_type = schema.field(column).type
        kind = Kind.of(data_type)
        if kind not in entry.accepts:
            accepted = ", ".join(sorted(each.value for each in entry.accepts - {Kind.ANY}))
            raise InvalidArgument(
                f"aggs: {measure.aggregation.name}({column!r}) cannot take a column of type "
                f"{data_type}; it takes {accepted}"
            )
        types.append(plain_type(data_type))
        kinds.append(kind)
    try:
        monoid = aggregation.monoid_of(types)
    except InvalidAggregation as error:
        held = ", ".join(map(str, types))
        raise InvalidArgument(f"aggs: {measure} cannot take columns of {held}: {error}") from error
    if wish.algorithm not in (None, value_counts.NAME):
        invertible = monoid.inverse is not None
        find_form(wish.algorithm, aggregation.name, monoid.traits, invertible, wish.exact)
    compiled = monoid.is_numeric and all(
        entry.is_number(kind) for kind, entry in zip(kinds, aggregation.inputs, strict=False)
    )
    if compiled and aggregation.custom:
        compiled = why_not_compiled(aggregation.name, monoid, tuple(kinds)) is None
    if measure.condition is not None:
        measure.condition.check(schema)
    output = monoid.output(tuple(types))
    found = Feature(aggregation, measure.columns, monoid, output, compiled, measure.condition)
    if isinstance(monoid.asks, Distinct):
        found = replace(found, of_all=_of_all(schema, measure, monoid.asks.aggregation, str(found)))
    if wish.algorithm == value_counts.NAME and not found.is_counted:
        raise NotApplicable(
            f"{value_counts.NAME} cannot serve {aggregation.name}: its answers depend on more than "
            "how often each value is in a window, as medians and distinct counts do"
        )
    return found


def _of_all(
    schema: pa.Schema, measure: Measure, aggregation: Aggregation, called: str
) -> Feature | None:
    """An aggregation of all values, if a tree of its partials can be compiled."""
    unconditional = replace(measure, aggregation=aggregation, condition=None)
    found = feature_of(schema, unconditional, Wish())
    wide = any(entry.width for entry in found.monoid.fields)
    return replace(found, called=called) if found.compiled and not wide else None


def _require_new_names(schema: pa.Schema, outputs: Sequence[Output]) -> None:
    counted = Counter(output.name for output in outputs)
    for name, times in counted.items():
        if times > 1:
            raise InvalidArgument(
                f"aggs: {times} results would be called {name!r}; rename one with .alias(...)"
            )
        if name in schema.names:
            raise InvalidArgument(
                f"aggs: the table has a column {name!r} already; rename the result with .alias(...)"
            )
