"""Spark's side of a shard: its state, its timer, and its answers.

A processor serves all shards of a task, one after the other. It remembers nothing itself: Spark
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
from windrow.spark.streaming.outputs import OperatorOutput
from windrow.spark.streaming.shards import labels
from windrow.stream.batch_result import BatchResult
from windrow.stream.query import StreamQuery

#: a shard as Spark names it: the values of the columns that payloads are grouped by
Shard = tuple[int]

#: the property that has the id of a task's query, as the checkpoint's file `metadata` has it
_QUERY = "sql.streaming.queryId"

#: queries by token, so that the tasks of one Python process prepare their kernels once
_READY: dict[str, StreamQuery] = {}


class MapStorage:
    """The blocks of the current shard, in one of Spark's map states."""

    def __init__(self, blocks: Any) -> None:
        self._blocks = blocks

    def get(self, number: int) -> bytes | None:
        """The bytes of a block; None if it does not exist."""
        found = self._blocks.getValue((number,))
        return None if found is None else bytes(found[0])

    def put(self, number: int, data: bytes) -> None:
        """Write a block, in place of the old one."""
        self._blocks.updateValue((number,), (data,))

    def delete(self, number: int) -> None:
        """Delete a block that exists."""
        self._blocks.removeKey((number,))


class ShardProcessor:
    """Answers for shards, when events come or their timer says so."""

    def __init__(
        self,
        token: str,
        make_query: Callable[[], StreamQuery],
        events: pa.Schema,
        output: OperatorOutput,
        shards: int,
        is_behind: bool,
    ) -> None:
        """A processor to send to tasks.

        Args:
            token: identifies the query in its process.
            make_query: makes the query, with its kernels.
            events: the columns of a payload.
            output: how answers leave.
            shards: the number of shards.
            is_behind: whether another operator with state may be in front.
        """
        self._shards, self._is_behind = shards, is_behind
        self._token, self._make = token, make_query
        self._events, self._output = events, output

    def open(self, handle: StatefulProcessorHandle, blocks: Any) -> None:
        """Take Spark's handle of timers and the map state of blocks, before any shard."""
        self._handle = handle
        self._storage = MapStorage(blocks)

    def take(
        self, shard: Shard, rows: Iterable[pd.DataFrame], watermark: int
    ) -> Iterator[pd.DataFrame]:
        """Take the payloads of a shard, and answer."""
        batches = [batch for frame in rows for batch in self._unpacked(frame)]
        return self._moved(shard, batches, watermark, woken=False)

    def begin(self, shard: Shard, payloads: pd.DataFrame) -> None:
        """Take payloads of the history before the first batch; they may be empty."""
        final = int(payloads["final"].max())
        batches = self._unpacked(payloads)
        with self._named(shard):
            step = self._query().begin(self._storage, batches, final, self._is_behind)
        self._set_timer(step, woken=False)

    def wake(self, shard: Shard, watermark: int) -> Iterator[pd.DataFrame]:
        """Answer because the watermark has reached the shard's timer."""
        return self._moved(shard, [], watermark, woken=True)

    @contextmanager
    def _named(self, shard: Shard) -> Iterator[None]:
        """Name the query and the shard in errors about damaged state."""
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

    def _set_timer(self, step: BatchResult, woken: bool) -> None:
        """Set the shard's one timer; Spark itself deletes the one that woke the shard."""
        if step.timer == step.timer_before:
            return
        if step.timer_before is not None and not woken:
            self._handle.deleteTimer(step.timer_before)
        if step.timer is not None:
            self._handle.registerTimer(step.timer)
