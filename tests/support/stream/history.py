"""A stream that goes on from a table: its first batches are the table."""

import pyarrow as pa
from hypothesis import strategies as st

from tests.support.stream.model import THE_END, Memory
from tests.support.stream.strategies import Stream
from windrow.stream.query import StreamQuery


@st.composite
def cut(draw: st.DrawFn, whole: st.SearchStrategy[Stream]) -> tuple[Stream, int]:
    """A stream, and how many of its batches are the table; there is a batch behind it."""
    stream = draw(whole)
    return stream, draw(st.integers(0, len(stream.batches) - 1))


def run(query: StreamQuery, stream: Stream, table: int) -> tuple[list[pa.Table], int]:
    """The answers of the stream behind the table, and how many of its events were late."""
    storage = Memory()
    final = stream.batches[table][1]
    before = [batch for batch, _watermark in stream.batches[:table]]
    # In two parts, as they may come; nothing that is final by the first may get lost.
    for part, known in ((before[:1], final), (before[1:], 0)):
        query.begin(storage, part, known)
    answers, late = [], 0
    end = (stream.batches[0][0].slice(0, 0), THE_END)
    # Spark's watermark begins anew, behind the table's.
    later = [(batch, 0 if place == 0 else watermark)
             for place, (batch, watermark) in enumerate(stream.batches[table:])]  # fmt: skip
    for batch, watermark in [*later, end]:
        step = query.advance(storage, [batch], watermark)
        assert step.timer is None or step.timer > max(watermark, final)
        answers += step.answers
        late += step.late
    return answers, late


def effective(stream: Stream, table: int) -> Stream:
    """The same stream, with no event of the table late."""
    batches = [
        (batch, 0 if place < table else watermark)
        for place, (batch, watermark) in enumerate(stream.batches)
    ]
    return Stream(batches, stream.key, stream.order, stream.windows, stream.aggs)
