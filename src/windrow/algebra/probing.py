"""Whether a user's functions are what they are said to be, tried on a few partials.

Events that come in order, smallest first, are lifted. Runs of them are combined in two groupings,
which must agree, and the older run is taken out again by the inverse, which must leave the newer.
Values rise because a function may rely on that, if what it is given are times.

No function that is right may be refused. So floats agree if they differ by little against the
largest number at hand, because what is rounded away when a large number is added does not come back
when it is subtracted. What overflows, raises, or cannot be compared says nothing.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from functools import reduce
from typing import Any

import numpy as np

from windrow.algebra.equality import close
from windrow.algebra.kinds import Kind
from windrow.algebra.shapes import is_number

#: rounding is a millionth of this, what is wrong is nearly always more
TOLERANCE = 1e-6

_DAYS = [datetime.datetime(2012, 2, day) for day in (20, 21, 22, 24)]
_FLOATS = (0.5, 1.75, 2.5, 3.25)
SAMPLES: dict[Kind, Sequence[Any]] = {
    Kind.FLOAT: _FLOATS,
    Kind.INTEGER: (1, 2, 3, 5),
    Kind.TEXT: ("a", "b", "c", "d"),
    Kind.TEMPORAL: _DAYS,
    Kind.DURATION: [day - _DAYS[0] for day in _DAYS],
    Kind.NESTED: tuple([number] for number in _FLOATS),
}

#: values that are equal only if they are the same to every function
_SCALARS = (str, bytes, Decimal, datetime.date, datetime.time, datetime.timedelta)

Combine = Callable[[Any, Any], Any]
Equal = Callable[[Any, Any], bool]


def events_of(kinds: Sequence[Kind]) -> list[tuple[Any, ...]]:
    """Events in order, with values of these kinds."""
    return list(zip(*(SAMPLES[kind] for kind in kinds), strict=True))


def why_not_associative(combine: Combine, equal: Equal, partials: Sequence[Any]) -> str | None:
    """An example of three runs whose groupings differ, or None if none was found."""
    for older, middle, newer in _runs(combine, partials, 3):
        first, second = combine(older, middle), combine(middle, newer)
        left, right = combine(first, newer), combine(older, second)
        if _differ(equal, left, right, (older, middle, newer, first, second)):
            return (
                f"of {older!r}, {middle!r} and {newer!r}, the first two combined and then the "
                f"third are {left!r}, but the first with the last two are {right!r}"
            )
    return None


def why_no_inverse(
    inverse: Combine, combine: Combine, equal: Equal, partials: Sequence[Any]
) -> str | None:
    """An example of two runs of which it does not take out the older, or None."""
    for older, newer in _runs(combine, partials, 2):
        total = combine(older, newer)
        rest = inverse(total, older)
        if _differ(equal, rest, newer, (older, newer, total)):
            return (
                f"combine({older!r}, {newer!r}) is {total!r}, and inverse({total!r}, {older!r}) is "
                f"{rest!r}, not {newer!r}"
            )
    return None


def _runs(combine: Combine, partials: Sequence[Any], count: int) -> Iterator[tuple[Any, ...]]:
    """Neighbouring runs, as many as are asked for: of one event each, then of the first two."""
    yield tuple(partials[:count])
    if len(partials) > count:
        yield tuple(partials[1 : count + 1])
        yield (reduce(combine, partials[:2]), *partials[2 : count + 1])
        yield (*partials[: count - 1], reduce(combine, partials[count - 1 :]))


def _differ(equal: Equal, left: Any, right: Any, others: Sequence[Any]) -> bool:
    """Whether two partials are certainly not equal."""
    scale = max((abs(each) for partial in others for each in _numbers(partial)), default=0.0)
    if _agree(left, right, TOLERANCE * scale):
        return False
    # What is no number and no text may be equal in a way that only the user knows.
    return not equal(left, right) and (equal is not close or (_is_plain(left) and _is_plain(right)))


def _agree(left: Any, right: Any, tolerance: float) -> bool:
    if isinstance(left, np.ndarray) and isinstance(right, np.ndarray):
        left, right = tuple(left.ravel().tolist()), tuple(right.ravel().tolist())
    if isinstance(left, tuple) and isinstance(right, tuple):
        return len(left) == len(right) and all(
            _agree(a, b, tolerance) for a, b in zip(left, right, strict=True)
        )
    if is_number(left) and is_number(right):
        if isinstance(left, float | np.floating) or isinstance(right, float | np.floating):
            finite = math.isfinite(left) and math.isfinite(right)
            return not finite or math.isclose(left, right, rel_tol=TOLERANCE, abs_tol=tolerance)
        return bool(left == right)
    return left is right


def _numbers(partial: Any) -> Iterator[float]:
    """The finite numbers of a partial, as floats."""
    if isinstance(partial, np.ndarray):
        partial = tuple(partial.ravel().tolist()) if partial.dtype.kind in "biuf" else ()
    for each in partial if isinstance(partial, tuple) else (partial,):
        if isinstance(each, tuple):
            yield from _numbers(each)
        elif is_number(each) and math.isfinite(each):
            yield float(each)


def _is_plain(partial: Any) -> bool:
    """Whether a partial is made of numbers and texts alone."""
    if isinstance(partial, tuple):
        return all(map(_is_plain, partial))
    if isinstance(partial, np.ndarray):
        return partial.dtype.kind in "biuf"
    return partial is None or is_number(partial) or isinstance(partial, _SCALARS)
