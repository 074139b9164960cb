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
