"""When an answer counts as the one that is wanted: exactly, or near it where floats round."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from tests.support.aggregations import expected

#: what rounds at most as often as there are rows, and does not lose what cancels
TOLERANCE = 1e-9
#: of numbers whose sum is nothing, what may be left, as a share of the largest
LEFT = 1e-12


@dataclass(frozen=True)
class Between:
    """Any number from one to another."""

    low: float
    high: float


@dataclass(frozen=True)
class Rounded:
    """A number that may be off by so much."""

    value: Any
    by: float


def as_float(number: Any) -> float:
    """A number as a float; one that is too large is infinite."""
    try:
        return float(number)
    except OverflowError:
        return math.copysign(math.inf, number)


def agree(wanted: Any, found: Any) -> bool:
    """Whether an answer is what is wanted, or near it where floats round."""
    if wanted is None or found is None:
        return wanted is found
    if isinstance(wanted, Between):
        return wanted.low - 1e-9 <= found <= wanted.high + 1e-9
    if isinstance(wanted, Rounded):
        return _near(wanted.value, found, wanted.by)
    if isinstance(wanted, expected.Near):
        return abs(found - wanted) <= 1e-7
    if isinstance(wanted, Fraction) and isinstance(found, Decimal | int):
        return Fraction(found) == wanted
    if isinstance(found, float):
        return isinstance(wanted, float | Fraction | int) and _near(wanted, found, 0.0)
    if isinstance(wanted, dict):
        return wanted.keys() == found.keys() and all(
            agree(wanted[each], found[each]) for each in found
        )
    if isinstance(wanted, list | tuple):
        return len(wanted) == len(found) and all(map(agree, wanted, found))
    if isinstance(wanted, bool) or isinstance(found, bool):
        return wanted is found
    return bool(wanted == found)


def _near(wanted: Any, found: Any, by: float) -> bool:
    if isinstance(found, Decimal | int):
        return bool(Fraction(found) == wanted)
    wanted = as_float(wanted)
    if math.isnan(wanted) or math.isnan(found):
        return math.isnan(wanted) and math.isnan(found)
    return math.isclose(wanted, found, rel_tol=TOLERANCE, abs_tol=by)
