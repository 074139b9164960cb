"""A monoid that counts how often it combines, to turn theorems about costs into assertions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from windrow.aggregations.collections import collect
from windrow.algebra.aggregation import Aggregation, Input
from windrow.algebra.equality import same
from windrow.algebra.kinds import Kind
from windrow.algebra.monoid import Monoid
from windrow.compiler.slots import Partial


class CountingMonoid:
    """A monoid whose combines are counted.

    Without another monoid given it concatenates: a partial is the tuple of its events, so it shows
    which events went into it and in which order, and no two groupings of different events are ever
    mistaken for each other.

    >>> counting = CountingMonoid()
    >>> counting.monoid.combine(("a",), ("b", "c"))
    ('a', 'b', 'c')
    >>> counting.taken(), counting.taken()
    (1, 0)
    """

    def __init__(self, monoid: Monoid | None = None) -> None:
        monoid = monoid or collect.monoid_for((Kind.ANY,))
        self.combines = 0
        self._reported = 0
        self.monoid = replace(monoid, combine=self._counting(monoid.combine))
        self.aggregation = Aggregation(
            "counted", (Input("value"),), lambda _kinds: self.monoid, same
        )

    def _counting(
        self, combine: Callable[[Partial, Partial], Partial]
    ) -> Callable[[Partial, Partial], Partial]:
        def counted(older: Partial, newer: Partial) -> Partial:
            self.combines += 1
            return combine(older, newer)

        return counted

    def taken(self) -> int:
        """How many combines were made since this was last asked."""
        taken = self.combines - self._reported
        self._reported = self.combines
        return taken
