"""A stream as an iterator of batches, with the watermarks that Spark would give it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import pyarrow as pa
from hypothesis import strategies as st

from tests.support.over.oracle import ticks
from tests.support.over.strategies import tick
from tests.support.stream.model import MILLISECOND
from tests.support.stream.strategies import Stream


@dataclass(frozen=True)
class Iterated:
    """Batches, and how late their events may come, in milliseconds."""

    stream: Stream
    lateness: int

    @property
    def batches(self) -> list[pa.Table]:
        return [batch for batch, _watermark in self.stream.batches]

    def watermarked(self, of_moments: bool) -> Stream:
        """The stream with the watermark of the batches before each batch.

        Where a slice is a moment, an event that is as late as it may be is not late yet.
        """
        length = tick(self.batches[0].schema.field("o0").type)
        is_clock = length < 86_400 * 10**9
        behind = self.lateness + (of_moments and is_clock)
        found, watermark = [], 0
        for batch in self.batches:
            found.append((batch, watermark))
            times = [time for time in ticks(batch["o0"]) if time is not None]
            if times:
                watermark = max(watermark, max(times) // MILLISECOND - behind)
        return replace(self.stream, batches=found)


@st.composite
def iterated(draw: st.DrawFn, streams: Iterable[st.SearchStrategy[Stream]]) -> Iterated:
    """Any stream, with any lateness."""
    stream = draw(st.one_of(*streams))
    unit = tick(stream.batches[0][0].schema.field("o0").type)
    step = max(unit // MILLISECOND, 1)
    return Iterated(stream, draw(st.integers(0, 30)) * step)
