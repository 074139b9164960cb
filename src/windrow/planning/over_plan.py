"""From the arguments of `over` and a schema to a plan, or to an error that names the argument."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import pyarrow as pa

from windrow.algebra.aggregation import Measure
from windrow.algebra.kinds import Kind, plain_type
from windrow.errors import InvalidArgument
from windrow.planning import costs
from windrow.planning.choose import Wish
from windrow.planning.current_row import require_current_row
from windrow.planning.features import Feature, features_of, measures_of, policy_features
from windrow.planning.gates import Gates, gates_of
from windrow.windows import Window, Windows, named, shows_names
from windrow.windows.ahead import HERE
from windrow.windows.arguments import require_column, require_time


@dataclass(frozen=True)
class Output:
    """One column of the result: a feature over a window."""

    name: str
    feature: int
    window: str


@dataclass(frozen=True, eq=False)
class OverPlan:
    """What `over` has to do."""

    call: ClassVar[str] = "over"

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
        require_no_trigger(name, window)
        require_window(schema, order_columns, window)
    named_windows = laid_over(schema, order_columns, named_windows, slides=False)
    measures = measures_of(aggs, order_columns)
    require_current_row(named_windows, measures)
    features, places = features_of(schema, measures, wish)
    gates = gates_of(schema, named_windows, measures, features, places)
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


def require_no_trigger(
    name: str, window: Window, answered: str = "wr.over answers every row"
) -> None:
    """Refuse a window that says when it answers; `answered` is when the call does."""
    if window.only_slides:
        raise InvalidArgument(f"windows: {name!r} says every=, which is for wr.slide; {answered}")


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
