"""Checks of parameters of aggregations, one for each kind. A refusal names the parameter.

A truth value is not a number here, and a number is not a truth value. Otherwise `population="no"`
would count as true, and `limit=True` as 1. Numbers of numpy come as Python's (see
`Aggregation.__call__`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from windrow.errors import InvalidArgument

#: a share of all from 0 to 1, or several
Shares = float | Sequence[float]
#: in bytes; a window holds a partial for each event or slice, and scratch rows beside them
LARGEST_PARTIAL = 2**24
#: a few hundred events with longer rows fill a cache; tuples take only what the window holds
LONGEST_ROW = 128
#: a row of few values takes a page of memory at least, and as many addresses as the longest
LONGEST_COUNTED_ROW = 2**16


def truth(name: str, given: Any) -> bool:
    """A parameter that is True or False."""
    if not isinstance(given, bool):
        raise InvalidArgument(f"{name}: True or False is needed, not {shown(given)}")
    return given


def at_least_one(name: str, number: Any) -> int:
    """A bound on a number of values."""
    if not is_whole(number) or number < 1:
        raise InvalidArgument(f"{name}: a whole number of 1 or more is needed, not {shown(number)}")
    return int(number)


def is_whole(number: Any) -> bool:
    """Whether it is an integer of 64 bits, and no truth value."""
    return _is_integer(number) and -(2**63) <= number < 2**63


def _is_integer(number: Any) -> bool:
    return isinstance(number, int) and not isinstance(number, bool)


def shown(given: Any) -> str:
    """What was given, for messages; Python writes no integer of thousands of digits."""
    return "one of more than 64 bits" if _is_integer(given) and not is_whole(given) else repr(given)


def is_number(number: Any) -> bool:
    """Whether it is a finite integer or float that floats can hold, and no truth value."""
    if not _is_integer(number) and not isinstance(number, float):
        return False
    return bool(-1.7976931348623157e308 <= number <= 1.7976931348623157e308)


def fraction(name: str, number: Any) -> float:
    """A parameter between zero and one."""
    if not isinstance(number, float) or not 0 < number < 1:
        raise InvalidArgument(f"{name}: a number between 0 and 1 is needed, not {shown(number)}")
    return number


def fractions(name: str, given: Any) -> tuple[float, ...]:
    """A parameter of one number from zero to one, or of several."""
    numbers = given if isinstance(given, tuple) else (given,)
    for number in numbers:
        if not is_number(number) or not 0 <= number <= 1:
            raise InvalidArgument(f"{name}: numbers from 0 to 1 are needed, not {shown(number)}")
    if not numbers:
        raise InvalidArgument(f"{name}: at least one number from 0 to 1 is needed")
    return tuple(map(float, numbers))


def counters_for(share: float) -> int:
    """How many counters tell shares apart; more than any window has events are as good as any."""
    return math.ceil(min(1 / share, 2.0**62))


def require_fitting(name: str, given: Any, nbytes: float, instead: str) -> None:
    """Refuse a parameter whose partials no machine could keep."""
    if nbytes > LARGEST_PARTIAL:
        raise InvalidArgument(
            f"{name}: {given!r} makes partials of {_in_words(nbytes)} each, and a window "
            f"holds many; they are to be of at most {_in_words(LARGEST_PARTIAL)}; {instead}"
        )


def _in_words(nbytes: float) -> str:
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if nbytes < 1024:
            return f"{nbytes:.3g} {unit}"
        nbytes /= 1024
    return f"{nbytes:.3g} TiB"
