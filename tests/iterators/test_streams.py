"""`wr.Stream` and `wr.AsyncStream`: what goes in, what comes out, and what happens on failures."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import windrow as wr
from windrow.errors import InvalidArgument

pytestmark = [
    pytest.mark.usefixtures("interpreted"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]

MINUTE = {"order": "ts", "windows": wr.time("1 minute", every="1 minute"), "aggs": wr.sum("x")}
BEGIN = datetime(2026, 5, 1)


def batch(*seconds: int, value: float = 1.0) -> pa.Table:
    """Events at some seconds."""
    times = [BEGIN + timedelta(seconds=each) for each in seconds]
    return pa.table({"ts": pa.array(times, pa.timestamp("us")), "x": [value] * len(seconds)})


def batches() -> list[pa.Table]:
    return [batch(1, 50), batch(10, 70), batch(100, 185), batch(5, 190)]


def sums(answers: Any) -> list[list[float]]:
    return [each["sum_x"].to_pylist() for each in answers]


def test_answers_come_with_the_batch_that_makes_them_final() -> None:
    stream = wr.slide(iter(batches()), **MINUTE, lateness="30 seconds")
    assert stream.watermark is None
    assert sums(stream) == [[3.0, 2.0], [2.0]]
    assert (stream.events, stream.late, stream.untimed) == (8, 1, 0)
    assert stream.watermark == BEGIN + timedelta(seconds=160)
    assert repr(stream) == "<Stream: 8 events, 1 late, watermark 2026-05-01 00:02:40>"


def test_nothing_is_pulled_before_you_ask() -> None:
    pulled = []

    def source() -> Iterator[pa.Table]:
        for each in batches():
            pulled.append(each)
            yield each

    stream = wr.slide(source(), **MINUTE, lateness="30 seconds")
    assert not pulled
    assert stream.schema.names == ["window_start", "window_end", "sum_x"]
    assert len(pulled) == 1
    next(stream)
    assert len(pulled) == 3


def shapes() -> dict[str, Any]:
    """The same batches in every shape."""
    tables = batches()
    arrays = [{"ts": table["ts"].to_numpy(), "x": table["x"].to_numpy()} for table in tables]
    reader = pa.RecordBatchReader.from_batches(
        tables[0].schema, [each for table in tables for each in table.to_batches()]
    )
    return {
        "tables": iter(tables),
        "a list": tables,
        "record batches": (each for table in tables for each in table.to_batches()),
        "reader": reader,
        "pandas": (pd.DataFrame(each) for each in arrays),
        "polars": (pl.DataFrame(each) for each in arrays),
        "empty batches between": iter([tables[0].slice(0, 0), *tables, tables[0].slice(0, 0)]),
    }


@pytest.mark.parametrize("shape", list(shapes()))
def test_every_shape_of_batch(shape: str) -> None:
    stream = wr.slide(shapes()[shape], **MINUTE, lateness="30 seconds")
    assert isinstance(stream, wr.Stream)
    assert list(chain(*sums(stream))) == [3.0, 2.0, 2.0]
    assert stream.late == 1


def test_a_reader_without_lateness_is_a_table() -> None:
    assert isinstance(wr.slide(shapes()["reader"], **MINUTE), pa.Table)


def test_others_read_a_stream() -> None:
    stream = wr.slide(iter(batches()), **MINUTE, lateness="30 seconds")
    assert pl.DataFrame(stream)["sum_x"].to_list() == [3.0, 2.0, 2.0]
    first = wr.slide(iter(batches()), **MINUTE, lateness="30 seconds")
    both = wr.over(
        first, order="window_end", windows=wr.rows(2), aggs=wr.sum("sum_x", alias="two"),
        lateness="0 seconds",
    )  # fmt: skip
    assert [each for answers in both for each in answers["two"].to_pylist()] == [3.0, 5.0, 4.0]


def test_a_program_may_fill_its_arrays_again() -> None:
    seconds, values = np.zeros(2, "datetime64[us]"), np.zeros(2)

    def source() -> Iterator[pd.DataFrame]:
        for number in range(4):
            seconds[:] = np.datetime64(BEGIN) + np.array([20, 40]) * np.timedelta64(1, "s") * number
            values[:] = number
            yield pd.DataFrame({"ts": seconds, "x": values}, copy=False)

    stream = wr.slide(source(), **MINUTE, lateness="10 minutes")
    assert list(chain(*sums(stream))) == [0.0 * 2 + 1.0 * 2 + 2.0, 2.0 + 3.0, 3.0]


# Types -------------------------------------------------------------------------------------------


def test_types_of_later_batches() -> None:
    """Another unit, another width, no values at all, other order: the columns of the first."""
    first = batch(1, 2)
    others = pa.table({
        "x": pa.array([1, 2], pa.int16()), "ts": batch(3, 4)["ts"].cast(pa.timestamp("ms")),
        "more": [1, 2],
    })  # fmt: skip
    nothing = pa.table({"ts": batch(5)["ts"], "x": [None]})
    stream = wr.slide([first, others, nothing], **MINUTE, lateness="1 second")
    assert sums(stream) == [[5.0]]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (batch(3).drop(["x"]), "data: batch 2 has no column 'x', and the first batch has one"),
        (batch(3).set_column(1, "x", pa.array(["a"])), "data: batch 2 has 'x' as string, and the"),
        (batch(3).set_column(0, "ts", pa.array([3])), "data: batch 2 has 'ts' as int64"),
        (
            batch(3).set_column(0, "ts", batch(3)["ts"].cast(pa.timestamp("us", "UTC"))),
            "data: batch 2 has 'ts' as timestamp",
        ),
        (7, "data: batch 2: give"),
    ],
    ids=["missing", "text", "no time", "another clock", "no table"],
)
def test_a_wrong_batch_is_refused_and_the_stream_goes_on(wrong: Any, message: str) -> None:
    stream = wr.slide(iter([batch(1, 2), wrong, batch(4)]), **MINUTE, lateness="1 second")
    with pytest.raises(InvalidArgument, match=f"^{message}"):
        next(stream)
    assert sums(stream) == [[3.0]]


def test_over_refuses_columns_that_came_later() -> None:
    asked = {"order": "ts", "windows": wr.rows(2), "aggs": wr.count()}
    with pytest.raises(InvalidArgument, match="a column 'y' that the first batch does not have"):
        list(
            wr.over([batch(1), batch(2).append_column("y", pa.array([1]))], **asked, lateness="1s")
        )


def test_the_types_of_answers_are_those_of_a_table() -> None:
    """Events wait in plain types, and leave as they came."""
    table = pa.table(
        {
            "k": pa.array(["a", "b", "a"]).dictionary_encode(),
            "v": pa.array(["x", None, "y"], pa.string_view()),
            "ts": batch(1, 2, 3)["ts"],
        }
    )
    asked = {
        "key": "k",
        "order": "ts",
        "windows": wr.rows(2),
        "aggs": [wr.count("v"), wr.last("v")],
    }
    found = pa.Table.from_batches(list(wr.over([table], **asked, lateness="1 second")))
    expected = wr.over(table, **asked)
    assert found.schema == expected.schema
    assert sorted(found.to_pylist(), key=lambda row: row["ts"]) == expected.to_pylist()
    windows = {**asked, "windows": wr.time("1 minute", every="1 minute")}
    answers = pa.Table.from_batches(list(wr.slide([table], **windows, lateness="1 second")))
    assert answers.schema == wr.slide(table, **windows).schema


def test_stated_columns() -> None:
    schema = pa.schema([("ts", pa.timestamp("us")), ("x", pa.float64())])
    empty = {"ts": [], "x": []}
    stream = wr.slide(iter([pa.table(empty)]), **MINUTE, lateness="1 second", schema=schema)
    assert stream.schema.field("sum_x").type == pa.float64()
    assert list(stream) == []
    with pytest.raises(InvalidArgument, match=r"^aggs: "):
        wr.slide(iter([]), **{**MINUTE, "aggs": wr.sum("y")}, lateness="1 second", schema=schema)
    with pytest.raises(InvalidArgument, match=r"^schema: state the columns .* not dict"):
        wr.slide(iter([]), **MINUTE, lateness="1 second", schema={})
    untyped = wr.slide(iter([pa.table(empty)]), **MINUTE, lateness="1 second")
    assert list(untyped) == []
    with pytest.raises(InvalidArgument, match="state them with schema="):
        _ = untyped.schema


@pytest.mark.parametrize(
    ("data", "more", "message"),
    [
        (iter([]), {}, "lateness: data is an iterator of batches"),
        ([{"ts": 1, "x": 1.0}], {"lateness": "1 second"}, "data: a list of rows is a table"),
        (batch(1), {"lateness": "1 second"}, "lateness: is for streams"),
        (iter([]), {"lateness": "-1 second"}, "lateness: give a number"),
        (iter([]), {"lateness": "1 second", "shards": 0}, "shards: give an integer"),
        (iter([batch(1)]), {"lateness": "1 second", "shards": 2}, "shards: without a key"),
        (
            iter([batch(1)]),
            {"lateness": "1 second", "history": pa.table({"x": [1.0]})},
            "history: it has no column 'ts'",
        ),
    ],
)
def test_what_is_refused(data: Any, more: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidArgument, match=f"^{message}"):
        list(wr.slide(data, **MINUTE, **more))


def test_rows_of_a_stream_have_no_order_of_their_own() -> None:
    with pytest.raises(InvalidArgument, match=r"^order: events of a stream"):
        list(wr.over([batch(1)], windows=wr.rows(2), aggs=wr.count(), lateness="1 second"))


def test_a_plan_pulls_nothing() -> None:
    """It says what is kept: live windows, or blocks that a checkpoint keeps."""
    schema = batch(1).schema

    def planned(**more: Any) -> Any:
        return wr.plan(iter([]), **MINUTE, lateness="1 second", **more)

    live = planned(schema=schema)
    assert "live windows" in str(live)
    assert "counted in stream.late" in " ".join(str(live).split())
    assert live.to_dict()["stream"]["shards"] == 1
    assert live.to_dict()["stream"]["checkpoint"] == []
    assert "live windows" not in str(planned(schema=schema, checkpoint="state"))
    with pytest.raises(InvalidArgument, match=r"^schema: a plan pulls no batch"):
        planned()


# History -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("shards", [None, 3])
def test_history(shards: int | None) -> None:
    """The table's answers and the stream's are those of one run over all events."""
    random = np.random.default_rng(1)
    times = np.sort(random.integers(0, 3600, 400))
    table = pa.table({
        "k": random.integers(0, 5, 400), "x": random.random(400),
        "ts": pa.array([BEGIN.replace(tzinfo=UTC) + timedelta(seconds=int(t)) for t in times]),
        "id": np.arange(400),
    })  # fmt: skip
    old, new = table.slice(0, 250), table.slice(250)
    parts = [new.slice(at, 50) for at in range(0, 150, 50)]
    # Rows that may be live, and rows that are not.
    windows = {"few": wr.rows(7), "hour": wr.time("10 minutes")}
    asked = {"key": "k", "order": ["ts", "id"], "windows": windows, "aggs": [wr.sum("x")]}
    for only in ({"few": windows["few"]}, windows):
        call = {**asked, "windows": only}
        stream = wr.over(iter(parts), **call, lateness="0 seconds", history=old, shards=shards)
        found = pa.Table.from_batches(list(stream)).sort_by("id").to_pylist()
        expected = {row["id"]: row for row in wr.over(table, **call).to_pylist()}
        # What the table did not make final is answered by the stream: its newest moment.
        assert [row["id"] for row in found][-150:] == list(range(250, 400))
        for row in found:
            for name in call["windows"]:
                answer = f"sum_x_{name}"
                assert row[answer] == pytest.approx(expected[row["id"]][answer])
        assert stream.late == 0


# Failures ----------------------------------------------------------------------------------------


class Flaky:
    """A source whose second pull fails, and which can go on."""

    def __init__(self) -> None:
        self.pulls = 0

    def __iter__(self) -> Flaky:
        return self

    def __next__(self) -> pa.Table:
        self.pulls += 1
        if self.pulls == 2:
            raise TimeoutError("no batch yet")
        if self.pulls > 4:
            raise StopIteration
        return batch(self.pulls)


def test_errors_of_the_input_pass_through() -> None:
    stream = wr.slide(Flaky(), **MINUTE, lateness="1 second")
    with pytest.raises(TimeoutError):
        next(stream)
    assert sums(stream) == [[3.0]]


def test_a_generator_that_failed_has_not_ended() -> None:
    def source() -> Iterator[pa.Table]:
        yield batch(1)
        raise KeyboardInterrupt

    stream = wr.slide(source(), **MINUTE, lateness="1 second")
    with pytest.raises(KeyboardInterrupt):
        next(stream)
    assert list(stream) == []


def test_a_step_that_was_broken_off_ends_the_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = wr.slide(iter(batches()), **MINUTE, lateness="30 seconds")
    next(stream)
    with monkeypatch.context() as patched:
        patched.setattr("windrow.iterators.run.StreamRun.take", _interrupted)
        with pytest.raises(KeyboardInterrupt):
            next(stream)
    assert list(stream) == []


def _interrupted(*_arguments: Any) -> None:
    raise KeyboardInterrupt


def test_closing() -> None:
    closed = []

    def source() -> Iterator[pa.Table]:
        try:
            yield from batches()
        finally:
            closed.append(True)

    with wr.slide(source(), **MINUTE, lateness="30 seconds") as stream:
        next(stream)
    assert closed
    assert list(stream) == []


# Async -------------------------------------------------------------------------------------------


async def arriving(pause: float = 0.0) -> AsyncIterator[pa.Table]:
    for each in batches():
        await asyncio.sleep(pause)
        yield each


def test_async() -> None:
    async def all_answers() -> None:
        async with wr.slide(arriving(), **MINUTE, lateness="30 seconds") as stream:
            assert isinstance(stream, wr.AsyncStream)
            with pytest.raises(InvalidArgument, match="known after the first batch"):
                _ = stream.schema
            found = [each async for each in stream]
            assert sums(found) == [[3.0, 2.0], [2.0]]
            assert stream.schema == found[0].schema
            assert stream.late == 1

    asyncio.run(all_answers())


def test_a_cancelled_task_loses_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cancelled while a batch is worked on: the next task gets its answers."""
    from windrow.iterators.run import StreamRun

    take = StreamRun.take

    async def cancelled() -> None:
        started, go = asyncio.Event(), asyncio.Event()
        loop = asyncio.get_running_loop()

        def slow(run: StreamRun, table: pa.Table) -> Any:
            loop.call_soon_threadsafe(started.set)
            asyncio.run_coroutine_threadsafe(go.wait(), loop).result()
            return take(run, table)

        monkeypatch.setattr(StreamRun, "take", slow)
        stream = wr.slide(arriving(), **MINUTE, lateness="30 seconds")
        task = asyncio.create_task(anext(stream))
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        go.set()
        assert sums([each async for each in stream]) == [[3.0, 2.0], [2.0]]

    asyncio.run(cancelled())


def test_async_without_lateness_is_refused() -> None:
    with pytest.raises(InvalidArgument, match=r"^lateness: data is an iterator"):
        wr.slide(arriving(), **MINUTE)


# Memory ------------------------------------------------------------------------------------------


def test_batches_are_let_go() -> None:
    """Of batches that are final and left all windows, nothing stays."""
    seen = []

    def source() -> Iterator[pa.RecordBatch]:
        for number in range(30):
            each = batch(*range(number * 10, number * 10 + 10)).to_batches()[0]
            seen.append(weakref.ref(each))
            yield each

    for asked in (MINUTE, {**MINUTE, "windows": wr.session("1 minute")}):
        stream = wr.slide(source(), **asked, lateness="5 seconds")
        schema = stream.schema
        assert schema is not None
        list(stream)
        gc.collect()
        assert sum(each() is not None for each in seen) == 0
        held = stream._run.shards[0]._live.values()
        assert sum(each.nbytes for each in held if isinstance(each, pa.RecordBatch)) < 2_000
        seen.clear()
