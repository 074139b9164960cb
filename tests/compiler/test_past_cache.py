"""Numbers arrive where they should, from any place of a small array at any place of a large one."""

import numba
import numpy as np
import pytest

from windrow.compiler import past_cache

pytestmark = pytest.mark.compiled


@pytest.fixture(scope="module")
def copied():
    compiled = past_cache.intrinsics()
    copy, settle = compiled[past_cache.copy_past_cache], compiled[past_cache.settle_copies]

    @numba.njit
    def loop(target, place, source, begin, count):
        copy(target, place, source, begin, count)
        settle()

    return loop


@pytest.mark.parametrize("dtype", [np.float64, np.int64, np.float32, np.int16, np.bool_])
def test_numbers_arrive_and_others_stay(copied, dtype):
    source = np.arange(1, 101).astype(dtype)
    for place in range(40):
        for begin, count in ((0, 100), (3, 60), (7, 5), (1, 31), (50, 1), (9, 0)):
            target = np.zeros(200, dtype)
            expected = target.copy()
            past_cache.copy_past_cache(expected, place, source, begin, count)
            copied(target, place, source, begin, count)
            assert target.tolist() == expected.tolist(), (place, begin, count)


def test_lines_arrive_and_others_stay():
    compiled = past_cache.intrinsics()
    write, settle = compiled[past_cache.write_line], compiled[past_cache.settle_copies]

    @numba.njit
    def loop(target, line, numbers):
        a, b, c, d, e, f, g, h = numbers
        write(target, line, a, b, c, d, e, f, g, h)
        settle()

    numbers = tuple(np.arange(1, 9, dtype=np.uint64))
    room = np.zeros(47, np.uint64)
    ahead = -room.ctypes.data // 8 % 8
    for line in range(5):
        target = room[ahead : ahead + 40]
        target[:] = 0
        expected = target.copy()
        past_cache.write_line(expected, line, *numbers)
        loop(target, line, numbers)
        assert target.tolist() == expected.tolist()
