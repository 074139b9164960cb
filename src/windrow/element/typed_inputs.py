"""The events of a stored or compiled window as columns of known types.

Events are the inputs of one aggregation (`TypedInputs`), or rows that several measures share
(`TypedRows`).
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from windrow.algebra.aggregation import Aggregation
from windrow.algebra.kinds import Kind
from windrow.engine.columns import whole
from windrow.errors import InvalidArgument
from windrow.slicing.zones import zone
from windrow.tables.choose import to_table

#: kinds of values that become another kind without loss, if the values allow it
_WIDENED = {(Kind.INTEGER, Kind.FLOAT), (Kind.BOOLEAN, Kind.INTEGER), (Kind.BOOLEAN, Kind.FLOAT)}
DEFAULT_TYPE = "float64"

#: a type of Arrow or numpy, or its name
Type: TypeAlias = pa.DataType | np.dtype[Any] | type[np.generic] | str
#: one type, or one for each input, or one for each column of rows
Types: TypeAlias = Type | Sequence[Type] | Mapping[str, Type]
_ONE_TYPE = (str, pa.DataType, np.dtype, type)


class TypedEvents(ABC):
    """Events of named columns, each with its type."""

    def __init__(self, names: Sequence[str], types: Sequence[pa.DataType], of: str) -> None:
        """`of` is what the events are of, for messages."""
        self.schema = pa.schema(list(zip(names, types, strict=True)))
        self._of = of

    @property
    def types(self) -> list[pa.DataType]:
        """The types of the columns."""
        return list(self.schema.types)

    @abstractmethod
    def event(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """The values of one event, checked against the types."""

    @abstractmethod
    def columns(self, events: Any) -> list[pa.Array]:
        """Events, oldest first, as columns."""

    def columns_of(self, events: Sequence[tuple[Any, ...]]) -> list[pa.Array]:
        """Events that were checked, as columns."""
        return [self._column(place, [event[place] for event in events]) for place in self._places]

    def no_columns(self) -> list[pa.Array]:
        """The columns of no events."""
        return [pa.array([], data_type) for data_type in self.types]

    @property
    def _places(self) -> range:
        return range(len(self.schema))

    def _checked(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        for place, value in enumerate(values):
            if value is not None:
                self._column(place, [value])
        return values

    def _column(self, place: int, values: Any) -> pa.Array:
        wanted, name = self.types[place], self.schema.names[place]
        try:
            column = _to_arrow(values)
            kind, needed = Kind.of(column.type), Kind.of(wanted)
            if kind is needed or (kind, needed) in _WIDENED or pa.types.is_null(column.type):
                return column.cast(wanted)
            reason = f"they are {column.type}"
        except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
            reason = str(error)
        except OverflowError:
            reason = "an integer does not fit 64 bits"
        raise InvalidArgument(
            f"events: the window's {name} is {wanted}, and these values cannot be: {reason}"
        )


class TypedInputs(TypedEvents):
    """Events that are the inputs of one aggregation.

    >>> import windrow as wr
    >>> inputs = TypedInputs(wr.sum, "float64")
    >>> inputs.columns([1, None, 2.5])[0].to_pylist()
    [1.0, None, 2.5]
    """

    def __init__(self, aggregation: Aggregation, types: Types | None) -> None:
        if isinstance(types, Mapping):
            raise InvalidArgument(
                f"types: the events of {aggregation.name} have no named columns; give a type for "
                "each input in turn"
            )
        types = DEFAULT_TYPE if types is None else types
        given: list[Any] = [types] if isinstance(types, _ONE_TYPE) else list(_each(types))
        least = sum(not entry.optional for entry in aggregation.inputs)
        if not least <= len(given) <= len(aggregation.inputs):
            roles = ", ".join(entry.name for entry in aggregation.inputs)
            raise InvalidArgument(
                f"types: {aggregation.name} has the inputs ({roles}); give a type for each, not "
                f"{len(given)}"
            )
        names = [entry.name for entry in aggregation.inputs[: len(given)]]
        super().__init__(names, list(map(data_type_of, given)), aggregation.name)

    def event(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """The inputs of one event, checked against the types."""
        if len(inputs) != len(self.schema):
            roles = ", ".join(self.schema.names)
            raise InvalidArgument(f"insert: an event of {self._of} is ({roles}), not {inputs!r}")
        return self._checked(inputs)

    def columns(self, events: Any) -> list[pa.Array]:
        """Events as columns; give tuples or a table if there are several inputs."""
        if len(self.schema) == 1 and not isinstance(events, pa.Table | pa.RecordBatch):
            return [self._column(0, events)]
        if hasattr(events, "__arrow_c_stream__"):
            table = to_table(events)
            if table.num_columns != len(self.schema):
                raise InvalidArgument(
                    f"events: the table has {table.num_columns} columns; an event of {self._of} is "
                    f"({', '.join(self.schema.names)})"
                )
            return [self._column(place, column) for place, column in enumerate(table.columns)]
        return self.columns_of([self.event(tuple(event)) for event in events])


class TypedRows(TypedEvents):
    """Events that are rows: mappings from columns to values, or a table.

    >>> rows = TypedRows(["x", "y"], {"x": "int64", "y": "string"}, "max(x), last(y)")
    >>> rows.event(({"y": "high", "x": 3, "z": None},))
    (3, 'high')
    """

    def __init__(self, names: Sequence[str], types: Types | None, of: str) -> None:
        types = DEFAULT_TYPE if types is None else types
        if isinstance(types, _ONE_TYPE):
            types = dict.fromkeys(names, types)
        if not isinstance(types, Mapping) or set(types) != set(names):
            example = ", ".join(f"{name!r}: ..." for name in names)
            raise InvalidArgument(
                f"types: the columns of the events are {', '.join(map(repr, names))}; give a type "
                f"for each, as in {{{example}}}, not {types!r}"
            )
        super().__init__(names, [data_type_of(types[name]) for name in names], of)

    def event(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """The values of one row, checked against the types."""
        if len(inputs) != 1 or not isinstance(inputs[0], Mapping):
            raise InvalidArgument(
                f"insert: an event of {self._of} is one mapping from columns to values, not "
                f"{inputs!r}"
            )
        return self._checked(self._picked("insert: the event", inputs[0]))

    def columns(self, events: Any) -> list[pa.Array]:
        """Events as columns: of a table, a mapping from columns to arrays, or a list of rows."""
        if isinstance(events, Mapping):
            arrays = self._picked("events: the mapping", events)
            columns = [self._column(place, values) for place, values in enumerate(arrays)]
            if len(set(map(len, columns))) > 1:
                lengths = ", ".join(str(len(column)) for column in columns)
                raise InvalidArgument(f"events: the columns have different lengths: {lengths}")
            return columns
        if hasattr(events, "__arrow_c_stream__"):
            table = to_table(events)
            named = dict(zip(table.column_names, table.columns, strict=True))
            picked = self._picked("events: the table", named)
            return [self._column(place, values) for place, values in enumerate(picked)]
        return self.columns_of([self.event((event,)) for event in events])

    def _picked(self, what: str, given: Mapping[str, Any]) -> tuple[Any, ...]:
        for name in self.schema.names:
            if name not in given:
                held = ", ".join(map(repr, given))
                raise InvalidArgument(f"{what} has no {name!r}; it has {held}")
        return tuple(given[name] for name in self.schema.names)


def _each(types: Any) -> Iterable[Type]:
    if not isinstance(types, Iterable):
        raise InvalidArgument(f"types: {types!r} is no Arrow type; give one as in 'float64'")
    return types


def _to_arrow(values: Any) -> pa.Array:
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return whole(values)
    if isinstance(values, np.ndarray):
        return pa.array(values)
    if hasattr(values, "__arrow_c_stream__"):
        return whole(pa.chunked_array(values))
    if isinstance(values, Iterable):
        return pa.array(list(values))
    raise InvalidArgument(f"events: give an array or a list of events, not {values!r}")


def data_type_of(given: Any) -> pa.DataType:
    """An Arrow type that its name tells; a store holds the name."""
    try:
        if isinstance(given, np.dtype | type):
            given = pa.from_numpy_dtype(np.dtype(given))
        found = given if isinstance(given, pa.DataType) else _named(given)
        is_named = _named(str(found)) == found
    except (ValueError, TypeError, AttributeError, pa.ArrowNotImplementedError):
        if not isinstance(given, pa.DataType):
            raise InvalidArgument(
                f"types: {given!r} is no Arrow type; give one as in pa.float64() or 'float64'"
            ) from None
        is_named = False
    if is_named:
        if pa.types.is_timestamp(found) and found.tz is not None:
            _require_zone(found.tz)
        return found
    raise InvalidArgument(
        f"types: a store takes numbers, times, truth values, text, bytes and decimals, not {given}"
    )


def _require_zone(name: str) -> None:
    """Refuse a zone that is not known here: no answer could be a time of it."""
    try:
        zone(name)
    except InvalidArgument as error:
        raise InvalidArgument(f"types: {str(error).removeprefix('timezone: ')}") from None


def _named(name: str) -> pa.DataType:
    """The type of a name, as Arrow writes it."""
    if zoned := re.fullmatch(r"timestamp\[(\w+), tz=(.+)\]", name):
        return pa.timestamp(*zoned.groups())
    if decimal := re.fullmatch(r"decimal(32|64|128|256)\((\d+), ?(-?\d+)\)", name):
        width, digits, scale = decimal.groups()
        return getattr(pa, f"decimal{width}")(int(digits), int(scale))
    if fixed := re.fullmatch(r"fixed_size_binary\[(\d+)\]", name):
        return pa.binary(int(fixed[1]))
    return pa.type_for_alias(name)
