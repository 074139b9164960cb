"""What `wr.plan` says about a stream: its shards, its state, and when its answers are final.

The parts come from the query that would run (`windrow.stream`), so a plan says what a query does.
`explain` prints them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from windrow.algebra.durations import words
from windrow.planning.delivery import FINAL_ONLY, Delivery
from windrow.planning.stream_arguments import MILLISECOND
from windrow.planning.wording import listed

#: what a call may change although it goes on from a checkpoint
MAY_CHANGE = (
    "the names of results, further names for the same aggregations, the order of windows and "
    "aggregations, algorithm, prefer and max_answers"
)


@dataclass(frozen=True)
class GroupPlan:
    """How a group of windows keeps its state, in words for people.

    Attributes:
        windows: the names of its windows.
        way: how state is kept.
        why: what in the query asks for this way.
        reads: what a batch reads of the state.
        writes: what a batch writes to it.
        final: when an answer is final.
    """

    windows: Sequence[str]
    way: str
    why: str
    reads: str
    writes: str
    final: str


@dataclass(frozen=True)
class StreamPlan:
    """What a call does with a stream.

    Attributes:
        shards: the number of parts that keys are kept in; None if only a session can say it.
        why_shards: the reason for this number.
        groups: how each group of windows keeps its state.
        watermark: how far the watermark is behind, and who says so.
        late: which events come too late.
        history: what becomes of the table before the stream; None without one.
        checkpoint: what has to stay as it is for a checkpoint to be accepted, line by line; nothing
            for a stream in one process without a checkpoint.
    """

    shards: int | None
    why_shards: str
    groups: tuple[GroupPlan, ...]
    watermark: str
    late: str
    history: str | None
    checkpoint: tuple[str, ...]

    def state_lines(self) -> Iterator[tuple[int, str]]:
        """The state, as lines with their indents."""
        shards = "shards" if self.shards is None else f"{self.shards:,} shard"
        yield 2, f"{shards}{'s' * (self.shards not in (1, None))} of keys: {self.why_shards}"
        for group in self.groups:
            yield 2, f"{listed(group.windows)}: {group.way}"
            yield 4, f"because {group.why}"
            yield 4, f"a batch reads {group.reads}"
            yield 4, f"a batch writes {group.writes}"

    def answer_lines(self) -> Iterator[tuple[int, str]]:
        """When answers are final, as lines with their indents."""
        yield 2, f"watermark: {self.watermark}"
        for group in self.groups:
            yield 2, f"{listed(group.windows)}: {group.final}"
        yield 2, f"late: {self.late}"
        yield 2, f"history: {self.history or 'none; the first windows hold what has come so far'}"

    def checkpoint_lines(self) -> Iterator[tuple[int, str]]:
        """What a restart needs, as lines with their indents."""
        if not self.checkpoint:
            yield 2, "none: state ends with the process, unless checkpoint= keeps it"
            return
        yield 2, "a restart goes on from it if all of this is the same, and is refused if not"
        for line in self.checkpoint:
            yield 4, line
        yield 2, f"may change: {MAY_CHANGE}"


def watermark_behind(order: str, delay: int | None, is_own: bool) -> str:
    """How far the watermark is behind.

    Args:
        order: the column that has it.
        delay: in milliseconds; None if the call does not say.
        is_own: whether the stream has it already, by `withWatermark`.
    """
    if delay is None:
        return f"data has to have one on {order}, or the call to say lateness="
    length = words(delay * MILLISECOND) if delay else "nothing"
    if is_own:
        return f"that of data on {order}, {length} behind the newest event"
    return f"{length} behind the newest {order} of the batches before, as lateness= says"


def late_events(
    is_of_moments: bool,
    is_own: bool,
    delivery: Delivery = FINAL_ONLY,
    counted: str = "the query's progress",
) -> str:
    """Which events come too late.

    Args:
        is_of_moments: whether an event is final when the watermark reaches it, not its slice.
        is_own: whether the stream has a watermark of its own.
        delivery: how answers are given.
        counted: what shows how many they are.
    """
    watermark = "watermark of the batch before" if is_own else "watermark of their batch"
    allowed = f", less {words(delivery.allowed * MILLISECOND)}" if delivery.allowed else ""
    too_late = f"events that the {watermark}{allowed and allowed + ','} has reached"
    if is_of_moments and not is_own:
        too_late += "; one that comes exactly so late is in time"
    if not is_of_moments:
        too_late = f"events whose slice ends by the {watermark}{allowed}"
    kept = ", given in the column 'late'" if delivery.side else ""
    return f"{too_late}. They are dropped from all windows{kept}, and counted in {counted}"


def history_kept(call: str) -> str:
    """What becomes of the table that a stream goes on from."""
    answered = "windows that end" if call == "slide" else "its events"
    return (
        "is read before the first batch, and not when a checkpoint is there. It makes time final "
        f"up to its newest event, less the lateness: {answered} by then are not answered again, "
        "and events of the stream before that are late"
    )
