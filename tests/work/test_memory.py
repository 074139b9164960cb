"""Work memory is used again, and threads do not wait for each other's properties."""

import mmap
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import windrow as wr
from windrow.algebra import arrays
from windrow.work import memory, sizes
from windrow.work.lazily import lazily

SMALL = {"smallest_kept": 1, "most_kept": 2**22}
#: an array of one page of those that memory is counted in
COUNT = 2**13


@pytest.fixture
def pool(monkeypatch: pytest.MonkeyPatch) -> Iterator[memory._Pool]:
    """A pool of this test alone, which keeps small arrays too."""
    if not hasattr(mmap, "MADV_FREE"):
        pytest.skip("this system cannot mark memory as free, so windrow keeps none")
    pool = memory._Pool()
    monkeypatch.setattr(memory, "_POOL", pool)
    with sizes.using(**SMALL):
        yield pool


def test_an_array_is_like_any_other(pool: memory._Pool) -> None:
    for dtype in (np.float64, np.int32, np.bool_):
        array = memory.empty(10, dtype)
        array[:] = np.arange(10)
        assert array.dtype == dtype
        assert array.tolist() == np.arange(10).astype(dtype).tolist()
        assert array.flags.writeable
        assert array.flags.aligned
    assert memory.empty(0, np.float64).tolist() == []


def test_memory_is_used_again_once_nobody_holds_it(pool: memory._Pool) -> None:
    first, second = memory.empty(COUNT, np.int64), memory.empty(COUNT, np.int64)
    first[:], second[:] = 1, 2
    assert first.sum() == COUNT  # nobody else has it
    assert pool.kept_bytes == 0
    places = {each.ctypes.data for each in (first, second)}
    column, part = arrays.column_of(first), second[5:7]
    del first, second
    assert pool.kept_bytes == 0  # a column, and a part of an array, hold it
    del column, part
    assert pool.kept_bytes == 2 * 8 * COUNT
    third, fourth = memory.empty(COUNT - 1, np.float64), memory.empty(2 * COUNT, np.int32)
    assert {each.ctypes.data for each in (third, fourth)} == places
    assert pool.kept_bytes == 0


def test_parts_of_a_large_array_are_used_and_become_one_again(pool: memory._Pool) -> None:
    place = memory.empty(10 * COUNT, np.int64).ctypes.data
    parts = [memory.empty(COUNT, np.int64) for _ in range(9)]
    assert [each.ctypes.data for each in parts] == [place + 8 * COUNT * n for n in range(9)]
    assert pool.kept_bytes == 8 * COUNT
    for number in (3, 0, 8, 4, 1, 7, 2, 6, 5):  # in any order
        parts[number] = np.empty(0, np.int64)
    assert memory.empty(10 * COUNT, np.int64).ctypes.data == place


def test_only_so_much_is_kept(pool: memory._Pool) -> None:
    held = [memory.empty(8 * COUNT, np.int64) for _ in range(20)]
    remains = held[0][:COUNT]
    remains[:] = 7
    del held
    assert 0 < pool.kept_bytes <= SMALL["most_kept"]
    # A region that is given up while an array has a part of it.
    large = memory.empty(30 * COUNT, np.int64)
    del large
    part = memory.empty(COUNT, np.int64)
    part[:] = 5
    with sizes.using(most_kept=0):
        assert pool.kept_bytes == 0
        assert part.sum() == 5 * COUNT
        del part
        assert pool.kept_bytes == 0
    assert remains.sum() == 7 * COUNT


def test_threads_share_what_is_kept(pool: memory._Pool) -> None:
    def work(number: int) -> bool:
        random, right = np.random.default_rng(number), True
        for _ in range(200):
            held = [memory.empty(int(random.integers(1, 5 * COUNT)), np.int64) for _ in range(3)]
            for place, array in enumerate(held):
                array[:] = 10 * number + place
            right &= all((each == 10 * number + n).all() for n, each in enumerate(held))
        return right

    with ThreadPoolExecutor(4) as threads:
        assert all(threads.map(work, range(4)))
    assert pool.kept_bytes <= SMALL["most_kept"]


def test_what_is_kept_goes_when_the_system_has_no_more(
    pool: memory._Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = memory.empty(COUNT, np.int64)
    del kept
    region, asked = memory._Region, []

    def refusing(nbytes: int, page: int) -> memory._Region:
        asked.append(nbytes)
        if len(asked) == 1:
            raise OSError("no memory")
        return region(nbytes, page)

    monkeypatch.setattr(memory, "_Region", refusing)
    array = memory.empty(2 * COUNT, np.int64)
    array[:] = 1
    assert array.sum() == 2 * COUNT
    assert asked == [16 * COUNT, 16 * COUNT]
    assert pool.kept_bytes == 0


def test_the_environment_says_how_much_is_kept(
    pool: memory._Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "_default_most", memory._default_most.__wrapped__)
    with sizes.using(most_kept=None):
        monkeypatch.setenv("WINDROW_KEPT_BYTES", str(2**16))
        held = [memory.empty(COUNT, np.int64) for _ in range(2)]
        del held
        assert pool.kept_bytes == 2**16
        monkeypatch.setenv("WINDROW_KEPT_BYTES", "1 GB")
        with pytest.raises(wr.WindrowError, match="WINDROW_KEPT_BYTES: a number of bytes"):
            memory.empty(COUNT, np.int64)


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
