"""Rows that are held from batch to batch, and batches that are gathered to blocks."""

from itertools import accumulate

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from windrow.engine.held_rows import HeldRows, gathered
from windrow.work import sizes

LENGTHS = st.lists(st.integers(0, 9), max_size=30)


@given(LENGTHS, st.integers(0, 12), st.integers(0, 5))
def test_the_rows_of_the_window_go_on(lengths: list[int], window: int, smallest: int) -> None:
    stops = list(accumulate(lengths))
    batches = [
        pa.record_batch({"row": pa.array(range(stop - length, stop), pa.int64())})
        for length, stop in zip(lengths, stops, strict=True)
    ]
    held = HeldRows(["row"])
    seen = numbered = 0
    with sizes.using(smallest_block=smallest):
        for batch in gathered(batches, lambda: held.count):
            if batch is None:
                continue
            rows = held.before({"row": batch["row"]}, batch.num_rows)["row"].to_pylist()
            assert rows == list(range(seen - held.count, seen + batch.num_rows))
            seen, numbered = seen + batch.num_rows, numbered + len(rows)
            held.keep_from(batch.num_rows - window)
            assert held.count == min(window, seen)
    assert seen == sum(lengths)
    assert numbered <= 2 * seen + window


def test_batches_that_wait_give_turns() -> None:
    batches = [pa.record_batch({"row": [each]}) for each in range(5)]
    with sizes.using(smallest_block=2):
        found = list(gathered([batches[0], None, *batches[1:]], lambda: 0))
    assert [None if each is None else each.num_rows for each in found] == [
        None, None, 2, None, 2, None, 1
    ]  # fmt: skip
