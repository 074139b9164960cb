"""Queries and events of some users and zones, in no order, with ties, nulls and a heavy key."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from tests.support.over.events import with_nulls


def queries(seed: int, size: int, since: int = 0, until: int = 300) -> pa.Table:
    """Moments in whole seconds, some of them null; `n` and `note.d` are not read."""
    random = np.random.default_rng(seed)
    columns = _keys_and_times(random, size, since, until) | {
        "id": pa.array(np.arange(size) + 1000 * seed),
        "n": pa.array(random.integers(0, 9, size), pa.int32()),
        "note.d": pa.array([[f"q{row}"] for row in range(size)]),
    }
    return pa.table(columns)


def events(seed: int, size: int, since: int = 0, until: int = 300) -> pa.Table:
    """Events at whole seconds, some at none; `place` breaks ties."""
    random = np.random.default_rng(seed)
    columns = _keys_and_times(random, size, since, until) | {
        "place": pa.array(random.permutation(size)),
        "x": with_nulls(pa.array(random.normal(size=size) * 100), random, 0.1),
        "n": with_nulls(pa.array(random.integers(0, 50, size)), random, 0.1),
        "s": pa.array([f"{row}," for row in range(size)]),
    }
    return pa.table(columns)


def _keys_and_times(
    random: np.random.Generator, size: int, since: int, until: int
) -> dict[str, pa.Array]:
    users = np.where(random.random(size) < 0.6, "heavy", random.integers(0, 20, size).astype("U"))
    seconds = pa.array(random.integers(since, until, size) * 1_000_000, pa.timestamp("us", "UTC"))
    return {
        "user": with_nulls(pa.array(users), random, 0.03),
        "zone": pa.array(random.integers(0, 3, size)),
        "ts": with_nulls(seconds, random, 0.02),
    }
