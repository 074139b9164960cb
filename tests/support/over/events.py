"""Random events of many small cases in one table, so that one query checks hundreds of groups."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

SPECIAL = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0])


def random_events(seed: int, cases: int, longest: int = 50) -> pa.Table:
    """Events in no order.

    Columns: `id`, unique, breaks ties; `case`, `name` and `level` are keys, the last two with nulls
    and NaN; `ts` has ties and nulls; `x` holds floats of all kinds, `n` small integers, `u`
    distinct integers, `c` strings to carry; all four have nulls.
    """
    random = np.random.default_rng(seed)
    sizes = random.integers(1, longest, cases)
    size = int(sizes.sum())
    case = np.repeat(np.arange(cases), sizes)
    # A case has two names and two levels of its own choice.
    names = np.array(["", "a", "b", "ä", None], object)[random.integers(0, 5, (cases, 2))]
    levels = np.array([0.0, -0.0, 1.5, np.nan, -np.inf])[random.integers(0, 5, (cases, 2))]
    seconds = random.integers(0, 30, size) * 1_000_000 + random.integers(0, 2, size) * 500_000
    ordinary = random.normal(size=size) * 10.0 ** random.integers(-2, 3, size)
    x = np.where(random.random(size) < 0.05, random.choice(SPECIAL, size), ordinary)
    u = random.permutation(size)
    columns = {
        "id": pa.array(np.arange(size)),
        "case": pa.array(case),
        "name": pa.array(names[case, random.integers(0, 2, size)], pa.string()),
        "level": with_nulls(pa.array(levels[case, random.integers(0, 2, size)]), random, 0.05),
        "ts": with_nulls(pa.array(seconds, pa.timestamp("us", "UTC")), random, 0.05),
        "x": with_nulls(pa.array(x), random, 0.2),
        "n": with_nulls(pa.array(random.integers(-3, 4, size)), random, 0.2),
        "u": with_nulls(pa.array(u), random, 0.2),
        "c": with_nulls(pa.array([f"c{row}" for row in u]), random, 0.1),
    }
    return pa.table(columns).take(pa.array(random.permutation(size)))


def with_nulls(column: pa.Array, random: np.random.Generator, share: float) -> pa.Array:
    missing = pa.array(random.random(len(column)) < share)
    return pa.compute.if_else(missing, pa.scalar(None, column.type), column)
