"""Numbers of keys that live as long as the process."""

import math

import numpy as np
import pyarrow as pa

from windrow.engine.live_keys import LiveKeys


def test_a_key_keeps_its_number() -> None:
    keys = LiveKeys()
    batches = [[5, 3], [5, 3], [3, 5], [5, 3, 8], [5, 3], [5, None], [5, None]]
    found = [keys.numbers([pa.array(each, pa.int64())], len(each)).tolist() for each in batches]
    assert found == [[0, 1], [0, 1], [1, 0], [0, 1, 2], [0, 1], [0, 3], [0, 3]]
    fewer = keys.only(np.array([1, 3]))
    assert fewer.numbers([pa.array([5, 3])], 2).tolist() == [2, 0]


def test_keys_of_several_columns() -> None:
    keys, names = LiveKeys(), pa.array(["a", "b"])
    for numbers, expected in [
        ([0.0, math.nan], [0, 1]),
        ([-0.0, math.nan], [0, 1]),
        ([1, 0], [2, 3]),
    ]:
        assert keys.numbers([names, pa.array(numbers, pa.float64())], 2).tolist() == expected
