"""A window in a store answers as recomputation does, whatever is inserted, evicted and reopened."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import windrow as wr
from tests.support.examples import examples
from tests.support.stores.affine import combine, expected, fold, lift, open_window
from windrow.algorithms import block_levels
from windrow.element.stored_algorithms import tree_of
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
