"""The features of a call: its aggregations, checked against a schema."""

from __future__ import annotations

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
from windrow.planning.choose import Wish
from windrow.windows import Window
from windrow.windows.arguments import require_column


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
    aggregation = measure.aggregation.admitting(wish.exact)
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


def policy_features(schema: pa.Schema, window: Window) -> list[Feature]:
    """What a window asks for to know which events stay, checked against the schema."""
    try:
        return features_of(schema, window.measures, Wish())[0]
    except InvalidArgument as error:
        problem = str(error).removeprefix("aggs: ")
        raise InvalidArgument(f"windows: in the policy's of=, {problem}") from error
