"""`emit="updates"`: after every batch, the newest answers are what a table would say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa
import pyarrow.compute
import pytest
from hypothesis import given
from hypothesis import strategies as st

import windrow as wr
from tests.support.examples import examples
from tests.support.over import oracle as over_oracle
from tests.support.slide import oracle
from tests.support.stream.combines import counted_combines
from tests.support.stream.iterated import Iterated, iterated
from tests.support.stream.model import BINS_SMALL, accepted, arrived, length
from tests.support.stream.revisions import Revisions
from tests.support.stream.strategies import Stream
from tests.support.stream.updated import AT_THEIR_ROW, SLIDING, some
from windrow.iterators.reading import checkpoint_at
from windrow.stream import sizes
from windrow.stream.inspection import summary
from windrow.windows import Window

# Interpreted, numbers are numpy's, which warn where a kernel is silent.
pytestmark = [
    pytest.mark.usefixtures("interpreted"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]


def prefix(stream: Stream, batches: int) -> Stream:
    return Stream(stream.batches[:batches], stream.key, stream.order, stream.windows, stream.aggs)


def slid(stream: Stream) -> tuple[list[dict[str, Any]], int]:
    """What `wr.slide` says of all events so far, and how many of them were late."""
    events, late = accepted(stream)
    return oracle.slide(events, **stream.arguments), late


def laid_over(stream: Stream) -> tuple[list[dict[str, Any]], int]:
    """The same of `wr.over`."""
    day = length(stream.batches[0][0].schema.field("o0").type)
    events, late = arrived(stream, lambda time: time + day)
    answers = over_oracle.over(events, **stream.arguments) if events.num_rows else {}
    columns = {"id": events["id"].to_pylist(), **answers}
    return [
        dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)
    ], late


def check(call: Any, example: Iterated, allowed: int, small: bool) -> None:
    """The newest answers are right after every batch, and final at the end."""
    horizon = Iterated(example.stream, example.lateness + allowed)
    stream = horizon.watermarked(of_moments=call is wr.over)
    expected = laid_over if call is wr.over else slid
    sink = Revisions(stream.key)

    def batches() -> Iterator[pa.Table]:
        # A stream pulls when all answers so far have been taken.
        for number, batch in enumerate(example.batches):
            if number:
                sink.check(expected(prefix(stream, number))[0])
            yield batch

    with sizes.using(**(BINS_SMALL if small else {})):
        found: wr.Stream = call(
            batches(),
            **stream.arguments,
            lateness=f"{example.lateness} milliseconds",
            allowed_lateness=f"{allowed} milliseconds",
            emit="updates",
            shards=2 if small and stream.key else None,
            checkpoint=wr.stores.MemoryStore() if small else None,
        )
        for answers in found:
            table = pa.Table.from_batches([answers])
            sink.take(table.to_pylist() if call is wr.over else oracle.rows_of(table))
    rows, late = expected(stream)
    sink.check(rows)
    assert found.late == late
    assert all(row["final"] for row in sink.rows.values())


@given(iterated(SLIDING), st.integers(0, 20), st.booleans())
@examples(60)
def test_slide(example: Iterated, allowed: int, small: bool) -> None:
    """Events of any disorder; what is later than allowed is dropped and counted."""
    check(wr.slide, example, some(allowed, example), small)


@given(iterated(AT_THEIR_ROW), st.integers(0, 20), st.booleans())
@examples(60)
def test_over(example: Iterated, allowed: int, small: bool) -> None:
    """Windows that end at their row, also of aggregations that count values or keep objects."""
    check(wr.over, example, some(allowed, example), small)


NINE = datetime(2026, 5, 4, 9)
MINUTE = wr.time("1 minute", every="20 seconds")
ASKED: dict[str, Any] = {"key": "k", "order": "ts", "windows": MINUTE, "aggs": wr.count()}


SCHEMA = pa.schema([("k", pa.string()), ("ts", pa.timestamp("us")), ("x", pa.float64())])


def at(*seconds: int) -> pa.Table:
    times = [NINE + timedelta(seconds=second) for second in seconds]
    columns = {"k": ["a"] * len(seconds), "ts": times, "x": [1.0] * len(seconds)}
    return pa.table(columns, schema=SCHEMA)


@pytest.mark.parametrize("measure", [wr.sum("x"), wr.first("x")])
def test_an_event_costs_the_same_however_late_it_is(measure: Any) -> None:
    """One combine, and four for each of the answers that it changes."""
    for slices_late in (0, 1, 16, 250):

        def batches(late: int = slices_late) -> Iterator[pa.Table]:
            yield at(*range(600))
            yield at(599 - late)

        stream = wr.slide(
            batches(), key="k", order="ts", windows=wr.time("1 minute", every="1 second"),
            aggs=measure, lateness="1 hour", emit="updates",
        )  # fmt: skip
        next(stream)
        with counted_combines() as combines:
            answers = next(stream)
        assert answers.num_rows == 60
        assert combines.number <= 1 + 4 * answers.num_rows


def test_an_answer_that_only_becomes_final_costs_no_combine() -> None:
    stream = wr.slide([at(0, 30), at(400)], **ASKED, lateness="20 seconds", emit="updates")
    first = next(stream)
    with counted_combines() as combines:
        second = next(stream)
    assert combines.number <= 1 + 4 * 3
    assert set(first["final"].to_pylist()) == {False}
    changed = [row for row in second.to_pylist() if row["window_end"] > NINE + timedelta(minutes=5)]
    final = [row for row in second.to_pylist() if row not in changed]
    assert [row["revision"] for row in changed] == [0] * 3
    assert [(row["revision"], row["final"]) for row in final] == [(1, True)] * first.num_rows
    assert [row["count"] for row in final] == first["count"].to_pylist()


def test_history_is_not_answered_again() -> None:
    """Windows that are open behind it begin with revision 0, as answers of the stream."""
    over = {**ASKED, "windows": wr.rows(2), "lateness": "10 seconds", "emit": "updates"}
    found = pa.Table.from_batches(wr.over([at(65, 75)], **over, history=at(0, 30, 70)))
    rows = found.select(["ts", "count", "revision", "final"]).to_pylist()
    seconds = [row.pop("ts").second for row in rows]
    assert seconds == [5, 10, 15, 5, 10, 15]
    assert [list(row.values()) for row in rows] == [[2, 0, False]] * 3 + [[2, 1, True]] * 3
    asked = {**ASKED, "lateness": "10 seconds", "emit": "updates"}
    stream = wr.slide([at(75)], **asked, history=at(0, 30, 70))
    rows = [row for answers in stream for row in answers.to_pylist()]
    newest = {row["window_start"]: row for row in rows}
    whole = wr.slide(at(0, 30, 70, 75), **ASKED).to_pylist()
    minute = NINE + timedelta(minutes=1)
    assert [
        newest[row["window_start"]]["count"] for row in whole if row["window_end"] > minute
    ] == [row["count"] for row in whole if row["window_end"] > minute]
    assert all(row["window_end"] > minute for row in rows)
    assert {row["revision"] for row in rows if not row["final"]} == {0}


def test_a_checkpoint_belongs_to_its_way_of_giving_answers() -> None:
    store = wr.stores.MemoryStore()
    late = {"lateness": "1 minute", "checkpoint": store}
    with wr.slide([at(0, 30)], **ASKED, **late, emit="updates") as stream:
        next(stream)
        stream.commit()
    with pytest.raises(wr.IncompatibleState, match="was emit=updates"):
        wr.slide([at(5)], **ASKED, **late, schema=SCHEMA)
    # A longer allowed lateness goes on; names of answers may change.
    other = {**ASKED, "aggs": wr.count(alias="events"), "allowed_lateness": "1 minute"}
    with wr.slide([at(5)], **other, **late, emit="updates") as stream:
        answers = next(stream)
        stream.commit()
    assert answers["events"].to_pylist() == [2, 3, 3]
    assert set(answers["revision"].to_pylist()) == {1}
    _record, shards = checkpoint_at(store)
    found = summary(shards[0])
    assert found.keys == 1
    assert found.newest is not None


@pytest.mark.parametrize(
    ("call", "changed", "seconds"),
    # A slice of the minute is 20 seconds.
    [(wr.over, {"windows": wr.rows(2)}, 30), (wr.slide, {"aggs": wr.median("x")}, 40)],
)
def test_state_of_events_can_be_looked_at(call: Any, changed: dict[str, Any], seconds: int) -> None:
    store = wr.stores.MemoryStore()
    asked = {**ASKED, **changed, "lateness": "1 minute", "checkpoint": store}
    with call([at(0, 30)], **asked, emit="updates") as stream:
        next(stream)
        stream.commit()
    _record, shards = checkpoint_at(store)
    found = summary(shards[0])
    assert found.keys == 1
    assert found.newest is not None
    assert found.oldest is not None
    assert seconds <= found.newest - found.oldest < seconds + 1


def test_late_events_come_as_rows() -> None:
    """With answers that are final, too, and in `over`: all their columns, and nothing else."""
    batches = [at(0, 30), at(100), at(40, 101), at(300)]
    minute = wr.time("1 minute")
    for call, asked in (
        (wr.slide, {**ASKED, "emit": "updates"}), (wr.slide, ASKED),
        (wr.over, {**ASKED, "windows": minute}),
    ):  # fmt: skip
        plain = {**asked, "lateness": "1 second"}
        stream = call(iter(batches), **plain, late="side")
        found = list(stream)
        late = pa.concat_tables([wr.late(answers) for answers in found])
        assert late.to_pylist() == at(40).to_pylist()
        on_time = pa.concat_tables([wr.on_time(answers) for answers in found])
        without = pa.Table.from_batches(list(call(iter(batches), **plain)))
        assert on_time.to_pylist() == without.to_pylist()
        assert stream.late == 1
    with pytest.raises(wr.InvalidArgument, match="data: it has no column 'late' of events"):
        wr.late(pa.table({"late": [1]}))
    with pytest.raises(wr.InvalidArgument, match="data: it has no column 'late'"):
        wr.late(without)


@pytest.mark.parametrize(
    "column",
    [
        pa.array(["a"]).dictionary_encode(),
        pa.compute.run_end_encode(pa.array([1])),
        pa.array(["a"], pa.string_view()),
        pa.array([[1, None]]),
        pa.nulls(1),
    ],
)
def test_late_events_of_any_type(column: pa.Array) -> None:
    """Found: Arrow filters no struct of runs or views."""
    batches = [at(second).append_column("c", [column]) for second in (0, 100, 40)]
    for call, windows in ((wr.slide, MINUTE), (wr.over, wr.rows(2))):
        asked = {**ASKED, "windows": windows, "lateness": "1 second", "late": "side"}
        found = list(call(batches, **asked))
        late = pa.concat_tables([wr.late(answers) for answers in found])
        assert late["c"].to_pylist() == column.to_pylist()
        on_time = [row for answers in found for row in wr.on_time(answers).to_pylist()]
        assert len(on_time) == (6 if call is wr.slide else 2)


def test_plan() -> None:
    plan = wr.plan(**ASKED, lateness="5 seconds", emit="updates", allowed_lateness="1 minute")
    assert "updates: a partial for each key and slice" in str(plan)
    assert "watermark of their batch, less 1 minute. They are dropped" in str(plan)
    assert "answer what they change, and once more what became final" in str(plan)
    for changed, why in (
        ({"aggs": [wr.median("x"), wr.sum("x")]}, "the partials of median(x) are not a few"),
        ({"order": ["ts", "x"], "aggs": wr.first("x")}, "first(x) depends on the order of events"),
    ):
        plan = wr.plan(**{**ASKED, **changed}, lateness="5 seconds", emit="updates")
        assert "updates: the events of each key of open windows" in str(plan)
        assert why in str(plan)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"emit": "now"}, "emit: 'final' or 'updates', not 'now'"),
        ({"late": "keep"}, "late: 'drop' or 'side', not 'keep'"),
        ({"emit": "final", "allowed_lateness": "1 minute"}, "allowed_lateness: corrects answers"),
        ({"allowed_lateness": "-1 minute"}, "allowed_lateness: give a number of milliseconds"),
        ({"windows": wr.session("1 minute")}, "emit: 'updates' needs windows by a clock"),
        ({"windows": wr.rows(10, every=5)}, "emit: 'updates' needs windows by a clock"),
        ({"changes_only": True}, "changes_only: depends on the answer before"),
        ({"empty": "emit"}, "empty: depends on the answer before"),
        ({"aggs": wr.sum("x", alias="final")}, "emit: adds a column 'final'"),
    ],
)  # fmt: skip
def test_what_cannot_be_revised_is_refused(changed: dict[str, Any], message: str) -> None:
    asked = {**ASKED, "lateness": "1 second", "emit": "updates", **changed}
    with pytest.raises(wr.InvalidArgument, match=re.escape(message)):
        wr.slide([], **asked, schema=SCHEMA)


@pytest.mark.parametrize(
    "window",
    [
        wr.session("1 minute"),
        wr.punctuated("p"),
        wr.delta("x", 2.0),
        wr.rows(before=2, after=1),
        wr.time(before="1 minute", after="1 minute"),
        wr.calendar("1 month"),
    ],
)
def test_rows_that_cannot_be_revised_are_refused(window: Window) -> None:
    asked = {**ASKED, "windows": window, "lateness": "1 second", "emit": "updates"}
    with pytest.raises(wr.InvalidArgument, match="emit: 'updates' needs windows of rows, of time"):
        wr.over([], **asked, schema=SCHEMA.append(pa.field("p", pa.bool_())))


def test_a_table_is_final() -> None:
    for asked in ({"emit": "updates"}, {"late": "side"}):
        with pytest.raises(wr.InvalidArgument, match="a table is final"):
            wr.slide(at(0), **ASKED, **asked)
