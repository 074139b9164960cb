"""Boundary algorithms with chunks that a test chooses, and figure 2 of their paper."""

import types
from collections.abc import Callable
from typing import Any

import windrow as wr
from tests.support.algorithms.observed import Observed
from windrow.algorithms import Algorithm, sequential_boundary
from windrow.algorithms.plain_memory import PLAIN_SLOTS

load = PLAIN_SLOTS["load"]


def is_chunk_full(state: Any, ring: Any) -> bool:
    return bool(chosen(state))  # type: ignore[name-defined]  # noqa: F821


def with_boundaries(chosen: Callable[[Any], bool], algorithm: Any) -> Any:
    """The algorithm with boundaries of another choice."""
    other = types.FunctionType(is_chunk_full.__code__, {"chosen": chosen}, "is_chunk_full")
    functions = tuple(
        other if function.__name__ == "is_chunk_full" else function
        for function in algorithm.FUNCTIONS
    )
    return types.SimpleNamespace(**{**vars(algorithm), "FUNCTIONS": functions})


def with_chunks_of(size: int, algorithm: Algorithm = sequential_boundary) -> Any:
    """The algorithm with chunks of one size, as in the figures."""
    return with_boundaries(lambda state: state.end - state.current == size, algorithm)


def slots(observed: Observed, begin: int, stop: int) -> list[Any]:
    return [load(observed.window.ring.slots, position) for position in range(begin, stop)]


def sub_aggregations(observed: Observed) -> list[Any]:
    """What a window is divided into: of the oldest chunk its lcs, chunk aggregations, csa."""
    state, ring = observed.state, observed.window.ring
    starts = [load(ring.boundaries, index) for index in range(state.first, state.last)]
    middle = [state.middle] if state.middle != state.current else []
    parts = [load(ring.slots, start) for start in (state.front, *middle, *starts)]
    return [*parts, state.current_partial]


#: slice aggregations; of the figure itself only ca1 = 9 is in the text
SAA_0 = [4, 7, 3, 5, 2]


SAA_1 = [1, 6, 3, 9, 8]


def follow_figure_2(algorithm: Algorithm) -> None:
    observed = Observed(with_chunks_of(5, algorithm), wr.max)
    for number in SAA_0:
        observed.insert(number)
    # Window 0 begins at a boundary, and chunk 0 is closed: lcs is accumulated from right to left.
    assert slots(observed, 0, 5) == [7, 7, 5, 5, 2]
    assert observed.window.query() == 7
    csa = []
    for index, number in enumerate(SAA_1[:4]):
        observed.evict()
        observed.insert(number)
        csa.append(observed.state.current_partial)
        # max(w_i) is the maximum of lcs_0[i] and csa_1[i - 1].
        assert sub_aggregations(observed) == [[7, 5, 5, 2][index], csa[-1]]
        assert observed.window.query() == max((SAA_0 + SAA_1)[index + 1 : index + 6])
    assert csa == [1, 6, 6, 9]
    observed.evict()
    observed.insert(SAA_1[4])
    assert observed.window.query() == 9  # ca_1
    observed.check()
