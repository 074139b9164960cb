"""A shard of a stream gives every event once, in order, with the answers of a table."""

import pytest
from hypothesis import given

from tests.support.examples import examples
from tests.support.stream.model import WAITING_SMALL, Memory
from tests.support.stream.over_check import check
from tests.support.stream.strategies import Stream, streams, trailing
from windrow.stream import sizes
from windrow.stream.state import NODE, WAITING, kind_of

# Interpreted, numbers are numpy's, which warn where a kernel is silent.
pytestmark = [
    pytest.mark.usefixtures("interpreted"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]


@given(streams(trailing))
@examples(25)
def test_any_stream(stream: Stream) -> None:
    storage = Memory()
    check(stream, storage)
    # What no window of an event to come can hold is not kept.
    if max(each.range for each in stream.windows.values()) < 10**15:  # type: ignore[union-attr]
        assert not any(kind_of(number) in (NODE, WAITING) for number in storage)


@given(streams(trailing))
@examples(15)
def test_blocks_of_few_events(stream: Stream) -> None:
    with sizes.using(events_in_a_block=2, **WAITING_SMALL):
        check(stream, Memory())
