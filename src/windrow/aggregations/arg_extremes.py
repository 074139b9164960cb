"""The value of another column where a value is smallest or largest."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from windrow.aggregations.extremes import precedes
from windrow.aggregations.parameters import shown
from windrow.algebra.aggregation import ANYTHING, ORDERABLE, Aggregation, Input, Measure
from windrow.algebra.equality import same
from windrow.algebra.kinds import Kind
from windrow.algebra.monoid import Defined, Monoid, Traits, integers, like_input
from windrow.algebra.ordering import ABOVE_ALL, BELOW_ALL, rank
from windrow.errors import InvalidArgument

VALUE_AND_CARRIED = (Input("value", ORDERABLE), Input("at", carried=True))
#: a function may take what has no order itself
KEYED = (Input("value", ANYTHING, as_python=True), Input("at", carried=True))

_serial = itertools.count()


def lift_pair(value: Any, at: Any) -> Any:
    """A value and what it carries."""
    return (value, at)


def lift_ranked_pair(value: Any, at: Any) -> Any:
    """The rank of a value and what it carries."""
    return (rank(value), at)


def first_smallest(older: Any, newer: Any) -> Any:
    """The pair with the smaller value, the first of equals; -1 carries nothing."""
    if newer[1] < 0:
        return older
    return newer if older[1] < 0 or newer[0] < older[0] else older


def first_largest(older: Any, newer: Any) -> Any:
    """The pair with the larger value, the first of equals; -1 carries nothing."""
    if newer[1] < 0:
        return older
    return newer if older[1] < 0 or newer[0] > older[0] else older


def first_smallest_value(older: Any, newer: Any) -> Any:
    """The pair with the smaller Python value, the first of equals."""
    if older is None or newer is None:
        return newer if older is None else older
    return newer if precedes(newer[0], older[0]) else older


def first_largest_value(older: Any, newer: Any) -> Any:
    """The pair with the larger Python value, the first of equals."""
    if older is None or newer is None:
        return newer if older is None else older
    return newer if precedes(older[0], newer[0]) else older


def second(partial: Any) -> Any:
    """What stands beside the extreme."""
    return partial[1]


def carries_any(partial: Any) -> bool:
    """Whether the extreme was seen at all."""
    return bool(partial[1] >= 0)


def carries_any_value(partial: Any) -> bool:
    """Whether the extreme of Python values was seen at all."""
    return partial is not None


@dataclass(frozen=True, eq=False, repr=False)
class ArgExtreme(Aggregation):
    """An aggregation that can be told what is to be smallest or largest."""

    @property
    def columns_needed(self) -> int:
        """With `key`, one."""
        return 1

    def __call__(
        self, *columns: str, alias: str | None = None, key: Any = None, **parameters: Any
    ) -> Measure:
        """What stands in the second column where the first is smallest or largest.

        With `key`, a function, where the function of the first column is, and of one column alone,
        its own value there. With `key`, the name of a column, the value of the column where the
        other is.

        >>> import math, windrow as wr
        >>> window = wr.Window(wr.arg_max("angle", key=math.cos))
        >>> window.insert_many([(angle, angle) for angle in (1.0, 6.0, 3.0)])
        >>> window.query()
        6.0
        """
        if key is None:
            return super().__call__(*columns, alias=alias, **parameters)
        if isinstance(key, str):
            return super().__call__(key, *columns, alias=alias, **parameters)
        columns = columns * 2 if len(columns) == 1 else columns
        return super().__call__(*columns, alias=alias, key=key, **parameters)


def _carrying_extreme(
    name: str,
    extreme: str,
    identity: int,
    pick: Callable[[Any, Any], Any],
    pick_value: Callable[[Any, Any], Any],
    summary: str,
) -> Aggregation:
    traits = Traits(selective=True, exact=True)

    def python_monoid(
        lift: Callable[[Any, Any], Any], combine: Callable[[Any, Any], Any]
    ) -> Monoid:
        return Monoid(
            None, lift, combine, second, like_input(1), traits, defined=Defined(carries_any_value)
        )

    def number_monoid(lift: Callable[[Any, Any], Any], called: str) -> Monoid:
        return Monoid(
            identity=(identity, -1),
            lift=lift,
            combine=pick,
            lower=second,
            defined=Defined(carries_any),
            traits=traits,
            fields=integers(called, f"at_{called}"),
            lowered="int64",
            output=like_input(1),
        )

    def monoid_for(kinds: tuple[Kind, ...]) -> Monoid:
        if not kinds[0].is_compiled:
            return python_monoid(lift_pair, pick_value)
        lift = lift_ranked_pair if kinds[0] is Kind.FLOAT else lift_pair
        return number_monoid(lift, extreme)

    def by(key: Callable[[Any], Any] | str | None = None) -> Aggregation:
        """The same of a function of the values, whose results are compared as floats."""
        if not callable(key):
            raise InvalidArgument(
                f"key: a function of a value, or the name of a column, is needed, not {shown(key)}"
            )
        called = f"{extreme}_of_{next(_serial)}"  # no two functions share a field

        def lift_key(value: Any, at: Any) -> Any:
            return (key(value), at)

        def lift_ranked_key(value: Any, at: Any) -> Any:
            return (rank(float(key(value))), at)

        def pick_keyed(older: Any, newer: Any) -> Any:
            try:
                return pick_value(older, newer)
            except TypeError as error:
                found = " and ".join(sorted({type(each[0]).__name__ for each in (older, newer)}))
                raise InvalidArgument(
                    f"key: its answers are of type {found}, and to find the {extreme} they are to "
                    f"be compared: {error}"
                ) from None

        def keyed(kinds: tuple[Kind, ...]) -> Monoid:
            # A function of times is given times, which kernels do not have.
            if not kinds[0].is_compiled or kinds[0].in_ticks:
                return python_monoid(lift_key, pick_keyed)
            return number_monoid(lift_ranked_key, called)

        return Aggregation(name, KEYED, keyed, same, summary, custom=True)

    return ArgExtreme(name, VALUE_AND_CARRIED, monoid_for, same, summary, variant=by)


arg_min = _carrying_extreme(
    "arg_min", "min", ABOVE_ALL, first_smallest, first_smallest_value,
    "the second column's value where the first, or `key` of it, is smallest, the first of equals",
)  # fmt: skip
arg_max = _carrying_extreme(
    "arg_max", "max", BELOW_ALL, first_largest, first_largest_value,
    "the second column's value where the first, or `key` of it, is largest, the first of equals",
)  # fmt: skip
