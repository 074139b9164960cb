"""A stream over an iterator goes on from its checkpoint, and gives each answer once."""

import asyncio
import itertools
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import windrow as wr
from tests.support.iterators.counted import COUNT, batch, expected, source, stream_of
from tests.support.stores.faults import FaultyStore
from windrow.iterators.reading import checkpoint_at
from windrow.stores import MemoryStore, RocksDBStore, Store
from windrow.stores.contract import NOTHING, Key
from windrow.stream.inspection import summary
from windrow.stream.state import DESCRIPTION, SLICES, VERSION, WAITING_SCHEMA, kind_of

pytestmark = pytest.mark.usefixtures("interpreted")


def test_a_process_goes_on_from_any_commit() -> None:
    """Whatever was given behind a commit is given again, under the same numbers."""
    assert len(expected()) > COUNT // 2
    for stopped in (1, 2, len(expected()) - 1):
        for behind in range(3):
            store, given = MemoryStore(), {}
            with stream_of(source, store) as stream:
                for answers in itertools.islice(stream, stopped):
                    given[stream.sequence] = answers
                    if stream.sequence == stopped - behind:
                        stream.commit()
            with stream_of(source, store) as stream:
                assert stream.sequence == max(stopped - behind, 0)
                for answers in stream:
                    given.setdefault(stream.sequence, answers)
                    assert given[stream.sequence].equals(answers)
            assert list(given.values()) == expected()


def test_every_store_keeps_what_was_committed(store: Store) -> None:
    """Also several shards, and two streams that share a store."""
    found: dict[str, list[pa.RecordBatch]] = {"a": [], "b": []}
    for _ in range(4):
        for name, each in found.items():
            kept = wr.Checkpoint(store, name=name)
            with stream_of(source, kept, shards=2 if name == "b" else None) as stream:
                for answers in itertools.islice(stream, 3):
                    each.append(answers)
                    stream.commit()
                offset, counts = stream.offset, (stream.batches, stream.events, stream.late)
            with stream_of(source, kept, shards=2 if name == "b" else None) as stream:
                assert stream.offset == offset
                assert (stream.batches, stream.events, stream.late) == counts
                assert "late" in repr(stream)
            record, shards = checkpoint_at(store, name)
            assert record.progress["offset"] == offset
            assert len(shards) == (2 if name == "b" else 1)
            assert all(summary(blocks).query for blocks in shards.values())
    assert found["a"] == expected()
    by = [(name, "ascending") for name in ("window", "k", "window_start", "window_end", "count")]
    one, two = (pa.Table.from_batches(found[name]).sort_by(by) for name in "ab")
    assert one.equals(two)


def test_an_input_that_fails_can_be_read_again() -> None:
    """Also after a history, which counts once."""
    history = pa.Table.from_batches([batch(0)])
    whole = list(stream_of(source(1), None, history=history))

    def fails(offset: int | None) -> Any:
        yield from source(offset or 1, 4)
        raise TimeoutError

    store, found = MemoryStore(), []
    with stream_of(fails, store, history=history) as stream:
        with pytest.raises(TimeoutError):
            found.extend(stream)  # what came before the error stays
        stream.commit()
    with stream_of(source, store, history=history) as stream:
        found += stream
    assert found == whole


def test_over_keeps_its_rows() -> None:
    changes: dict[str, Any] = {
        "windows": {"time": wr.time("5 seconds"), "rows": wr.rows(3), "all": wr.expanding()}
    }

    def stream(checkpoint: Any) -> Any:
        query = {"key": "k", "order": "ts", "aggs": [wr.sum("v")], "lateness": "2 seconds"}
        return wr.over(source, checkpoint=checkpoint, **{**query, **changes})

    store, found = MemoryStore(), []
    for _ in range(COUNT + 2):
        with stream(store) as part:
            for answers in itertools.islice(part, 1):
                found.append(answers)
                part.commit()
    by_key = [("k", "ascending"), ("ts", "ascending")]  # keys of a batch come in any order
    whole = [answers.sort_by(by_key) for answers in stream(None)]
    assert [answers.sort_by(by_key) for answers in found] == whole


# Where to go on ----------------------------------------------------------------------------------


def test_what_an_offset_may_be() -> None:
    """Any JSON value, as it is read again; without one, batches are counted."""
    store, place = MemoryStore(), {"file": "a", "rows": (1, 2)}
    with stream_of(iter([(batch(0), place), (batch(4), place)]), store) as stream:
        assert stream.offset is None
        next(stream)
        assert stream.offset is None
        stream.commit()
        assert stream.offset == {"file": "a", "rows": [1, 2]}
    with stream_of(iter([(batch(5), {1, 2})]), store) as stream:
        assert stream.offset == {"file": "a", "rows": [1, 2]}
        with pytest.raises(wr.InvalidArgument, match="offset: an offset is a JSON value"):
            next(stream)
    with stream_of([batch(0), batch(4)], None) as stream:
        next(stream)
        assert (stream.offset, stream.batches) == (None, 1)


def test_a_generator_may_ask_the_stream_where_to_go_on() -> None:
    store = MemoryStore()

    def batches() -> Any:
        yield from source(stream.offset)

    for _ in range(2):
        stream = stream_of(batches(), store)
        given = list(itertools.islice(stream, 3))
        stream.commit()
    assert given == expected()[3:6]


def test_a_function_returns_batches() -> None:
    with pytest.raises(wr.InvalidArgument, match="data: a function of a stream takes an offset"):
        stream_of(lambda _offset: 3, None)
    with pytest.raises(wr.InvalidArgument, match="lateness: "):
        stream_of(source, None, lateness=None)


# When state is committed -------------------------------------------------------------------------


class Recorded(MemoryStore):
    """A store that says what each exchange wrote."""

    def __init__(self) -> None:
        super().__init__()
        self.written: list[dict[Key, bytes | None]] = []

    def exchange(
        self,
        key: Key,
        expected: bytes | None,
        value: bytes,
        also: Any = NOTHING,
    ) -> bool:
        self.written.append(dict(also))
        return super().exchange(key, expected, value, also)


def test_a_stream_may_commit_by_itself() -> None:
    """It commits what was given when the next answers are asked for, and at the end."""
    for often, commits in ((True, COUNT + 1), ("1 hour", 1)):
        store = Recorded()
        kept = wr.Checkpoint(store, auto_commit=often)
        with stream_of(source, kept) as stream:
            next(stream), next(stream)
        with stream_of(source, kept) as stream:
            assert stream.sequence == (1 if often is True else 0)
            assert list(stream) == expected()[1 if often is True else 0 :]
        with stream_of(source, kept) as stream:
            assert (stream.sequence, list(stream)) == (len(expected()), [])
        # Opening is one exchange; batches 1 to 3 come twice if nothing of them was committed.
        assert len([each for each in store.written if each]) == commits


def test_a_commit_writes_what_changed() -> None:
    store = Recorded()
    with stream_of(source, store) as stream:
        for _ in stream:
            stream.commit()
            stream.commit()  # nothing came since, and nothing is written
    assert len(store.written) == 1 + len(expected())
    first, *others = store.written[1:]
    once = {key for key in first if kind_of(key.block) in (DESCRIPTION, WAITING_SCHEMA, SLICES)}
    assert len(once) >= 3
    assert not once & {key for each in others for key in each}
    # Blocks of waiting events that came and went between two commits are in none.
    store.written.clear()
    with stream_of(source, wr.Checkpoint(store, "rarely", at_end="wait")) as stream:
        for _ in stream:
            pass
        stream.commit()
    assert not any(data is None for each in store.written for data in each.values())


def test_the_end_is_answered_or_waits() -> None:
    some = 5
    for at_end in ("answer", "wait"):
        store, found = MemoryStore(), []
        kept = wr.Checkpoint(store, at_end=at_end)
        with stream_of(lambda offset: source(offset, some), kept) as stream:
            found += stream
            stream.commit()
        with stream_of(source, kept) as stream:
            if at_end == "answer":
                with pytest.raises(wr.InvalidArgument, match=r"data: batch 6 comes after the end"):
                    next(stream)
            else:
                found += stream
                stream.commit()
                assert found == expected()[:-1]
        with stream_of(lambda _offset: [], kept) as stream:
            assert list(stream) == []


def test_answers_that_were_not_given_are_not_lost() -> None:
    store = MemoryStore()
    first = stream_of(iter([(batch(4), 5)]), store)
    assert first.schema.names[:2] == ["window", "k"]  # this takes the first batch
    first.commit()
    with stream_of(iter([(batch(4), 5)]), None) as stream:
        whole = list(stream)
    with stream_of(lambda offset: [] if offset else None, store) as stream:
        assert list(stream) == whole
        stream.commit()
    with stream_of([], store) as stream:
        assert list(stream) == []


def test_async_streams_commit_in_a_thread() -> None:
    async def batches(offset: int | None) -> AsyncIterator[Any]:
        for item in source(offset):
            await asyncio.sleep(0)
            yield item

    async def some(store: Store, count: int, often: bool) -> list[pa.RecordBatch]:
        found = []
        async with stream_of(batches, wr.Checkpoint(store, auto_commit=often)) as stream:
            async for answers in stream:
                found.append(answers)
                if not often:
                    await stream.commit()
                if len(found) == count:
                    break
        return found

    async def all_of(often: bool) -> list[pa.RecordBatch]:
        store = MemoryStore()
        # What the first process gave last is not committed unless it says so.
        return await some(store, 3 + often, often) + await some(store, 99, often)

    for often in (False, True):
        found = asyncio.run(all_of(often))
        del found[3 : 3 + often]
        assert found == expected()


# What goes wrong ---------------------------------------------------------------------------------


@pytest.mark.parametrize("fault", ["before", "after"])
def test_a_commit_that_failed_can_be_repeated(fault: str) -> None:
    store, found = FaultyStore(), []
    with stream_of(source, store) as stream:
        for place, answers in enumerate(stream):
            found.append(answers)
            if place % 2:
                store.faults = iter([fault])
                with pytest.raises(wr.StoreError, match="told to fail"):
                    stream.commit()
                if place % 4 == 3:
                    continue
            stream.commit()
    assert found == expected()
    with stream_of(source, store) as stream:
        assert list(stream) == []


def test_no_commit_without_a_checkpoint_and_none_of_half_a_batch() -> None:
    with pytest.raises(wr.InvalidArgument, match="commit: the stream has no checkpoint"):
        stream_of(source, None).commit()
    store = MemoryStore()
    stream = stream_of(source, store)
    stream.close()
    with pytest.raises(wr.StoreError, match="commit: the stream is closed"):
        stream.commit()

    inverses = wr.aggregation(
        name="inverses",
        identity=0.0,
        lift=lambda value: 1.0 / (value - 8.0),
        combine=lambda older, newer: older + newer,
    )
    stream = stream_of(source, store, aggs=[inverses("v")])
    with pytest.raises(wr.DivisionByZero):
        list(stream)
    with pytest.raises(wr.StoreError, match="commit: an error broke off the work on a batch"):
        stream.commit()


DIFFERENT: dict[str, tuple[dict[str, Any], str]] = {
    "windows": (
        {"windows": {"time": wr.time("8 seconds", every="2 seconds"), "rows": wr.rows(3, every=2)}},
        r"was window time=.* is now window time=",
    ),
    "aggregations": ({"aggs": [wr.sum("v"), wr.max("v")]}, r"was aggregation .*count.*max"),
    "key": ({"key": None}, r"was key=\[k: int64\].*is now key=\[\]"),
    "order": ({"order": ["ts", "v"]}, r"was order=\[ts: .*is now order=\[ts.*v"),
    "shards": ({"shards": 2}, r"was shards=1; is now shards=2"),
    "changes": ({"changes_only": True}, r"is now "),
    "types": ({"schema": batch(0, pa.int32()).schema}, r"was key=\[k: int64\].*key=\[k: int32\]"),
}


@pytest.mark.parametrize("what", DIFFERENT)
def test_another_query_is_refused(what: str) -> None:
    store = MemoryStore()
    with stream_of(source, store) as stream:
        next(stream)
        stream.commit()
    changes, differs = DIFFERENT[what]
    with pytest.raises(wr.IncompatibleState, match=rf"checkpoint: .*another query: .*{differs}"):
        stream_of(source, store, **changes)
    # Names of results and the order of windows and aggregations do not matter, nor does lateness.
    windows = {"rows": wr.rows(3, every=2), "time": wr.time("8 seconds", every="4 seconds")}
    aggs = [wr.count().alias("n"), wr.sum("v")]
    stream_of(source, store, windows=windows, aggs=aggs, lateness="3 seconds")


def test_types_are_those_of_the_first_process() -> None:
    store = MemoryStore()
    with stream_of(source, store) as stream:
        next(stream)
        stream.commit()
        offset = stream.offset
    narrow = ((batch(number, pa.int32()), number + 1) for number in range(offset, COUNT))
    with stream_of(narrow, store) as stream:
        assert list(stream) == expected()[1:]
    texts = [batch(offset).set_column(2, "v", pa.array(["x"] * 6))]
    with (
        stream_of(texts, store) as stream,
        pytest.raises(wr.InvalidArgument, match="data: batch 2 has 'v' as string"),
    ):
        next(stream)


def damaged(value: bytes, place: int) -> bytes:
    return value[:place] + bytes([value[place] ^ 1]) + value[place + 1 :]


def test_damage_is_noticed_and_named() -> None:
    store = MemoryStore()
    with stream_of(source, store) as stream:
        next(stream), next(stream)
        stream.commit()
    whole, problems = dict(store._values), []
    for key, value in whole.items():
        for bad in (damaged(value, len(value) - 1), value[:7], None):
            store._values = {**whole, key: bad}  # type: ignore[dict-item]
            if bad is None:
                del store._values[key]
            try:
                with stream_of(source, store) as stream:
                    assert list(stream) == expected()[2:], key
            except wr.StoreError as error:
                problems.append(str(error))
        # A newer layout.
        store._values = {**whole, key: bytes([whole[key][0] + 1]) + whole[key][1:]}
        try:
            with stream_of(source, store) as stream:
                list(stream)
        except wr.IncompatibleState as error:
            problems.append(str(error))
    assert all(each.startswith("checkpoint") for each in problems)
    texts = " ".join(problems)
    for told in (
        "the record is missing", "the record is damaged", "the header, is damaged",
        "waiting events, is missing", "bins, is missing", "the columns of the input is damaged",
        "it has layout 2", "state has layout",
    ):  # fmt: skip
        assert told in texts, told
    lost = [key for key in whole if key.level == 0][:3]
    store._values = {key: value for key, value in whole.items() if key not in lost}
    with pytest.raises(wr.StoreError, match=r"its state has \d+ blocks, and \d+ others were"):
        stream_of(source, store)
    assert len(problems) > 2 * len(whole)


def test_two_processes_do_not_share_a_checkpoint(tmp_path: Path) -> None:
    store = MemoryStore()
    first = stream_of(source, store)
    next(first)
    second = stream_of(source, store)
    next(second)
    second.commit()
    with pytest.raises(wr.StoreError, match=r"checkpoint: .* opened for the same stream"):
        first.commit()
    folder = tmp_path / "state"
    with stream_of(source, folder) as stream:
        next(stream)
        stream.commit()
        with pytest.raises(wr.StoreError, match="this process has it open already"):
            stream_of(source, folder)
        script = f"import windrow as wr; wr.stores.RocksDBStore({str(folder)!r})"
        other = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, timeout=60
        )
        assert "another process has it open; only one at a time can" in other.stderr
    with stream_of(source, folder) as stream:
        assert list(stream) == expected()[1:]


def test_places_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "metadata").write_text("{}")
    for place, told in (
        (tmp_path, "checkpoint: the folder .* holds other files"),
        (tmp_path / "metadata", "checkpoint: .* is a file"),
        ("s3://bucket/state", "checkpoint: addresses begin with redis://"),
        (3, "checkpoint: give a folder, an address or a store"),
    ):
        with pytest.raises(wr.InvalidArgument, match=told):
            stream_of(source, place)
    for changes, told in (({"at_end": "stop"}, "at_end: "), ({"auto_commit": "x"}, "auto_commit"),
                          ({"name": ""}, "name: ")):  # fmt: skip
        with pytest.raises(wr.InvalidArgument, match=told):
            wr.Checkpoint("state", **changes)
    assert "secret" not in repr(wr.Checkpoint("redis://me:secret@host:6379/0"))
    table = pa.Table.from_batches([batch(0)])
    with pytest.raises(wr.InvalidArgument, match="checkpoint: is for streams"):
        wr.slide(table, order="ts", windows=wr.rows(3, every=2), aggs=wr.count(), checkpoint="x")


def test_the_state_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from windrow.cli.main import main

    folder = tmp_path / "state"
    with stream_of(source, folder, shards=2) as stream:
        assert main(["state", str(folder)]) == 0  # while a process is at work
        assert "nothing was committed yet" in capsys.readouterr().out
        next(stream), next(stream)
        stream.commit()
        assert main(["state", str(folder)]) == 0
        shown = capsys.readouterr().out
    assert "shards=2\nkey=[k: int64]\n" in shown
    assert "window rows: rows 3 every 2" in shown
    assert re.search(r"^    1 +1 +\d+ +[\d,]+ +2 +2026-04-30", shown, re.MULTILINE), shown
    assert re.search(r"^offset     2\nwatermark  2026-05-01 00:00:00.999", shown, re.MULTILINE)
    assert "taken      2 batches, 12 events, 1 late, 0 untimed\ngiven      2 batches" in shown
    for wrong, told in (
        (["--name", "x"], "has no stream 'x'"),
        (["--operator", "0"], "--operator: it is of Spark's queries"),
    ):
        assert main(["state", str(folder), *wrong]) == 1
        assert told in capsys.readouterr().err
    store = RocksDBStore(folder)
    store.put_many({Key("stream stream", 1, 0): bytes([VERSION]) + b"damaged"})
    store.close()
    assert main(["state", str(folder)]) == 1
    assert f"checkpoint {folder}, shard 1: block 0 of its state" in capsys.readouterr().err


@pytest.mark.compiled
def test_a_killed_process_gives_each_answer_once() -> None:
    """A few kills; `make kills-iterators KILLS=100` for more."""
    run = subprocess.run(
        [sys.executable, "-m", "tests.support.iterators.killed", "--kills", "6"],
        env={**os.environ, "NUMBA_DISABLE_JIT": "0"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert "batches of answers are equal" in run.stdout
