"""How often the smallest and the largest value occur."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa

from windrow.aggregations.extremes import VALUE, precedes
from windrow.algebra.aggregation import Aggregation
from windrow.algebra.equality import same
from windrow.algebra.kinds import Kind
from windrow.algebra.monoid import Defined, Monoid, Traits, always, integers
from windrow.algebra.ordering import ABOVE_ALL, BELOW_ALL, rank


def lift_counted(value: Any) -> Any:
    """One value, seen once."""
    return (value, 1)


def lift_counted_rank(value: Any) -> Any:
    """One rank, seen once."""
    return (rank(value), 1)


def count_smallest(older: Any, newer: Any) -> Any:
    """The smaller minimum, or how often both had it."""
    if older[0] == newer[0]:
        return (older[0], older[1] + newer[1])
    return older if older[0] < newer[0] else newer


def count_largest(older: Any, newer: Any) -> Any:
    """The larger maximum, or how often both had it."""
    if older[0] == newer[0]:
        return (older[0], older[1] + newer[1])
    return older if older[0] > newer[0] else newer


def count_smallest_value(older: Any, newer: Any) -> Any:
    """The smaller minimum of Python values, or how often both had it."""
    return _counted(older, newer, precedes)


def count_largest_value(older: Any, newer: Any) -> Any:
    """The larger maximum of Python values, or how often both had it."""
    return _counted(older, newer, lambda left, right: precedes(right, left))


def _counted(older: Any, newer: Any, comes_first: Callable[[Any, Any], bool]) -> Any:
    if older[1] == 0 or newer[1] == 0:
        return newer if older[1] == 0 else older
    if comes_first(older[0], newer[0]):
        return older
    if comes_first(newer[0], older[0]):
        return newer
    return (older[0], older[1] + newer[1])


def times(partial: Any) -> Any:
    """How often the extreme was seen."""
    return partial[1]


def counted_any(partial: Any) -> bool:
    """Whether the extreme was seen at all."""
    return bool(partial[1] > 0)


def _counted_extreme(
    name: str,
    extreme: str,
    identity: int,
    pick: Callable[[Any, Any], Any],
    pick_value: Callable[[Any, Any], Any],
    summary: str,
) -> Aggregation:
    traits = Traits(commutative=True, exact=True)

    def monoid_for(kinds: tuple[Kind, ...]) -> Monoid:
        compiled = kinds[0].is_compiled
        return Monoid(
            identity=(identity, 0) if compiled else (None, 0),
            lift=lift_counted_rank if kinds[0] is Kind.FLOAT else lift_counted,
            combine=pick if compiled else pick_value,
            lower=times,
            defined=Defined(counted_any),
            traits=traits,
            fields=integers(extreme, f"count_of_{extreme}") if compiled else (),
            lowered="int64",
            output=always(pa.int64()),
        )

    return Aggregation(name, VALUE, monoid_for, same, summary)


min_count = _counted_extreme(
    "min_count", "min", ABOVE_ALL, count_smallest, count_smallest_value,
    "how often the smallest value occurs",
)  # fmt: skip
max_count = _counted_extreme(
    "max_count", "max", BELOW_ALL, count_largest, count_largest_value,
    "how often the largest value occurs",
)  # fmt: skip
