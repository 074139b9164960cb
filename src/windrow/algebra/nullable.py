"""Plain Python monoids that skip nulls, with None as the partial of no values."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from windrow.algebra.aggregation import Aggregation
from windrow.algebra.equality import same
from windrow.algebra.failures import FAILURES, named
from windrow.algebra.kinds import Kind
from windrow.algebra.monoid import Monoid


class NullSkipping:
    """A monoid for plain Python: events with a null are lifted to None, the identity."""

    def __init__(
        self, monoid: Monoid, watched: Collection[int], name: str, missing: Collection[int] = ()
    ) -> None:
        """Of a monoid of that name.

        Args:
            monoid: the monoid.
            watched: the inputs whose nulls count: a carried input may be null.
            name: for messages.
            missing: the inputs whose nulls make an event one without a value, if the monoid has
                partials for those (see `Monoid.absent`).
        """
        self.monoid = monoid
        self.watched = watched
        self.name = name
        self.missing = missing if monoid.absent is not None else ()

    def identity(self) -> Any:
        """No values yet."""
        return None

    def lift(self, *inputs: Any) -> Any:
        """The partial of one event, None if an input is null."""
        if any(inputs[index] is None for index in self.watched):
            return None
        lift = self.monoid.lift
        if self.missing and any(inputs[index] is None for index in self.missing):
            assert self.monoid.absent is not None
            lift = self.monoid.absent
        try:
            return lift(*inputs)
        except FAILURES as error:
            raise named(self.name, error) from error

    def combine(self, older: Any, newer: Any) -> Any:
        """The partial of both, or of the one that has values."""
        if older is None:
            return newer
        if newer is None:
            return older
        try:
            return self.monoid.combine(older, newer)
        except FAILURES as error:
            raise named(self.name, error) from error

    def inverse(self, total: Any, oldest: Any) -> Any:
        """Not to be had: what is left of a sum does not tell whether a value is left."""
        raise TypeError("take an InvertibleNullSkipping")

    def same(self, left: Any, right: Any) -> bool:
        """Whether two partials are equal."""
        return same(left, right)

    def lower(self, partial: Any) -> Any:
        """The answer; None where there is none."""
        monoid = self.monoid
        if partial is None:
            # Only counts answer for no values, and they say so.
            return monoid.lower(monoid.identity) if monoid.answers_nothing else None
        try:
            return monoid.lower(partial) if monoid.has_answer(partial) else None
        except FAILURES as error:
            raise named(self.name, error) from error

    def answer(self, partial: Any) -> Any:
        """What users get: the same, but a dict where an answer has several members."""
        found, members = self.lower(partial), self.monoid.members
        if found is None or not members:
            return found
        return {member.name: value for member, value in zip(members, found, strict=True)}


class InvertibleNullSkipping(NullSkipping):
    """The same with an inverse: partials carry the number of their values."""

    def lift(self, *inputs: Any) -> Any:
        """One value and its partial."""
        partial = super().lift(*inputs)
        return None if partial is None else (1, partial)

    def combine(self, older: Any, newer: Any) -> Any:
        """The values of both."""
        if older is None:
            return newer
        if newer is None:
            return older
        try:
            return (older[0] + newer[0], self.monoid.combine(older[1], newer[1]))
        except FAILURES as error:
            raise named(self.name, error) from error

    def inverse(self, total: Any, oldest: Any) -> Any:
        """The values that are left, None if there are none."""
        if oldest is None:
            return total
        if total[0] == oldest[0]:
            return None
        assert self.monoid.inverse is not None
        try:
            return (total[0] - oldest[0], self.monoid.inverse(total[1], oldest[1]))
        except FAILURES as error:
            raise named(self.name, error) from error

    def lower(self, partial: Any) -> Any:
        """The answer; None where there is none."""
        return super().lower(None if partial is None else partial[1])


def plain_monoid(aggregation: Aggregation, given: int = 0) -> NullSkipping:
    """The monoid of an aggregation of Python values, as events bring them.

    Carried inputs may be null, unless they are the value itself. Of inputs that may be left out,
    nulls count as such if so many are `given` that they are among them: `count("x")` counts the
    values of x, `count()` all events.
    """
    watched = [
        index
        for index in aggregation.watched
        if index < given or not aggregation.inputs[index].optional
    ]
    monoid = aggregation.monoid_for((Kind.ANY,) * len(aggregation.inputs))
    return skipping_nulls(monoid, watched, aggregation.name, aggregation.unknown)


def without_inverse(monoid: NullSkipping) -> NullSkipping:
    """The monoid for an algorithm that takes nothing out: no partial carries a number of values."""
    return NullSkipping(monoid.monoid, monoid.watched, monoid.name, monoid.missing)


def skipping_nulls(
    monoid: Monoid, watched: Collection[int], name: str, missing: Collection[int] = ()
) -> NullSkipping:
    """The monoid for plain Python, with an inverse if there is one; its name is for messages."""
    kind = NullSkipping if monoid.inverse is None else InvertibleNullSkipping
    return kind(monoid, watched, name, missing)


def filtered(
    monoid: Monoid, watched: Collection[int], name: str, missing: Collection[int] = ()
) -> NullSkipping:
    """The same with one more input behind the monoid's own, null for events that do not count."""

    def lift(*inputs: Any) -> Any:
        return monoid.lift(*inputs[:-1])

    if monoid.absent is None:
        return skipping_nulls(replace(monoid, lift=lift), (*watched, -1), name)
    absent = monoid.absent

    def without_value(*inputs: Any) -> Any:
        return absent(*inputs[:-1])

    counting = replace(monoid, lift=lift, absent=without_value)
    return skipping_nulls(counting, watched, name, (*missing, -1))


class Together:
    """Several monoids of plain Python as one, whose partials are tuples."""

    def __init__(self, monoids: Sequence[Any]) -> None:
        self.monoids = monoids

    def identity(self) -> Any:
        """The partials of no events."""
        return tuple(monoid.identity() for monoid in self.monoids)

    def combine(self, older: Any, newer: Any) -> Any:
        """The partials of two neighbouring runs."""
        return tuple(map(_combine, self.monoids, older, newer))

    def inverse(self, total: Any, oldest: Any) -> Any:
        """The partials of a run without its oldest part."""
        return tuple(map(_inverse, self.monoids, total, oldest))

    def same(self, left: Any, right: Any) -> bool:
        """Whether all partials are equal."""
        return all(map(_same, self.monoids, left, right))


def _combine(monoid: Any, older: Any, newer: Any) -> Any:
    return monoid.combine(older, newer)


def _inverse(monoid: Any, total: Any, oldest: Any) -> Any:
    return monoid.inverse(total, oldest)


def _same(monoid: Any, left: Any, right: Any) -> bool:
    return bool(monoid.same(left, right))
