"""The events of a stored or compiled window as columns of known types."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from windrow.algebra.aggregation import Aggregation
from windrow.algebra.kinds import Kind
from windrow.engine.columns import whole
from windrow.errors import InvalidArgument
from windrow.tables.choose import to_table

#: kinds of values that become another kind without loss, if the values allow it
_WIDENED = {(Kind.INTEGER, Kind.FLOAT), (Kind.BOOLEAN, Kind.INTEGER), (Kind.BOOLEAN, Kind.FLOAT)}

#: a type of Arrow or numpy, or its name, or one for each input
Type: TypeAlias = "pa.DataType | np.dtype[Any] | type[np.generic] | str"
Types: TypeAlias = "Type | Sequence[Type]"


class TypedInputs:
    """The inputs of one aggregation, each with its type.

    >>> import windrow as wr
    >>> inputs = TypedInputs(wr.sum, "float64")
    >>> inputs.columns([1, None, 2.5])[0].to_pylist()
    [1.0, None, 2.5]
    """

    def __init__(self, aggregation: Aggregation, types: Types) -> None:
        one = str | pa.DataType | np.dtype | type
        given: list[Any] = [types] if isinstance(types, one) else list(types)  # type: ignore[arg-type]
        self._aggregation = aggregation
        self.types = [_data_type(each) for each in given]
        least = sum(not entry.optional for entry in aggregation.inputs)
        if not least <= len(given) <= len(aggregation.inputs):
            roles = ", ".join(entry.name for entry in aggregation.inputs)
            raise InvalidArgument(
                f"types: {aggregation.name} has the inputs ({roles}); give a type for each, not "
                f"{len(given)}"
            )

    @property
    def schema(self) -> pa.Schema:
        """The inputs as columns, by the names of their roles."""
        return pa.schema(
            [
                pa.field(entry.name, data_type)
                for entry, data_type in zip(self._aggregation.inputs, self.types, strict=False)
            ]
        )

    def event(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """The inputs of one event, checked against the types."""
        if len(inputs) != len(self.types):
            roles = ", ".join(self.schema.names)
            raise InvalidArgument(
                f"insert: an event of {self._aggregation.name} is ({roles}), not {inputs!r}"
            )
        for index, value in enumerate(inputs):
            if value is not None:
                self._column(index, [value])
        return inputs

    def columns(self, events: Any) -> list[pa.Array]:
        """Events, oldest first, as columns; give tuples or a table if there are several inputs."""
        if len(self.types) == 1 and not isinstance(events, pa.Table | pa.RecordBatch):
            return [self._column(0, events)]
        if hasattr(events, "__arrow_c_stream__"):
            table = to_table(events)
            if table.num_columns != len(self.types):
                raise InvalidArgument(
                    f"events: the table has {table.num_columns} columns; an event of "
                    f"{self._aggregation.name} is ({', '.join(self.schema.names)})"
                )
            return [self._column(index, column) for index, column in enumerate(table.columns)]
        rows = [self.event(tuple(event)) for event in events]
        return [
            self._column(index, [row[index] for row in rows]) for index in range(len(self.types))
        ]

    def _column(self, index: int, values: Any) -> pa.Array:
        wanted = self.types[index]
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
        role = self.schema.names[index]
        raise InvalidArgument(
            f"events: the window's {role} is {wanted}, and these values cannot be: {reason}"
        )


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


def _data_type(given: Any) -> pa.DataType:
    try:
        if isinstance(given, pa.DataType):
            return given
        if isinstance(given, np.dtype | type):
            return pa.from_numpy_dtype(np.dtype(given))
        zoned = re.fullmatch(r"timestamp\[(\w+), tz=(.+)\]", given)
        return pa.timestamp(*zoned.groups()) if zoned else pa.type_for_alias(given)
    except (ValueError, TypeError, AttributeError, pa.ArrowNotImplementedError):
        raise InvalidArgument(
            f"types: {given!r} is no Arrow type; give one as in pa.float64() or 'float64'"
        ) from None
