"""`emit="updates"`: after every batch, the last answer of each window is what a table would say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import windrow as wr
from tests.support.examples import examples
from tests.support.over import oracle as over_oracle
from tests.support.slide import oracle
from tests.support.stream.iterated import Iterated, iterated
from tests.support.stream.model import BINS_SMALL, accepted
from tests.support.stream.strategies import Stream, clocks, streams
from windrow.stream import sizes

# Interpreted, numbers are numpy's, which warn where a kernel is silent.
pytestmark = [
    pytest.mark.usefixtures("interpreted"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]

#: with one order column, as these depend on the order of events
ORDERED = ("count", "sum", "first", "last", "arg_max")
#: with a second one
COMMUTATIVE = ("count", "sum", "max", "mean")


def in_updates(example: Iterated) -> bool:
    """Whether the example has one order column, or no aggregation that depends on the order."""
    names = {each.aggregation.name for each in example.stream.aggs}
    return len(example.stream.order) == 1 or names <= {*COMMUTATIVE, "value_range"}


def identity(row: dict[str, Any], key: list[str]) -> tuple[Any, ...]:
    """What tells a window of a key apart."""
    keys = (over_oracle.grouped(row[name]) for name in key)
    return (row.get("window"), *keys, row["window_start"])


class Sink:
    """What a user keeps: the newest answer of each window; refuses what is not a revision."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self.rows: dict[tuple[Any, ...], dict[str, Any]] = {}

    def take(self, batch: pa.RecordBatch) -> None:
        seen = set()
        for row in oracle.rows_of(pa.Table.from_batches([batch])):
            window = identity(row, self._stream.key)
            assert window not in seen, "a window has one answer in a batch"
            seen.add(window)
            before = self.rows.get(window)
            assert row["revision"] == (0 if before is None else before["revision"] + 1)
            assert before is None or not before["final"], "nothing comes after the final answer"
            self.rows[window] = row

    def check(self, events: pa.Table) -> None:
        """The newest answers are those of a table of these events."""
        wanted = {
            identity(row, self._stream.key): row
            for row in oracle.slide(events, **self._stream.arguments)
        }
        assert wanted.keys() == self.rows.keys()
        for window, row in wanted.items():
            for name, value in row.items():
                if name not in self._stream.key:
                    assert over_oracle.agree(value, self.rows[window][name]), f"{name} of {window}"


def prefix(stream: Stream, batches: int) -> Stream:
    return Stream(stream.batches[:batches], stream.key, stream.order, stream.windows, stream.aggs)


def check(example: Iterated, allowed: int, shards: int | None, kept: bool) -> None:
    """After every batch, and at the end."""
    stream = Iterated(example.stream, example.lateness + allowed).watermarked(of_moments=False)
    sink = Sink(stream)

    def batches() -> Iterator[pa.Table]:
        # A stream pulls when all answers so far have been taken.
        for number, batch in enumerate(example.batches):
            if number:
                sink.check(accepted(prefix(stream, number))[0])
            yield batch

    found: wr.Stream = wr.slide(
        batches(),
        **stream.arguments,
        lateness=f"{example.lateness} milliseconds",
        allowed_lateness=f"{allowed} milliseconds",
        emit="updates",
        shards=shards,
        checkpoint=wr.stores.MemoryStore() if kept else None,
    )
    for answers in found:
        sink.take(answers)
    events, late = accepted(stream)
    sink.check(events)
    assert all(row["final"] for row in sink.rows.values())
    assert found.late == late


@given(
    iterated([streams(clocks, ORDERED), streams(clocks, COMMUTATIVE)]).filter(in_updates),
    st.integers(0, 20),
    st.booleans(),
)
@examples(60)
def test_the_newest_answers_are_those_of_a_table(
    example: Iterated, allowed: int, small: bool
) -> None:
    """Events of any disorder; what is later than allowed is dropped and counted."""
    unit = 86_400_000 if pa.types.is_date(example.batches[0]["o0"].type) else 1
    with sizes.using(**(BINS_SMALL if small else {})):
        check(example, allowed * unit, 2 if small and example.stream.key else None, kept=small)


