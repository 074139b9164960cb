"""The windows' algorithms, one per file, found by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from windrow.algebra.monoid import Monoid, Traits
from windrow.algorithms import (
    amortized_monoid_tree,
    base_intervals,
    daba,
    daba_lite,
    flat_fat,
    flat_fit,
    log_monoid_tree,
    parallel_boundary,
    recompute,
    sequential_boundary,
    slick_deque_inv,
    slick_deque_non_inv,
    subtract_on_evict,
    two_stacks,
    two_stacks_lite,
)
from windrow.algorithms.bounds import Bounds
from windrow.algorithms.plain_memory import Memory
from windrow.compiler.slots import Partial, Ring
from windrow.errors import InvalidArgument, NotApplicable


class State(Protocol):
    """Every state knows where its oldest event stands and where its newest ends."""

    @property
    def front(self) -> int:
        """The position of the oldest event."""

    @property
    def end(self) -> int:
        """The position behind the newest event."""


class Algorithm(Protocol):
    """What a file in this package offers; see README.md for adding one."""

    NAME: str
    BOUNDS: Bounds
    State: type
    FUNCTIONS: tuple[Callable[..., Any], ...]

    def allocate(self, memory: Memory, capacity: int) -> Ring:
        """Room for so many events, a power of two."""

    def refuses(self, traits: Traits, invertible: bool) -> str | None:
        """Why the algorithm cannot serve an aggregation with these traits, or None."""

    def stored_partials(self, state: Any) -> int:
        """How many partials a state keeps."""

    def check_invariants(
        self,
        state: Any,
        ring: Ring,
        events: Sequence[Partial],
        load: Callable[[Ring, int], Partial],
        fold: Callable[[Sequence[Partial]], Partial],
        equal: Callable[[Partial, Partial], bool],
    ) -> None:
        """Assert the numbered invariants of the file."""


ALGORITHMS: dict[str, Algorithm] = {
    module.NAME: module
    for module in (
        recompute,
        two_stacks,
        two_stacks_lite,
        daba,
        daba_lite,
        flat_fat,
        base_intervals,
        flat_fit,
        subtract_on_evict,
        slick_deque_non_inv,
        slick_deque_inv,
        sequential_boundary,
        parallel_boundary,
        log_monoid_tree,
        amortized_monoid_tree,
    )
}

#: names that stand for several algorithms; the first that serves an aggregation is its form
FORMS: dict[str, tuple[Algorithm, ...]] = {
    "slick_deque": (ALGORITHMS[slick_deque_non_inv.NAME], ALGORITHMS[slick_deque_inv.NAME])
}

for _algorithm in ALGORITHMS.values():
    # numba tells named tuples apart by the name of their class and the types of their fields. Of
    # two states that look alike and are both called State it would take one for the other.
    _algorithm.State.__name__ = f"{_algorithm.NAME}_state"


def find(name: str) -> Algorithm:
    """The algorithm of that name."""
    if isinstance(name, str) and name in ALGORITHMS:
        return ALGORITHMS[name]
    known = ", ".join(sorted((*ALGORITHMS, *FORMS)))
    raise InvalidArgument(f"algorithm: {name!r} is not known; there are {known}")


def why_not(algorithm: Algorithm, traits: Traits, invertible: bool, exact: bool) -> str | None:
    """Why an algorithm is not to serve such an aggregation, or None.

    If answers are to be `exact`, nothing of an event may stay behind when it has left.
    """
    refusal = algorithm.refuses(traits, invertible)
    if refusal is None and exact and algorithm.BOUNDS.subtracts and not traits.exact:
        return "subtracting rounded numbers leaves something behind; exact=False admits it"
    return refusal


def find_form(
    name: str, aggregation: str, traits: Traits, invertible: bool, exact: bool
) -> Algorithm:
    """The algorithm of that name that serves such an aggregation, or `NotApplicable`."""
    forms = FORMS[name] if isinstance(name, str) and name in FORMS else (find(name),)
    reasons = []
    for algorithm in forms:
        reason = why_not(algorithm, traits, invertible, exact)
        if reason is None:
            return algorithm
        reasons.append(reason)
    raise NotApplicable(f"{name} cannot serve {aggregation}: {', and '.join(reasons)}")


def require_applicable(algorithm: Algorithm, aggregation: str, monoid: Monoid) -> None:
    """Raise `NotApplicable` if the algorithm cannot serve the aggregation."""
    reason = algorithm.refuses(monoid.traits, monoid.inverse is not None)
    if reason:
        raise NotApplicable(f"{algorithm.NAME} cannot serve {aggregation}: {reason}")
