"""A sink for answers with revisions: it keeps the newest of each window, and checks the others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa

from tests.support.over import oracle


def identity(row: dict[str, Any], key: Sequence[str]) -> tuple[Any, ...]:
    """What tells a window of a key apart; in `over`, a row, which has an id."""
    if "window_start" not in row:
        return (row["id"],)
    keys = (oracle.grouped(row[name]) for name in key)
    return (row.get("window"), *keys, row["window_start"])


class Revisions:
    """The newest answer of each window; refuses what is not the next revision."""

    def __init__(self, key: Sequence[str]) -> None:
        self._key = key
        self.rows: dict[tuple[Any, ...], dict[str, Any]] = {}

    def take(self, rows: Iterable[dict[str, Any]]) -> None:
        """Take the answers of a batch: of each window at most one."""
        seen = set()
        for row in rows:
            window = identity(row, self._key)
            assert window not in seen, "a window has one answer in a batch"
            seen.add(window)
            before = self.rows.get(window)
            assert row["revision"] == (0 if before is None else before["revision"] + 1)
            assert before is None or not before["final"], "nothing comes after the final answer"
            self.rows[window] = row

    def check(self, expected: Iterable[dict[str, Any]]) -> None:
        """The newest answers are those that the oracle gives."""
        wanted = {identity(row, self._key): row for row in expected}
        assert wanted.keys() == self.rows.keys()
        for window, row in wanted.items():
            for name, value in row.items():
                if name not in self._key:
                    assert oracle.agree(value, self.rows[window][name]), f"{name} of {window}"


def newest(batches: Iterable[pa.Table], key: Sequence[str]) -> pa.Table:
    """The newest answer of each window."""
    sink, schema = Revisions(key), None
    for batch in batches:
        schema = batch.schema
        sink.take(batch.to_pylist())
    return pa.Table.from_pylist(list(sink.rows.values()), schema)
