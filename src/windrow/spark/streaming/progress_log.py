"""Spark's progress of windrow's queries as a progress log (`stream/progress_log.py`)."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

from pyspark.sql.streaming.listener import StreamingQueryListener

from windrow.stream.progress_log import Batch, append, state_in_use

#: windrow's counts in Spark's progress have names that begin so
_OURS = "windrow"


class ProgressLog(StreamingQueryListener):
    """Writes a line for each batch of windrow's queries of a session."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def onQueryStarted(self, event: Any) -> None:  # noqa: N802
        """A query began: its first batch says all."""

    def onQueryProgress(self, event: Any) -> None:  # noqa: N802
        """A batch is done."""
        batch = _batch(event.progress)
        if batch is not None:
            append(self._path, batch)

    def onQueryIdle(self, event: Any) -> None:  # noqa: N802
        """No events came."""

    def onQueryTerminated(self, event: Any) -> None:  # noqa: N802
        """The query ended: the log says what it did."""


def _batch(progress: Any) -> Batch | None:
    """A batch of a query that has windrow's counts; a query may have several sets of them."""
    counts = [each for name, each in progress.observedMetrics.items() if name.startswith(_OURS)]
    if not counts:
        return None
    seconds = progress.durationMs.get("triggerExecution", 0) / 1000
    watermark = progress.eventTime.get("watermark")
    return Batch(
        number=progress.batchId,
        ended=_epoch(progress.timestamp) + seconds,
        seconds=seconds,
        events=sum(each.events for each in counts),
        late=sum(each.late for each in counts),
        untimed=sum(each.untimed for each in counts),
        state_bytes=sum(_state_bytes(each) for each in progress.stateOperators),
        watermark=_epoch(watermark) if watermark else None,
        query=str(progress.id),
    )


def _state_bytes(operator: Any) -> int:
    files = operator.customMetrics.get("rocksdbSstFileSize", 0)
    return state_in_use(int(files), int(operator.memoryUsedBytes))


def _epoch(moment: str) -> float:
    return datetime.fromisoformat(moment).timestamp()
