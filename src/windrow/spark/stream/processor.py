"""Spark's side of a shard: its state, its timer, and what it answers.

A processor serves all shards of a task, one after the other, and remembers nothing itself: Spark
gives each shard its own state, writes it with the batch or not at all, and may run a task again.

Before a query's first batch, Spark asks a Python process of its own which states there are. All
that it is sent for that is `Sealed`, which imports nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pandas as pd
import pyarrow as pa
from pyspark import cloudpickle
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from windrow.runtime.stream.query import Step, StreamQuery
from windrow.spark.stream.outputs import Output

#: streams by token, so that the tasks of one Python process make their kernels ready once
_READY: dict[str, StreamQuery] = {}


class MapStorage:
    """The blocks of the shard at hand, in one of Spark's map states."""

    def __init__(self, blocks: Any) -> None:
        self._blocks = blocks

    def get(self, number: int) -> bytes | None:
        """The bytes of a block, None if there is none."""
        found = self._blocks.getValue((number,))
        return None if found is None else bytes(found[0])

    def put(self, number: int, data: bytes) -> None:
        """Write a block, over what was there."""
        self._blocks.updateValue((number,), (data,))

    def delete(self, number: int) -> None:
        """Delete a block that is there."""
        self._blocks.removeKey((number,))


class ShardProcessor:
    """Moves shards on, with new events or when their timer says so."""

    def __init__(
        self,
        token: str,
        stream: Callable[[], StreamQuery],
        events: pa.Schema,
        output: Output,
    ) -> None:
        """What is sent to the tasks.

        Args:
            token: tells the stream from all others of the process.
            stream: makes it ready.
            events: the columns of a payload.
            output: how answers leave.
        """
        self._token, self._make = token, stream
        self._events, self._output = events, output

    def open(self, handle: StatefulProcessorHandle, blocks: Any) -> None:
        """Before any shard: Spark's handle of timers, and the map state of blocks."""
        self._handle = handle
        self._storage = MapStorage(blocks)

    def take(self, rows: Iterable[pd.DataFrame], watermark: int) -> Iterator[pd.DataFrame]:
        """The payloads of a shard."""
        return self._moved([batch for frame in rows for batch in self._unpacked(frame)], watermark)

    def begin(self, payloads: pd.DataFrame, watermark: int) -> None:
        """Payloads of the table before the stream."""
        final = int(payloads["final"].max())
        step = self._query().begin(self._storage, self._unpacked(payloads), final)
        self._set_timer(step, watermark)

    def wake(self, watermark: int) -> Iterator[pd.DataFrame]:
        """The watermark has reached a shard's timer."""
        return self._moved([], watermark)

    def _query(self) -> StreamQuery:
        if self._token not in _READY:
            _READY[self._token] = self._make()
        return _READY[self._token]

    def _unpacked(self, frame: pd.DataFrame) -> list[pa.Table]:
        return [
            pa.Table.from_batches([pa.ipc.read_record_batch(pa.py_buffer(each), self._events)])
            for each in frame["payload"]
            if len(each)
        ]

    def _moved(self, batches: Iterable[pa.Table], watermark: int) -> Iterator[pd.DataFrame]:
        step = self._query().advance(self._storage, batches, watermark)
        self._set_timer(step, watermark)
        return self._output.frames(step)

    def _set_timer(self, step: Step, watermark: int) -> None:
        """One timer for each shard; Spark deletes those that it has called for."""
        if step.timer == step.timer_before:
            return
        if step.timer_before is not None and step.timer_before > watermark:
            self._handle.deleteTimer(step.timer_before)
        if step.timer is not None:
            self._handle.registerTimer(step.timer)


def _sealed() -> Any:
    """The class `Sealed`. As that of a function it is sent with its code, not by its module's name.

    By name, the process that is asked for states would import windrow, numba and pandas for it:
    1 s and more of the 2.3 s before a query's first batch.
    """

    class Sealed(StatefulProcessor):
        """A processor as bytes, until there are rows."""

        def __init__(self, content: bytes) -> None:
            self._content = content
            self._processor: Any = None

        def init(self, handle: StatefulProcessorHandle) -> None:
            """Called by Spark before any shard."""
            self._handle = handle
            self._blocks = handle.getMapState("blocks", "number long", "content binary")

        def _opened(self) -> Any:
            if self._processor is None:
                import pickle

                self._processor = pickle.loads(self._content)
                self._processor.open(self._handle, self._blocks)
            return self._processor

        def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Any:  # noqa: N802,N803
            """Called by Spark with the payloads of a shard."""
            return self._opened().take(rows, timerValues.getCurrentWatermarkInMs())

        def handleInitialState(  # noqa: N802
            self,
            key: Any,
            initialState: Any,  # noqa: N803
            timerValues: Any,  # noqa: N803
        ) -> None:
            """Called by Spark before the first batch, with payloads of the table before."""
            self._opened().begin(initialState, timerValues.getCurrentWatermarkInMs())

        def handleExpiredTimer(  # noqa: N802
            self,
            key: Any,
            timerValues: Any,  # noqa: N803
            expiredTimerInfo: Any,  # noqa: N803
        ) -> Any:
            """Called by Spark when the watermark has reached a shard's timer."""
            return self._opened().wake(timerValues.getCurrentWatermarkInMs())

        def close(self) -> None:
            """Called by Spark after the last shard."""

    return Sealed


_SEALED = _sealed()


def sealed(processor: ShardProcessor) -> StatefulProcessor:
    """The processor as Spark takes it."""
    found: StatefulProcessor = _SEALED(cloudpickle.dumps(processor))  # type: ignore[no-untyped-call]
    return found
