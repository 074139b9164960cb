"""What a shard did with a batch, for those who run the query."""

from __future__ import annotations

from dataclasses import dataclass, field

import pyarrow as pa


@dataclass
class BatchResult:
    """What a batch did.

    Attributes:
        answers: the answers, as tables.
        events: how many events came.
        late: how many of them were dropped because their slice was final.
        untimed: how many of them were dropped because they had no time.
        timer: the watermark, in milliseconds, at which there may be more answers; None for never.
        timer_before: the timer that the batch before had set.
        bytes_read, bytes_written: how much state was read and written.
        late_events: the late events, as tables, if the query keeps them.
    """

    answers: list[pa.Table] = field(default_factory=list)
    events: int = 0
    late: int = 0
    untimed: int = 0
    timer: int | None = None
    timer_before: int | None = None
    bytes_read: int = 0
    bytes_written: int = 0
    late_events: list[pa.Table] = field(default_factory=list)
