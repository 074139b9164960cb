"""PBA: SBA's answers, with each chunk's lcs computed on another thread (Zhang et al. 2021, §4)."""

import multiprocessing
import re
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import windrow as wr
from tests.support.algorithms.boundaries import (
    follow_figure_2,
    slots,
    with_boundaries,
    with_chunks_of,
)
from tests.support.algorithms.observed import Observed, bulk_evictions
from windrow.algebra.kinds import Kind
from windrow.algebra.monoid import Field, InPlace, Monoid
from windrow.algebra.product import Part, Product
from windrow.algorithms import parallel_boundary
from windrow.algorithms.optimal_chunk import optimal_chunk_of_rows
from windrow.algorithms.parallel_boundary import CHUNK, FAILED, IDLE, POSTED, TAKEN, WORK
from windrow.algorithms.plain_memory import PLAIN_SLOTS
from windrow.compiler.kernel_memory import KernelMemory
from windrow.engine import helper_thread as helper
from windrow.engine import loops
from windrow.engine.row_windows import CompiledRowWindow, RowBlock, kernel_for
from windrow.engine.slice_windows import chunk_of
from windrow.planning.choose import Wish
from windrow.planning.slide_plan import resolve_slide
from windrow.testing import check_algorithm
from windrow.testing.strategies import traces
from windrow.windows.bounds import Bounds
from windrow.windows.key_runs import NEVER
from windrow.windows.reach import Newest
from windrow.windows.sorted_rows import SortedRows
from windrow.windows.spans import Spanning
from windrow.work import sizes

load = PLAIN_SLOTS["load"]
CONCATENATION = Observed(parallel_boundary).counting.aggregation


@pytest.fixture
def any_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hand over every chunk, however short."""
    monkeypatch.setattr(parallel_boundary, "SMALLEST", 1)


# One thread --------------------------------------------------------------------------------------


@pytest.mark.usefixtures("any_chunk")
def test_the_figures():
    follow_figure_2(parallel_boundary)
    observed = Observed(with_chunks_of(4, parallel_boundary))
    observed.follow([*range(16)])
    # Figure 3. The first chunk was the oldest at once; others were settled before the next one was
    # posted; the last is on the board, and its slots hold what they held before.
    assert slots(observed, 12, 16) == [(12,), (13,), (14,), (15,)]
    assert slots(observed, 8, 12) == [(8, 9, 10, 11), (9, 10, 11), (10, 11), (11,)]
    assert load(observed.window.ring.board, WORK) == POSTED
    observed.evict()
    observed.insert(16)
    assert observed.query() == 2
    observed.check()


@pytest.mark.usefixtures("any_chunk")
@given(
    trace=traces(st.integers(0, 99), most_steps=50),
    choices=st.lists(st.booleans(), min_size=1, max_size=50),
)
def test_any_trace_and_any_boundaries(trace, choices):
    check_algorithm(parallel_boundary, CONCATENATION, trace)
    chosen = with_boundaries(lambda state: choices[state.end % len(choices)], parallel_boundary)
    check_algorithm(chosen, CONCATENATION, trace)


@pytest.mark.parametrize("size", [128, 129, 200])
def test_a_slide_takes_three_combines_and_no_lcs(size):
    """What is left of SBA's cost is the same for every slide, if the lcs is taken by a helper."""
    chunk = optimal_chunk_of_rows(size)
    observed = Observed(parallel_boundary)
    observed.follow([*range(size)])
    ring = observed.window.ring
    for number in range(6 * size):
        evicting, inserting, querying = observed.evict(), observed.insert(number), observed.query()
        if number > 2 * size:
            assert evicting == 0
            assert inserting == 1
            assert querying <= 2
        assert parallel_boundary.stored_partials(observed.state) == size + 2 <= 3 * chunk + 2
        # In the place of the helper, at once: it has as many slides' time as the chunk allows.
        observed.window.functions["settle"](ring)
        assert load(ring.board, WORK) == IDLE
        assert observed.counting.taken() in (
            0,
            *([chunk - 1] if number > 2 * size else range(size)),
        )
        if number % 50 == 0:
            observed.check()


@pytest.mark.usefixtures("any_chunk")
def test_evicting_many():
    for count, stays, taken, one_by_one in bulk_evictions(parallel_boundary, 17):
        # What is on the board is computed when it is entered, also those of it that leave.
        assert taken <= max(stays, 9) + 9, (count, stays)
        assert taken <= one_by_one + 9


@pytest.mark.usefixtures("any_chunk")
def test_what_nobody_will_read_is_abandoned():
    observed = Observed(with_chunks_of(8, parallel_boundary))
    observed.follow([*range(20)])
    assert load(observed.window.ring.board, WORK) == POSTED
    assert observed.evict_many(18) == 1  # of the two that stay
    assert load(observed.window.ring.board, WORK) == IDLE
    observed.follow([*range(8)])
    assert observed.evict_many(len(observed)) == 0
    observed.check()


@pytest.mark.usefixtures("any_chunk")
@pytest.mark.parametrize(("extent", "chunk"), [(40, 21), (40, 40), (40, 57), (40, 9), (7, 40)])
def test_chunks_of_a_length_that_is_known(extent: int, chunk: int) -> None:
    observed = Observed(parallel_boundary)
    PLAIN_SLOTS["store_integer"](observed.window.ring.board, CHUNK, chunk)
    for number in range(4 * max(extent, chunk)):
        observed.insert(number)
        if len(observed) > extent:
            observed.evict()
        observed.query()
        observed.check()
        assert observed.state.end - observed.state.current <= chunk


@pytest.mark.parametrize(
    ("windows", "wanted"),
    [
        # Ten slices, one a slide: theorem 1 has 6, and theorem 2, where answers take time, 7.
        ({"rows": wr.rows(100, every=10)}, {"rows": 6}),
        ({"clock": wr.time("100s", every="10s")}, {"clock": 7}),
        # Cuts at 0, 4, 6, 10 of 12: 28 slices, four a slide, and 6 slices, two a slide.
        ({"long": wr.rows(84, every=12), "short": wr.rows(16, every=6)}, {"long": 24, "short": 6}),
        ({"session": wr.session("5s")}, {"session": 0}),
    ],
)  # fmt: skip
def test_the_optimal_chunk_of_a_plan(windows: dict[str, Any], wanted: dict[str, int]) -> None:
    schema = pa.schema({"t": pa.timestamp("s"), "x": pa.float64()})
    plan = resolve_slide(
        schema, key=None, order="t", windows=windows, aggs=wr.sum("x"), wish=Wish(),
        changes_only=False,
    )  # fmt: skip
    assert {name: chunk_of(plan, name) for name in windows} == wanted


# Two threads -------------------------------------------------------------------------------------


@pytest.fixture
def helpers(monkeypatch: pytest.MonkeyPatch) -> Iterator[helper.Helpers]:
    """One helper, however many cores there are; its thread ends with the test."""
    one = helper.Helpers(1)
    monkeypatch.setattr(helper, "HELPERS", one)
    yield one
    if one._threads is not None:
        one._threads.shutdown()


def dear(older: float, newer: float) -> float:
    """The larger of two, found slowly: as long as some hundred combines of sums."""
    largest = max(older, newer)
    waste = 0.0
    for step in range(50):
        waste += np.sqrt(largest * largest + step)
    return largest if waste >= 0.0 else older


DEAR = wr.aggregation(name="dear", identity=-1.0, combine=dear, selective=True)


def lift_set(value: Any, row: Any) -> None:
    row[int(value) & 7] = 1


def unite(older: Any, newer: Any, row: Any) -> None:
    for lane in range(8):
        row[lane] = older[lane] | newer[lane]


def _never(*_arguments: Any) -> Any:
    raise AssertionError("a kernel lifts and combines in place")


#: sets of small numbers, as rows of an array: combined without allocating
SETS = Monoid(
    identity=np.zeros(8, np.int64),
    lift=_never,
    combine=_never,
    lower=lambda row: float(row.sum()),
    in_place=InPlace(lift_set, unite),
    fields=(Field("set", "int64", 8),),
    output=lambda _types: pa.float64(),
)


def rolled(
    algorithm: Any, monoid: Monoid, numbers: Any, extent: int, blocks: int = 1
) -> tuple[Any, CompiledRowWindow]:
    """The answers of a window of rows over blocks of numbers, and the pass that made them."""
    product = Product([Part(monoid, (0,))])
    kernel = kernel_for(loops.over_rows, algorithm, product, checked=False)
    one_pass = CompiledRowWindow(wr.rows(extent), loops.over_rows, kernel, product, algorithm)
    answers = []
    starts, spanning, position = np.array([0, NEVER]), Spanning(), 0
    for block in np.array_split(numbers, blocks):
        size = len(block)
        answers.append(np.empty(size))
        bounds = Bounds(starts, Newest(extent))
        spans = bounds.next_spans(spanning, SortedRows({}, starts, size, ends=False))
        one_pass.advance(
            RowBlock((block,), (), bounds, 0, 0, size, spans, position, position),
            [answers[-1]],
            [np.empty(size, np.bool_)],
        )
        starts, position = np.array([NEVER]), position + size
    return np.concatenate(answers), one_pass


def expected(function: Any, numbers: Any, extent: int) -> Any:
    return [
        function(numbers[max(0, row + 1 - extent) : row + 1]) for row in range(0, len(numbers), 97)
    ]


@pytest.mark.compiled
@pytest.mark.usefixtures("helpers")
def test_a_helper_computes_while_the_kernel_runs():
    """The same answers, some chunks taken by the helper, on whatever machine this is."""
    monoid = DEAR.monoid_for((Kind.FLOAT,))
    numbers = np.abs(np.random.default_rng(1).normal(size=30_000))
    helped = 0
    for _attempt in range(20):  # a busy machine may leave a helper no time at all
        answers, one_pass = rolled(parallel_boundary, monoid, numbers, 1000)
        assert list(answers[::97]) == expected(np.max, numbers, 1000)
        helped += one_pass.helper.helped
        if helped > 5:
            break
    assert helped > 5, "of about 60 chunks in each attempt"


@pytest.mark.compiled
@pytest.mark.usefixtures("helpers")
@pytest.mark.parametrize("extent", [1, 100, 129, 1000, 5000, 100_000])
def test_windows_of_sums_in_blocks(extent):
    numbers = np.random.default_rng(2).integers(0, 9, 60_000).astype(np.float64)
    monoid = wr.sum.monoid_for((Kind.FLOAT,))
    answers, _pass = rolled(parallel_boundary, monoid, numbers, extent, blocks=7)
    assert list(answers[::97]) == expected(np.sum, numbers, extent)


@pytest.mark.compiled
@pytest.mark.usefixtures("helpers")
def test_windows_of_rows_of_arrays():
    """The helper combines in scratch rows of its own."""
    numbers = np.random.default_rng(3).geometric(0.4, 30_000).astype(np.float64)
    answers, _pass = rolled(parallel_boundary, SETS, numbers, 300, blocks=3)
    count = expected(lambda newest: len(set(newest.astype(int) & 7)), numbers, 300)
    assert list(answers[::97]) == count


@pytest.fixture
def asked(helpers: helper.Helpers, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What helpers were asked to do."""
    found: list[Any] = []
    start = helpers.start
    monkeypatch.setattr(helpers, "start", lambda work: (found.append(work), start(work))[1])
    return found


@pytest.mark.compiled
@pytest.mark.parametrize("every", [1, 3])
def test_a_helper_beside_slides(asked: list[Any], every: int) -> None:
    numbers = np.random.default_rng(2).integers(0, 9, 30_000).astype(np.float64)
    table = pa.table({"t": np.arange(30_000), "x": numbers})
    windows = {"one": wr.rows(600, every=every), "other": wr.rows(1000, every=2 * every)}
    question: dict[str, Any] = {"order": "t", "windows": windows, "aggs": wr.sum("x")}
    with sizes.using(cores=1):
        found = wr.slide(table, **question, algorithm="parallel_boundary")
    assert len(asked) >= 2
    assert found.equals(wr.slide(table, **question, algorithm="two_stacks_lite"))


@pytest.mark.compiled
def test_a_helper_beside_blocks_of_a_window(asked: list[Any]) -> None:
    numbers = np.random.default_rng(2).integers(0, 9, 30_000).astype(np.float64)
    window = wr.Window(wr.sum(), algorithm="parallel_boundary", types="float64")
    window.insert_many(numbers[:1500])
    for number in numbers[1500:1600]:
        window.evict()
        window.insert(number)
    found = window.slide_many(numbers[1600:]).to_numpy()
    assert len(asked) >= 2
    sums = np.concatenate([[0.0], np.cumsum(numbers)])
    assert (found == sums[1601:] - sums[101:-1500]).all()
    window.evict()
    assert window.query() == numbers[-1499:].sum()


@pytest.mark.compiled
@pytest.mark.usefixtures("helpers")
def test_the_planner_takes_a_second_core_where_combining_is_dear() -> None:
    with sizes.using(cores=2):
        assert algorithm_of(wr.Window(DEAR(), types="float64")) == "parallel_boundary"
        assert algorithm_of(wr.Window(wr.sum(), types="float64")) != "parallel_boundary"
        steady = wr.Window(DEAR(), types="float64", prefer="latency")
        assert algorithm_of(steady) != "parallel_boundary"
    with sizes.using(cores=1):
        assert algorithm_of(wr.Window(DEAR(), types="float64")) != "parallel_boundary"


def algorithm_of(window: wr.Window) -> str:
    (name,) = re.findall(r", (\w+)>", repr(window))
    return str(name)


@pytest.mark.compiled
@pytest.mark.usefixtures("helpers")
def test_many_short_windows_of_many_keys():
    """A key that ends leaves its chunks on the board, or in the hands of the helper."""
    size, extent = 50_000, 400
    chance = np.random.default_rng(5)
    lengths = chance.integers(1, 900, size)
    keys = np.repeat(np.arange(size), lengths)[:size]
    numbers = chance.integers(0, 9, size).astype(np.float64)
    table = pa.table({"key": keys, "x": numbers})
    found = wr.over(
        table, key="key", windows=wr.rows(extent), aggs=wr.sum("x"), algorithm="parallel_boundary"
    )
    rows = np.arange(size)
    first = np.maximum(np.searchsorted(keys, keys), rows + 1 - extent)
    sums = np.concatenate([[0], np.cumsum(numbers)])
    assert (found["sum_x"].to_numpy() == sums[rows + 1] - sums[first]).all()


@pytest.mark.compiled
def test_without_a_helper(monkeypatch):
    """One core: everything is computed by the window's own thread."""
    monkeypatch.setattr(helper, "HELPERS", helper.Helpers(0))
    numbers = np.random.default_rng(2).integers(0, 9, 20_000).astype(np.float64)
    monoid = wr.sum.monoid_for((Kind.FLOAT,))
    answers, one_pass = rolled(parallel_boundary, monoid, numbers, 1000)
    assert list(answers[::97]) == expected(np.sum, numbers, 1000)
    assert one_pass.helper.helped == 0


@pytest.mark.usefixtures("interpreted")
def test_interpreted_kernels_have_no_helper():
    numbers = np.arange(2000.0)
    answers, one_pass = rolled(
        parallel_boundary, wr.sum.monoid_for((Kind.FLOAT,)), numbers, extent=300
    )
    assert list(answers[::97]) == expected(np.sum, numbers, 300)
    assert one_pass.helper is None


# Threads that behave -----------------------------------------------------------------------------


@pytest.mark.compiled
def test_threads_are_started_once_and_wait_for_work(helpers):
    numbers = np.random.default_rng(2).normal(size=20_000)
    monoid = wr.sum.monoid_for((Kind.FLOAT,))
    before = threading.active_count()
    for _ in range(20):
        rolled(parallel_boundary, monoid, numbers, 1000, blocks=4)
    assert threading.active_count() <= before + 1
    # It waits without using its core.
    helpers.start(lambda: 0).result()
    used = time.process_time()
    time.sleep(0.2)
    assert time.process_time() - used < 0.1


@pytest.mark.compiled
@pytest.mark.usefixtures("helpers")
def test_several_passes_at_once_share_one_helper():
    numbers = np.random.default_rng(2).integers(0, 9, 100_000).astype(np.float64)
    monoid = wr.sum.monoid_for((Kind.FLOAT,))
    wanted = expected(np.sum, numbers, 2000)
    wrong = []

    def work() -> None:
        for _ in range(5):
            answers, _pass = rolled(parallel_boundary, monoid, numbers, 2000, blocks=3)
            if list(answers[::97]) != wanted:
                wrong.append(answers)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.compiled
@pytest.mark.usefixtures("helpers")
def test_an_error_of_a_user_does_not_leave_anybody_waiting():
    failing = wr.aggregation(
        name="failing",
        identity=1,
        combine=lambda older, newer: older // newer + newer,
        equal=lambda left, right: True,
    )
    numbers = [1] * 40_000
    numbers[20_000] = 0
    with pytest.raises(ZeroDivisionError):
        wr.over(
            pa.table({"x": numbers}),
            windows=wr.rows(500),
            aggs=failing("x"),
            algorithm="parallel_boundary",
        )


@pytest.mark.compiled
@pytest.mark.usefixtures("helpers")
def test_an_error_of_the_helper_is_raised_when_the_kernel_has_returned():
    product = Product([Part(wr.sum.monoid_for((Kind.FLOAT,)), (0,))])
    helping = helper.Helper(parallel_boundary, product, checked=False)
    memory = KernelMemory(product)
    ring = parallel_boundary.allocate(memory, 16)

    called = threading.Event()
    helping._loop = Failing(called)
    ring.board[WORK] = TAKEN

    def kernel() -> None:
        with helping.beside(memory, ring):
            assert called.wait(60)
            # A kernel that waits for what the helper had taken is told.
            while ring.board[WORK] == TAKEN:
                time.sleep(0.001)

    with pytest.raises(FloatingPointError, match="of the helper"):
        kernel()
    assert ring.board[WORK] == FAILED


class Failing:
    """In the place of a helper's loop."""

    def __init__(self, called: threading.Event) -> None:
        self.called = called

    def prepare(self, _arguments: Any) -> None:
        pass

    def __call__(self, *_arguments: Any) -> int:
        self.called.set()
        raise FloatingPointError("of the helper")


def in_a_fork(results: Any) -> None:
    numbers = np.random.default_rng(2).integers(0, 9, 40_000).astype(np.float64)
    monoid = wr.sum.monoid_for((Kind.FLOAT,))
    answers, _pass = rolled(parallel_boundary, monoid, numbers, 1000, blocks=3)
    results.put(float(answers[-1]))


@pytest.mark.compiled
@pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="this system has no fork"
)
def test_a_forked_process_starts_helpers_of_its_own():
    """As Spark's workers are forked from one that may have had helpers."""
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    numbers = np.random.default_rng(2).integers(0, 9, 40_000).astype(np.float64)
    monoid = wr.sum.monoid_for((Kind.FLOAT,))
    rolled(parallel_boundary, monoid, numbers, 1000)
    process = context.Process(target=in_a_fork, args=(results,))
    process.start()
    assert results.get(timeout=120) == numbers[-1000:].sum()
    process.join(60)
    assert process.exitcode == 0


@pytest.mark.spark
@pytest.mark.compiled
def test_inside_spark(spark):
    chance = np.random.default_rng(6)
    table = pa.table(
        {
            "key": np.sort(chance.integers(0, 3, 30_000)),
            "ts": np.arange(30_000),
            "x": chance.integers(0, 9, 30_000),
        }
    )
    question: dict[str, Any] = {
        "key": "key", "order": "ts", "windows": wr.rows(700), "aggs": wr.sum("x")
    }  # fmt: skip
    frame = spark.createDataFrame(table)
    found = wr.over(frame, algorithm="parallel_boundary", **question).orderBy("ts").toArrow()
    expected_table = wr.over(table, algorithm="two_stacks_lite", **question)
    assert found["sum_x"].to_pylist() == expected_table["sum_x"].to_pylist()
