"""Which values the events of a `wr.Window` may have.

A column has one type; events of a window may each have another. The first value of each type is
checked: does the aggregation take such values, also together with those before? Then the whole
event is lifted and combined on trial. So an event that cannot be combined is refused when you
insert it, not later when the algorithm happens to combine it.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from decimal import Decimal
from numbers import Integral, Rational, Real
from typing import Any

import numpy as np

from windrow.algebra.aggregation import ANYTHING, Aggregation, Input
from windrow.algebra.failures import FAILURES
from windrow.algebra.kinds import Kind
from windrow.algebra.nullable import NullSkipping
from windrow.errors import InvalidArgument, NotApplicable

#: the kinds of Python values; times come first, because numpy's timedeltas are integers too
_KINDS: tuple[tuple[tuple[type, ...], Kind], ...] = (
    ((datetime.date, datetime.time, np.datetime64), Kind.TEMPORAL),
    ((datetime.timedelta, np.timedelta64), Kind.DURATION),
    ((bool, np.bool_), Kind.BOOLEAN),
    ((Integral,), Kind.INTEGER),
    ((Decimal,), Kind.DECIMAL),
    ((Real,), Kind.FLOAT),
    ((str, bytes), Kind.TEXT),
)


#: types whose values need one check: not numpy's numbers, which become Python's, not times, which
#: may have a zone, and not what may hold anything
_TOLD_BY_TYPE = {type(None), bool, int, float, Decimal, str, bytes, datetime.date,
                 datetime.timedelta}  # fmt: skip


_FRACTIONS = (Kind.DECIMAL, Kind.FLOAT)

_OF_ROWS = "; if events are mappings, give the window a list of measures, as in [wr.max('x')]"


def kind_of(value: Any) -> Kind:
    """The kind of a Python value; one that is no single value is nested."""
    for types, kind in _KINDS:
        if isinstance(value, types):
            return kind
    return Kind.NESTED


class Admission:
    """Checks the events of one aggregation.

    >>> import windrow as wr
    >>> from windrow.algebra.nullable import plain_monoid
    >>> admission = Admission(wr.sum, plain_monoid(wr.sum))
    >>> admission.admitted("insert", (np.int64(3),))
    (3,)
    >>> admission.admitted("insert", ("3",))
    Traceback (most recent call last):
    windrow.errors.InvalidArgument: insert: sum takes boolean, decimal, duration, ...
    """

    def __init__(self, aggregation: Aggregation, monoid: NullSkipping) -> None:
        self._aggregation, self._monoid = aggregation, monoid
        #: for each input, the types that need no further check
        self._known: list[set[type]] = [set() for _ in aggregation.inputs]
        #: the kinds of events that have been tried
        self._tried: set[tuple[Any, ...]] = set()
        self._is_checked = [
            not entry.carried and entry.accepts != ANYTHING for entry in aggregation.inputs
        ]
        self._lifted: Any = None
        #: for each input, whether its fractions are decimals or floats
        self._fractions: list[Kind | None] = [None] * len(aggregation.inputs)
        #: the algorithm that subtracts, if only events that it subtracts exactly are allowed
        self._subtracting: str | None = None

    @property
    def known(self) -> list[set[type]]:
        """For each input, the types of values that need no further check."""
        return self._known

    def require_no_rounding(self, algorithm: str) -> None:
        """From now on, refuse values that an algorithm cannot subtract exactly."""
        self._subtracting = algorithm

    def admitted(self, operation: str, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """The inputs of an event, checked; numpy's numbers become Python's, which never wrap."""
        for index, value in enumerate(inputs):
            if type(value) not in self._known[index]:
                return self._looked_at(operation, inputs)
        return inputs

    def _looked_at(self, operation: str, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        values = []
        for index, value in enumerate(inputs):
            if self._is_checked[index] and value is not None:
                self._require_kind(operation, index, value)
                value = _as_python(value)
            values.append(value)
        if any(self._is_checked) and all(
            values[index] is not None for index in self._monoid.watched
        ):
            self._try(operation, tuple(values))
        for index, value in enumerate(inputs):
            if not self._is_checked[index] or type(value) in _TOLD_BY_TYPE:
                self._known[index].add(type(value))
            if kind_of(value) in _FRACTIONS:
                self._fractions[index] = kind_of(value)
        return tuple(values)

    def _require_kind(self, operation: str, index: int, value: Any) -> None:
        name, entry = self._aggregation.name, self._aggregation.inputs[index]
        kind = kind_of(value)
        if kind not in entry.accepts and not _may_be_tried(kind, entry):
            accepted = ", ".join(sorted(each.value for each in entry.accepts - {Kind.ANY}))
            role = f" as {entry.name}" if len(self._aggregation.inputs) > 1 else ""
            raise InvalidArgument(f"{operation}: {name} takes {accepted}{role}, not {value!r}")
        if self._subtracting is not None and not isinstance(value, Rational):
            raise NotApplicable(
                f"{operation}: {self._subtracting} subtracts what leaves, and of {value!r} "
                f"something may stay behind in {name}; use integers, another algorithm, or "
                "exact=False to take it all the same"
            )
        if kind in _FRACTIONS and self._fractions[index] not in (None, kind):
            raise InvalidArgument(
                f"{operation}: {name} cannot take decimals and floats together, and {value!r} is "
                "not what came before"
            )

    def _try(self, operation: str, inputs: tuple[Any, ...]) -> None:
        """Combine an event with one that was tried before, and raise if that fails."""
        signature = tuple(map(_signature, inputs))
        if signature in self._tried and None not in signature:
            return
        try:
            lifted = self._monoid.lift(*inputs)
            before = lifted if self._lifted is None else self._lifted
            self._monoid.lower(self._monoid.combine(before, lifted))
        except FAILURES:
            return  # the window's own lift, combine or lower will raise it
        except (TypeError, AttributeError, ValueError) as error:
            shown = repr(inputs[0]) if len(inputs) == 1 else repr(inputs)
            together = "" if self._lifted is None else " together with the events before"
            rows = any(isinstance(each, Mapping) for each in inputs)
            raise InvalidArgument(
                f"{operation}: {self._aggregation.name} cannot take {shown}{together}: {error}"
                f"{_OF_ROWS if rows else ''}"
            ) from error
        self._lifted = lifted
        self._tried.add(signature)


def _signature(value: Any) -> Any:
    """What values that can be combined have in common; None if each value has to be tried."""
    if isinstance(value, datetime.datetime | datetime.time):
        return type(value), value.tzinfo is None
    return None if kind_of(value) is Kind.NESTED else type(value)


def _may_be_tried(kind: Kind, entry: Input) -> bool:
    """Whether Python can combine values that no column holds.

    Python compares tuples, and objects that can be compared, as it compares texts. Numbers may be
    times, in seconds.
    """
    if kind is Kind.NESTED:
        return Kind.TEXT in entry.accepts
    return Kind.TEMPORAL in entry.accepts and kind in (Kind.INTEGER, Kind.FLOAT, Kind.DECIMAL)


def _as_python(value: Any) -> Any:
    if isinstance(value, np.generic) and not kind_of(value).in_ticks:
        return value.item()
    return value
