"""What the checkpoint of a stream over an iterator says: a batch is what came between two looks."""

from __future__ import annotations

import time
from pathlib import Path

from windrow.iterators.checkpoint import NAME
from windrow.stream.progress_log import Batch


class StreamCommits:
    """The commits of a stream, as they are seen."""

    def __init__(self, checkpoint: Path, name: str = NAME) -> None:
        self._checkpoint, self._name = checkpoint, name
        self._commits = -1
        self._counts = (0, 0, 0)
        self.batches: list[Batch] = []

    def look(self, most: int) -> None:
        """Add what was committed since the last look."""
        from windrow.iterators.reading import checkpoint_at
        from windrow.iterators.run import Progress

        record, shards = checkpoint_at(self._checkpoint, self._name)
        if record.commits == self._commits or not record.commits:
            return
        progress = Progress(**record.progress)
        if record.commits < self._commits:
            self.batches, self._counts = [], (0, 0, 0)
        counts = (progress.events, progress.late, progress.untimed)
        came = (new - old for new, old in zip(counts, self._counts, strict=True))
        # What came before the first look came at no known rate.
        events, late, untimed = came if self._commits >= 0 else (None, None, None)
        self.batches.append(
            Batch(
                number=record.commits,
                ended=time.time(),
                events=events,
                late=late,
                untimed=untimed,
                state_bytes=sum(
                    len(data) for blocks in shards.values() for data in blocks.values()
                ),
                watermark=progress.watermark / 1000 if progress.watermark else None,
            )
        )
        del self.batches[:-most]
        self._commits, self._counts = record.commits, counts

    @property
    def totals(self) -> tuple[int, int, int]:
        """Events, late ones and those without a time, over all restarts."""
        return self._counts
