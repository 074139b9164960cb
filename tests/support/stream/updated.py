"""Streams whose answers can be revised."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import strategies as st

import windrow as wr
from tests.support.stream.iterated import Iterated
from tests.support.stream.strategies import MEASURES, WITH_OBJECTS, clocks, streams, trailing
from windrow.windows import Window


def some(allowed: int, example: Iterated) -> int:
    """So many milliseconds, or days if times are dates."""
    return allowed * (86_400_000 if pa.types.is_date(example.batches[0]["o0"].type) else 1)


@st.composite
def at_their_row(draw: st.DrawFn, unit: int) -> Window:
    kind = draw(st.sampled_from(["rows", "time", "time", "expanding"]))
    if kind == "time":
        return draw(trailing(unit))
    if kind == "expanding":
        return wr.expanding()
    return wr.rows(draw(st.integers(1, 12) | st.just(2**70)), current=draw(st.booleans()))


#: with partials that do not depend on the order of events
COMMUTATIVE = ("count", "sum", "max", "mean")
#: those that do, if one column orders the events
ORDERED = ("count", "sum", "first", "last", "arg_max")
#: those of which no partials are kept, some of which are Python objects
OF_EVENTS = ("median", "collect", "quantile_0_25_lower", "last", "sum")
SLIDING = [streams(clocks, names) for names in (COMMUTATIVE, ORDERED, OF_EVENTS)]
#: what ends at its row
AT_THEIR_ROW = [streams(at_their_row, names) for names in (MEASURES, [*WITH_OBJECTS, "median"])]
