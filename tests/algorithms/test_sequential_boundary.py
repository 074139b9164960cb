"""SBA: figures 2 and 3, 3 combines a slide, 3b* + 2 partials (Zhang et al. 2021, §4)."""

import random
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import windrow as wr
from tests.support.algorithms.boundaries import (
    follow_figure_2,
    sub_aggregations,
    with_boundaries,
    with_chunks_of,
)
from tests.support.algorithms.observed import Observed, bulk_evictions
from windrow.algorithms import boundary_rows, sequential_boundary
from windrow.algorithms.optimal_chunk import optimal_chunk_of_rows
from windrow.algorithms.plain_memory import CHUNK, PLAIN_SLOTS
from windrow.compiler.linking import link
from windrow.engine.over_batches import over_batches
from windrow.planning.choose import Wish
from windrow.planning.over_plan import resolve_over
from windrow.testing import check_algorithm
from windrow.testing.strategies import traces

load = PLAIN_SLOTS["load"]


# Figure 2: W[10, 2] with chunks of 5 slices -------------------------------------------------------


def test_figure_2():
    follow_figure_2(sequential_boundary)


def test_a_window_of_figure_2_takes_one_combine():
    observed = Observed(with_chunks_of(5))
    observed.follow([*range(5)])
    for number in range(5, 50):
        observed.evict()
        observed.insert(number)
        assert observed.query() <= 1
        observed.check()


# Figure 3: W[16, 1] with chunks of 4 --------------------------------------------------------------


def test_figure_3():
    """k = 4: window 1 is divided into five sub-aggregations."""
    observed = Observed(with_chunks_of(4))
    observed.follow([*range(16)])
    # Window 0 begins at a boundary.
    assert sub_aggregations(observed) == [
        (0, 1, 2, 3), (4, 5, 6, 7), (8, 9, 10, 11), (12, 13, 14, 15), (),
    ]  # fmt: skip
    observed.evict()
    observed.insert(16)
    # The lcs of chunk 0 at 1, the aggregations of chunks 1, 2 and 3, and csa of chunk 4 at 0.
    assert sub_aggregations(observed) == [
        (1, 2, 3), (4, 5, 6, 7), (8, 9, 10, 11), (12, 13, 14, 15), (16,),
    ]  # fmt: skip
    # The chunks in the middle are combined when they change, and not for every window as in the
    # paper, so that a query takes 2 combines however many there are.
    assert observed.query() == 2
    for number in range(17, 100):
        observed.evict()
        observed.insert(number)
        assert observed.query() <= 2
        assert len(sub_aggregations(observed)) in (4, 5), "k or k + 1, and k + 1 or k + 2"
        observed.check()


# Complexity (§4.4) --------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 7, 8, 31, 64, 100])
def test_a_steady_window(size):
    """Chunks of b*, at most 3 combines a slide besides the lcs, at most 3b* + 2 partials."""
    chunk = optimal_chunk_of_rows(size)
    observed = Observed(sequential_boundary)
    observed.follow([*range(size)])
    boundaries, slides, combines = [], [], 0
    for number in range(12 * size + 12):
        before = observed.state
        evicting, inserting, querying = observed.evict(), observed.insert(number), observed.query()
        observed.check()
        combines += evicting + inserting + querying
        after = observed.state
        if number <= 2 * size:  # the chunks of the time when the window grew have yet to leave
            continue
        assert evicting == 0 or size == 1
        if after.current != before.current:
            boundaries.append(after.current)
            assert inserting == 1 + chunk - 1, "csa, and the lcs of a chunk"
            inserting = 1
        slides.append(inserting + querying)
        assert after.first == after.last, "at most one chunk in the middle"
        assert sequential_boundary.stored_partials(after) == size + 2 <= 3 * chunk + 2
    assert max(slides) <= 3
    assert {later - earlier for earlier, later in pairwise(boundaries)} == {chunk}
    # With the lcs, less than 4 on average.
    assert combines < 4 * (12 * size + 12)


def test_a_growing_window_has_few_chunks():
    """They double in size, so that a query takes 2 combines and an evict at most log n."""
    observed = Observed(sequential_boundary)
    for number in range(3000):
        observed.insert(number)
        observed.window.query()
        assert observed.counting.taken() <= 2
    closed = len(sub_aggregations(observed)) - 1
    assert closed <= 12
    observed.check()
    for _ in range(2999):
        current = observed.state.current
        taken = observed.evict()
        # Down to the chunk that was never closed: what is left of it is closed now.
        assert taken <= 11 or observed.state.current > current
        observed.window.query()
        assert observed.counting.taken() <= 2
    observed.check()
    assert all(queue.chunks <= len(observed) // CHUNK + 2 for queue in observed.memory.queues)


@given(trace=traces(st.integers(0, 99), most_steps=60))
def test_an_event_is_combined_twice_on_its_way(trace):
    """Once into csa and once into lcs; chunks are combined with each other for each that leaves."""
    observed = Observed(sequential_boundary)
    inserted = taken = used_up = 0
    for step in trace:
        for given_ in step.inputs:
            inserted += 1
            taken += observed.insert(given_)
        before = observed.state
        if step.name == "evict" and len(observed):
            taken += observed.evict()
        elif step.name == "evict_many":
            taken += observed.evict_many(min(step.count, len(observed)))
        used_up += observed.state.middle != before.middle
        # A chunk that is closed behind another in the middle is combined with it: once more.
        assert taken <= 3 * inserted + used_up * 8
        observed.check()


def test_evicting_many():
    """Nothing of closed chunks, which are not looked at; else as many as stay."""
    for count, stays, taken, one_by_one in bulk_evictions(sequential_boundary, 17):
        assert taken <= max(stays, 5), (count, stays)
        assert taken <= one_by_one + 5


# Any boundaries ----------------------------------------------------------------------------------


@given(
    trace=traces(st.integers(0, 99), most_steps=50),
    choices=st.lists(st.booleans(), min_size=1, max_size=50),
)
def test_any_boundaries_give_the_right_answers(trace, choices):
    algorithm = with_boundaries(
        lambda state: choices[state.end % len(choices)], sequential_boundary
    )
    check_algorithm(algorithm, Observed(sequential_boundary).counting.aggregation, trace)


@pytest.mark.parametrize("seed", range(3))
def test_a_window_that_changes_its_size(seed):
    chance = random.Random(seed)
    observed = Observed(sequential_boundary)
    wanted = 0
    for number in range(1500):
        if len(observed) == wanted:
            wanted = chance.choice([0, 1, 2, 5, 40, 150])
        if chance.random() < (0.7 if len(observed) < wanted else 0.3) or not len(observed):
            observed.insert(number)
        elif chance.random() < 0.9:
            observed.evict()
        else:
            observed.evict_many(chance.randint(0, len(observed)))
        assert observed.query() <= 2
        if number % 10 == 0:
            observed.check()


# Blocks of rows ----------------------------------------------------------------------------------


def test_chunks_of_any_state_are_merged_into_one():
    chance = random.Random(1)
    for size in range(1, 60):
        observed = Observed(sequential_boundary)
        observed.follow([*range(size)])
        for number in range(chance.randrange(2 * size)):
            observed.evict()
            observed.insert(number)
        supplied = {
            **PLAIN_SLOTS,
            **observed.window.functions,
            "identity": observed.subject.identity,
            "combine": observed.subject.combine,
        }
        merge_chunks = link(boundary_rows.FUNCTIONS, supplied)["merge_chunks"]
        observed.window.state = merge_chunks(observed.state, observed.window.ring)
        assert observed.state.middle == observed.state.end
        observed.check()
        assert observed.query() <= 1


#: x -> slope * x + offset, one after the other: order matters
LINES = wr.aggregation(
    name="lines",
    identity=(1.0, 0.0),
    lift=lambda value: (-1.0 if value < 5 else 1.0, value),
    combine=lambda older, newer: (older[0] * newer[0], newer[0] * older[1] + newer[1]),
    lower=lambda line: line[1],
)


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("extent", [1, 2, 3, 7, 16, 33, 500])
def test_rows_in_blocks(extent):
    """Runs of keys, and batches that end anywhere."""
    chance = np.random.default_rng(extent)
    table = pa.table(
        {
            "k": np.sort(chance.integers(0, 5, 900)),
            "t": np.arange(900),
            "x": chance.integers(0, 10, 900).astype(np.float64),
        }
    )
    marks = np.cumsum([0, 1, 2, 100, 3, 300, 1, 50, 400, 43])
    assert marks[-1] == 900
    found = {}
    for name in ("sequential_boundary", "recompute"):
        plan = resolve_over(
            table.schema, key="k", order="t", windows=wr.rows(extent), aggs=LINES("x"),
            wish=Wish(algorithm=name),
        )  # fmt: skip
        (batch,) = table.select(plan.columns).to_batches()
        batches = [batch.slice(begin, stop - begin) for begin, stop in pairwise(marks.tolist())]
        answers = pa.Table.from_batches(over_batches(batches, plan, nullable=set()))
        found[name] = answers["lines_x"].to_pylist()
    assert found["sequential_boundary"] == found["recompute"]
