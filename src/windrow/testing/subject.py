"""The subject of a check: an aggregation whose functions are called as windrow calls them.

Over columns of numbers, kernels see 64-bit numbers, and positions in the place of values that are
only carried; times are whole ticks to them and to the catalogue's functions in plain Python. In
`wr.Window`, the kind `ANY`, functions see Python values as they are.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.algebra import arrays
from windrow.algebra.aggregation import Aggregation
from windrow.algebra.equality import same
from windrow.algebra.kinds import Kind
from windrow.compiler.slots import Partial
from windrow.engine import columns as arrow
from windrow.errors import InvalidArgument

#: the Arrow types that compiled kinds are tried as; None: as the values tell
_TYPES = {
    Kind.BOOLEAN: pa.bool_(),
    Kind.INTEGER: pa.int64(),
    Kind.FLOAT: pa.float64(),
    Kind.TEMPORAL: None,
    Kind.DURATION: None,
}

_NOTHING = object()

Event = tuple[Any, ...]


class Absent(tuple[Any, ...]):
    """An event without a value that counts all the same (see `Monoid.absent`)."""


def quietly() -> AbstractContextManager[Any]:
    """Without numpy's warnings, which kernels do not give: integers wrap, floats overflow."""
    return np.errstate(all="ignore")


def is_finite(partial: Partial) -> bool:
    """Whether no number of a partial is infinite or NaN, so that it can be subtracted again."""
    fields = partial if isinstance(partial, tuple) else (partial,)
    return all(
        math.isfinite(number)
        for number in np.ravel(np.asarray(fields, object))
        if isinstance(number, float)
    )


class Subject:
    """An aggregation over inputs of certain kinds.

    Args:
        aggregation: the aggregation to check.
        kinds: the kinds of its inputs, one for each; by default `ANY`, as in `wr.Window`.

    >>> import windrow as wr
    >>> subject = Subject(wr.mean)
    >>> subject.fold(subject.lift_all([1, 2, 6]))
    (9, 3)
    """

    def __init__(self, aggregation: Aggregation, kinds: Sequence[Kind] | None = None) -> None:
        if not isinstance(aggregation, Aggregation):
            raise InvalidArgument(
                f"aggregation: give an aggregation such as wr.max, not {aggregation!r}"
            )
        self.aggregation = aggregation
        self.kinds = (Kind.ANY,) * len(aggregation.inputs) if kinds is None else tuple(kinds)
        if len(self.kinds) != len(aggregation.inputs):
            raise InvalidArgument(
                f"kinds: {aggregation.name} has {len(aggregation.inputs)} input(s), and "
                f"{len(self.kinds)} kind(s) are given"
            )
        self.monoid = aggregation.monoid_for(self.kinds)
        self.equal = aggregation.equal

    # The functions that `PlainWindow` links to an algorithm.

    def identity(self) -> Partial:
        """The partial of no events; a new one, so that nobody's changes are seen by others."""
        return copy.deepcopy(self.monoid.identity)

    def combine(self, older: Partial, newer: Partial) -> Partial:
        """The partial of two neighbouring runs."""
        return self.monoid.combine(older, newer)

    def inverse(self, total: Partial, oldest: Partial) -> Partial:
        """The partial of a run without its oldest part."""
        if self.monoid.inverse is None:
            raise InvalidArgument(f"aggregation: {self.aggregation.name} has no inverse")
        return self.monoid.inverse(total, oldest)

    def same(self, left: Partial, right: Partial) -> bool:
        """Whether two partials are equal in every field."""
        return same(left, right)

    # From events to partials and on to answers.

    def events(self, inputs: Iterable[Any]) -> list[Event | None]:
        """What lift gets for each input; None where a null makes it no value at all.

        An input is one value, or a tuple of them if the aggregation takes several.
        """
        rows = [tuple(given) if len(self.kinds) > 1 else (given,) for given in inputs]
        for row in rows:
            if len(row) != len(self.kinds):
                raise InvalidArgument(
                    f"inputs: {self.aggregation.name} takes {len(self.kinds)} values, not {row!r}"
                )
        seen = [self._seen(index, [row[index] for row in rows]) for index in range(len(self.kinds))]
        watched = [
            index
            for index in self.aggregation.watched
            # Without a column, as in `wr.Window`, what is counted is rows.
            if not (self.aggregation.inputs[index].optional and self.kinds[index] is Kind.ANY)
        ]
        missing = self.aggregation.unknown if self.monoid.absent is not None else ()

        def event_of(row: Event, event: Event) -> Event | None:
            if any(row[index] is None for index in watched):
                return None
            return Absent(event) if any(row[index] is None for index in missing) else event

        return list(map(event_of, rows, zip(*seen, strict=True)))

    def _seen(self, index: int, column: list[Any]) -> Sequence[Any]:
        """One input of all events, as a kernel or plain Python sees it."""
        kind = self.kinds[index]
        if kind is Kind.ANY:
            return column
        entry = self.aggregation.inputs[index]
        if entry.carried:
            return range(len(column))
        if entry.digest is not None and self.monoid.is_numeric:
            typed = pa.array(column, _TYPES.get(kind))
            empty = typed.null_count == len(typed)
            return [None] * len(column) if empty else list(entry.digest(typed))
        if kind.is_compiled and self.monoid.is_numeric:
            return list(arrays.values(pa.array(column, _TYPES[kind])))
        if kind.in_ticks:
            return arrow.python_values(pa.array(column), entry.name, entry.as_python)
        return column

    def lift(self, event: Event | None) -> Partial:
        """The partial of one event."""
        if event is None:
            return self.identity()
        if isinstance(event, Absent):
            assert self.monoid.absent is not None
            return self.monoid.absent(*event)
        return self.monoid.lift(*event)

    def lift_in_place(self, event: Event) -> Partial:
        """The same, written into a row."""
        row, in_place = self.identity(), self.monoid.in_place
        assert in_place is not None
        lift = in_place.absent if isinstance(event, Absent) else in_place.lift
        assert lift is not None
        lift(*event, row)
        return row

    def lift_all(self, inputs: Iterable[Any]) -> list[Partial]:
        """The partials of events."""
        return [self.lift(event) for event in self.events(inputs)]

    def fold(self, partials: Iterable[Partial]) -> Partial:
        """All partials combined, oldest first: recomputation from scratch.

        It begins with the oldest of them: a wrong identity must not hide in front of it.
        """
        remaining = iter(partials)
        total = next(remaining, _NOTHING)
        if total is _NOTHING:
            return self.identity()
        for partial in remaining:
            total = self.combine(total, partial)
        return total

    def answer(self, inputs: Sequence[Any]) -> Any:
        """The answer for a window of these inputs, recomputed from scratch."""
        events = self.events(inputs)
        valued = any(event is not None for event in events)
        test = self.monoid.defined.test
        with quietly():
            partial = self.fold(map(self.lift, events))
            answered = valued if test is None else test(partial)
            return self.monoid.lower(partial) if answered else None

    def __repr__(self) -> str:
        kinds = ", ".join(kind.value for kind in self.kinds)
        return f"{self.aggregation.name}({kinds})"
