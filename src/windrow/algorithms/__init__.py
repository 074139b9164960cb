"""The windows' algorithms, one per file, found by name.

Every file of this folder that has a `NAME` is an algorithm, registered when the package is
imported.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, Protocol, cast, get_args

from windrow.algebra.monoid import Monoid, Traits
from windrow.algorithms.guarantees import Guarantees
from windrow.algorithms.plain_memory import Memory
from windrow.compiler.slots import Partial, Ring
from windrow.discovery import modules_of
from windrow.errors import InvalidArgument, NotApplicable

#: the order in which plans and tables list algorithms, the simplest first; others follow by name
_Listed = Literal[
    "recompute", "two_stacks", "two_stacks_lite", "daba", "daba_lite", "flat_fat",
    "base_intervals", "flat_fit", "subtract_on_evict", "slick_deque_non_inv", "slick_deque_inv",
    "sequential_boundary", "parallel_boundary", "log_monoid_tree", "amortized_monoid_tree",
    "finger_tree",
]  # fmt: skip
#: what `algorithm=` takes, for type checkers: also a name for several, and one of blocks of rows
AlgorithmName = Literal[_Listed, "slick_deque", "value_counts"]


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

    NAME: AlgorithmName
    GUARANTEES: Guarantees
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


def _registered() -> dict[str, Algorithm]:
    """Every file of this folder that has a `NAME`."""
    found: dict[str, Algorithm] = {}
    for module in modules_of(__name__, __path__, first=get_args(_Listed)):
        if not hasattr(module, "NAME"):
            continue  # a structure that algorithms share
        if hasattr(module, "OF_BLOCKS"):
            continue  # no window to insert into: the planner knows it (`planning/value_counts.py`)
        missing = [each for each in _CONTRACT if not hasattr(module, each)]
        if missing or module.NAME in found:
            reason = f"has no {', '.join(missing)}" if missing else f"is a second {module.NAME}"
            raise ImportError(f"{module.__name__} is no algorithm: it {reason}")
        found[module.NAME] = cast(Algorithm, module)
        # numba tells named tuples apart by the name of their class and the types of their fields.
        # Of two states that look alike and are both called State it would take one for the other.
        module.State.__name__ = f"{module.NAME}_state"
    return found


#: what `Algorithm` asks of a file
_CONTRACT = (
    "GUARANTEES", "State", "FUNCTIONS",
    "allocate", "refuses", "stored_partials", "check_invariants",
)  # fmt: skip

_FOUND = _registered()
#: the algorithms to choose from, by name
ALGORITHMS: dict[str, Algorithm] = {
    name: each for name, each in _FOUND.items() if each.GUARANTEES.evicts
}
#: the algorithm of windows from which nothing leaves
RUNNING = _FOUND["running_partial"]

#: names that stand for several algorithms; the first that serves an aggregation is its form
FORMS: dict[str, tuple[Algorithm, ...]] = {
    "slick_deque": (ALGORITHMS["slick_deque_non_inv"], ALGORITHMS["slick_deque_inv"])
}


def find(name: str) -> Algorithm:
    """The algorithm of that name."""
    if isinstance(name, str) and name in ALGORITHMS:
        return ALGORITHMS[name]
    if name == "value_counts":
        raise NotApplicable("algorithm: value_counts is for wr.over and wr.slide alone")
    known = ", ".join(sorted((*ALGORITHMS, *FORMS)))
    raise InvalidArgument(f"algorithm: {name!r} is not known; there are {known}")


def why_not(algorithm: Algorithm, traits: Traits, invertible: bool, exact: bool) -> str | None:
    """Why an algorithm is not to serve such an aggregation, or None.

    If answers are to be `exact`, nothing of an event may stay behind when it has left.
    """
    refusal = algorithm.refuses(traits, invertible)
    if refusal is None and exact and algorithm.GUARANTEES.subtracts and not traits.exact:
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
