"""`emit="updates"`: after every batch, the last answer of each window is what a table would say."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import windrow as wr
from tests.support.examples import examples
from tests.support.slide import oracle
from tests.support.stream.iterated import Iterated, iterated
from tests.support.stream.model import BINS_SMALL, accepted
from tests.support.stream.revisions import Revisions
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


def prefix(stream: Stream, batches: int) -> Stream:
    return Stream(stream.batches[:batches], stream.key, stream.order, stream.windows, stream.aggs)


def check(example: Iterated, allowed: int, shards: int | None, kept: bool) -> None:
    """After every batch, and at the end."""
    stream = Iterated(example.stream, example.lateness + allowed).watermarked(of_moments=False)
    sink = Revisions(stream.key)

    def check_answers(stream: Stream) -> int:
        """After the batches of a stream; says how many of its events are late."""
        events, late = accepted(stream)
        sink.check(oracle.slide(events, **stream.arguments))
        return late

    def batches() -> Iterator[pa.Table]:
        # A stream pulls when all answers so far have been taken.
        for number, batch in enumerate(example.batches):
            if number:
                check_answers(prefix(stream, number))
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
        sink.take(oracle.rows_of(pa.Table.from_batches([answers])))
    assert found.late == check_answers(stream)
    assert all(row["final"] for row in sink.rows.values())


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


