"""Types that the columns of a condition may have, for plans without data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from windrow.algebra.condition_expressions import (
    PRODUCT,
    Between,
    Column,
    Comparison,
    In,
    IsNull,
    Like,
    Negative,
    Terms,
)
from windrow.algebra.condition_literals import Literal, Moment, Span

_TIME, _DURATION, _NUMBER = pa.timestamp("us", "UTC"), pa.duration("us"), pa.float64()


def guesses(expression: Any) -> dict[str, pa.DataType]:
    """A type for each column that is compared with a literal, or computed from one.

    >>> from windrow.algebra.condition_text import parse
    >>> guesses(parse("name = 'a' and seen - since < interval '1 hour'").root)
    {'name': DataType(string), 'seen': TimestampType(timestamp[us, tz=UTC]), \
'since': TimestampType(timestamp[us, tz=UTC])}
    """
    found: dict[str, pa.DataType] = {}
    for name, data_type in _guesses(expression, pa.bool_()):
        found.setdefault(name, data_type)
    return found


def _guesses(expression: Any, like: pa.DataType) -> Iterator[tuple[str, pa.DataType]]:
    if isinstance(expression, Column):
        yield expression.name, like
    for operand, data_type in _operands(expression, like):
        yield from _guesses(operand, data_type)


def _operands(expression: Any, like: pa.DataType) -> Iterator[tuple[Any, pa.DataType]]:
    """The operands, each with the type that it may have."""
    if isinstance(expression, Comparison | In | Between):
        told = [_told(each) for each in expression.operands]
        like = next((each for each in told if each is not None), _NUMBER)
    elif isinstance(expression, IsNull):
        like = _NUMBER
    elif isinstance(expression, Like):
        like = pa.string()
    elif isinstance(expression, Terms):
        yield from zip(expression.operands, _of_terms(expression, like), strict=True)
        return
    elif not isinstance(expression, Negative):
        like = pa.bool_()
    for operand in expression.operands:
        yield operand, like


def _of_terms(terms: Terms, like: pa.DataType) -> list[pa.DataType]:
    told = [_told(each) for each in terms.operands]
    others = len(told) - 1
    if terms.binds == PRODUCT:
        return [_DURATION if like == _DURATION else _NUMBER, *[_NUMBER] * others]
    if _DURATION not in (like, *told) and not pa.types.is_temporal(like):
        return [_NUMBER] * len(told)
    differs = like == _DURATION and terms.rest[0][0] == "-" and told[1] != _DURATION
    first = _DURATION if like == _DURATION and not differs else _TIME
    return [first, _TIME if differs else _DURATION, *[_DURATION] * (others - 1)]


def _told(expression: Any) -> pa.DataType | None:
    """The type of an expression as far as its literals tell it."""
    if isinstance(expression, Moment):
        return _TIME
    if isinstance(expression, Span):
        return _DURATION
    if isinstance(expression, Literal):
        found = expression.evaluate({}).type
        return _NUMBER if pa.types.is_decimal(found) else found
    if isinstance(expression, Terms):
        told = [_told(each) for each in expression.operands]
        if _DURATION in told:
            return _DURATION if expression.binds == PRODUCT else _TIME
        return _DURATION if _TIME in told else _NUMBER if any(told) else None
    return _told(expression.operand) if isinstance(expression, Negative) else None
