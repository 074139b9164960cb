"""A store that fails or lies: nothing wrong is ever answered, and no event is lost on the way."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

import windrow as wr
from tests.support.examples import examples
from tests.support.stores.affine import expected, open_window
from tests.support.stores.faults import FAULTS, FaultyStore

STEPS = st.lists(
    st.tuples(
        st.sampled_from(["insert", "insert", "insert one", "evict", "query", "flush", "crash"]),
        st.integers(1, 60),
    ),
    min_size=5,
    max_size=40,
)
MISHAPS = st.lists(st.sampled_from([None, None, None, None, *FAULTS]), max_size=60)


class Trial:
    """A window in a faulty store, beside what it must hold."""

    def __init__(self, faults: list[str | None]) -> None:
        self.store = FaultyStore()
        self.window = open_window(self.store)
        self.store.faults = iter(faults)
        self.events: list[int] = []
        self.front = 0
        #: what a header in the store may say: the events and the front at the last flush that
        #: is known to have worked, and at every one since then that may have
        self.durable = [(0, 0)]
        #: whether an attempt to open the window again failed, which may have shut this one out
        self.shut_out = False

    def take(self, step: str, number: int) -> None:
        try:
            getattr(self, step.replace(" ", "_"))(number)
        except wr.StoreError as error:
            message = str(error)
        else:
            message = f"{self.store!r} did 'w' level well"
        assert message.startswith("<MemoryStore")
        assert "'w' level" in message
        # An insertion that failed has inserted as many as the window says.
        del self.events[self.window.inserted :]
        assert len(self.window) == len(self.events) - self.front

    def insert(self, number: int) -> None:
        new = [(31 * len(self.events) + index) % 97 for index in range(number)]
        self.events += new
        self.window.insert_many(new)

    def insert_one(self, number: int) -> None:
        self.events.append(number)
        self.window.insert(number)

    def evict(self, number: int) -> None:
        leaving = min(number, len(self.events) - self.front)
        before = len(self.window)
        try:
            self.window.evict_many(leaving)
        finally:
            self.front += before - len(self.window)

    def query(self, _number: int) -> None:
        assert self.window.query() == expected(self.events[self.front :])

    def flush(self, _number: int) -> None:
        self.durable.append((len(self.events), self.front))
        self.window.flush()
        del self.durable[:-1]

    def crash(self, _number: int) -> None:
        self.shut_out = True
        self.window = open_window(self.store)  # raises, perhaps, and the old one goes on
        self.shut_out = False
        found = (self.window.recovered, self.window.recovered - len(self.window))
        assert found in self.durable
        self.durable = [found]
        del self.events[found[0] :]
        self.front = found[1]


@pytest.mark.usefixtures("interpreted")
@given(STEPS, MISHAPS, st.booleans())
@examples(50)
def test_nothing_wrong_is_answered(
    steps: list[tuple[str, int]], faults: list[str | None], flushes: bool
) -> None:
    trial = Trial(faults)
    for step, number in steps:
        trial.take(step, number)
    trial.store.faults = iter(())  # the store is well again, and so is the window
    if flushes and not trial.shut_out:
        trial.query(0)
        trial.flush(0)
    trial.crash(0)
    trial.query(0)


@pytest.mark.usefixtures("interpreted")
def test_writes_that_fail_are_tried_again() -> None:
    store = FaultyStore()
    window = open_window(store)
    store.faults = iter(["before"] * 3)
    window.insert_many(list(range(1_000)))
    for _ in range(3):
        with pytest.raises(wr.StoreError, match="told to fail"):
            window.flush()
    window.flush()
    assert open_window(store).query() == expected(list(range(1_000)))


@pytest.mark.usefixtures("interpreted")
def test_a_header_that_arrived_is_known_after_others_that_did_not() -> None:
    store = FaultyStore()
    window = open_window(store)
    window.insert_many([1, 2])
    window.flush()
    store.faults = iter(["after", "before", "before"])
    for event in (3, 4, 5):
        window.insert(event)
        with pytest.raises(wr.StoreError, match="told to fail"):
            window.flush()
    window.flush()
    assert open_window(store).query() == expected([1, 2, 3, 4, 5])


@pytest.mark.usefixtures("interpreted")
def test_nothing_is_deleted_before_the_header_is_written() -> None:
    store = FaultyStore()
    window = open_window(store)
    window.insert_many(list(range(100)))
    window.flush()
    window.evict_many(60)
    store.faults = iter(["before"])  # the header; the blocks have been written
    with pytest.raises(wr.StoreError, match="level 255"):
        window.flush()
    recovered = open_window(store)
    assert recovered.query() == expected(list(range(100)))


@pytest.mark.usefixtures("interpreted")
def test_a_header_that_arrived_though_it_timed_out() -> None:
    store = FaultyStore()
    window = open_window(store)
    for number in range(3):
        window.insert_many([number] * 50)
        store.faults = iter(["after"] if number < 2 else ["before"])
        with contextlib.suppress(wr.StoreError):
            window.flush()
    window.insert(7)
    window.flush()
    assert open_window(store).recovered == 151


@pytest.mark.usefixtures("interpreted")
def test_memory_is_bounded_while_a_store_is_away() -> None:
    store = FaultyStore()
    window = open_window(store, block=256)
    store.faults = iter(["before"] * 1_000)
    for _ in range(10):
        with pytest.raises(wr.StoreError):
            window.insert_many([1] * 30_000)
    held, inserted = window.resident, window.inserted
    with pytest.raises(wr.StoreError):
        window.insert_many([1] * 30_000)
    assert (window.resident, window.inserted) == (held, inserted)
