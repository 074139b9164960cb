"""What the registry promises of every algorithm."""

from typing import NamedTuple

import pytest

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
