"""`wr.Stream` and `wr.AsyncStream`: batches go in, batches of final answers come out.

A stream pulls: it asks its input for a batch when you ask it for answers. So it holds what windows
need and one batch, however fast the input is.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import datetime
from types import TracebackType
from typing import Any, Self

import pyarrow as pa

from windrow.errors import InvalidArgument, StoreError
from windrow.iterators.batches import says_its_types, table_of
from windrow.iterators.open_checkpoint import OpenCheckpoint, json_value
from windrow.iterators.run import Call, Progress, StreamRun


class _Windows:
    """What both kinds of streams share: the query, once the columns are known, and its counts.

    State is `_progress`, the answers that were not given yet, and `_run.shards`: a `LiveBlocks` for
    each shard, which says what changed since it was last written (see `stream.live_blocks`). A
    commit writes all three.
    """

    def __init__(self, call: Call, schema: pa.Schema | None, kept: OpenCheckpoint | None) -> None:
        self._call, self._kept = call, kept
        self._answers: deque[pa.RecordBatch] = deque()
        self._progress = Progress()
        if kept is not None:
            self._progress = Progress(**kept.record.progress)
            self._answers.extend(kept.pending)
            schema = kept.columns if schema is None else schema
        self._run = None if schema is None else self._begun(schema)
        #: batches without types that came before the first that has some
        self._untyped: pa.Schema | None = None
        #: whether the input failed with the last pull
        self._failed = False
        self._ended = False
        #: why state cannot be committed any more
        self._lost: str | None = None
        self._committed_at = time.monotonic()

    @property
    def events(self) -> int:
        """How many events have come."""
        return self._progress.events

    @property
    def late(self) -> int:
        """How many events were dropped because they were late."""
        return self._progress.late

    @property
    def untimed(self) -> int:
        """How many events were dropped because they have no time."""
        return self._progress.untimed

    @property
    def watermark(self) -> datetime | None:
        """How far time is final: an event before it is late; None as long as nothing is final."""
        return None if self._run is None else self._run.watermark

    @property
    def batches(self) -> int:
        """How many batches have come."""
        return self._progress.batches

    @property
    def sequence(self) -> int:
        """The number of the batch of answers that you got last, from 1 on, over all restarts.

        A restarted stream gives the answers behind the last commit again, under the same numbers,
        if its input has the same batches.
        """
        return self._progress.sequence

    @property
    def offset(self) -> Any:
        """Where to go on: the newest offset of the batches that were committed; None without one.

        Without a checkpoint it is the newest offset that came.
        """
        return self._progress.offset if self._kept is None else self._kept.offset

    # Commits -------------------------------------------------------------------------------------

    def _commit(self) -> None:
        """Write state and offset to the checkpoint; nothing if nothing came or was given since."""
        if self._kept is None:
            raise InvalidArgument(
                "commit: the stream has no checkpoint; give checkpoint= a folder or a store"
            )
        if self._lost is not None:
            raise StoreError(f"commit: {self._lost}; the checkpoint holds the last commit")
        progress = dict(vars(self._progress))
        if self._run is not None and progress != self._kept.record.progress:
            self._kept.commit(progress, self._run.columns, self._run.shards, self._answers)
        self._committed_at = time.monotonic()

    @property
    def _is_due(self) -> bool:
        """Whether the stream commits by itself now: all answers that it gave count as safe."""
        interval = None if self._kept is None else self._kept.checkpoint.interval
        if interval is None or self._lost is not None:
            return False
        return self._ended or time.monotonic() - self._committed_at >= interval

    def _given(self) -> pa.RecordBatch:
        """The next answers that wait to be given."""
        self._progress.sequence += 1
        return self._answers.popleft()

    def _release(self) -> None:
        """Drop all state, and release the checkpoint."""
        self._ended, self._lost = True, self._lost or "the stream is closed"
        self._answers.clear()
        if self._kept is not None:
            self._kept.close()

    # Batches -------------------------------------------------------------------------------------

    def _begun(self, schema: pa.Schema) -> StreamRun:
        return StreamRun(schema, self._call, self._progress, self._kept)

    def _take(self, item: Any) -> None:
        """Take a batch of the input, or a pair of it and its offset; answers go to `_answers`."""
        batch, offset = item, self._progress.offset
        if isinstance(item, tuple) and len(item) == 2:
            batch, offset = item[0], json_value(item[1])
        self._take_batch(batch)
        self._progress.offset = offset

    def _take_batch(self, batch: Any) -> None:
        table = table_of(batch, self._progress.batches + 1)
        if self._run is None:
            if not says_its_types(table):
                self._progress.batches += 1
                return
            self._run = self._begun(table.schema)
        if self._progress.is_over and table.num_rows:
            raise InvalidArgument(
                f"data: batch {self.batches + 1} comes after the end: what was left of the stream "
                "is answered and committed. Give a new checkpoint; to go on after the end of an "
                "input, say wr.Checkpoint(..., at_end='wait')"
            )
        # A batch with other columns is refused before it changes anything.
        conformed = self._run.conformed(table)
        self._work(lambda run: run.take(conformed))

    def _end(self) -> None:
        """Answer what is left; a generator that has failed is at its end, and its input is not."""
        waits = self._kept is not None and self._kept.checkpoint.at_end == "wait"
        is_done = waits or self._progress.is_over or self._failed or self._ended
        if self._run is not None and not is_done:
            self._work(StreamRun.finish)
        self._ended = True

    def _work(self, step: Callable[[StreamRun], list[pa.RecordBatch]]) -> None:
        """Do a step; a stream whose step was broken off has lost its state, and is at its end."""
        assert self._run is not None
        try:
            self._answers.extend(step(self._run))
        except BaseException:
            self._ended, self._lost = True, "an error broke off the work on a batch"
            raise

    def __repr__(self) -> str:
        """What the stream has seen."""
        return (
            f"<{type(self).__name__}: {self.events:,} events, {self.late:,} late, watermark "
            f"{self.watermark}>"
        )


class Stream(_Windows, Iterator[pa.RecordBatch]):
    """The answers of `wr.over` or `wr.slide` over an iterator of batches, as they become final.

    It is an iterator of `pyarrow.RecordBatch`es. Each holds at least one answer; batches of the
    input that make nothing final give none. At the end of the input, what is left is answered as on
    a table.

    Attributes:
        schema: the columns of answers.
        batches, events, late, untimed: what was counted so far.
        watermark: how far time is final.
        sequence: the number of the answers that you got last.
        offset: where to go on after a restart.

    An error of the input passes through. The stream can go on, if the input can: a generator
    cannot, and then the stream ends, and does not answer what is left.

    Example:
        >>> import pyarrow as pa, windrow as wr
        >>> from datetime import datetime
        >>> def batches():
        ...     yield pa.table(
        ...         {"ts": [datetime(2026, 5, 1, 9, 0, 1), datetime(2026, 5, 1, 9, 0, 4)]}
        ...     )
        ...     yield pa.table({"ts": [datetime(2026, 5, 1, 9, 0, 12)]})
        >>> every = wr.time("10 seconds", every="10 seconds")
        >>> with wr.slide(
        ...     batches(), order="ts", windows=every, aggs=wr.count(), lateness="1 second"
        ... ) as stream:
        ...     for answers in stream:
        ...         print(answers["count"].to_pylist(), stream.watermark)
        [2] 2026-05-01 09:00:11
        [1] 2026-05-01 09:00:11
    """

    def __init__(
        self,
        source: Any,
        call: Call,
        schema: pa.Schema | None,
        kept: OpenCheckpoint | None = None,
    ) -> None:
        super().__init__(call, schema, kept)
        self._source = iter(source)

    @property
    def schema(self) -> pa.Schema:
        """The columns of answers; this reads the first batch if the input does not say them."""
        while self._run is None and not self._ended:
            self._pull()
        if self._run is None:
            raise InvalidArgument(
                "data: it ended without a batch that has columns; state them with schema="
            )
        return self._run.schema

    def __next__(self) -> pa.RecordBatch:
        """The next answers, pulling batches until some are final."""
        while not self._answers:
            if self._is_due:
                self._commit()
            if self._ended:
                raise StopIteration
            self._pull()
        return self._given()

    def commit(self) -> None:
        """Write state and the newest offset to the checkpoint, in one step.

        A process that starts again goes on behind the answers that you got so far: keep them first.
        """
        self._commit()

    def _pull(self) -> None:
        """Take one batch of the input, or its end."""
        try:
            batch = next(self._source)
        except StopIteration:
            self._end()
            return
        except BaseException:
            self._failed = True
            raise
        self._failed = False
        self._take(batch)

    def close(self) -> None:
        """End the stream without answering what is left, and close the input if it can be."""
        self._release()
        close = getattr(self._source, "close", None)
        if close is not None:
            close()

    def __enter__(self) -> Self:
        """Close the stream at the end of the block."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Let pyarrow, pandas, Polars, DuckDB and others read all answers."""
        reader = pa.RecordBatchReader.from_batches(self.schema, self)
        return reader.__arrow_c_stream__(requested_schema)


class AsyncStream(_Windows, AsyncIterator[pa.RecordBatch]):
    """The answers of `wr.over` or `wr.slide` over an async iterator, as they become final.

    It is the asynchronous `wr.Stream`: use `async for`, `async with` and `aclose`. Work on a batch
    is done in a thread, so that other tasks go on. If you cancel a task that waits for answers, no
    answer is lost: the next one gets it.
    """

    def __init__(
        self,
        source: Any,
        call: Call,
        schema: pa.Schema | None,
        kept: OpenCheckpoint | None = None,
    ) -> None:
        super().__init__(call, schema, kept)
        self._source = aiter(source)
        #: the work that a task which was cancelled has left behind
        self._working: asyncio.Future[None] | None = None

    @property
    def schema(self) -> pa.Schema:
        """The columns of answers; known with the first batch, or with `schema=`."""
        if self._run is None:
            raise InvalidArgument(
                "data: the columns of answers are known after the first batch; wait for it, or "
                "state its columns with schema="
            )
        return self._run.schema

    async def __anext__(self) -> pa.RecordBatch:
        """The next answers, pulling batches until some are final."""
        await self._worked()
        while not self._answers:
            if self._is_due:
                await self._in_thread(self._commit)
            if self._ended:
                raise StopAsyncIteration
            await self._pull()
        return self._given()

    async def commit(self) -> None:
        """Write state and the newest offset to the checkpoint, in one step.

        A process that starts again goes on behind the answers that you got so far: keep them first.
        """
        await self._worked()
        await self._in_thread(self._commit)

    async def _pull(self) -> None:
        try:
            batch = await anext(self._source)
        except StopAsyncIteration:
            await self._in_thread(self._end)
            return
        except BaseException:
            self._failed = True
            raise
        self._failed = False
        await self._in_thread(lambda: self._take(batch))

    async def _in_thread(self, work: Callable[[], None]) -> None:
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:  # another event loop, as that of trio
            work()
            return
        self._working = loop.run_in_executor(None, work)
        await self._worked()

    async def _worked(self) -> None:
        """Wait for work that is under way; it goes on if the task is cancelled."""
        working = self._working
        if working is None:
            return
        try:
            await asyncio.shield(working)
        finally:
            if working.done():
                self._working = None

    async def aclose(self) -> None:
        """End the stream without answering what is left, and close the input if it can be."""
        self._ended = True
        with contextlib.suppress(Exception):  # whoever waited for that work has got its error
            await self._worked()
        self._release()
        close = getattr(self._source, "aclose", None)
        if close is not None:
            await close()

    async def __aenter__(self) -> Self:
        """Close the stream at the end of the block."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()
