"""`wr.Stream` and `wr.AsyncStream`: batches go in, batches of answers come out.

A stream pulls: it asks its input for a batch when you ask it for answers. So it holds what windows
need and one batch, however fast the input is.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable, Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import pyarrow as pa

from windrow.errors import InvalidArgument
from windrow.iterators.open_checkpoint import OpenCheckpoint
from windrow.iterators.run import Call
from windrow.iterators.windows import Windows

if TYPE_CHECKING:
    import asyncio


class Stream(Windows, Iterator[pa.RecordBatch]):
    """The answers of `wr.over` or `wr.slide` over an iterator of batches, as they become final.

    It is an iterator of `pyarrow.RecordBatch`. Each holds at least one answer; batches of the
    input that make nothing final give none. With `emit="updates"`, answers come at once. At the
    end of the input, what is left is answered as on a table.

    Attributes:
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


class AsyncStream(Windows, AsyncIterator[pa.RecordBatch]):
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
        # Only here, because `import windrow` is to be fast.
        import asyncio

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
        import asyncio

        try:
            await asyncio.shield(working)
        finally:
            if working.done():
                self._working = None

    async def aclose(self) -> None:
        """End the stream without answering what is left, and close the input if it can be."""
        self._ended = True
        with contextlib.suppress(Exception):  # the task that waited for that work has got its error
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
