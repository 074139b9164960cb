"""What conditions compute: arithmetic, comparisons and patterns, on columns and scalars of Arrow.

    integers           + - * %      integers; one beyond 64 bits is an error
    any numbers        /            floats
    with a float       + - * %      floats
    with a decimal     + - * %      decimals, of as many digits as it takes
    times              a - b        a duration; a date is the midnight that it begins with
    time, duration     + -          a timestamp
    durations          + - %        a duration
    duration, number   * /          a duration, in whole ticks
    durations          /            a float

Division by zero is null. A comparison with NaN is false, but for `!=`. A number with a point that
stands in the text is a decimal, as in SQL: 0.1 * 3 is 0.3. Beside floats it is a float.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.algebra.condition_literals import in_zone, time_of
from windrow.algebra.kinds import EXACT

COMPARISONS = {
    "=": "equal", "!=": "not_equal",
    "<": "less", "<=": "less_equal", ">": "greater", ">=": "greater_equal",
}  # fmt: skip
_FUNCTIONS = {"+": "add", "-": "subtract", "*": "multiply"}
_UNITS = ("s", "ms", "us", "ns")
_DIGITS = {8: 3, 16: 5, 32: 10, 64: 20}

is_decimal, is_floating, is_integer = pa.types.is_decimal, pa.types.is_floating, pa.types.is_integer
is_duration, is_date, is_timestamp = pa.types.is_duration, pa.types.is_date, pa.types.is_timestamp


def compared(sign: str, left: Any, right: Any) -> Any:
    """Whether a comparison holds, for each row."""
    left, right = _beside(left, right), _beside(right, left)
    left, right = _as_decimals(left, right) if _meet_as_decimals(left, right) else (left, right)
    return pc.call_function(COMPARISONS[sign], _in_one_zone(left, right))


def computed(sign: str, left: Any, right: Any) -> Any:
    """The sum, difference, product, quotient or remainder, for each row."""
    kinds = _kind(sign, left, right), _kind(sign, right, left)
    if kinds == ("number", "number"):
        return _numbers(sign, left, right)
    if kinds == ("time", "time") and sign == "-":
        left, right = _in_one_zone(left, right)
        return _ticked("-", left, right, as_duration=True)
    if kinds == ("time", "duration") and sign in "+-":
        return _ticked(sign, _whole(left), right)
    if kinds == ("duration", "time") and sign == "+":
        return _ticked(sign, _whole(right), left)
    if kinds == ("duration", "duration") and sign != "*":
        return _ticked(sign, left, right)
    if kinds == ("duration", "number") and sign in "*/":
        return _scaled(sign, left, right)
    if kinds == ("number", "duration") and sign == "*":
        return _scaled(sign, right, left)
    raise _refusal(sign, left, right)


def negated(value: Any) -> Any:
    """The value with its sign turned."""
    if is_duration(value.type):
        return pc.negate_checked(value.cast(pa.int64())).cast(value.type)
    if not _is_number(value):
        raise pa.ArrowTypeError(f"there is no - of {value.type}")
    if is_integer(value.type):
        return _overflowing(pc.negate_checked, value.cast(pa.int64()))
    return pc.negate(value)


# What values are ---------------------------------------------------------------------------------


def _is_number(value: Any) -> bool:
    return bool(is_integer(value.type) or is_floating(value.type) or is_decimal(value.type))


def _kind(sign: str, value: Any, other: Any) -> str:
    if _is_number(value):
        return "number"
    if is_duration(value.type):
        return "duration"
    if is_timestamp(value.type) or is_date(value.type):
        return "time"
    raise _refusal(sign, value, other)


def _refusal(sign: str, left: Any, right: Any) -> pa.ArrowTypeError:
    reason = f"there is no {sign} of {left.type} and {right.type}"
    types = (left.type, right.type)
    if any(map(is_integer, types)) and any(map(is_date, types)):
        reason += "; write days as in interval '3 days'"
    elif any(map(pa.types.is_string, types)):
        reason += "; write times as in timestamp '2024-01-31 12:00:00' or interval '1 hour'"
    return pa.ArrowTypeError(reason)


def _is_point(value: Any) -> bool:
    """Whether it is a number with a point that stands in the text."""
    return isinstance(value, pa.Scalar) and is_decimal(value.type) and value.type.scale > 0


def _beside(value: Any, other: Any) -> Any:
    """What is compared: a text beside a time as a time, and 1.5 beside integers as a float."""
    if pa.types.is_string(value.type) or pa.types.is_large_string(value.type):
        return time_of(value, other.type) if pa.types.is_temporal(other.type) else value
    if _is_point(value) and is_integer(other.type) and not isinstance(other, pa.Scalar):
        return _as_floats(value)
    return value


# Numbers -----------------------------------------------------------------------------------------


def _numbers(sign: str, left: Any, right: Any) -> Any:
    if sign == "/" or is_floating(left.type) or is_floating(right.type):
        return _floats(sign, _as_floats(left), _as_floats(right))
    if is_decimal(left.type) or is_decimal(right.type):
        left, right = _as_decimals(left, right)
        if sign == "%":
            return _remainder_of_decimals(left, right)
        return pc.call_function(_FUNCTIONS[sign], [left, right])
    return _integers(sign, _as_integers(left), _as_integers(right))


def _integers(sign: str, left: Any, right: Any) -> Any:
    if sign == "%":
        # The quotient of the least integer and -1 does not fit, but every integer divides by 1.
        right = pc.if_else(pc.equal(right, -1), 1, _not_zero(right))
        return pc.subtract(left, pc.multiply(pc.divide(left, right), right))
    return _overflowing(getattr(pc, f"{_FUNCTIONS[sign]}_checked"), left, right)


def _overflowing(function: Any, *values: Any) -> Any:
    try:
        return function(*values)
    except pa.ArrowInvalid:
        raise OverflowError("an integer does not fit into 64 bits") from None


def _floats(sign: str, left: Any, right: Any) -> Any:
    if sign == "/":
        return pc.divide(left, _not_zero(right))
    if sign != "%":
        return pc.call_function(_FUNCTIONS[sign], [left, right])
    # Arrow before 22 has no remainder; and a - b * trunc(a / b) rounds.
    left, right, scalar = _as_columns(left, _not_zero(right))
    known = pc.and_(left.is_valid(), right.is_valid()).to_numpy(zero_copy_only=False)
    with np.errstate(invalid="ignore"):
        found = np.fmod(_to_numpy(left), _to_numpy(right))
    answer = pa.array(found, mask=~known)
    return answer[0] if scalar else answer


def _to_numpy(values: pa.Array) -> Any:
    return values.fill_null(1.0).to_numpy(zero_copy_only=False)


def _not_zero(value: Any) -> Any:
    zero = pa.scalar(0).cast(value.type)
    return pc.if_else(pc.equal(value, zero), pa.scalar(None, value.type), value)


def _as_columns(left: Any, right: Any) -> tuple[pa.Array, pa.Array, bool]:
    """Two columns, and whether both were scalars."""
    rows = next((len(each) for each in (left, right) if not isinstance(each, pa.Scalar)), None)
    columns = [
        pa.repeat(each, rows or 0 if rows is not None else 1)
        if isinstance(each, pa.Scalar)
        else each
        for each in (left, right)
    ]
    return columns[0], columns[1], rows is None


def _as_floats(value: Any) -> Any:
    # Large integers are rounded, as in SQL.
    return pc.cast(value, pa.float64(), safe=not is_integer(value.type))


def _as_integers(value: Any) -> Any:
    return _overflowing(lambda: value.cast(pa.int64()))


# Decimals ----------------------------------------------------------------------------------------


def _meet_as_decimals(left: Any, right: Any) -> bool:
    types = (left.type, right.type)
    if any(is_decimal(each) for each in types):
        return all(is_decimal(each) or is_integer(each) for each in types)
    unsigned = sum(pa.types.is_uint64(each) for each in types)
    return unsigned == 1 and all(is_integer(each) for each in types)


def _as_decimals(left: Any, right: Any) -> tuple[Any, Any]:
    return _as_decimal(left), _as_decimal(right)


def _as_decimal(value: Any) -> Any:
    """With the digits that it needs, and room for more: Arrow adds those of both operands."""
    if is_decimal(value.type):
        return value.cast(pa.decimal256(value.type.precision, value.type.scale))
    digits = _DIGITS[value.type.bit_width]
    if isinstance(value, pa.Scalar) and value.is_valid:
        # Arrow takes no int64 for fewer digits than an int64 may have.
        return pa.scalar(EXACT.create_decimal(value.as_py())).cast(
            pa.decimal256(len(str(abs(value.as_py()))), 0)
        )
    return value.cast(pa.decimal256(digits, 0))


def _remainder_of_decimals(left: Any, right: Any) -> Any:
    left, right, scalar = _as_columns(left, right)
    scale = max(left.type.scale, right.type.scale)
    digits = max(each.type.precision - each.type.scale for each in (left, right))
    found = [
        EXACT.remainder(one, other) if one is not None and other else None
        for one, other in zip(left.to_pylist(), right.to_pylist(), strict=True)
    ]
    answer = pa.array(found, pa.decimal256(min(digits + scale, 76), scale))
    return answer[0] if scalar else answer


# Times -------------------------------------------------------------------------------------------


def _whole(value: Any) -> Any:
    """Dates as the midnights that they begin with."""
    if is_date(value.type):
        return value.cast(pa.timestamp("s" if pa.types.is_date32(value.type) else "ms"))
    return value


def _in_one_zone(left: Any, right: Any) -> list[Any]:
    """Dates as timestamps beside timestamps, and those that name no zone in that of the other."""
    pair = [left, right]
    if not any(is_timestamp(each.type) for each in pair):
        return pair
    for place, (each, other) in enumerate(((left, right), (right, left))):
        zone = getattr(other.type, "tz", None)
        if place and zone is not None and getattr(each.type, "tz", None) is not None:
            pair[place] = each.cast(pa.timestamp(each.type.unit, zone))
        of_any_zone = is_date(each.type) or (
            isinstance(each, pa.Scalar) and is_timestamp(each.type) and each.type.tz is None
        )
        if of_any_zone:
            pair[place] = in_zone(_whole(each), zone) if zone is not None else _whole(each)
    return pair


def _ticked(sign: str, left: Any, right: Any, as_duration: bool = False) -> Any:
    """Arithmetic on whole ticks of the finer unit."""
    left, right = _whole(left), _whole(right)
    if as_duration and (left.type.tz is None) != (right.type.tz is None):
        raise pa.ArrowTypeError(f"there is no - of {left.type} and {right.type}")
    unit = max(left.type.unit, right.type.unit, key=_UNITS.index)
    ticks = [_overflowing(_ticks, each, unit) for each in (left, right)]
    if sign == "/":
        return _floats(sign, *map(_as_floats, ticks))
    found = _integers(sign, *ticks)
    if as_duration or is_duration(left.type):
        return found.cast(pa.duration(unit))
    return found.cast(pa.timestamp(unit, left.type.tz))


def _ticks(value: Any, unit: str) -> Any:
    if is_duration(value.type):
        return value.cast(pa.duration(unit)).cast(pa.int64())
    return value.cast(pa.timestamp(unit, value.type.tz)).cast(pa.int64())


def _scaled(sign: str, duration: Any, by: Any) -> Any:
    """A duration so many times, or its part; beyond whole numbers rounded to whole ticks."""
    ticks = duration.cast(pa.int64())
    if is_integer(by.type):
        by = _as_integers(by)
        found = pc.divide(ticks, _not_zero(by)) if sign == "/" else _integers(sign, ticks, by)
        return found.cast(duration.type)
    found = pc.round(_floats(sign, _as_floats(ticks), _as_floats(by)))
    return _overflowing(lambda: found.cast(pa.int64())).cast(duration.type)


# Patterns ----------------------------------------------------------------------------------------


def like(value: Any, pattern: str, escape: str, any_case: bool) -> Any:
    """Whether texts fit a pattern: `%` for any characters, `_` for one, what is escaped itself."""
    return pc.match_like(value, pattern=_by_backslash(pattern, escape), ignore_case=any_case)


def _by_backslash(pattern: str, escape: str) -> str:
    """The pattern with backslashes for escapes, as Arrow takes it."""
    found, characters = [], iter(pattern)
    for character in characters:
        if escape and character == escape:
            escaped = next(characters)
            found.append(f"\\{escaped}" if escaped in "%_\\" else escaped)
        else:
            found.append("\\\\" if character == "\\" else character)
    return "".join(found)
