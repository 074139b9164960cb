"""Events for streams on Spark."""

import numpy as np
import pyarrow as pa

SECOND = 10**6


def events(seed: int, begin: int, end: int, count: int) -> pa.Table:
    """Events of some seconds, out of order."""
    random = np.random.default_rng(seed)
    times = random.permutation(np.sort(random.integers(begin * SECOND, end * SECOND, count)))
    values = random.normal(size=count)
    return pa.table(
        {
            "ts": pa.array(times, pa.timestamp("us", "UTC")),
            "user": pa.array(random.integers(0, 20, count)),
            "zone": pa.array(
                [["a", "b", None][each] for each in random.integers(0, 3, count)], pa.string()
            ),
            "x": pa.array(values, mask=values > 1.5),
            "n": pa.array(random.integers(-9, 9, count), pa.int32()),
            "place": pa.array([f"p{each}" for each in random.integers(0, 9, count)]),
        }
    )
