"""Work memory is used again, and threads do not wait for each other's properties."""

import threading

import pytest

from windrow.work import scratch
from windrow.work.lazily import lazily


def test_an_array_is_used_again_once_it_is_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scratch, "_kept", [])
    with scratch.integers(1000) as first, scratch.integers(1000) as second:
        first[:], second[:] = 1, 2
        assert first.sum() == 1000  # nobody else has it
    with scratch.integers(10) as small, scratch.integers(900) as large:
        assert {id(small.base), id(large.base)} == {id(first.base), id(second.base)}


def test_only_so_much_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scratch, "_kept", [])
    monkeypatch.setattr(scratch, "_MOST_KEPT", 100)
    for count in (60, 70, 200):
        with scratch.integers(count):
            pass
    assert sum(map(len, scratch._kept)) <= 100


class Slow:
    """Computes its property when another thread computes that of another object."""

    together = threading.Barrier(2, timeout=10)
    times = 0

    @lazily
    def value(self) -> int:
        """Waits for the other thread."""
        self.together.wait()
        self.times += 1
        return self.times


def test_threads_compute_a_property_of_different_objects_at_once() -> None:
    both = Slow(), Slow()
    threads = [threading.Thread(target=lambda each=each: each.value) for each in both]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [each.value for each in both] == [1, 1]
    assert Slow.value.__doc__ == "Waits for the other thread."
