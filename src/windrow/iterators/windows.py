"""What both kinds of streams share: taking batches, giving answers, and commits between the two.

      input  ->  take  ->  answers that wait  ->  given  ->  you
                  |              |                  |
               shards         pending            sequence
                  +--------------+------------------+-------->  commit

A commit can happen between any two calls: what is taken and not given is part of it.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from datetime import datetime
from typing import Any

import pyarrow as pa

from windrow.errors import InvalidArgument, StoreError
from windrow.iterators.batches import says_its_types, table_of
from windrow.iterators.open_checkpoint import OpenCheckpoint, json_value
from windrow.iterators.run import Call, Progress, StreamRun


class Windows:
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
