"""The running partial: one combine for each event, one partial, and no way to evict."""

import pytest

import windrow as wr
from windrow.algorithms import RUNNING
from windrow.algorithms.plain_memory import PLAIN_SLOTS
from windrow.engine.plain_window import PlainWindow
from windrow.testing import CountingMonoid, Subject


def test_a_window_that_only_grows() -> None:
    counting = CountingMonoid()
    subject = Subject(counting.aggregation)
    window = PlainWindow(RUNNING, subject)
    events = subject.lift_all("abcdefghijklmnop")
    for size, event in enumerate(events, 1):
        window.insert(event)
        assert counting.taken() == 1
        assert window.query() == tuple("abcdefghijklmnop"[:size])
        assert counting.taken() == 0
        assert RUNNING.stored_partials(window.state) == RUNNING.GUARANTEES.partials(size) == 1
        RUNNING.check_invariants(
            window.state,
            window.ring,
            events[:size],
            PLAIN_SLOTS["load"],
            subject.fold,
            subject.same,
        )
        counting.taken()
    with pytest.raises(wr.NotApplicable, match="nothing leaves a window that only grows"):
        window.evict()
