"""A stream in one process answers what a table of the same events would, each answer once."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import windrow as wr
from tests.support.over import oracle as over_oracle
from tests.support.slide import oracle as slide_oracle
from tests.support.stream.iterated import Iterated, iterated
from tests.support.stream.model import BINS_SMALL, WAITING_SMALL, accepted, arrived, length
from tests.support.stream.over_check import in_order
from tests.support.stream.strategies import (
    WITH_OBJECTS,
    any_around,
    any_sliding,
    any_trailing,
    clocks,
    has_others,
    streams,
    trailing,
)
from windrow.stream import sizes

# Interpreted, numbers are numpy's, which warn where a kernel is silent.
pytestmark = [
    pytest.mark.usefixtures("interpreted"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]


def late_of(lateness: int) -> str:
    return f"{lateness} milliseconds"


@given(
    iterated([streams(trailing), streams(any_trailing), streams(any_around, WITH_OBJECTS)]),
    st.booleans(),
)
@settings(max_examples=120)
def test_over(example: Iterated, small: bool) -> None:
    """Rows, slices, totals, and windows that end behind their row: the last of them, too."""
    stream = example.watermarked(of_moments=True)
    shards = 2 if small and stream.key else None
    with sizes.using(**(BINS_SMALL | WAITING_SMALL if small else {})):
        found = wr.over(
            iter(example.batches),
            **stream.arguments,
            lateness=late_of(example.lateness),
            shards=shards,
        )
        rows = [row for batch in found for row in batch.to_pylist()]
    day = length(stream.batches[0][0].schema.field("o0").type)
    events, late = arrived(stream, lambda time: time + day)
    assert found.late == late
    assert found.untimed == sum(batch["o0"].null_count for batch in example.batches)
    assert sorted(row["id"] for row in rows) == sorted(events["id"].to_pylist())
    in_order(rows, stream)
    if not events.num_rows:
        return
    expected = over_oracle.over(events, **stream.arguments)
    places = {number: place for place, number in enumerate(events["id"].to_pylist())}
    for row in rows:
        for name, answers in expected.items():
            assert over_oracle.agree(answers[places[row["id"]]], row[name]), f"{name} of {row}"


@given(iterated([streams(clocks), streams(any_sliding)]), st.booleans())
@settings(max_examples=120)
def test_slide(example: Iterated, small: bool) -> None:
    """Slices, rows and totals; windows that were open at the end are answered, too."""
    of_moments = has_others(example.stream)
    stream = example.watermarked(of_moments)
    shards = 2 if small and stream.key else None
    with sizes.using(**(BINS_SMALL | WAITING_SMALL if small else {})):
        found = wr.slide(
            iter(example.batches),
            **stream.arguments,
            lateness=late_of(example.lateness),
            shards=shards,
        )
        answers = pa.Table.from_batches(list(found), found.schema)
    day = length(stream.batches[0][0].schema.field("o0").type)
    events, late = arrived(stream, lambda time: time + day) if of_moments else accepted(stream)
    assert found.late == late
    slide_oracle.assert_agrees(slide_oracle.slide(events, **stream.arguments), answers, stream.key)
