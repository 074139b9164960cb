"""The type in which columns of two tables are compared."""

from __future__ import annotations

import pyarrow as pa

from windrow.algebra.kinds import plain_type
from windrow.errors import InvalidArgument

_UNITS = ("s", "ms", "us", "ns")
#: more digits than any 64-bit integer has
_INTEGER_DIGITS = 20


def common_type(argument: str, name: str, one: pa.DataType, other: pa.DataType) -> pa.DataType:
    """A type that holds the values of both: the wider number, the finer unit of time.

    Args:
        argument: the argument that names the column, for messages.
        name: the column, in both tables.
        one, other: its types in the queries and in the events.
    """
    one, other = plain_type(one), plain_type(other)
    found = _common(one, other)
    if found is None:
        raise InvalidArgument(
            f"{argument}: {name!r} is {one} in the queries and {other} in the events, which do not "
            "compare; cast one of them"
        )
    return found


def _common(one: pa.DataType, other: pa.DataType) -> pa.DataType | None:
    types = pa.types
    if one == other:
        return one
    if types.is_null(one) or types.is_null(other):
        return other if types.is_null(one) else one
    pair = one, other
    if all(map(types.is_integer, pair)):
        return _integers(one, other)
    if all(map(types.is_floating, pair)):
        return pa.float64()
    if all(types.is_integer(each) or types.is_decimal(each) for each in pair):
        return _decimals(one, other)
    if all(map(_is_string, pair)):
        return pa.large_string()
    if all(map(_is_binary, pair)):
        return pa.large_binary()
    if all(types.is_date(each) or types.is_timestamp(each) for each in pair):
        return _instants(one, other)
    if all(map(types.is_time, pair)):
        return _time_of_day(_finer(one.unit, other.unit))
    if all(map(types.is_duration, pair)):
        return pa.duration(_finer(one.unit, other.unit))
    return None


def _integers(one: pa.DataType, other: pa.DataType) -> pa.DataType:
    unsigned = [pa.types.is_unsigned_integer(each) for each in (one, other)]
    if pa.uint64() not in (one, other):
        return pa.int64()
    return pa.uint64() if all(unsigned) else pa.decimal128(_INTEGER_DIGITS, 0)


def _decimals(one: pa.DataType, other: pa.DataType) -> pa.DataType | None:
    pair = [
        each if pa.types.is_decimal(each) else pa.decimal128(_INTEGER_DIGITS, 0)
        for each in (one, other)
    ]
    scale = max(each.scale for each in pair)
    digits = max(each.precision - each.scale for each in pair) + scale
    if digits <= 38:
        return pa.decimal128(digits, scale)
    return pa.decimal256(digits, scale) if digits <= 76 else None


def _instants(one: pa.DataType, other: pa.DataType) -> pa.DataType | None:
    """Instants with a zone do not compare with local times; two zones do, by the queries' clock."""
    zones = [each.tz if pa.types.is_timestamp(each) else None for each in (one, other)]
    if (zones[0] is None) != (zones[1] is None):
        return None
    return pa.timestamp(_finer(_unit(one), _unit(other)), zones[0])


def _unit(data_type: pa.DataType) -> str:
    if pa.types.is_timestamp(data_type):
        return str(data_type.unit)
    return "s" if pa.types.is_date32(data_type) else "ms"


def _finer(one: str, other: str) -> str:
    return max(one, other, key=_UNITS.index)


def _time_of_day(unit: str) -> pa.DataType:
    return pa.time32(unit) if unit in ("s", "ms") else pa.time64(unit)


def _is_string(data_type: pa.DataType) -> bool:
    return bool(pa.types.is_string(data_type) or pa.types.is_large_string(data_type))


def _is_binary(data_type: pa.DataType) -> bool:
    types = pa.types
    return bool(
        types.is_binary(data_type)
        or types.is_large_binary(data_type)
        or types.is_fixed_size_binary(data_type)
    )
