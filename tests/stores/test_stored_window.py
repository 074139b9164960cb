"""A window in a store answers as recomputation does, whatever is inserted, evicted and reopened."""

import datetime
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import windrow as wr
from tests.support.examples import examples
from tests.support.stores.affine import AFFINE, combine, expected, fold, lift, open_window
from windrow.algorithms import block_levels
from windrow.element.stored_algorithms import tree_of
from windrow.element.stored_window import StoredWindow
from windrow.stores import MemoryStore, Store
from windrow.stores.contract import NO_BLOCK, Key

ALGORITHMS = ["amortized_monoid_tree", "log_monoid_tree"]
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("insert"), st.integers(1, 70)),
        st.tuples(st.just("insert one"), st.just(1)),
        st.tuples(st.just("evict"), st.integers(1, 9)),
        st.tuples(st.just("evict part"), st.integers(1, 100)),
        st.tuples(st.just("query"), st.just(0)),
        st.tuples(st.just("flush"), st.just(0)),
        st.tuples(st.just("reopen"), st.just(0)),
    ),
    max_size=40,
)


class Subject:
    """A window beside the list of all events that ever were."""

    def __init__(self, store: Store, block: int = 4, algorithm: Any = None) -> None:
        self.store, self.block = store, block
        self.window = open_window(store, block=block, algorithm=algorithm)
        self.tree = tree_of(algorithm or "amortized_monoid_tree")
        self.events: list[int] = []
        self.front = 0

    def take(self, step: str, number: int) -> None:
        held = len(self.events) - self.front
        if step == "insert":
            new = [7 * (len(self.events) + index) % 101 for index in range(number)]
            self.window.insert_many(new)
            self.events += new
        elif step == "insert one":
            self.window.insert(number)
            self.events.append(number)
        elif step in ("evict", "evict part"):
            leaving = min(number, held) if step == "evict" else held * number // 100
            self.window.evict_many(leaving)
            self.front += leaving
        elif step == "flush":
            self.window.flush()
        elif step == "reopen":
            self.window.flush()
            self.window = open_window(self.store, block=self.block)
            assert self.window.recovered == len(self.events)
        else:
            self.check()

    def check(self) -> None:
        assert self.window.query() == expected(self.events[self.front :])
        tree = self.window._tree
        self.tree.check_invariants(  # type: ignore[attr-defined]
            tree.state, tree._levels, [lift(event) for event in self.events], load, fold, equal
        )


def load(ring: Any, place: int) -> tuple[int, ...]:
    return tuple(int(field[place]) for field in ring[:2])


def equal(left: Any, right: Any) -> bool:
    return bool(left == right)


@pytest.mark.usefixtures("interpreted")
@given(STEPS, st.sampled_from([4, 8, 16]), st.sampled_from(ALGORITHMS))
@examples(30)
def test_answers_are_those_of_recomputation(
    steps: list[tuple[str, int]], block: int, algorithm: str
) -> None:
    subject = Subject(MemoryStore(), block, algorithm)
    for step, number in steps:
        subject.take(step, number)
        assert len(subject.window) == len(subject.events) - subject.front
        assert subject.window.inserted == len(subject.events)
    subject.check()


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("most", [3, 10, 40])
def test_windows_that_grow_and_shrink_step_by_step(most: int, algorithm: str) -> None:
    """Trees are planted in a block that is being filled, and that is full when it is read again."""
    subject = Subject(MemoryStore(), algorithm=algorithm)
    chance = np.random.default_rng(most)
    for _ in range(400):
        step = "evict" if chance.random() < len(subject.window) / (2 * most) else "insert"
        subject.take(step, int(chance.integers(1, 4)))
        subject.check()


@pytest.mark.compiled
def test_every_store_answers_alike(store: Store) -> None:
    """The same trace, compiled, in blocks that fill and are read again many times."""
    subject = Subject(store, 8)
    chance = np.random.default_rng(3)
    for _ in range(150):
        subject.take("insert", int(chance.integers(1, 40)))
        subject.take("evict", int(chance.integers(1, 40)))
        if chance.random() < 0.05:
            subject.take("evict part", 60)
        if chance.random() < 0.2:
            subject.take("reopen", 0)
    subject.check()
    assert store.blocks("w", 0, 0, NO_BLOCK)


ROWS = wr.aggregation(
    name="rows",
    identity=np.array([1.0, 0.0]),
    lift=lambda value: np.array([-1.0, value]),
    combine=lambda older, newer: np.array([older[0] * newer[0], newer[0] * older[1] + newer[1]]),
    lower=lambda line: line[1],
)


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("aggregation", [wr.mean, wr.max, ROWS], ids=lambda each: each.name)
def test_floats_survive_to_the_last_bit(aggregation: wr.Aggregation) -> None:
    """A window that is reopened after each step answers exactly what an uninterrupted one does."""
    store, chance = MemoryStore(), np.random.default_rng(8)
    untouched = wr.Window.open(MemoryStore(), "w", aggregation, block=4)
    reopened = wr.Window.open(store, "w", aggregation, block=4)
    for _ in range(60):
        events = chance.normal(size=chance.integers(1, 30))
        leaving = int(chance.integers(0, len(untouched) + 1)) if chance.random() < 0.5 else 0
        for window in (untouched, reopened):
            window.evict_many(leaving)
            window.insert_many(events)
        assert reopened.query() == untouched.query()
        reopened.close()
        reopened = wr.Window.open(store, "w", aggregation)
        assert reopened.query() == untouched.query()


@pytest.mark.usefixtures("interpreted")
def test_nulls_are_events_without_a_value() -> None:
    with wr.Window.open(MemoryStore(), "w", wr.max(), block=4) as window:
        assert window.query() is None
        window.insert_many([None, 3.0, None])
        window.insert(None)
        assert (window.query(), len(window)) == (3.0, 4)
        window.evict_many(2)
        assert (window.query(), len(window)) == (None, 2)
        assert window.answer_many(pa.array([None, 5, 4])).to_pylist() == [None, 5.0, 5.0]
        window.clear()
        assert (window.query(), len(window), window.inserted) == (None, 0, 7)


@pytest.mark.usefixtures("interpreted")
def test_values_of_a_column_are_counted() -> None:
    store = MemoryStore()
    for measure, name, counted in ((wr.count(), "events", 2), (wr.count("x"), "values", 1)):
        with wr.Window.open(store, name, measure) as counting:
            counting.insert_many([None, 3.0])
            assert counting.query() == counted
        for again in (None, measure):
            with wr.Window.open(store, name, again) as counting:
                assert counting.query() == counted
    with pytest.raises(wr.InvalidArgument, match="stored with nulls 'skipped', not 'counted'"):
        wr.Window.open(store, "values", wr.count())


@pytest.mark.usefixtures("interpreted")
def test_events_come_in_many_shapes() -> None:
    weighted = wr.aggregation(
        name="weighted",
        identity=(0.0, 0),
        lift=lambda value, weight: (value * weight, weight),
        combine=lambda older, newer: (older[0] + newer[0], older[1] + newer[1]),
        lower=lambda partial: partial[0],
    )
    window = wr.Window.open(MemoryStore(), "w", weighted, types=["float64", "int64"], block=4)
    window.insert(2.0, 3)
    window.insert_many([(1.0, 1), (0.5, 2)])
    window.insert_many(pa.table({"a": [1.0], "b": [10]}))
    assert window.query() == 18.0
    with pytest.raises(wr.InvalidArgument, match=r"insert: an event of weighted is \(value,"):
        window.insert(1.0)
    with pytest.raises(wr.InvalidArgument, match="events: the table has 1 columns"):
        window.insert_many(pa.table({"a": [1.0]}))


@pytest.mark.usefixtures("interpreted")
def test_reads_and_deletes_are_of_blocks() -> None:
    """What leaves at once is deleted unread; what leaves one by one is read ahead of time."""
    store = Observed()
    window = open_window(store, block=16)
    window.insert_many(list(range(5_000)))
    window.flush()
    window.query()
    store.read.clear()
    window.evict_many(4_000)
    window.query()
    assert len(store.read) <= 2 * 4  # a block for each level that is not the tail, and read-ahead
    window.flush()
    assert store.blocks("w", 0, 0, NO_BLOCK) == list(range(4_000 // 16, 5_000 // 16))
    misses = window._contents.blocks.misses
    for _ in range(600):
        window.evict()
        window.query()
    assert window._contents.blocks.misses == misses


@pytest.mark.usefixtures("interpreted")
def test_a_flush_writes_what_is_new() -> None:
    store = Observed()
    window = open_window(store, block=16)
    window.insert_many(list(range(5_000)))
    window.flush()
    store.written.clear()
    window.insert_many([1, 2, 3])
    window.flush()
    assert [key.level for key in store.written] == [255]


@pytest.mark.usefixtures("interpreted")
def test_what_is_in_memory_does_not_grow_with_the_window() -> None:
    resident = {}
    for size in (1_000, 4_000, 16_000):
        window = open_window(MemoryStore(), block=16)
        for _ in range(size // 1_000):
            window.insert_many(list(range(1_000)))
            resident[size] = max(resident.get(size, 0), window.resident)
    levels = block_levels.levels_for(4)
    batch = window._contents.blocks._batch
    assert all(most <= (5 * levels + 2 * batch + 1) * 16 for most in resident.values())


@pytest.mark.usefixtures("interpreted")
def test_what_an_operation_costs() -> None:
    """Two combines per insert, one per evict, one per query, and F of them are one node above."""
    combined = 0

    def counted(older: Any, newer: Any) -> Any:
        nonlocal combined
        combined += 1
        return combine(older, newer)

    counting = wr.aggregation(
        name="counted", identity=(1, 0), lift=lift, combine=counted, lower=lambda line: line[1]
    )
    window = wr.Window.open(MemoryStore(), "w", counting, types="int64", block=16)
    count, levels = 4096, 3
    combined = 0
    window.insert_many(list(range(count)))
    assert combined <= 2 * count + 2 * count // 15
    combined = 0
    for _ in range(count // 2):
        window.evict()
        window.query()
    assert combined <= 2 * (count // 2) + 2 * count // 15 + 16 * levels
    combined = 0
    window.evict_many(1_500)
    window.query()
    assert combined <= 16 * levels + levels + 1


@pytest.mark.usefixtures("interpreted")
def test_what_an_operation_of_the_log_tree_costs() -> None:
    """Villalba et al. 2019, §4.1.2 and §4.1.4: a branch for each, however many leave."""
    combined = 0

    def counted(older: Any, newer: Any) -> Any:
        nonlocal combined
        combined += 1
        return combine(older, newer)

    counting = wr.aggregation(
        name="counted", identity=(1, 0), lift=lift, combine=counted, lower=lambda line: line[1]
    )
    window = wr.Window.open(
        MemoryStore(), "w", counting, types="int64", block=16, algorithm="log_monoid_tree"
    )
    for size in range(1, 700):
        combined = 0
        window.insert_many([size])
        assert combined <= (size - 1).bit_length() + 1
    combined = 0
    window.query()
    assert combined == 1
    for leaving in (1, 1, 300, 1, 77, 1, 1, 250, 1):
        bound = 2 * len(window).bit_length() + 1
        combined = 0
        window.evict_many(leaving)
        window.query()
        # Of each level one block is read at most, whose tree is computed.
        assert combined <= bound + 3 * (16 - 2)


class Observed(MemoryStore):
    """A store that writes down what is asked of it."""

    def __init__(self) -> None:
        super().__init__()
        self.read: list[Key] = []
        self.written: list[Key] = []

    def get_many(self, keys: Any) -> list[bytes | None]:
        self.read += keys
        return super().get_many(keys)

    def put_many(self, items: Any) -> None:
        self.written += items
        super().put_many(items)

    def exchange(self, key: Key, expected: bytes | None, value: bytes) -> bool:
        self.written.append(key)
        return super().exchange(key, expected, value)


@pytest.mark.usefixtures("interpreted")
class TestFlushing:
    def test_by_count(self) -> None:
        store = MemoryStore()
        window = open_window(store, flush_every=100)
        window.insert_many(list(range(250)))
        for _ in range(49):
            window.insert(1)
        assert 200 <= open_window(store).recovered < 300

    def test_by_time(self) -> None:
        store = MemoryStore()
        window = open_window(store, flush_seconds=0)
        window.insert(1)
        assert open_window(store).recovered == 1

    def test_by_hand_only(self) -> None:
        store = MemoryStore()
        open_window(store).insert_many(list(range(250)))
        assert open_window(store).recovered == 0

    def test_two_windows_of_one_store_never_meet(self) -> None:
        store = MemoryStore()
        names = ["w", "ww", "", "w:1", "\x00w"]
        with pytest.raises(wr.InvalidArgument, match="name: a name is a string of 1 to 1024 bytes"):
            open_window(store, names.pop(2))
        windows = {name: open_window(store, name) for name in names}
        for number, window in enumerate(windows.values()):
            window.insert_many([number] * 50)
            window.evict_many(number)
            window.flush()
        for number, name in enumerate(names):
            again = open_window(store, name)
            assert again.query() == expected([number] * (50 - number))


@pytest.fixture
def stored(interpreted: None) -> Store:
    store = MemoryStore()
    with open_window(store) as window:
        window.insert_many([1, 2, 3])
    return store


class TestRefused:
    def test_another_aggregation(self, stored: Store) -> None:
        with pytest.raises(wr.InvalidArgument, match="stored with aggregation 'affine', not 'sum'"):
            wr.Window.open(stored, "w", wr.sum(), types="int64")

    def test_other_types(self, stored: Store) -> None:
        with pytest.raises(wr.InvalidArgument, match=r"stored with types \['int64'\], not"):
            wr.Window.open(stored, "w", AFFINE, types="int32")

    def test_another_function_of_the_same_name(self, stored: Store) -> None:
        other = wr.aggregation(
            name="affine",
            identity=(1, 0),
            lift=lift,
            combine=lambda older, newer: (older[0] * newer[0], newer[0] * older[1] + newer[1]),
            lower=lambda line: line[1],
        )
        with pytest.raises(wr.InvalidArgument, match="was stored with code"):
            wr.Window.open(stored, "w", other, types="int64")

    def test_an_aggregation_that_is_not_known(self, stored: Store) -> None:
        with pytest.raises(wr.InvalidArgument, match="affine is an aggregation of your own"):
            wr.Window.open(stored, "w")
        with pytest.raises(wr.InvalidArgument, match="no window 'new' is in the store yet"):
            wr.Window.open(stored, "new")

    @pytest.mark.parametrize(
        ("aggregation", "types", "reason"),
        [
            (wr.median, "float64", "a sketch, such as"),
            (wr.count_distinct, "string", "is about all values of the window"),
        ],
        ids=["median", "count_distinct"],
    )
    def test_what_has_no_partials(self, aggregation: Any, types: Any, reason: str) -> None:
        with pytest.raises(wr.NotApplicable, match=reason):
            wr.Window.open(MemoryStore(), "w", aggregation, types=types)

    @pytest.mark.parametrize(
        ("options", "reason"),
        [
            ({"block": 6}, "block: give a power of two from 4 to 65536"),
            ({"block": 2**17}, "block: give a power of two"),
            ({"flush_every": 0}, "flush_every: give a number from 1 on"),
            ({"flush_seconds": -1}, "flush_seconds: give a number from 0 on"),
            ({"flush_every": "often"}, "flush_every: give a number from 1 on"),
            ({"types": "flaot64"}, "types: 'flaot64' is no Arrow type"),
            ({"types": ["int64", "int64"]}, "types: sum has the inputs"),
            ({"types": {"value": "int64"}}, "types: the events of sum have no named columns"),
            ({"types": pa.list_(pa.int64())}, "types: a store takes numbers, times"),
            ({"types": "string"}, r"aggregation: sum\('value'\) cannot take a column of type str"),
            (
                {"algorithm": "two_stacks"},
                "algorithm: windows in stores have amortized_monoid_tree",
            ),
        ],
    )
    def test_options_that_cannot_be(self, options: Any, reason: str) -> None:
        with pytest.raises(wr.InvalidArgument, match=reason):
            wr.Window.open(MemoryStore(), "w", wr.sum(), **options)

    @pytest.mark.parametrize("value", ["1", 1.5, 2**70, [1]])
    def test_values_of_other_types(self, stored: Store, value: Any) -> None:
        window = open_window(stored)
        with pytest.raises(wr.InvalidArgument, match="the window's value is int64"):
            window.insert(value)
        with pytest.raises(wr.InvalidArgument, match="the window's value is int64"):
            window.insert_many([value])
        assert window.query() == expected([1, 2, 3])

    def test_more_evictions_than_events(self, stored: Store) -> None:
        window = open_window(stored)
        with pytest.raises(wr.EmptyWindow, match="4 events are to leave, but the window holds 3"):
            window.evict_many(4)
        window.clear()
        with pytest.raises(wr.EmptyWindow, match="the window holds no events"):
            window.evict()

    def test_a_window_that_is_closed(self, stored: Store) -> None:
        window = open_window(stored)
        window.insert(4)
        window.close()
        window.close()
        uses: list[Callable[[], object]] = [
            lambda: window.insert(1),
            lambda: window.insert_many([1]),
            lambda: window.answer_many([1]),
            window.evict,
            lambda: window.evict_many(0),
            window.clear,
            window.query,
            window.flush,
            lambda: len(window),
        ]
        for use in uses:
            with pytest.raises(wr.StoreError, match=r"the window 'w' in <Mem.* is closed; open it"):
                use()
        assert (window.inserted, window.recovered) == (4, 3)
        assert repr(window).startswith("<Closed window: affine, 'w' in <Mem")
        assert open_window(stored).query() == expected([1, 2, 3, 4])

    def test_a_window_that_is_open_twice(self, stored: Store) -> None:
        first, second = open_window(stored), open_window(stored)
        first.insert_many([5] * 100)
        with pytest.raises(wr.StoreError, match="opened again since"):
            first.flush()
        assert second.query() == expected([1, 2, 3])


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize(
    "data_type", [pa.timestamp("us", "Europe/Berlin"), pa.timestamp("s"), pa.date32(), pa.int32()]
)
def test_a_window_knows_its_types(data_type: pa.DataType) -> None:
    store = MemoryStore()
    integers = pa.int64() if data_type.bit_width == 64 else pa.int32()
    events = pa.array([3, 5, 4], integers).view(data_type)
    with wr.Window.open(store, "w", wr.max(), types=data_type) as window:
        window.insert_many(events)
    assert wr.Window.open(store, "w").query() == events[1].as_py()


#: of integers, of which zero has no answer; a number of numpy would only warn
INVERTED = wr.aggregation(
    name="inverted",
    identity=0,
    lift=lambda value: 100 // int(value),
    combine=lambda older, newer: older + newer,
    exact=True,
)


@pytest.mark.usefixtures("interpreted")
class TestFunctionsThatFail:
    """What a function of the user's refuses leaves the window as it was."""

    def test_many_events(self) -> None:
        events = [event % 11 for event in range(1, 100)]
        for policy in (None, wr.policies.at_most_events(5)):
            window = wr.Window.open(
                MemoryStore(), "w", INVERTED, types="int64", policy=policy, block=4
            )
            inserted: list[int] = []
            for begin in range(0, len(events), 5):
                piece = events[begin : begin + 5]
                before = window.inserted
                if 0 in piece:
                    with pytest.raises(wr.DivisionByZero, match=r"^inverted: "):
                        window.insert_many(piece)
                else:
                    window.insert_many(piece)
                inserted += piece[: window.inserted - before]
                held = inserted[-5:] if policy else inserted
                assert (window.query(), len(window)) == (sum(100 // x for x in held), len(held))

    def test_single_events(self) -> None:
        """It is found out later which one fails: that one alone is left out."""
        store = MemoryStore()
        window = wr.Window.open(store, "w", INVERTED, types="int64", block=4)
        for event in (4, 2, 0, 5):
            window.insert(event)
        with pytest.raises(wr.DivisionByZero) as failure:
            window.flush()
        assert "'w' has left out the event (0,)" in failure.value.__notes__[0]
        assert (window.query(), len(window)) == (25 + 50 + 20, 3)
        window.close()
        assert wr.Window.open(store, "w", INVERTED).query() == 95

    def test_overflow(self) -> None:
        window = wr.Window.open(MemoryStore(), "w", wr.sum(), types="int64", block=4)
        window.insert_many([2**63 - 1, 1, 2])
        with pytest.raises(wr.AggregateOverflow, match=r"^sum: "):
            window.query()
        window.evict()
        assert window.query() == 3


#: each with what it is asked of, and the same with another parameter
PARAMETERS: list[tuple[wr.Measure, wr.Measure, Any]] = [
    (wr.ewm_mean(half_life=100), wr.ewm_mean(half_life=1), "float64"),
    (
        wr.ewm_mean(half_life="10 seconds"),
        wr.ewm_mean(half_life="1 second"),
        ["float64", "timestamp[us]"],
    ),
    (
        wr.ewm_mean(half_life=datetime.timedelta(hours=1)),
        wr.ewm_mean(half_life=datetime.timedelta(hours=2)),
        ["float64", "timestamp[s]"],
    ),
    (wr.top_k(k=5), wr.top_k(k=np.int64(4)), "int64"),
    (wr.bottom_k(k=np.int64(2)), wr.top_k(k=2), "float64"),
    (wr.longest_run_above(threshold=0.5), wr.longest_run_above(threshold=0.6), "float64"),
    (wr.variance(population=True), wr.variance(), "float64"),
    (wr.variance(population=False), wr.variance(population=True), "float64"),
    (wr.approx_distinct(error=0.2), wr.approx_distinct(error=0.1), "int64"),
    (wr.approx_distinct(error=0.2, sketch=True), wr.approx_distinct(sketch=True), "int64"),
    (wr.bloom(capacity=100), wr.bloom(capacity=100, error=0.2), "int64"),
    (wr.count_min(error=0.2), wr.count_min(error=0.2, confidence=0.5), "int64"),
    (wr.moment_sketch(q=[0.25, 0.5]), wr.moment_sketch(q=0.25), "float64"),
]


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize(
    ("measure", "other", "types"), PARAMETERS, ids=lambda each: str(getattr(each, "name", ""))
)
def test_parameters_are_stored(measure: wr.Measure, other: wr.Measure, types: Any) -> None:
    store, one_input = MemoryStore(), isinstance(types, str)
    numbers = [3, 5, 4, 1, 5, 2]
    times = [datetime.datetime(2024, 1, 1, 0, 0, 2 * second) for second in range(6)]
    with wr.Window.open(store, "w", measure, types=types, block=4) as window:
        window.insert_many(numbers if one_input else list(zip(numbers, times, strict=True)))
        answer = window.query()
    for again in (None, measure):
        with wr.Window.open(store, "w", again) as window:
            assert window.query() == answer
    with pytest.raises(wr.InvalidArgument, match=r"was stored with (aggregation|parameters)"):
        wr.Window.open(store, "w", other)


@pytest.mark.usefixtures("interpreted")
def test_parameters_of_a_policy_are_stored() -> None:
    def policy(half_life: int) -> Any:
        below = wr.ewm_mean(half_life=half_life)
        return wr.policy(lambda total, oldest: oldest < total, of=below)

    store = MemoryStore()
    with wr.Window.open(store, "w", wr.sum(), policy=policy(5)) as window:
        window.insert_many([1.0, 2.0])
    with wr.Window.open(store, "w", policy=policy(5)) as window:
        assert window.recovered == 2
    with pytest.raises(wr.InvalidArgument, match=r"policy of ewm_mean\(half_life=5\)', not"):
        wr.Window.open(store, "w", policy=policy(6))


@pytest.mark.usefixtures("interpreted")
def test_functions_that_a_policy_asks_are_compared() -> None:
    def policy(step: int) -> Any:
        counted = wr.aggregation(
            name="counted", identity=0, lift=lambda value: step, combine=lambda a, b: a + b
        )
        return wr.policy(lambda total, oldest: total - oldest >= 4, of=counted())

    store = MemoryStore()
    with wr.Window.open(store, "w", wr.sum(), policy=policy(1)) as window:
        window.insert_many([1.0, 2.0])
    with pytest.raises(wr.InvalidArgument, match="was stored with code"):
        wr.Window.open(store, "w", policy=policy(2))


def test_a_folder_is_opened_and_closed_with_its_window(tmp_path: Path, interpreted: None) -> None:
    for count in (0, 3, 6):
        window: StoredWindow
        with wr.Window.open(tmp_path / "folder", "w", wr.sum()) as window:
            assert window.recovered == count
            window.insert_many([1.0, 2.0, 3.0])
    with wr.Window.open(str(tmp_path / "folder"), "w") as window:
        assert window.query() == 18.0
        assert repr(window).startswith("<Window of 9 events: sum, 'w' in <RocksDBStore")
