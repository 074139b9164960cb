"""A stored window slides by a policy exactly as a window in memory does."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import windrow as wr
from tests.support.examples import examples
from tests.support.stores.faults import FAULTS, FaultyStore
from windrow.element.stored_window import StoredWindow
from windrow.stores import MemoryStore, Store

AT_MOST_SUM = wr.policies.at_most_sum(60)
FAR_BELOW = wr.policy(lambda total, oldest: oldest < total - 9, of=wr.max())
POLICIES = {
    "sum": (AT_MOST_SUM, wr.max),
    "events": (wr.policies.at_most_events(37), wr.sum),
    "max": (wr.policies.since_max(), wr.min),
    "run": (wr.policies.since_longest_run(), wr.sum),
    "own": (FAR_BELOW | wr.policies.at_most_events(50), wr.value_range),
}
EVENTS = st.lists(st.one_of(st.none(), st.integers(0, 20), st.just(200)), max_size=60)


def open_window(store: Store, policy: Any, aggregation: Any) -> StoredWindow:
    return wr.Window.open(
        store, "w", aggregation, types="int64", policy=policy, block=4, flush_every=None
    )


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("name", POLICIES)
@given(pieces=st.lists(EVENTS, max_size=9))
@examples(12)
def test_answers_are_those_of_a_window_in_memory(name: str, pieces: list[list[Any]]) -> None:
    policy, aggregation = POLICIES[name]
    store, in_memory = MemoryStore(), wr.Window(aggregation(), policy=policy)
    stored = open_window(store, policy, aggregation)
    for number, events in enumerate(pieces):
        answers = []
        for event in events:
            in_memory.insert(event)
            answers.append(in_memory.query())
            if number % 2:
                stored.insert(event)
        if number % 2 == 0:
            assert stored.answer_many(events).to_pylist() == answers
        # Whatever comes next is the first to see what was inserted one by one.
        if number % 4 == 1:
            assert len(stored) == len(in_memory)
        elif len(in_memory) and number % 8 == 3:
            in_memory.evict()
            stored.evict()
        elif number % 8 == 7:
            in_memory.clear()
            stored.clear()
        stored.flush()
        assert len(stored) == len(in_memory)
        stored = open_window(store, policy, aggregation)
        assert stored.query() == in_memory.query()


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("limit", [5, 20, 80])
def test_few_leave_often_and_many_at_times(limit: int) -> None:
    """Blocks are searched that were being filled when their tree was planted."""
    chance, policy = np.random.default_rng(limit), wr.policies.at_most_sum(limit)
    stored = open_window(MemoryStore(), policy, wr.sum)
    in_memory = wr.Window(wr.sum(), policy=policy)
    for _ in range(150):
        events = (chance.random(10) < 0.4).astype(int)
        events[0] = chance.integers(0, limit) if chance.random() < 0.2 else 0
        in_memory.insert_many(events.tolist())
        stored.insert_many(events)
        assert (stored.query(), len(stored)) == (in_memory.query(), len(in_memory))


@pytest.mark.compiled
def test_compiled_answers_are_those_of_recomputation(store: Store) -> None:
    """The running example of Villalba et al. 2019, §3.2: sum at most 10, answer the maximum."""
    events = np.random.default_rng(4).integers(0, 5, 3_000)
    with open_window(store, wr.policies.at_most_sum(1_000), wr.max) as window:
        answers = window.answer_many(events).to_pylist()
    begin = 0
    for end in range(1, len(events) + 1):
        while events[begin:end].sum() > 1_000:
            begin += 1
        assert answers[end - 1] == max(events[begin:end])


@pytest.mark.usefixtures("interpreted")
@given(
    st.lists(EVENTS, min_size=1, max_size=6),
    st.lists(st.sampled_from([None, None, *FAULTS]), max_size=40),
)
@examples(20)
def test_a_store_that_fails_in_the_middle_of_a_decision(
    pieces: list[list[Any]], faults: list[str | None]
) -> None:
    store = FaultyStore()
    stored = open_window(store, AT_MOST_SUM, wr.max)
    in_memory = wr.Window(wr.max(), policy=AT_MOST_SUM)
    store.faults = iter(faults)
    for events in pieces:
        before = stored.inserted
        try:
            stored.insert_many(events)
            assert stored.inserted == before + len(events)
            stored.flush()
        except wr.StoreError:
            pass
        in_memory.insert_many(events[: stored.inserted - before])
    store.faults = iter(())
    assert stored.query() == in_memory.query()
    assert len(stored) == len(in_memory)


@pytest.mark.usefixtures("interpreted")
def test_many_that_leave_at_once_are_not_read() -> None:
    store = FaultyStore()
    window = wr.Window.open(store, "w", wr.sum(), policy=wr.policies.since_max(), block=16)
    window.insert_many(np.linspace(10_000, 0, 5_000))
    window.flush()
    misses = window._contents.blocks.misses
    assert window.answer_many([1e6]).to_pylist() == [1e6]
    assert len(window) == 1
    assert (
        window._contents.blocks.misses - misses <= 2 * 3
    )  # for each level, the way down and the new head


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("use", ["clear", "evict", "flush", "query", "__len__"])
def test_single_events_are_judged_before_anything_else(use: str) -> None:
    """All three leave by the policy: each is larger than the limit."""
    store = MemoryStore()
    window = open_window(store, wr.policies.at_most_sum(2), wr.sum)
    for _ in range(3):
        window.insert(5)
    if use == "evict":
        with pytest.raises(wr.EmptyWindow):
            window.evict()
    else:
        assert not getattr(window, use)()
    assert len(window) == 0
    window.flush()
    again = open_window(store, wr.policies.at_most_sum(2), wr.sum)
    assert (len(again), again.query(), again.recovered) == (0, None, 3)


@pytest.mark.usefixtures("interpreted")
class TestRefused:
    def test_another_policy(self) -> None:
        store = MemoryStore()
        open_window(store, AT_MOST_SUM, wr.max).insert_many([1, 2])
        with pytest.raises(wr.InvalidArgument, match="was stored with policy 'at_most_sum_60"):
            open_window(store, None, wr.max)
        with pytest.raises(wr.InvalidArgument, match="was stored with policy 'at_most_sum_60"):
            open_window(store, wr.policies.since_max(), wr.max)

    def test_another_function(self) -> None:
        store = MemoryStore()
        for limit in (8, 9):
            policy = wr.policy(lambda total, oldest: oldest < total - limit, of=wr.max())  # noqa: B023
            if limit == 8:
                open_window(store, policy, wr.max)
        with pytest.raises(wr.InvalidArgument, match="was stored with code"):
            open_window(store, policy, wr.max)

    def test_halves(self) -> None:
        with pytest.raises(wr.NotApplicable, match="policy: one that drops halves"):
            open_window(MemoryStore(), wr.policies.adaptive(), wr.mean)

    def test_columns(self) -> None:
        with pytest.raises(wr.InvalidArgument, match=r"policy: max\('x'\).* cannot be asked"):
            open_window(MemoryStore(), wr.policies.since_max("x"), wr.sum)

    def test_no_policy(self) -> None:
        with pytest.raises(wr.InvalidArgument, match="policy: give one as"):
            open_window(MemoryStore(), 7, wr.sum)
