"""`_replace` in functions that are linked."""

from __future__ import annotations

import traceback
from typing import Any, NamedTuple

import pytest

from windrow.algorithms import two_stacks_lite
from windrow.compiler.constructors import with_constructors
from windrow.compiler.linking import link


class State(NamedTuple):
    """Two fields."""

    front: int
    end: int


def twice(number: int) -> int:
    """A slot."""
    raise NotImplementedError


def insert(state: State) -> State:
    """Change one field, by a slot."""
    return state._replace(end=twice(state.end))


def swap(state: State) -> State:
    """Change all fields, in another order than theirs."""
    return state._replace(end=state.front, front=state.end)


def misspelt(state: Any) -> Any:
    """Change a field that is not there."""
    return state._replace(back=1)


def nameless(states: Any) -> Any:
    """Change a state that has no name."""
    return states[0]._replace(front=1)


def unchanged(state: State) -> State:
    """Change nothing."""
    return state


def test_replaced_fields_are_arguments_of_the_constructor():
    linked = link([insert, swap], {"twice": lambda number: 2 * number})
    assert linked["insert"](State(1, 2)) == State(1, 4)
    assert linked["swap"](State(1, 2)) == State(2, 1)
    assert "_replace" not in linked["insert"].__code__.co_names


def test_a_function_is_rewritten_once():
    assert with_constructors(insert) is with_constructors(insert)
    assert with_constructors(unchanged) is unchanged


def test_line_numbers_stay():
    failing = link([insert], {"twice": lambda number: 1 // 0})["insert"]
    with pytest.raises(ZeroDivisionError) as caught:
        failing(State(1, 2))
    frame = traceback.extract_tb(caught.tb)[1]
    assert (frame.filename, frame.name) == (__file__, "insert")
    assert frame.line == "return state._replace(end=twice(state.end))"


def test_a_function_without_source_stays():
    namespace: dict[str, Any] = {"State": State}
    exec("def move(state):\n    return state._replace(front=9)", namespace)
    move = namespace["move"]
    assert with_constructors(move) is move
    assert link([move], {})["move"](State(1, 2)) == State(9, 2)


@pytest.mark.parametrize(
    ("function", "message"), [(misspelt, "no field.*back"), (nameless, "give the state a name")]
)
def test_what_cannot_be_rewritten_is_refused(function, message):
    with pytest.raises(TypeError, match=message):
        with_constructors(function)


def test_no_algorithm_replaces_at_run_time():
    for function in two_stacks_lite.FUNCTIONS:
        assert "_replace" not in with_constructors(function).__code__.co_names
