"""The running partial: a window from which nothing leaves.

paper      none: it is the fold of a list
order      first in; nothing goes out
requires   an associative combine, nothing else
insert     1 combine
evict      not offered
query      no combine
space      1 partial

The partial of all events is all that is kept. Since no event can be evicted, this is no algorithm
that `algorithm=` names or `wr.Window` takes: the planner takes it for windows that only grow.

      front                     end
        |                        |
        v                        v
      [ a  b  c  d  e  f  g  h  i ]     none of them kept;  total = a..i

Invariants, for a window of events v[0] to v[n-1]:

1. end - front = n.
2. total is v[0] .. v[n-1], the identity if n = 0.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from windrow.algebra.monoid import Traits
from windrow.algorithms.guarantees import Growth, Guarantees
from windrow.algorithms.plain_memory import Memory
from windrow.compiler.slots import Partial, Ring, combine, identity

NAME = "running_partial"
GUARANTEES = Guarantees(Growth.CONSTANT, lambda events: 1, evicts=False)


class State(NamedTuple):
    """Where the window begins and ends, and its partial."""

    front: int
    end: int
    total: Partial


def refuses(traits: Traits, invertible: bool) -> str | None:
    """Why it cannot serve such an aggregation: it serves all."""
    return None


def allocate(memory: Memory, capacity: int) -> Ring:
    """No room: events are not kept."""
    return memory.queue(1)


def empty(ring: Ring, position: int) -> State:
    """A window with no events."""
    return State(position, position, identity())


def has_room(state: State, ring: Ring) -> bool:
    """Whether one more event fits: always."""
    return True


def resize(state: State, ring: Ring, other: Ring) -> State:
    """The same window in another ring."""
    return state


def insert(state: State, ring: Ring, partial: Partial) -> State:
    """Add an event."""
    return State(state.front, state.end + 1, combine(state.total, partial))


def query(state: State, ring: Ring) -> Partial:
    """The partial of all events."""
    return state.total


FUNCTIONS = (empty, has_room, resize, insert, query)


def stored_partials(state: State) -> int:
    """How many partials the state keeps."""
    return 1


def check_invariants(
    state: State,
    ring: Ring,
    events: Sequence[Partial],
    load: Callable[[Ring, int], Partial],
    fold: Callable[[Sequence[Partial]], Partial],
    equal: Callable[[Partial, Partial], bool],
) -> None:
    """Assert invariants 1 and 2 for a window of these lifted events."""
    assert state.end - state.front == len(events), "invariant 1"
    assert equal(state.total, fold(events)), "invariant 2"
