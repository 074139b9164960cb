"""Spark's side of a shard: its state, its timer, and what it answers.

A processor serves all shards of a task, one after the other, and remembers nothing itself: Spark
gives each shard its own state, writes it with the batch or not at all, and may run a task again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import pandas as pd
import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql.streaming.stateful_processor import StatefulProcessorHandle

from windrow.errors import StoreError
from windrow.spark.streaming.outputs import Output
from windrow.spark.streaming.shards import labels
from windrow.stream.query import Step, StreamQuery

#: a shard as Spark names it: the value of each column that payloads are grouped by
Shard = tuple[int]

#: where Spark tells a task which query it is of: the checkpoint's file `metadata` has the same
_QUERY = "sql.streaming.queryId"

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
        shards: int,
        is_behind: bool,
    ) -> None:
        """What is sent to the tasks.

        Args:
            token: tells the stream from all others of the process.
            stream: makes it ready.
            events: the columns of a payload.
            output: how answers leave.
            shards: how many there are.
            is_behind: whether there may be another operator in front.
        """
        self._shards, self._is_behind = shards, is_behind
        self._token, self._make = token, stream
        self._events, self._output = events, output

    def open(self, handle: StatefulProcessorHandle, blocks: Any) -> None:
        """Before any shard: Spark's handle of timers, and the map state of blocks."""
        self._handle = handle
        self._storage = MapStorage(blocks)

    def take(
        self, shard: Shard, rows: Iterable[pd.DataFrame], watermark: int
    ) -> Iterator[pd.DataFrame]:
        """The payloads of a shard."""
        batches = [batch for frame in rows for batch in self._unpacked(frame)]
        return self._moved(shard, batches, watermark, woken=False)

    def begin(self, shard: Shard, payloads: pd.DataFrame) -> None:
        """Before the first batch: payloads of the table before the stream, or none."""
        final = int(payloads["final"].max())
        batches = self._unpacked(payloads)
        with self._named(shard):
            step = self._query().begin(self._storage, batches, final, self._is_behind)
        self._set_timer(step, woken=False)

    def wake(self, shard: Shard, watermark: int) -> Iterator[pd.DataFrame]:
        """The watermark has reached a shard's timer."""
        return self._moved(shard, [], watermark, woken=True)

    @contextmanager
    def _named(self, shard: Shard) -> Iterator[None]:
        """Say of damaged state whose it is."""
        try:
            yield
        except StoreError as error:
            task = TaskContext.get()
            query = task.getLocalProperty(_QUERY) if task is not None else None
            of_query = "" if query is None else f" of query {query}"
            number = labels(self._shards).index(shard[0])
            raise StoreError(
                f"checkpoint{of_query}, shard {number}: {str(error).removeprefix('checkpoint: ')}"
            ) from None

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

    def _moved(
        self, shard: Shard, batches: Iterable[pa.Table], watermark: int, woken: bool
    ) -> Iterator[pd.DataFrame]:
        with self._named(shard):
            step = self._query().advance(self._storage, batches, watermark, self._is_behind)
        self._set_timer(step, woken)
        return self._output.frames(step)

    def _set_timer(self, step: Step, woken: bool) -> None:
        """One timer for each shard; Spark deletes the one that it has woken the shard by."""
        if step.timer == step.timer_before:
            return
        if step.timer_before is not None and not woken:
            self._handle.deleteTimer(step.timer_before)
        if step.timer is not None:
            self._handle.registerTimer(step.timer)
