"""How the live query is doing, in figures from Spark's progress and its output."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from windrow.cli.sink import CommittedFiles
from windrow.stream.progress_log import state_in_use

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery


@dataclass(frozen=True)
class Batch:
    """One micro-batch of the query."""

    number: int
    events: int
    late: int
    answers: int
    seconds: float
    state_bytes: int
    written_bytes: int


@dataclass
class Figures:
    """What has happened so far.

    Attributes:
        begun: when the query started.
        batches: all batches that are done.
        until: the end of the newest windows that have answers.
        newest: the answers of those windows, by machine and window.
    """

    begun: float = field(default_factory=time.monotonic)
    batches: list[Batch] = field(default_factory=list)
    until: datetime | None = None
    newest: dict[str, dict[str, Mapping[str, Any]]] = field(default_factory=dict)

    @property
    def seconds(self) -> float:
        """How long the query has run."""
        return time.monotonic() - self.begun

    @property
    def events(self) -> int:
        """How many readings have come."""
        return sum(batch.events for batch in self.batches)

    @property
    def late(self) -> int:
        """How many of them came too late."""
        return sum(batch.late for batch in self.batches)

    @property
    def answers(self) -> int:
        """How many windows were answered."""
        return sum(batch.answers for batch in self.batches)

    def is_over(self, seconds: float | None) -> bool:
        """Whether it has run for some seconds, and something has been answered."""
        return seconds is not None and self.seconds >= seconds and self.until is not None

    def take(self, query: StreamingQuery, files: CommittedFiles) -> None:
        """Add the new batches of a query."""
        known = self.batches[-1].number if self.batches else -1
        last = query.lastProgress
        if last is None or last["batchId"] <= known:
            return
        for each in query.recentProgress:
            if each["batchId"] > known and each["observedMetrics"]:
                table = files.take()
                self.batches.append(_batch(each, 0 if table is None else table.num_rows))
                if table is not None:
                    self._keep_newest(table)

    def _keep_newest(self, answers: pa.Table) -> None:
        self.until = pc.max(answers["window_end"]).as_py()
        last = answers.filter(pc.equal(answers["window_end"], self.until))
        self.newest = {}
        for row in last.to_pylist():
            self.newest.setdefault(row["machine"], {})[row["window"]] = row


def _batch(progress: Mapping[str, Any], answers: int) -> Batch:
    counts = next(iter(progress["observedMetrics"].values()))
    state = progress["stateOperators"][0]
    return Batch(
        progress["batchId"],
        counts["events"],
        counts["late"],
        answers,
        progress["durationMs"]["triggerExecution"] / 1000,
        state_in_use(state["customMetrics"]["rocksdbSstFileSize"], state["memoryUsedBytes"]),
        counts["bytes_written"],
    )
