"""Partials that are rows of arrays: the same answers in place, returned, and in plain Python."""

import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import windrow as wr
from windrow.algebra.kinds import Kind
from windrow.algebra.product import Part, Product
from windrow.algorithms import ALGORITHMS, two_stacks_lite
from windrow.compiler.kernel_memory import KernelMemory
from windrow.compiler.workspaces import with_workspace
from windrow.testing import check_laws

LANES = 4


def lift_into(value, into):
    into[int(value) % LANES] += value


def add_into(older, newer, into):
    for lane in range(LANES):
        into[lane] = older[lane] + newer[lane]


def weigh(partial):
    return partial[0] + 10 * partial[1] + 100 * partial[2] + 1000 * partial[3]


IN_PLACE = wr.aggregation(
    name="lanes",
    identity=np.zeros(LANES),
    lift=lift_into,
    combine=add_into,
    lower=weigh,
    in_place=True,
)
RETURNING = wr.aggregation(
    name="lanes",
    identity=np.zeros(LANES),
    lift=lambda value: np.where(np.arange(LANES) == int(value) % LANES, value, 0.0),
    combine=lambda older, newer: older + newer,
    lower=weigh,
)
TABLE = pa.table({"t": range(300), "x": [float(number * 7 % 23) for number in range(300)]})


def answers(aggregation, window, algorithm="two_stacks_lite"):
    table = wr.over(TABLE, order="t", windows=window, aggs=aggregation("x"), algorithm=algorithm)
    return table["lanes_x"].to_pylist()


def test_a_user_s_functions_in_place_keep_the_laws():
    check_laws(IN_PLACE, [1.0, 2.0, 3.0, 6.0])


@pytest.mark.compiled
@pytest.mark.parametrize("window", [wr.rows(1), wr.rows(7), wr.rows(64)], ids=repr)
def test_in_place_equals_returning_new_arrays(window):
    assert answers(IN_PLACE, window) == answers(RETURNING, window, "recompute")


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("algorithm", sorted(ALGORITHMS))
def test_in_place_equals_returning_new_arrays_in_every_algorithm(algorithm):
    """Kernels of every algorithm hold rows in `algorithms/test_evicting_many.py`."""
    monoid = IN_PLACE.monoid_for((Kind.FLOAT,))
    if ALGORITHMS[algorithm].refuses(monoid.traits, monoid.inverse is not None):
        with pytest.raises(wr.NotApplicable):
            answers(IN_PLACE, wr.rows(3), algorithm)
        return
    for window in (wr.rows(1), wr.rows(7), wr.rows(64)):
        assert answers(IN_PLACE, window, algorithm) == answers(RETURNING, window)


def test_in_place_is_refused_for_partials_that_are_no_arrays():
    with pytest.raises(wr.InvalidAggregation, match="identity is an array"):
        wr.aggregation(
            name="no_array", identity=0.0, lift=lift_into, combine=add_into, in_place=True
        )


def test_a_window_takes_functions_in_place():
    window = wr.Window(IN_PLACE())
    window.insert_many([1.0, 2.0, 5.0])
    window.evict()
    assert window.query() == 10 * 5.0 + 100 * 2.0


def test_what_a_state_is_made_of_is_held_unless_it_stays_as_it_was():
    insert = next(f for f in two_stacks_lite.FUNCTIONS if f.__name__ == "insert")
    evict = next(f for f in two_stacks_lite.FUNCTIONS if f.__name__ == "evict")
    functions = {f.__name__: f for f in with_workspace(two_stacks_lite.FUNCTIONS)}
    assert "hold" in functions["insert"].__code__.co_names
    assert "hold" not in functions["evict"].__code__.co_names
    assert functions["insert"].__code__.co_varnames[0] == "rows"
    assert insert.__code__.co_filename == functions["insert"].__code__.co_filename
    assert evict.__code__.co_varnames[0] == "state"


# Where rows are kept ------------------------------------------------------------------------------


def resident() -> int:
    """The memory of this process that is in use, in bytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="only Linux tells")
def test_rows_that_nothing_has_written_take_no_memory() -> None:
    """The largest sketch that is taken, in a window with room for 64: 3.5 GiB, were all written."""
    sketch = wr.bloom(capacity=14_000_000).aggregation.monoid_for((Kind.INTEGER,))
    memory = KernelMemory(Product([Part(sketch, (0,))]))
    before = resident()
    ring = memory.queue(64)
    ((rows, _turns),) = memory.workspace()
    assert rows.nbytes > 3 * 2**30
    assert not rows[0].any()
    rows[ring[0][3]] = 7
    assert resident() - before < 2**28


@pytest.mark.parametrize("k", [3, 5000])
def test_counted_rows_that_nothing_has_written_say_so(k: int) -> None:
    """Trees copy nodes that they have not written; what stood there said how much to copy."""
    monoid = wr.top_k(k=k).aggregation.monoid_for((Kind.INTEGER,))
    memory = KernelMemory(Product([Part(monoid, (0,))]))
    first = memory.queue(4)
    memory.workspace()
    ring = memory.queue(64)
    ((rows, _turns),) = memory.workspace()
    assert not rows[first[0], 0].any()
    assert not rows[ring[0], 0].any()


def test_rows_keep_their_numbers_when_there_are_more() -> None:
    monoid = wr.top_k(k=3).aggregation.monoid_for((Kind.INTEGER,))
    memory = KernelMemory(Product([Part(monoid, (0,))]))
    window = memory.for_window()
    ring = memory.queue(4)
    full, longer = np.arange(16).reshape(4, 4), np.arange(100, 132).reshape(8, 4)
    full[:, 0] = longer[:, 0] = 3  # the number of values
    memory.fill(ring, slice(None), (full,))
    more = window.queue(8)
    window.fill(more, slice(None), (longer,))
    assert memory.partials(ring, slice(None))[0].tolist() == full.tolist()
    ((rows, _turns),) = memory.workspace()
    assert rows[0].tolist() == monoid.identity.tolist()
    assert len({*ring[0], *more[0], 0}) == 13
