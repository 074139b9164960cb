"""What the registry promises of every algorithm."""

from typing import NamedTuple

import pytest

import windrow as wr
from windrow.algebra.kinds import Kind
from windrow.algorithms import ALGORITHMS


def test_no_two_states_have_one_name():
    """Two states that look alike made the kernel of the second algorithm refuse its own state."""
    states = {algorithm.State for algorithm in ALGORITHMS.values()}
    assert len({state.__name__ for state in states}) == len(states)


@pytest.mark.compiled
def test_numba_tells_named_tuples_apart_by_name_alone():
    """Should this fail, the names in `windrow.algorithms` are no longer needed."""
    import numba

    def state() -> type:
        class State(NamedTuple):
            front: int
            end: int

        return State

    function = numba.njit(lambda state: state.front)
    function(state()(1, 2))
    function(state()(1, 2))
    assert len(function.signatures) == 1


@pytest.mark.parametrize("algorithm", ALGORITHMS.values(), ids=list(ALGORITHMS))
def test_no_window_keeps_more_partials_than_its_bounds_say(algorithm):
    kind = Kind.INTEGER
    aggregation = next(
        each
        for each in (wr.sum, wr.max)
        if algorithm.refuses(
            each.monoid_for((kind,)).traits, each.monoid_for((kind,)).inverse is not None
        )
        is None
    )
    for extent in (16, 100):
        window = wr.Window(aggregation, algorithm=algorithm.NAME)
        for event in range(3 * extent):
            if len(window) == extent:
                window.evict()
            # Falling values are the worst case of a monotone deque.
            window.insert(-event)
            window.query()
        state = window._behind._window.state
        assert algorithm.stored_partials(state) <= algorithm.GUARANTEES.partials(extent)
