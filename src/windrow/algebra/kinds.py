"""Kinds of input: what an aggregation needs to know of a column's type."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Callable
from enum import Enum
from typing import Any

import pyarrow as pa


class Kind(Enum):
    """What the values of an input are, as far as an aggregation can tell them apart."""

    BOOLEAN = "boolean"
    INTEGER = "integer"
    FLOAT = "float"
    #: moments and times of day
    TEMPORAL = "temporal"
    DURATION = "duration"
    DECIMAL = "decimal"
    TEXT = "text"
    NESTED = "nested"
    #: Python values of a type not known in advance, as in `wr.Window`
    ANY = "any"

    @classmethod
    def of(cls, data_type: pa.DataType) -> Kind:
        """The kind of an Arrow type."""
        data_type = plain_type(data_type)
        for kind, belongs in _MEMBERSHIP:
            if belongs(data_type):
                return kind
        return cls.NESTED

    @property
    def is_compiled(self) -> bool:
        """Whether values of this kind are 64-bit numbers inside a kernel."""
        return self in (Kind.BOOLEAN, Kind.INTEGER, Kind.FLOAT) or self.in_ticks

    @property
    def in_ticks(self) -> bool:
        """Whether values of this kind are whole ticks: moments and durations."""
        return self in (Kind.TEMPORAL, Kind.DURATION)

    @property
    def examples(self) -> tuple[Any, ...]:
        """Python values of this kind, to try a user's functions on."""
        return _EXAMPLES[self]


#: arithmetic on decimals that rounds nothing that an Arrow decimal can hold
EXACT = decimal.Context(prec=200)


def widest_decimal(data_type: pa.DataType) -> pa.DataType:
    """The decimal type of the same width and scale with the most digits."""
    if pa.types.is_decimal256(data_type):
        return pa.decimal256(76, data_type.scale)
    return pa.decimal128(38, data_type.scale)


def seconds_per_tick(data_type: pa.DataType) -> float:
    """How long one step of a temporal column is."""
    if pa.types.is_date(data_type):
        return 86_400.0 if pa.types.is_date32(data_type) else 1e-3
    return {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}[data_type.unit]


def plain_type(data_type: pa.DataType) -> pa.DataType:
    """The type of a column's values once they are laid out plainly, one after the other.

    Dictionaries and runs are ways to store values, extensions are names for what is stored, and
    for views, in lists and structs too, Arrow has no kernels to sort or take by.
    """
    types = pa.types
    if isinstance(data_type, pa.BaseExtensionType):
        return plain_type(data_type.storage_type)
    if types.is_dictionary(data_type) or types.is_run_end_encoded(data_type):
        return plain_type(data_type.value_type)
    if types.is_string_view(data_type):
        return pa.large_string()
    if types.is_binary_view(data_type):
        return pa.large_binary()
    return _each_member(data_type, _without_views)


def _without_views(data_type: pa.DataType) -> pa.DataType:
    if pa.types.is_string_view(data_type) or pa.types.is_binary_view(data_type):
        return plain_type(data_type)
    return _each_member(data_type, _without_views)


def in_ticks(data_type: pa.DataType) -> pa.DataType:
    """The type of the same column with whole ticks in the place of times, in members too.

    Python has no times before the year 1 or after 9999, and none of nanoseconds.
    """
    if _is_instant_or_span(data_type):
        return pa.int64() if data_type.bit_width == 64 else pa.int32()
    return _each_member(data_type, in_ticks)


def _each_member(
    data_type: pa.DataType, changed: Callable[[pa.DataType], pa.DataType]
) -> pa.DataType:
    """A nested type with others for its members; any other type as it is."""
    types = pa.types
    if types.is_list(data_type):
        return pa.list_(_member(data_type.value_field, changed))
    if types.is_large_list(data_type):
        return pa.large_list(_member(data_type.value_field, changed))
    if types.is_fixed_size_list(data_type):
        return pa.list_(_member(data_type.value_field, changed), data_type.list_size)
    if types.is_struct(data_type):
        return pa.struct([_member(field, changed) for field in data_type])
    if types.is_map(data_type):
        return pa.map_(
            _member(data_type.key_field, changed),
            _member(data_type.item_field, changed),
            data_type.keys_sorted,
        )
    return data_type


def _member(field: pa.Field, changed: Callable[[pa.DataType], pa.DataType]) -> pa.Field:
    return field.with_type(changed(field.type))


def _is_instant_or_span(data_type: pa.DataType) -> bool:
    # Calendar intervals (months, days, nanoseconds) are no single number, so they are left out.
    return bool(pa.types.is_temporal(data_type) and not pa.types.is_interval(data_type))


def _is_text(data_type: pa.DataType) -> bool:
    types = pa.types
    return bool(
        types.is_string(data_type)
        or types.is_large_string(data_type)
        or types.is_binary(data_type)
        or types.is_large_binary(data_type)
        or types.is_fixed_size_binary(data_type)
    )


_MEMBERSHIP = (
    (Kind.BOOLEAN, pa.types.is_boolean),
    (Kind.INTEGER, pa.types.is_integer),
    (Kind.FLOAT, pa.types.is_floating),
    (Kind.DURATION, pa.types.is_duration),
    (Kind.TEMPORAL, _is_instant_or_span),
    (Kind.DECIMAL, pa.types.is_decimal),
    (Kind.TEXT, _is_text),
)

_EXAMPLES: dict[Kind, tuple[Any, ...]] = {
    Kind.BOOLEAN: (True, False),
    Kind.INTEGER: (2, 3),
    Kind.FLOAT: (2.5, 3.25),
    Kind.TEMPORAL: (datetime.datetime(2012, 2, 22), datetime.datetime(2012, 2, 23)),
    Kind.DURATION: (datetime.timedelta(seconds=2), datetime.timedelta(seconds=3)),
    Kind.DECIMAL: (decimal.Decimal("2.5"), decimal.Decimal("3.25")),
    Kind.TEXT: ("b", "c"),
    Kind.NESTED: ([2.5], [3.25]),
    Kind.ANY: (2.5, 3),
}
